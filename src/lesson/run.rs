//! Running a lesson's commands in process, each only once for the same surroundings.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::render::Screen;

use super::command::Command;

/// The output of a command, and the graphs that it computed.
#[derive(Clone, Debug)]
pub struct CommandOutput {
    /// Its exit code.
    pub code: u8,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
    /// The graph of each computation that it showed, with all of its nodes.
    pub graphs: Vec<Rc<Graph>>,
}

impl CommandOutput {
    /// Text without a computation.
    pub fn of_text(code: u8, out: String, err: String) -> CommandOutput {
        CommandOutput { code, out, err, graphs: Vec::new() }
    }

    /// The screen: warnings first, because the program writes its output at the end.
    pub fn shown(&self) -> String {
        format!("{}{}", self.err, self.out)
    }

    /// About how many bytes of memory it takes.
    fn bytes(&self) -> usize {
        let cells = |graph: &Graph| -> usize {
            graph
                .nodes()
                .filter_map(|(_, node)| node.matrix())
                .map(|matrix| matrix.rows() * matrix.cols())
                .sum()
        };
        let numbers: usize = self.graphs.iter().map(|graph| cells(graph)).sum();
        self.out.len() + self.err.len() + numbers * size_of::<f64>()
    }
}

/// The program's own `run`: from arguments and a screen to the output and the graphs.
pub type Run<'a> = dyn Fn(&[String], Screen) -> CommandOutput + 'a;

/// The arguments of a command, and the screen it wrote on.
type CommandOnScreen = (Vec<String>, Screen);

/// The most that one command of a lesson may print, in bytes.
pub const MOST_PRINTED: u64 = 16 << 20;

/// The most bytes of output and numbers that are remembered.
const MOST_KEPT: usize = 64 << 20;

/// Runs commands, and remembers what they printed and computed: commands are pure. Where that comes to more than 64 MiB it is
/// forgotten, and a command runs again when it is asked for.
pub struct Runner<'a> {
    run: &'a Run<'a>,
    outputs: RefCell<HashMap<CommandOnScreen, Rc<CommandOutput>>>,
    /// An output of each command, on whatever screen: the numbers are the same on all.
    computed: RefCell<HashMap<Vec<String>, Rc<CommandOutput>>>,
    /// The bytes that are remembered.
    kept: Cell<usize>,
}

impl<'a> Runner<'a> {
    /// A runner on the program's `run`.
    pub fn new(run: &'a Run<'a>) -> Runner<'a> {
        Runner { run, outputs: RefCell::default(), computed: RefCell::default(), kept: Cell::new(0) }
    }

    /// The output of a command on a screen.
    pub fn run(&self, args: &[String], screen: Screen) -> Rc<CommandOutput> {
        let key = (args.to_vec(), screen);
        if let Some(output) = self.outputs.borrow().get(&key) {
            return Rc::clone(output);
        }
        let output = Rc::new((self.run)(args, screen));
        self.keep(output.bytes());
        self.outputs.borrow_mut().insert(key, Rc::clone(&output));
        self.computed.borrow_mut().insert(args.to_vec(), Rc::clone(&output));
        output
    }

    /// Makes room for this many bytes more.
    fn keep(&self, bytes: usize) {
        if self.kept.get() + bytes > MOST_KEPT {
            self.outputs.borrow_mut().clear();
            self.computed.borrow_mut().clear();
            self.kept.set(0);
        }
        self.kept.set(self.kept.get() + bytes);
    }

    /// The graph that a command computes, with all nodes, also those that it does not show.
    ///
    /// # Errors
    /// The error of a failed command; or if it computes no graph, or several.
    pub fn graph(&self, command: &Command) -> Result<Rc<Graph>> {
        let known = self.computed.borrow().get(&command.args).map(Rc::clone);
        let output = known.unwrap_or_else(|| self.run(&command.args, Screen::plain(80)));
        if output.code != 0 {
            return Err(Error::new(output.err.trim().trim_start_matches("error: ")));
        }
        match &output.graphs[..] {
            [graph] => Ok(Rc::clone(graph)),
            [] => Err(Error::new("it cannot print its numbers as JSON")
                .help("name a command that shows a computation")),
            _ => Err(Error::new(format!("`{}` shows several computations", command.typed))
                .help("name a command that shows one computation")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_has_an_end_and_small_outputs_are_run_once() {
        let times = Cell::new(0);
        let printed = |bytes: usize| CommandOutput::of_text(0, "x".repeat(bytes), String::new());
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
            let held: usize = runner.outputs.borrow().values().map(|output| output.out.len()).sum();
            assert!(held <= MOST_KEPT && held <= runner.kept.get(), "{held}");
        }
    }
}
