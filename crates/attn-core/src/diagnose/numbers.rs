//! The numbers of one node in one computation.

use crate::attention;
use crate::graph::Graph;
use crate::matrix::Matrix;

use super::candidates::NodePlaces;

/// The numbers of one computation at a node, with the properties that every comparison needs.
#[derive(Debug)]
pub(super) struct NodeNumbers {
    pub matrix: Matrix,
    /// The max size of the finite numbers.
    pub max_size: f64,
    /// Whether any cell is −∞.
    pub hides: bool,
}

impl NodeNumbers {
    pub(super) fn of(matrix: Matrix) -> NodeNumbers {
        let cells = || matrix.column_by_column().iter().copied();
        let max_size = attention::max(cells().filter(|x| x.is_finite()).map(f64::abs));
        let hides = cells().any(|x| x == f64::NEG_INFINITY);
        NodeNumbers { matrix, max_size: max_size.max(0.0), hides }
    }

    /// The numbers of a computation at a node, if the computation reaches it.
    pub(super) fn at(places: &NodePlaces, graph: &Graph, node: &str) -> Option<NodeNumbers> {
        Some(NodeNumbers::of(places.matrix(graph, node)?.into_owned()))
    }

    /// A hash of the matrix.
    pub(super) fn bits(&self) -> u64 {
        let mix = |all: u64, bits: u64| (all ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let cells = self.matrix.column_by_column().iter();
        cells.map(|x| x.to_bits()).fold(self.matrix.rows() as u64, mix)
    }

    /// Whether both have the same shape and the same bits in every cell.
    pub(super) fn same_bits(&self, other: &NodeNumbers) -> bool {
        let (cells, others) = (self.matrix.column_by_column(), other.matrix.column_by_column());
        self.matrix.shape() == other.matrix.shape()
            && cells.iter().zip(others).all(|(a, b)| a.to_bits() == b.to_bits())
    }
}
