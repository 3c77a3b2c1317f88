//! The comparison of a student's numbers with the expected ones, within their digits.

use std::borrow::Cow;

use crate::matrix::Matrix;

use super::Answer;
use super::numbers::NodeNumbers;
use super::tolerance::{CellTolerance, decimals_of, half_unit};

/// The difference between a student's numbers and the expected ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The number of cells beyond the tolerance.
    pub cells: usize,
    /// The number of all cells.
    pub of: usize,
    /// The max distance; ∞ where one of both is not finite, or is NaN.
    pub max: f64,
    /// The tolerance of the cell with the max distance.
    pub allowed: f64,
    /// The row and column of that cell, from 0.
    pub at: (usize, usize),
    /// The student's number there.
    pub yours: f64,
    /// The number expected there.
    pub expected: f64,
    /// The first cell beyond the tolerance, row by row, or else the cell with the max distance.
    pub first: (usize, usize),
}

impl Difference {
    /// Whether every cell is near enough.
    pub fn fits(&self) -> bool {
        self.cells == 0
    }

    /// The decimals that the answer's numbers carry, at most six, where the largest difference is at most half a unit of the last
    /// of them (and what the type of the file rounds).
    pub fn rounded_to(&self, answer: &Answer) -> Option<usize> {
        let stored = answer.roundoff * self.expected.abs();
        answer.decimals.filter(|&decimals| decimals <= 6 && self.max <= half_unit(decimals) + stored)
    }

    /// The decimals to which the answer is right: no more than its numbers carry, and no more than its largest difference leaves.
    /// `None` where not even whole numbers agree.
    pub fn right_to(&self, answer: &Answer) -> Option<usize> {
        let supported = || {
            let left = decimals_of(self.max)?;
            Some(answer.decimals.map_or(left, |carried| left.min(carried)))
        };
        self.rounded_to(answer).or_else(supported)
    }

    /// Returns true if the answer's numbers have one or two decimals and agree with the right ones to these decimals.
    pub fn rounded_by_hand(&self, answer: &Answer) -> bool {
        self.rounded_to(answer).is_some_and(|decimals| (1..=2).contains(&decimals))
    }
}

/// The distance of two numbers: NaN is at 0 from NaN alone, an infinity from itself alone.
pub(super) fn distance(yours: f64, expected: f64) -> f64 {
    if yours == expected || (yours.is_nan() && expected.is_nan()) {
        return 0.0;
    }
    let distance = (yours - expected).abs();
    if distance.is_finite() { distance } else { f64::INFINITY }
}

/// The difference between two matrices; `allowed` gives the tolerance of a cell from its place and expected number. `None`
/// where the shapes differ.
pub(super) fn difference(
    yours: &Matrix,
    expected: &Matrix,
    allowed: impl Fn((usize, usize), f64) -> f64,
) -> Option<Difference> {
    if yours.shape() != expected.shape() {
        return None;
    }
    let (yours, cells) = (hiding_like(yours, expected), yours.rows() * yours.cols());
    // Matrices without cells are equal.
    let start = yours.cells().zip(expected.cells()).next().unwrap_or((0.0, 0.0));
    let mut all = Difference {
        cells: 0,
        of: cells,
        max: 0.0,
        allowed: if cells == 0 { 0.0 } else { allowed((0, 0), start.1) },
        at: (0, 0),
        yours: start.0,
        expected: start.1,
        first: (0, 0),
    };
    for i in 0..yours.rows() {
        for j in 0..yours.cols() {
            let (own, right) = (yours[(i, j)], expected[(i, j)]);
            let distance = distance(own, right);
            if distance > all.max {
                (all.max, all.at, all.yours, all.expected) = (distance, (i, j), own, right);
                all.allowed = allowed((i, j), right);
            }
            if distance > allowed((i, j), right) {
                if all.cells == 0 {
                    all.first = (i, j);
                }
                all.cells += 1;
            }
        }
    }
    if all.cells == 0 {
        all.first = all.at;
    }
    Some(all)
}

/// The max distance, if every cell is near enough.
pub(super) fn residual(yours: &Matrix, expected: &Matrix, allowed: CellTolerance) -> Option<f64> {
    if yours.shape() != expected.shape() {
        return None;
    }
    max_within(&hiding_like(yours, expected), expected, allowed)
}

/// The same, faster for frequent comparisons: without hidden cells, the first cell beyond the tolerance ends it.
pub(super) fn residual_of(yours: &Matrix, expected: &NodeNumbers, allowed: CellTolerance) -> Option<f64> {
    if expected.hides || yours.shape() != expected.matrix.shape() {
        return residual(yours, &expected.matrix, allowed);
    }
    max_within(yours, &expected.matrix, allowed)
}

/// The max distance of two matrices of one shape, if every cell is near enough.
fn max_within(yours: &Matrix, expected: &Matrix, allowed: CellTolerance) -> Option<f64> {
    let mut max: f64 = 0.0;
    for (yours, expected) in yours.cells().zip(expected.cells()) {
        let distance = distance(yours, expected);
        if distance > allowed.around(expected) {
            return None;
        }
        max = max.max(distance);
    }
    Some(max)
}

/// The numbers, with −∞ in place of scores whose weight is 0 (too far below the row's max) where −∞ is expected: −1e9 hides a
/// key as well as −∞ does.
pub(super) fn hiding_like<'a>(yours: &'a Matrix, expected: &Matrix) -> Cow<'a, Matrix> {
    /// e⁻⁷⁴⁵ is the last power of e that is not 0 in 64 bits.
    const BELOW_ALL: f64 = 746.0;
    let is_hidden = |x: f64| x == f64::NEG_INFINITY;
    if !expected.cells().any(is_hidden) || yours.cells().any(is_hidden) {
        return Cow::Borrowed(yours);
    }
    let row_max: Vec<f64> = (0..yours.rows()).map(|i| crate::attention::max(yours.row(i))).collect();
    Cow::Owned(Matrix::from_fn(yours.rows(), yours.cols(), |i, j| {
        let hidden = is_hidden(expected[(i, j)]) && yours[(i, j)] < row_max[i] - BELOW_ALL;
        if hidden { f64::NEG_INFINITY } else { yours[(i, j)] }
    }))
}

#[cfg(test)]
mod tests {
    use super::super::tolerance::Tolerance;
    use super::*;

    fn fits(yours: &[f64], expected: &[f64], decimals: Option<usize>, roundoff: f64) -> bool {
        let row = |cells: &[f64]| Matrix::from_row_major(1, cells.len(), cells).unwrap();
        let answer = Answer { name: "O".into(), matrices: Vec::new(), decimals, digits: None, roundoff };
        let allowed = CellTolerance::between(&answer, &row(expected), &Tolerance::default());
        difference(&row(yours), &row(expected), |_, x| allowed.around(x)).unwrap().fits()
    }

    #[test]
    fn numbers_rounded_to_two_decimals_are_right_if_they_are_right_to_two_decimals() {
        let expected = [0.4361, 0.125, -0.0951];
        assert!(fits(&[0.44, 0.13, -0.10], &expected, Some(2), 0.0));
        assert!(fits(&[0.44, 0.12, -0.10], &expected, Some(2), 0.0), "a five may go either way");
        assert!(!fits(&[0.43, 0.13, -0.10], &expected, Some(2), 0.0), "cut off is not rounded");
        assert!(!fits(&[0.44, 0.13, -0.10], &expected, Some(3), 0.0), "0.440 claims three decimals");
    }

    #[test]
    fn whole_numbers_are_rounded_ones_only_where_that_leaves_something_to_tell() {
        assert!(!fits(&[1.0, 0.0], &[0.7, 0.3], Some(0), 0.0));
        assert!(fits(&[12.0, 30.0], &[12.4, 30.2], Some(0), 0.0));
        assert!(fits(&[1.0, 0.0], &[1.0, 0.0], Some(0), 0.0));
    }

    #[test]
    fn nan_is_nan_and_an_infinity_is_itself_and_nothing_else() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        assert!(fits(&[nan, inf, -inf], &[nan, inf, -inf], None, 0.0));
        for (yours, expected) in [(nan, 1.0), (1.0, nan), (inf, -inf), (1e300, inf), (nan, -inf)] {
            assert!(!fits(&[yours], &[expected], Some(2), 0.0), "{yours} for {expected}");
        }
    }

    #[test]
    fn what_half_precision_cannot_hold_is_not_held_against_it() {
        // 1/3 in half precision is 0.33325195.
        assert!(fits(&[0.333_251_95], &[1.0 / 3.0], Some(8), 1.0 / 2048.0));
        assert!(!fits(&[0.333_251_95], &[1.0 / 3.0], Some(8), 0.0));
    }

    #[test]
    fn the_first_wrong_cell_and_the_worst_are_told_apart() {
        let expected = Matrix::of([[1.0, 2.0], [3.0, 4.0]]);
        let yours = Matrix::of([[1.0, 2.5], [9.0, 4.0]]);
        let answer =
            Answer { name: "O".into(), matrices: Vec::new(), decimals: None, digits: None, roundoff: 0.0 };
        let allowed = CellTolerance::between(&answer, &expected, &Tolerance::default());
        let usual = |_, x| allowed.around(x);
        let found = difference(&yours, &expected, usual).unwrap();
        assert_eq!((found.cells, found.of, found.first, found.at, found.max), (2, 4, (0, 1), (1, 0), 6.0));
        assert!(difference(&yours, &expected.transposed(), usual).is_some());
        assert!(difference(&yours, &Matrix::of([[1.0]]), usual).is_none());
    }
}
