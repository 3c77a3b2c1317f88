//! The tolerance between a student's numbers and the expected ones, which depends on their digits.

use std::sync::LazyLock;

use crate::matrix::Matrix;

use super::Answer;
use super::numbers::NodeNumbers;

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

/// Max minus min of the finite numbers.
pub(super) fn spread(matrix: &Matrix) -> f64 {
    let finite = || matrix.cells().filter(|x| x.is_finite());
    let (low, high) =
        finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    if low <= high { high - low } else { 0.0 }
}
