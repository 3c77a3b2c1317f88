//! Steps that go along rows or columns, or over all examples. Sums run from left to right, or from top to bottom, from +0.

use super::cells::Read;
use crate::learn::number::Number;
use crate::matrix::Shape;

fn sum<T: Number>(numbers: &[T]) -> T {
    numbers.iter().fold(T::ZERO, |sum, x| sum + *x)
}

/// The sum of each row.
pub(super) fn sums_of_rows<T: Number>(a: Read<'_, T>, out: &mut [T]) {
    for (out, row) in out.iter_mut().zip(a.numbers.chunks_exact(a.place.shape.cols.max(1))) {
        *out = sum(row);
    }
}

/// The sum of each column.
pub(super) fn sums_of_columns<T: Number>(a: Read<'_, T>, examples: usize, out: &mut [T]) {
    let cols = a.place.shape.cols.max(1);
    out.fill(T::ZERO);
    for (example, sums) in out.chunks_exact_mut(cols).enumerate().take(examples) {
        for row in a.of(example).chunks_exact(cols) {
            for (sum, x) in sums.iter_mut().zip(row) {
                *sum = *sum + *x;
            }
        }
    }
}

/// The sum of all cells.
pub(super) fn sums_of_all<T: Number>(a: Read<'_, T>, examples: usize, out: &mut [T]) {
    for (example, out) in out.iter_mut().enumerate().take(examples) {
        *out = sum(a.of(example));
    }
}

/// Every column some times, side by side.
pub(super) fn repeat<T: Number>(a: Read<'_, T>, (shape, examples): (Shape, usize), out: &mut [T]) {
    let (from, to) = (a.place.shape.cols.max(1), shape.cols.max(1));
    let times = (to / from).max(1);
    let count = (shape.rows * shape.cols).max(1);
    for (example, part) in out.chunks_exact_mut(count).enumerate().take(examples) {
        for (out, row) in part.chunks_exact_mut(to).zip(a.of(example).chunks_exact(from)) {
            for (out, x) in out.chunks_exact_mut(times).zip(row) {
                out.fill(*x);
            }
        }
    }
}

/// Each row divided by its root mean square.
pub(super) fn rms_norm<T: Number>(a: Read<'_, T>, epsilon: T, out: &mut [T]) {
    let cols = a.place.shape.cols.max(1);
    let width = T::from_f64(cols as f64);
    for (out, row) in out.chunks_exact_mut(cols).zip(a.numbers.chunks_exact(cols)) {
        let squares = row.iter().fold(T::ZERO, |sum, x| sum + *x * *x);
        let root = (squares / width + epsilon).root();
        for (out, x) in out.iter_mut().zip(row) {
            *out = *x / root;
        }
    }
}

/// The sum over all examples.
pub(super) fn sums_of_examples<T: Number>(a: Read<'_, T>, out: &mut [T]) {
    out.fill(T::ZERO);
    for numbers in a.numbers.chunks_exact(a.len().max(1)) {
        for (sum, x) in out.iter_mut().zip(numbers) {
            *sum = *sum + *x;
        }
    }
}
