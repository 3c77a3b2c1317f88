//! Running a lesson's commands in process, each only once for the same surroundings.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::elementary::pow;
use crate::error::{Error, Result};
use crate::graph::{CellId, Cells, Graph, NodeId, Op, Term, resolve};
use crate::matrix::Matrix;
use crate::render::Screen;
use crate::story::condition::{Numbers, part};
use crate::text::did_you_mean;

use super::command::Command;
use super::key::Values;
use super::model::NamedRun;

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
    pub graphs: Vec<Arc<Graph>>,
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
        let nodes = self.graphs.iter().flat_map(|graph| graph.nodes());
        let matrices = nodes.filter_map(|(_, node)| node.matrix());
        let numbers: usize = matrices.map(|matrix| matrix.rows() * matrix.cols()).sum();
        self.out.len() + self.err.len() + numbers * size_of::<f64>()
    }
}

/// The program's own `run`: from arguments and a screen to the output and the graphs.
pub type Run<'a> = dyn Fn(&[String], Screen) -> CommandOutput + 'a;

/// The outputs of a command, each with the screen that it wrote on.
type OutputsOnScreens = Vec<(Screen, Rc<CommandOutput>)>;

/// The most that one command of a lesson may print, in bytes.
pub const MOST_PRINTED: u64 = 16 << 20;

/// The most bytes of output and numbers that are remembered.
const MOST_KEPT: usize = 64 << 20;

/// Runs commands, and remembers what they printed and computed: commands are pure. Where that comes to more than 64 MiB it is
/// forgotten, and a command runs again when it is asked for.
pub struct Runner<'a> {
    run: &'a Run<'a>,
    /// The outputs of each command on the screens that it was run for.
    outputs: RefCell<HashMap<Vec<String>, OutputsOnScreens>>,
    /// The bytes that are remembered.
    kept: Cell<usize>,
}

impl<'a> Runner<'a> {
    /// A runner on the program's `run`.
    pub fn new(run: &'a Run<'a>) -> Runner<'a> {
        Runner { run, outputs: RefCell::default(), kept: Cell::new(0) }
    }

    /// The output of a command on a screen.
    pub fn run(&self, args: &[String], screen: Screen) -> Rc<CommandOutput> {
        let is_asked = |(shown, _): &&(Screen, Rc<CommandOutput>)| *shown == screen;
        if let Some((_, output)) = self.outputs.borrow().get(args).and_then(|all| all.iter().find(is_asked)) {
            return Rc::clone(output);
        }
        let output = Rc::new((self.run)(args, screen));
        if self.kept.get() + output.bytes() > MOST_KEPT {
            self.outputs.borrow_mut().clear();
            self.kept.set(0);
        }
        self.kept.set(self.kept.get() + output.bytes());
        self.outputs.borrow_mut().entry(args.to_vec()).or_default().push((screen, Rc::clone(&output)));
        output
    }

    /// The graph that a command computes, with all nodes, also those that it does not show.
    ///
    /// # Errors
    /// The error of a failed command; or if it computes no graph, or several.
    pub fn graph(&self, command: &Command) -> Result<Arc<Graph>> {
        // The numbers are the same on all screens.
        let known = self.outputs.borrow().get(&command.args).and_then(|all| all.last().cloned());
        let output =
            known.map(|(_, output)| output).unwrap_or_else(|| self.run(&command.args, Screen::plain(80)));
        if output.code != 0 {
            return Err(Error::new(output.err.trim().trim_start_matches("error: ")));
        }
        match &output.graphs[..] {
            [graph] => Ok(Arc::clone(graph)),
            [] => Err(Error::new("it cannot print its numbers as JSON")
                .help("name a command that shows a computation")),
            _ => Err(Error::new(format!("`{}` shows several computations", command.typed))
                .help("name a command that shows one computation")),
        }
    }
}

// The numbers of a lesson's named commands, for checked prose and for keys.

/// The numbers of named commands.
pub struct RunValues<'a> {
    /// The commands.
    pub runs: &'a [NamedRun],
    /// Runs them.
    pub runner: &'a Runner<'a>,
}

impl RunValues<'_> {
    /// The command of a name.
    pub(super) fn named(&self, run: &str) -> Result<&NamedRun> {
        self.runs.iter().find(|named| named.name == run).ok_or_else(|| {
            let help = did_you_mean(run, self.runs.iter().map(|named| named.name.as_str()))
                .unwrap_or_else(|| format!("name one: <!-- run: {run} = attn … -->"));
            Error::new(format!("no command is named `{run}`")).help(help)
        })
    }

    /// The terms of a cell of a run.
    ///
    /// # Errors
    /// If there is no such run or cell, or the cell is given.
    pub(super) fn operands(&self, run: &str, address: &str) -> Result<ShownOperands> {
        ShownOperands::of(self.runner.graph(&self.named(run)?.command)?, address)
    }
}

impl Numbers for RunValues<'_> {
    fn matrix(&self, run: &str, address: &str) -> Result<Matrix> {
        let named = self.named(run)?;
        let graph = self
            .runner
            .graph(&named.command)
            .map_err(|error| error.in_source(format!("`{}` gives no numbers", named.command.typed)))?;
        part(&graph, address)
    }
}

impl Values for RunValues<'_> {
    fn slack(&self, run: &str, address: &str, decimals: usize) -> Result<f64> {
        self.operands(run, address)?.slack(decimals)
    }
}

// The maximum error of an answer that is computed from operands as they are shown.
//
// A student sees `0.59` and `0.41`, and multiplies these. So each operand is taken as an interval, of everything that is
// shown like it, and the term of the cell is evaluated over the intervals. A whole number is shown as it is.

/// A computed cell, and the cells that it is computed from.
pub(super) struct ShownOperands {
    graph: Arc<Graph>,
    term: Term,
}

/// The smallest and the largest number that something can be.
type Interval = (f64, f64);

impl ShownOperands {
    /// The operands of the cell at an address; of a row or a node, those of the first cell.
    ///
    /// # Errors
    /// If there is no such cell, or its node is never formed.
    pub fn of(graph: Arc<Graph>, address: &str) -> Result<ShownOperands> {
        let cell = match resolve(&graph, address)? {
            Cells::Cell(cell) => cell,
            Cells::Row(node, row) => CellId { node, row, col: 0 },
            Cells::Node(node) => CellId { node, row: 0, col: 0 },
        };
        graph.matrix(cell.node)?;
        if let Op::Fused(_) = graph[cell.node].op {
            return Err(Error::new("the fused kernel does not store how it is computed"));
        }
        let term = graph.terms(cell);
        Ok(ShownOperands { graph, term })
    }

    /// The names of the nodes of its operands, each once.
    pub fn operands(&self) -> Vec<&str> {
        let mut nodes: Vec<NodeId> = Vec::new();
        let mut terms = vec![&self.term];
        while let Some(term) = terms.pop() {
            match term {
                Term::Cell(cell) if !nodes.contains(&cell.node) => nodes.push(cell.node),
                other => terms.extend(other.parts().into_iter().rev()),
            }
        }
        nodes.into_iter().map(|id| self.graph[id].name.as_str()).collect()
    }

    /// The maximum error of a cell that is computed from operands rounded to this many decimals.
    ///
    /// # Errors
    /// If it is not made of sums, differences and products of cells and numbers.
    pub fn slack(&self, decimals: usize) -> Result<f64> {
        let value = self.term.evaluate(&self.graph);
        let (least, most) = self.interval(&self.term, decimals).ok_or_else(|| {
            Error::new("it is more than sums and products of cells")
                .help("leave out “from … decimals”, and write the tolerance that its rounded operands need")
        })?;
        Ok((value - least).max(most - value))
    }

    fn interval(&self, term: &Term, decimals: usize) -> Option<Interval> {
        let of = |term: &Term| self.interval(term, decimals);
        let all = |terms: &[Term]| terms.iter().map(of).collect::<Option<Vec<Interval>>>();
        match term {
            Term::Cell(_) => Some(shown_alike(term.evaluate(&self.graph), decimals)),
            Term::Number(number) => Some((*number, *number)),
            Term::Sum(terms) => {
                Some(all(terms)?.into_iter().fold((0.0, 0.0), |sum, term| (sum.0 + term.0, sum.1 + term.1)))
            }
            Term::Product(terms) => Some(all(terms)?.into_iter().fold((1.0, 1.0), product)),
            Term::Difference(from, of_which) => {
                let (from, of_which) = (of(from)?, of(of_which)?);
                Some((from.0 - of_which.1, from.1 - of_which.0))
            }
            _ => None,
        }
    }
}

/// Everything that is shown like this number.
fn shown_alike(number: f64, decimals: usize) -> Interval {
    if number.fract() == 0.0 || !number.is_finite() {
        return (number, number);
    }
    let shown: f64 = format!("{number:.decimals$}").parse().unwrap_or(number);
    let half = pow(10.0, -(decimals as f64)) / 2.0;
    (shown - half, shown + half)
}

fn product(left: Interval, right: Interval) -> Interval {
    let corners = [left.0 * right.0, left.0 * right.1, left.1 * right.0, left.1 * right.1];
    (corners.into_iter().fold(f64::INFINITY, f64::min), corners.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use crate::attention::{Axis, Base};
    use crate::graph::Origin;
    use crate::matrix::Matrix;

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
            let held: usize =
                runner.outputs.borrow().values().flatten().map(|(_, output)| output.out.len()).sum();
            assert!(held <= MOST_KEPT && held <= runner.kept.get(), "{held}");
        }
    }

    /// `O = A V` of one row of weights and two values, and what follows from them.
    fn graph() -> Arc<Graph> {
        let mut graph = Graph::new();
        let a = graph.given("A", Matrix::of([[0.594, 0.406]]), Origin::Stated).unwrap();
        let v = graph.given("V", Matrix::of([[3.0], [-1.2]]), Origin::Stated).unwrap();
        graph.add("O", Op::Product, &[a, v]).unwrap();
        graph.add("moved", Op::Subtract, &[v, v]).unwrap();
        graph.add("P", Op::Softmax(Axis::Rows, Base::E), &[a]).unwrap();
        Arc::new(graph)
    }

    fn operands(address: &str) -> ShownOperands {
        ShownOperands::of(graph(), address).unwrap()
    }

    #[test]
    fn each_operand_may_be_whatever_is_shown_like_it() {
        // By hand: 0.585…0.595 times 3, and 0.405…0.415 times −1.205…−1.195; the exact number is 1.2948.
        let output = operands("O[1,1]");
        let most: f64 = 0.595 * 3.0 - 0.405 * 1.195;
        let least: f64 = 0.585 * 3.0 - 0.415 * 1.205;
        let slack = output.slack(2).unwrap();
        assert!((slack - (1.2948 - least).max(most - 1.2948)).abs() < 1e-12, "{slack}");
        assert_eq!(output.operands(), ["A", "V"]);
    }

    #[test]
    fn more_digits_allow_less_and_whole_numbers_nothing() {
        let output = operands("O[1,1]");
        let at = |decimals| output.slack(decimals).unwrap();
        assert!(at(1) > at(2) && at(2) > at(3));
        let whole = operands("moved[1,1]");
        assert!(whole.slack(0).unwrap() < 1e-12);
    }

    #[test]
    fn what_is_more_than_sums_and_products_is_refused() {
        assert!(operands("P[1,1]").slack(2).is_err());
        assert!(ShownOperands::of(graph(), "Q[1,1]").is_err());
    }
}
