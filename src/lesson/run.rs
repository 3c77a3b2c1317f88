//! Running a lesson's commands in process, each only once for the same surroundings.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::graph::Graph;
use crate::render::Screen;

use super::command::Command;
use super::values;

/// What a command left after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its exit code.
    pub code: u8,
    /// What it wrote on standard output.
    pub out: String,
    /// What it wrote on standard error.
    pub err: String,
}

impl Ran {
    /// What stands on the screen: the program writes its output at the end, so its warnings come first.
    pub fn shown(&self) -> String {
        format!("{}{}", self.err, self.out)
    }
}

/// The program's own `run`: arguments and a screen to what is written.
pub type Run<'a> = dyn Fn(&[String], Screen) -> Ran + 'a;

/// The arguments of a command, and the screen it wrote on.
type Asked = (Vec<String>, Screen);

/// The most that one command of a lesson may print, in bytes.
pub const MOST_PRINTED: u64 = 16 << 20;

/// The most bytes of what commands printed that are remembered.
const MOST_KEPT: usize = 64 << 20;

/// Runs commands, and remembers what they printed: commands are pure. Where that comes to more than 64 MiB it is forgotten, and
/// a command runs again when it is asked for.
pub struct Runner<'a> {
    run: &'a Run<'a>,
    ran: RefCell<HashMap<Asked, Rc<Ran>>>,
    graphs: RefCell<HashMap<Command, Rc<Result<Graph, String>>>>,
    /// The bytes that are remembered.
    kept: Cell<usize>,
}

impl<'a> Runner<'a> {
    /// A runner on the program's `run`.
    pub fn new(run: &'a Run<'a>) -> Runner<'a> {
        Runner { run, ran: RefCell::default(), graphs: RefCell::default(), kept: Cell::new(0) }
    }

    /// What a command prints on a screen.
    pub fn run(&self, args: &[String], screen: Screen) -> Rc<Ran> {
        let key = (args.to_vec(), screen);
        if let Some(ran) = self.ran.borrow().get(&key) {
            return Rc::clone(ran);
        }
        let ran = Rc::new((self.run)(args, screen));
        self.keep(ran.out.len() + ran.err.len());
        self.ran.borrow_mut().insert(key, Rc::clone(&ran));
        ran
    }

    /// Makes room for so many bytes more.
    fn keep(&self, bytes: usize) {
        if self.kept.get() + bytes > MOST_KEPT {
            self.ran.borrow_mut().clear();
            self.graphs.borrow_mut().clear();
            self.kept.set(0);
        }
        self.kept.set(self.kept.get() + bytes);
    }

    /// The explanation of one cell of a command, as data.
    ///
    /// # Errors
    /// What the command says where it cannot explain the cell.
    pub fn explanation(&self, command: &Command, address: &str) -> Result<serde_json::Value, String> {
        let mut args = command.as_json();
        args.extend(["--explain".to_string(), address.to_string()]);
        let ran = self.run(&args, Screen::plain(80));
        match ran.code {
            0 => serde_json::from_str(&ran.out).map_err(|error| error.to_string()),
            _ => Err(ran.err.trim().trim_start_matches("error: ").to_string()),
        }
    }

    /// The numbers of a command, under the names of its nodes.
    ///
    /// # Errors
    /// What the command says where it fails, or that it has no numbers as data.
    pub fn graph(&self, command: &Command) -> Rc<Result<Graph, String>> {
        if let Some(graph) = self.graphs.borrow().get(command) {
            return Rc::clone(graph);
        }
        let ran = self.run(&command.as_json(), Screen::plain(80));
        let graph = Rc::new(values::graph(command, &ran).map_err(|error| error.to_string()));
        // Its numbers take about as much as their text.
        self.keep(ran.out.len());
        self.graphs.borrow_mut().insert(command.clone(), Rc::clone(&graph));
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_has_an_end_and_small_outputs_are_run_once() {
        let times = Cell::new(0);
        let printed = |bytes: usize| Ran { code: 0, out: "x".repeat(bytes), err: String::new() };
        let run = |args: &[String], _: Screen| {
            times.set(times.get() + 1);
            printed(args[0].parse().unwrap())
        };
        let runner = Runner::new(&run);
        let ask = |bytes: usize, which: usize| {
            runner.run(&[bytes.to_string(), which.to_string()], Screen::plain(80)).out.len()
        };
        for _ in 0..3 {
            (0..10).for_each(|which| assert_eq!(ask(1000, which), 1000));
        }
        assert_eq!(times.get(), 10);
        for which in 0..20 {
            ask(10 << 20, which);
            let held: usize = runner.ran.borrow().values().map(|ran| ran.out.len()).sum();
            assert!(held <= MOST_KEPT && held <= runner.kept.get(), "{held}");
        }
    }
}
