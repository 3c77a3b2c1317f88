//! The comparison of a student's numbers with the expected ones, within their digits.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::attention::number::Number;
use crate::matrix::Matrix;

use super::Answer;

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
    for at in expected.shape().places() {
        let (own, right) = (yours[at], expected[at]);
        let distance = distance(own, right);
        if distance > all.max {
            (all.max, all.at, all.yours, all.expected) = (distance, at, own, right);
            all.allowed = allowed(at, right);
        }
        if distance > allowed(at, right) {
            if all.cells == 0 {
                all.first = at;
            }
            all.cells += 1;
        }
    }
    if all.cells == 0 {
        all.first = all.at;
    }
    Some(all)
}

/// The cells that are further from the expected number than is allowed around it, row by row; none where the shapes differ.
pub(super) fn differing_cells(
    yours: &Matrix,
    expected: &Matrix,
    allowed: impl Fn(f64) -> f64,
) -> Vec<(usize, usize)> {
    if yours.shape() != expected.shape() {
        return Vec::new();
    }
    let yours = hiding_like(yours, expected);
    let differs = |&at: &(usize, usize)| distance(yours[at], expected[at]) > allowed(expected[at]);
    expected.shape().places().filter(differs).collect()
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
    let row_max: Vec<f64> = (0..yours.rows()).map(|i| Number::max(yours.row(i))).collect();
    Cow::Owned(Matrix::from_fn(yours.rows(), yours.cols(), |i, j| {
        let hidden = is_hidden(expected[(i, j)]) && yours[(i, j)] < row_max[i] - BELOW_ALL;
        if hidden { f64::NEG_INFINITY } else { yours[(i, j)] }
    }))
}

// The numbers of one node in one computation.

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
        let max_size = <f64 as Number>::max(cells().filter(|x| x.is_finite()).map(f64::abs));
        let hides = cells().any(|x| x == f64::NEG_INFINITY);
        NodeNumbers { matrix, max_size: max_size.max(0.0), hides }
    }

    /// A hash of the matrix.
    pub(super) fn bits(&self) -> u64 {
        let mix = |all: u64, bits: u64| (all ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let cells = self.matrix.column_by_column().iter();
        cells.map(|x| x.to_bits()).fold(self.matrix.rows() as u64, mix)
    }
}

// The tolerance between a student's numbers and the expected ones, which depends on their digits.

/// The tolerance of a number: `absolute + relative · |expected|`, as in `numpy.allclose`. Where the
/// student's file carries few digits, half a unit of its last one is allowed as well.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// A share of the expected number; where none is given, 1e-5, or what the type of the file can hold.
    pub relative: Option<f64>,
    /// A number; where none is given, a millionth part of the largest number expected, or what the type of the file can
    /// hold of it.
    pub absolute: Option<f64>,
}

/// The default relative tolerance, and the default absolute one as a share of the max size: both within single precision.
const RELATIVE: f64 = 1e-5;
const OF_MAX: f64 = 1e-6;
/// This many roundings of the type that a file stores its numbers in.
const ROUNDINGS: f64 = 4.0;

/// The part of the tolerance that depends on the answer alone, not on the expected numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerTolerance {
    relative: f64,
    absolute: Option<f64>,
    /// The default absolute tolerance, as a share of the max size of the expected numbers.
    of_max: f64,
    decimals: Option<usize>,
    /// Half a unit of the last of these decimals.
    half_unit: f64,
    digits: Option<usize>,
}

/// The tolerance of each cell of one comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellTolerance {
    relative: f64,
    absolute: f64,
    rounding: f64,
    digits: Option<usize>,
}

/// Numbers without decimals are taken for rounded ones where they spread over more than this; else they are exact.
const SPREAD_OF_WHOLE_NUMBERS: f64 = 10.0;

impl AnswerTolerance {
    /// The tolerance for an answer.
    pub(super) fn of(answer: &Answer, tolerance: &Tolerance) -> AnswerTolerance {
        let stored = ROUNDINGS * answer.roundoff;
        AnswerTolerance {
            relative: tolerance.relative.unwrap_or(RELATIVE.max(stored)),
            absolute: tolerance.absolute,
            of_max: OF_MAX.max(stored),
            decimals: answer.decimals,
            half_unit: answer.decimals.map_or(0.0, half_unit),
            digits: answer.digits,
        }
    }

    /// An upper bound of the tolerance of a cell, where the finite numbers of its matrix have this max size.
    pub(super) fn at_most(&self, max_size: f64, expected: f64) -> f64 {
        (self.absolute_beside(max_size) + self.relative * expected.abs())
            .max(self.half_unit)
            .max(half_unit_of_digits(self.digits, expected))
    }

    fn absolute_beside(&self, max_size: f64) -> f64 {
        self.absolute.unwrap_or(max_size * self.of_max)
    }

    /// The tolerance of the cells of a matrix whose finite numbers have this max size.
    fn beside(&self, expected: &Matrix, max_size: f64) -> CellTolerance {
        let is_rounding = |decimals| match decimals {
            0 => spread(expected) >= SPREAD_OF_WHOLE_NUMBERS,
            // If all numbers round to 0, the answer is no evidence.
            _ => self.half_unit < max_size / 2.0,
        };
        let rounding = if self.decimals.is_some_and(is_rounding) { self.half_unit } else { 0.0 };
        CellTolerance {
            relative: self.relative,
            absolute: self.absolute_beside(max_size),
            rounding,
            digits: self.digits,
        }
    }
}

impl CellTolerance {
    /// The tolerance between an answer and the expected numbers.
    pub(super) fn between(answer: &Answer, expected: &Matrix, tolerance: &Tolerance) -> CellTolerance {
        let max_size = expected.cells().filter(|x| x.is_finite()).fold(0.0, |max: f64, x| max.max(x.abs()));
        AnswerTolerance::of(answer, tolerance).beside(expected, max_size)
    }

    /// The same where the max size is known.
    pub(super) fn to(answer: &Answer, expected: &NodeNumbers, tolerance: &Tolerance) -> CellTolerance {
        AnswerTolerance::of(answer, tolerance).beside(&expected.matrix, expected.max_size)
    }

    /// The same where some of the numbers handed in are not 0, and each is to be the expected one rounded to its decimals.
    /// `None` where the answer has no decimals.
    pub(super) fn rounded(self, answer: &Answer) -> Option<CellTolerance> {
        let decimals = answer.decimals.filter(|&decimals| decimals > 0)?;
        let says_something = answer.matrices.iter().any(|matrix| matrix.cells().any(|x| x != 0.0));
        says_something.then(|| CellTolerance { rounding: half_unit(decimals), ..self })
    }

    /// Half a unit of the last digit that the student's numbers carry, where that is taken for rounding.
    pub(super) fn rounding(&self) -> f64 {
        self.rounding
    }

    /// Whether a number is as near to the expected one as is allowed.
    pub(super) fn allows(&self, yours: f64, expected: f64) -> bool {
        distance(yours, expected) <= self.around(expected)
    }

    /// The allowed distance from an expected number.
    pub(super) fn around(&self, expected: f64) -> f64 {
        if expected.is_finite() {
            (self.absolute + self.relative * expected.abs())
                .max(self.rounding)
                .max(half_unit_of_digits(self.digits, expected))
        } else {
            0.0
        }
    }
}

/// Half a unit of the last of this many decimals, and a little for the binary form of it.
pub(super) fn half_unit(decimals: usize) -> f64 {
    let unit = (0..decimals).fold(1.0, |unit: f64, _| unit / 10.0);
    0.5 * unit * (1.0 + 1e-9)
}

/// The powers of ten of usual numbers.
static POWERS_OF_TEN: LazyLock<Vec<f64>> =
    LazyLock::new(|| (-40..=40).filter_map(|exponent| format!("1e{exponent}").parse().ok()).collect());

/// Half a unit of the last of this many significant digits of a number.
fn half_unit_of_digits(digits: Option<usize>, x: f64) -> f64 {
    let Some(digits) = digits else { return 0.0 };
    // The power of ten just above the number: all its digits are behind the point of x / that power.
    let above = POWERS_OF_TEN.partition_point(|power| *power <= x.abs());
    POWERS_OF_TEN.get(above).map_or(0.0, |above| above * half_unit(digits.min(17)))
}

/// Numbers that agree to this many decimals are told to agree to all digits.
pub const MOST_DECIMALS: usize = 9;

/// The number of decimals to which numbers with this difference agree: it is at most half a unit of the last decimal.
pub fn decimals_of(difference: f64) -> Option<usize> {
    (0..=MOST_DECIMALS).rev().find(|&decimals| difference <= half_unit(decimals))
}

/// Min and max; ∞ and −∞ of no numbers.
pub(super) fn ends(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
}

/// Max minus min of the finite numbers.
pub(super) fn spread(matrix: &Matrix) -> f64 {
    let (low, high) = ends(matrix.cells().filter(|x| x.is_finite()));
    if low <= high { high - low } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::{Tolerance, *};

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
