//! `--gradient`: the start of the backward pass.

use clap::Args;

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::recipes::Recipe;
use crate::graph::{Cells, Convention, Given, Graph, NodeId, Origin, Start, resolve};
use crate::input::{AllowedNumbers, Files};
use crate::matrix::Matrix;
use crate::story::{self, Story};

/// The backward pass after the forward one.
#[derive(Args, Debug)]
#[command(next_help_heading = "Attention")]
pub(crate) struct GradientArgs {
    /// Gradients back from O: ones, dO=FILE, O[bat,x]
    #[arg(long, value_name = "START", hide_short_help = true)]
    gradient: Option<String>,
}

impl GradientArgs {
    /// Whether there is a backward pass.
    pub(super) fn is_asked_for(&self) -> bool {
        self.gradient.is_some()
    }

    /// The story of a recipe, with the backward pass if there is one.
    ///
    /// # Errors
    /// If the start names no step or does not fit it, or a step has no gradient.
    pub(super) fn told(
        &self,
        story: Story,
        recipe: Recipe,
        convention: Convention,
        files: &mut Files<'_>,
    ) -> Result<Story> {
        let Some(text) = &self.gradient else { return Ok(story.built_by(recipe)) };
        let mut story = story;
        let (loss, start) = start(&story.graph, text, files)?;
        let of: Vec<NodeId> =
            story.graph.nodes().filter(|(_, node)| node.op.is_given()).map(|(id, _)| id).collect();
        let gradients = story.graph.gradients(loss, start, &of).map_err(|error| self.located(error))?;
        story::tell_gradients(&mut story, &gradients, &of, convention);
        Ok(story)
    }

    /// The step of a graph where the backward pass starts, and its gradient, if there is one.
    ///
    /// # Errors
    /// If the start names no step.
    pub(crate) fn start(&self, graph: &Graph, files: &mut Files<'_>) -> Result<Option<(NodeId, Start)>> {
        self.gradient.as_deref().map(|text| start(graph, text, files)).transpose()
    }

    /// The error, as one in what was typed.
    pub(crate) fn located(&self, error: Error) -> Error {
        let typed = self.gradient.as_deref().unwrap_or_default();
        error.in_source(format!("--gradient {}", visible(typed)))
    }
}

/// The step where the backward pass starts, and its gradient.
fn start(graph: &Graph, text: &str, files: &mut Files<'_>) -> Result<(NodeId, Start)> {
    if text == "ones" {
        return Ok((graph.require("O")?, Start::Ones));
    }
    if let Some((name, file)) = text.split_once('=') {
        let of = name.trim().strip_prefix('d').filter(|_| !file.is_empty()).ok_or_else(|| {
            Error::new(format!("`--gradient {}` names no gradient", visible(text)))
                .help("write --gradient dO=FILE, with a number for each cell of O")
        })?;
        let matrix = files.matrix(file, AllowedNumbers::FINITE)?;
        return Ok((
            graph.require(of)?,
            Start::Given(Given::new(matrix, Origin::User(visible(file).into_owned()))),
        ));
    }
    match resolve(graph, text).map_err(|error| error.in_source("--gradient"))? {
        Cells::Node(node) => Ok((node, Start::Ones)),
        Cells::Cell(cell) => Ok((cell.node, Start::Cell(cell.row, cell.col))),
        Cells::Row(node, row) => {
            let shape = graph[node].shape();
            let ones = Matrix::from_fn(shape.rows, shape.cols, |i, _| if i == row { 1.0 } else { 0.0 });
            Ok((node, Start::Given(Given::new(ones, Origin::Stated))))
        }
    }
}
