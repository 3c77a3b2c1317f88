//! `--gradient`, `--loss` and `--targets`: the start of the backward pass.

use clap::{Args, ValueEnum};

use crate::error::{Error, ErrorKind, Result};
use crate::foreign::visible;
use crate::graph::recipes::{self, AttendInputs, Recipe};
use crate::graph::{BackwardPass, Cells, Given, Graph, Origin, Start, resolve};
use crate::input::{AllowedNumbers, Files, exists};
use crate::matrix::Matrix;
use crate::text::{clip, counted};

/// The backward pass after the forward one.
#[derive(Args, Debug)]
#[command(next_help_heading = "Attention")]
pub(crate) struct GradientArgs {
    /// Gradients back from O: ones, dO=FILE, O[bat,x]
    #[arg(long, value_name = "START", hide_short_help = true, conflicts_with = "loss")]
    gradient: Option<String>,
    /// Gradients back from a loss of O: cross-entropy
    #[arg(
        long,
        value_enum,
        value_name = "LOSS",
        hide_short_help = true,
        hide_possible_values = true,
        requires = "targets"
    )]
    loss: Option<LossArg>,
    /// The right column of O per row, - for none: x,2,-
    #[arg(long, value_name = "A,B,…", hide_short_help = true, requires = "loss", allow_hyphen_values = true)]
    targets: Option<String>,
}

/// `--loss`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LossArg {
    CrossEntropy,
}

impl GradientArgs {
    /// The option that asks for a backward pass, if there is one.
    pub(super) fn option(&self) -> Option<&'static str> {
        let of_gradient = self.gradient.as_ref().map(|_| "--gradient");
        of_gradient.or_else(|| self.loss.map(|_| "--loss"))
    }

    /// The backward pass over the graph of a pipeline, if one is asked for.
    ///
    /// # Errors
    /// If the start names no step, a file cannot be read, or the targets do not fit O.
    pub(crate) fn pass(&self, graph: &Graph, files: &mut Files<'_>) -> Result<Option<BackwardPass>> {
        if let Some(text) = &self.gradient {
            return Ok(Some(start(graph, text, files)?));
        }
        let targets = self.targets.as_deref().filter(|_| self.loss.is_some());
        targets.map(|text| Ok(BackwardPass::CrossEntropy(targets_of(graph, text, files)?))).transpose()
    }

    /// An error of the computation with the backward pass; without one it is possible.
    pub(crate) fn refused(&self, error: Error) -> Error {
        match (&self.gradient, &self.targets) {
            (Some(text), _) => error.in_source(format!("--gradient {}", visible(text))),
            (None, Some(text)) => error.in_source(format!("--targets {}", visible(text))),
            (None, None) => error,
        }
    }

    /// The inputs of a recipe, with the backward pass if there is one, so that it is computed with everything else, and again.
    ///
    /// # Errors
    /// Those of [`GradientArgs::pass`].
    pub(crate) fn with_pass(
        &self,
        recipe: &Recipe,
        inputs: AttendInputs,
        files: &mut Files<'_>,
    ) -> Result<AttendInputs> {
        if self.option().is_none() {
            return Ok(inputs);
        }
        let backward = self.pass(&recipes::attend(recipe, inputs.clone())?, files)?;
        Ok(AttendInputs { backward, ..inputs })
    }
}

/// The step where the backward pass starts, and its gradient.
fn start(graph: &Graph, text: &str, files: &mut Files<'_>) -> Result<BackwardPass> {
    let from = |name: &str, start| Ok(BackwardPass::From(name.to_string(), Box::new(start)));
    if text == "ones" {
        return from("O", Start::Ones);
    }
    if let Some((name, file)) = text.split_once('=') {
        let of = name.trim().strip_prefix('d').filter(|_| !file.is_empty()).ok_or_else(|| {
            Error::new(format!("`--gradient {}` names no gradient", visible(text)))
                .help("write --gradient dO=FILE, with a number for each cell of O")
        })?;
        let matrix = files.matrix(file, AllowedNumbers::FINITE)?;
        graph.require(of)?;
        return from(of, Start::Given(Given::new(matrix, Origin::User(visible(file).into_owned()))));
    }
    match resolve(graph, text).map_err(|error| error.in_source("--gradient"))? {
        Cells::Node(node) => from(&graph[node].name, Start::Ones),
        Cells::Cell(cell) => from(&graph[cell.node].name, Start::Cell(cell.row, cell.col)),
        Cells::Row(node, row) => {
            let shape = graph[node].shape();
            let ones = Matrix::from_fn(shape.rows, shape.cols, |i, _| if i == row { 1.0 } else { 0.0 });
            from(&graph[node].name, Start::Given(Given::new(ones, Origin::Stated)))
        }
    }
}

/// The target of each row of O: a list in place, whatever files there are, or else one in a file.
fn targets_of(graph: &Graph, text: &str, files: &mut Files<'_>) -> Result<Vec<Option<usize>>> {
    match listed_targets(graph, text, None) {
        Err(_) if exists(text) || text.contains(['/', '\\']) => {
            listed_targets(graph, text, Some(files.text(text)?))
        }
        in_place => in_place,
    }
}

fn listed_targets(graph: &Graph, text: &str, of_file: Option<String>) -> Result<Vec<Option<usize>>> {
    let is_between = |c: char| c == ',' || c.is_whitespace() && of_file.is_some();
    let list = of_file.as_deref().unwrap_or(text).trim().split(is_between).map(str::trim);
    let list: Vec<&str> = list.filter(|target| of_file.is_none() || !target.is_empty()).collect();
    let rows = graph[graph.require("O")?].shape().rows;
    let in_targets = |error: Error| error.in_source(format!("--targets {}", visible(text)));
    if list.len() != rows {
        let there = counted(list.len(), "target");
        let verb = if list.len() == 1 { "is" } else { "are" };
        let error = Error::new(format!("there {verb} {there}, but O has {}", counted(rows, "row")));
        let help = "give one for each row: a column of O, by its name or its number from 1, or - for a row that does not count";
        return Err(in_targets(error.of_kind(ErrorKind::Shape).help(help)));
    }
    let column = |(row, target): (usize, &&str)| match *target {
        // A minus before numbers reaches here as the typographic one.
        "-" | "−" | "none" => Ok(None),
        target => match resolve(graph, &format!("O[{},{target}]", row + 1)).map_err(in_targets)? {
            Cells::Cell(cell) => Ok(Some(cell.col)),
            _ => Err(in_targets(Error::new(format!("`{}` is no column of O", clip(target))))),
        },
    };
    list.iter().enumerate().map(column).collect()
}
