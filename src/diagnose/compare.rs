//! Whether a student's numbers are those expected, as far as their digits can tell.

use crate::matrix::Matrix;

use super::Answer;

/// How far a number may be from the one expected. Where the student's file carries few digits, half a unit of its last
/// one is allowed as well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// A share of the expected number.
    pub relative: f64,
    /// A number; where none is given, a millionth part of the largest number expected.
    pub absolute: Option<f64>,
}

impl Default for Tolerance {
    /// 1e-5 of each number, and 1e-6 of the largest: what single precision keeps.
    fn default() -> Tolerance {
        Tolerance { relative: 1e-5, absolute: None }
    }
}

/// The distance between a student's numbers and those expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// How many cells are further away than allowed.
    pub cells: usize,
    /// How many cells there are.
    pub of: usize,
    /// The largest distance; ∞ where one of both is not finite, or is NaN.
    pub largest: f64,
    /// Where that is: row and column from 0.
    pub at: (usize, usize),
    /// The first cell that is further away than allowed, row by row, or where the largest distance is.
    pub first: (usize, usize),
}

impl Difference {
    /// Whether every cell is near enough.
    pub fn fits(&self) -> bool {
        self.cells == 0
    }
}

/// What is allowed in each cell of one comparison.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed {
    relative: f64,
    absolute: f64,
    rounding: f64,
}

/// Numbers without decimals are taken for rounded ones where they spread over more than this; else they are exact.
const SPREAD_OF_WHOLE_NUMBERS: f64 = 10.0;

impl Allowed {
    /// What is allowed between an answer and these numbers.
    pub(super) fn between(answer: &Answer, expected: &Matrix, tolerance: &Tolerance) -> Allowed {
        let largest = expected.cells().filter(|x| x.is_finite()).fold(0.0, |max: f64, x| max.max(x.abs()));
        // A few roundings of the type that the file stores.
        let relative = tolerance.relative.max(8.0 * answer.roundoff);
        let absolute = tolerance
            .absolute
            .unwrap_or_else(|| largest * (tolerance.relative / 10.0).max(8.0 * answer.roundoff));
        let rounding = match answer.decimals {
            Some(0) if spread(expected) < SPREAD_OF_WHOLE_NUMBERS => 0.0,
            Some(decimals) => half_unit(decimals),
            None => 0.0,
        };
        Allowed { relative, absolute, rounding }
    }

    /// Half a unit of the last digit that the student's numbers carry, where that is taken for rounding.
    pub(super) fn rounding(&self) -> f64 {
        self.rounding
    }

    /// How far from this number a student's may be.
    pub(super) fn around(&self, expected: f64) -> f64 {
        (self.absolute + self.relative * expected.abs()).max(self.rounding)
    }
}

/// Half a unit of the last of so many decimals, and a little for the binary form of it.
fn half_unit(decimals: usize) -> f64 {
    let unit = (0..decimals).fold(1.0, |unit: f64, _| unit / 10.0);
    0.5 * unit * (1.0 + 1e-9)
}

/// The largest finite number less the smallest.
pub(super) fn spread(matrix: &Matrix) -> f64 {
    let finite = || matrix.cells().filter(|x| x.is_finite());
    let (low, high) =
        finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    if low <= high { high - low } else { 0.0 }
}

/// The distance of two numbers: NaN is at 0 from NaN alone, an infinity from itself alone.
pub(super) fn distance(yours: f64, expected: f64) -> f64 {
    if yours == expected || (yours.is_nan() && expected.is_nan()) {
        return 0.0;
    }
    let distance = (yours - expected).abs();
    if distance.is_finite() { distance } else { f64::INFINITY }
}

/// The difference between matrices of one shape; `None` where the shapes differ.
pub(super) fn difference(yours: &Matrix, expected: &Matrix, allowed: Allowed) -> Option<Difference> {
    if yours.shape() != expected.shape() {
        return None;
    }
    let mut all =
        Difference { cells: 0, of: yours.rows() * yours.cols(), largest: 0.0, at: (0, 0), first: (0, 0) };
    for i in 0..yours.rows() {
        for j in 0..yours.cols() {
            let distance = distance(yours[(i, j)], expected[(i, j)]);
            if distance > all.largest {
                (all.largest, all.at) = (distance, (i, j));
            }
            if distance > allowed.around(expected[(i, j)]) {
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

/// The largest distance, if every cell is near enough.
pub(super) fn residual(yours: &Matrix, expected: &Matrix, allowed: Allowed) -> Option<f64> {
    if yours.shape() != expected.shape() {
        return None;
    }
    let mut largest: f64 = 0.0;
    for (yours, expected) in yours.cells().zip(expected.cells()) {
        let distance = distance(yours, expected);
        if distance > allowed.around(expected) {
            return None;
        }
        largest = largest.max(distance);
    }
    Some(largest)
}
