//! Steps that go along rows or columns, or over all examples. Sums run from left to right, or from top to bottom, from +0.

use super::read::{Read, Reads, Working};
use crate::error::Result;
use crate::learn::number::Number;

/// A step whose cells are computed from whole rows or columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AlongLines<T> {
    Softmax,
    NegativeLogSoftmax,
    SumOfRows,
    SumOfColumns,
    SumOfAll,
    RepeatColumns,
    /// Each row divided by its root mean square, with this ε.
    RmsNorm(T),
    /// The sum over all examples of a batch, as one matrix.
    SumOfExamples,
}

impl<T: Number> AlongLines<T> {
    /// Computes the step for all examples.
    ///
    /// # Errors
    /// If rows do not fit.
    pub fn run(self, reads: Reads<'_, T>, working: &mut Working<T>, out: &mut [T]) -> Result<()> {
        let (a, cols) = (reads.input(0), reads.shape.cols);
        match self {
            AlongLines::Softmax => {
                out.copy_from_slice(a.numbers);
                return T::softmax(out, cols, working.simd);
            }
            AlongLines::NegativeLogSoftmax => {
                out.copy_from_slice(a.numbers);
                return T::negative_log_softmax(out, cols, (working.simd, &mut working.packed));
            }
            AlongLines::SumOfRows => {
                out.iter_mut().zip(a.rows()).for_each(|(out, row)| *out = sum(row));
            }
            AlongLines::SumOfColumns => sums_of_columns(a, reads.examples, out),
            AlongLines::SumOfAll => {
                out.iter_mut().enumerate().for_each(|(example, out)| *out = sum(a.of(example)));
            }
            AlongLines::RepeatColumns => repeat(a, cols, out),
            AlongLines::RmsNorm(epsilon) => rms_norm(a, epsilon, out),
            AlongLines::SumOfExamples => sums_of_examples(a, out),
        }
        Ok(())
    }
}

fn sum<T: Number>(numbers: &[T]) -> T {
    numbers.iter().fold(T::ZERO, |sum, x| sum + *x)
}

/// The sum of each column.
fn sums_of_columns<T: Number>(a: Read<'_, T>, examples: usize, out: &mut [T]) {
    let cols = a.place.shape.cols.max(1);
    out.fill(T::ZERO);
    for (example, sums) in out.chunks_exact_mut(cols).enumerate().take(examples) {
        for row in a.of(example).chunks_exact(cols) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum = *sum + *x);
        }
    }
}

/// Every column repeated until there are `cols` of them.
fn repeat<T: Number>(a: Read<'_, T>, cols: usize, out: &mut [T]) {
    let times = (cols / a.place.shape.cols.max(1)).max(1);
    for (out, x) in out.chunks_exact_mut(times).zip(a.numbers) {
        out.fill(*x);
    }
}

/// Each row divided by its root mean square.
fn rms_norm<T: Number>(a: Read<'_, T>, epsilon: T, out: &mut [T]) {
    let cols = a.place.shape.cols.max(1);
    let width = T::from_f64(cols as f64);
    for (out, row) in out.chunks_exact_mut(cols).zip(a.rows()) {
        let squares = row.iter().fold(T::ZERO, |sum, x| sum + *x * *x);
        let root = (squares / width + epsilon).root();
        out.iter_mut().zip(row).for_each(|(out, x)| *out = *x / root);
    }
}

/// The sum over all examples.
fn sums_of_examples<T: Number>(a: Read<'_, T>, out: &mut [T]) {
    out.fill(T::ZERO);
    for numbers in a.numbers.chunks_exact(a.len().max(1)) {
        out.iter_mut().zip(numbers).for_each(|(sum, x)| *sum = *sum + *x);
    }
}
