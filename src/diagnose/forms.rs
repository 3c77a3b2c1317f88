//! Ways to compute attention that are no mistakes: numbers on the way differ, the result does not.

use crate::graph::{Graph, Op};
use crate::matrix::Matrix;

use super::candidates::standing_for;

/// Another right way. (A mask that is applied after the softmax, with the rows divided by what is left of them, needs no
/// entry: its weights are the right ones.)
#[derive(Debug)]
pub struct Form {
    /// Its name in JSON.
    pub id: &'static str,
    /// What was done, and why it comes to the same.
    pub says: &'static str,
    /// The nodes that come out scaled, by their first letter.
    scaled: &'static [char],
}

/// All of them.
pub const FORMS: &[Form] = &[
    Form {
        id: "queries-scaled",
        says: "the queries were scaled before the product, which scales every score",
        scaled: &['Q', 'S'],
    },
    Form {
        id: "keys-scaled",
        says: "the keys were scaled before the product, which scales every score",
        scaled: &['K', 'S'],
    },
];

impl Form {
    /// What a node holds in this form, where that is not what it holds in the right graph.
    pub(super) fn matrix(&self, right: &Graph, node: &str) -> Option<Matrix> {
        let bare = node.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
        if !self.scaled.iter().any(|letter| bare == letter.to_string()) {
            return None;
        }
        let factor = right.nodes().find_map(|(_, node)| match node.op {
            Op::Scale(factor) => Some(factor.value()),
            _ => None,
        })?;
        Some(standing_for(right, node)?.map(|x| x * factor))
    }
}

/// The numbers with every score that weighs nothing (below the largest of its row by more than any softmax can see)
/// written as −∞ where −∞ is expected: −1e9 hides a key as well as −∞ does.
pub(super) fn with_infinities(yours: &Matrix, expected: &Matrix) -> Option<Matrix> {
    /// e⁻⁷⁴⁵ is the last power of e that is not 0 in 64 bits.
    const BELOW_ALL: f64 = 746.0;
    if yours.shape() != expected.shape() {
        return None;
    }
    let largest: Vec<f64> =
        (0..yours.rows()).map(|i| yours.row(i).fold(f64::NEG_INFINITY, f64::max)).collect();
    let hidden =
        |i: usize, j: usize| expected[(i, j)] == f64::NEG_INFINITY && yours[(i, j)] < largest[i] - BELOW_ALL;
    let mut any = false;
    let matrix = Matrix::from_fn(yours.rows(), yours.cols(), |i, j| {
        any |= hidden(i, j) && yours[(i, j)].is_finite();
        if hidden(i, j) { f64::NEG_INFINITY } else { yours[(i, j)] }
    });
    any.then_some(matrix)
}
