//! Numbers that can be saved: a matrix, or a tensor of any type.

use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};
use crate::matrix::{Labels, Matrix, Shape};
use crate::tensor::{Dtype, Tensor};

/// Rows of numbers, perhaps with labels.
pub trait Table {
    /// Rows times columns.
    fn shape(&self) -> Shape;
    /// The number at row i, column j; in `f64`, which changes none.
    fn at(&self, i: usize, j: usize) -> f64;
    /// The type in which a binary file has them.
    fn dtype(&self) -> Dtype;
    /// The names of the rows, where they have any.
    fn row_labels(&self) -> Option<&Labels>;
    /// The names of the columns, where they have any.
    fn col_labels(&self) -> Option<&Labels>;
    /// Checks, after all numbers have been asked for, that each of them could be computed.
    ///
    /// # Errors
    /// If one could not.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// The numbers of a node.
///
/// # Errors
/// If it is never formed, or its numbers stay in a file.
pub fn table(graph: &Graph, node: NodeId) -> Result<&dyn Table> {
    match graph[node].typed() {
        Some(numbers) if numbers.is_stored() => {
            Err(Error::new(format!("the numbers of {} stay in the model's file", graph[node].name)))
        }
        Some(numbers) => Ok(numbers),
        None => Ok(graph.matrix(node)?),
    }
}

/// All cells, row by row.
pub(super) fn cells(table: &dyn Table) -> impl Iterator<Item = f64> + '_ {
    let shape = table.shape();
    (0..shape.rows).flat_map(move |i| (0..shape.cols).map(move |j| table.at(i, j)))
}

impl Table for Matrix {
    fn shape(&self) -> Shape {
        self.shape()
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self[(i, j)]
    }

    fn dtype(&self) -> Dtype {
        Dtype::F64
    }

    fn row_labels(&self) -> Option<&Labels> {
        self.row_labels()
    }

    fn col_labels(&self) -> Option<&Labels> {
        self.col_labels()
    }
}

impl Table for Tensor {
    fn shape(&self) -> Shape {
        self.shape()
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.at(i, j)
    }

    fn dtype(&self) -> Dtype {
        self.dtype()
    }

    fn row_labels(&self) -> Option<&Labels> {
        self.row_labels()
    }

    fn col_labels(&self) -> Option<&Labels> {
        self.col_labels()
    }
}
