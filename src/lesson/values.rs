//! The numbers of a lesson's named commands, for checked prose and for keys.

use crate::error::{Error, Result};
use crate::graph::{CellId, Cells, Graph, resolve};
use crate::matrix::{Matrix, labels};
use crate::text::nearest;

use super::key::Values;
use super::model::NamedRun;
use super::run::Runner;
use super::shown_digits::ShownOperands;

/// The numbers of named commands.
pub struct RunValues<'a> {
    /// The commands.
    pub runs: &'a [NamedRun],
    /// Runs them.
    pub runner: &'a Runner<'a>,
}

impl RunValues<'_> {
    /// The command of a name.
    fn named(&self, run: &str) -> Result<&NamedRun> {
        self.runs.iter().find(|named| named.name == run).ok_or_else(|| {
            let error = Error::new(format!("no command is named `{run}`"));
            match nearest(run, self.runs.iter().map(|named| named.name.as_str())) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help(format!("name one: <!-- run: {run} = attn … -->")),
            }
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

impl Values for RunValues<'_> {
    fn slack(&self, run: &str, address: &str, decimals: usize) -> Result<f64> {
        self.operands(run, address)?.slack(decimals)
    }

    fn matrix(&self, run: &str, address: &str) -> Result<Matrix> {
        let named = self.named(run)?;
        let graph = self.runner.graph(&named.command).map_err(|error| {
            Error::new(format!("`{}` gives no numbers", named.command.typed)).help(error.to_string())
        })?;
        part(&graph, address)
    }
}

/// A node, a row of it, or a cell of it, with the labels.
fn part(graph: &Graph, address: &str) -> Result<Matrix> {
    let row_of =
        |matrix: &Matrix, row: usize| matrix.row_labels().map(|names| labels(&[names[row].as_str()]));
    match resolve(graph, address)? {
        Cells::Node(node) => Ok(graph.matrix(node)?.clone()),
        Cells::Row(node, row) => {
            let matrix = graph.matrix(node)?;
            let values: Vec<f64> = matrix.row(row).collect();
            Ok(Matrix::from_row_major(1, matrix.cols(), &values)?
                .with_row_labels(row_of(matrix, row))
                .with_col_labels(matrix.col_labels().cloned()))
        }
        Cells::Cell(CellId { node, row, col }) => {
            let matrix = graph.matrix(node)?;
            let col_label = matrix.col_labels().map(|names| labels(&[names[col].as_str()]));
            Ok(Matrix::from_row_major(1, 1, &[matrix[(row, col)]])?
                .with_row_labels(row_of(matrix, row))
                .with_col_labels(col_label))
        }
    }
}
