//! Ways to compute attention that are no mistakes: intermediate numbers differ, the result does not.

use crate::graph::build::{Hiding, Recipe, ScaledBefore};
use crate::matrix::Matrix;

use super::Change;

/// Another right way.
#[derive(Debug)]
pub struct Form {
    /// Its name in JSON.
    pub id: &'static str,
    /// What was done, and why it comes to the same.
    pub says: &'static str,
    /// What is changed in the recipe.
    pub change: Change,
}

/// All of them.
pub const FORMS: &[Form] = &[
    Form {
        id: "queries-scaled",
        says: "the queries were scaled before the product, which scales every score",
        change: Change::ScaledBefore(ScaledBefore::Queries),
    },
    Form {
        id: "keys-scaled",
        says: "the keys were scaled before the product, which scales every score",
        change: Change::ScaledBefore(ScaledBefore::Keys),
    },
    Form {
        id: "mask-late-renormalised",
        says: "the mask was applied after the softmax and the rows divided by what was left, which comes to the same",
        change: Change::Hiding(Hiding::AfterSoftmaxRenormalised),
    },
];

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

/// The forms that are possible in an exercise.
pub(super) fn possible(recipe: &Recipe) -> impl Iterator<Item = &'static Form> {
    let masked = recipe.mask.is_some();
    FORMS.iter().filter(move |form| masked || !matches!(form.change, Change::Hiding(_)))
}
