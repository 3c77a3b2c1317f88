//! The problem of products example by example, and its check.

use super::tile::{Chain, Strided, multiply};
use crate::error::{Error, Result};

/// A factor: a matrix for each example, one after the other, or one matrix that all examples share.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a, T> {
    /// The numbers, row by row.
    pub numbers: &'a [T],
    /// True if the product reads its transpose.
    pub transposed: bool,
    /// True if all examples share it.
    pub shared: bool,
}

/// `out[e] = a[e] b[e]` for every example e of a batch.
///
/// # Shapes
/// a is (rows, inner) and b is (inner, cols) for each example, after a transpose if there is one; the result is (rows, cols).
#[derive(Clone, Copy, Debug)]
pub struct Products<'a, T> {
    /// The first factor.
    pub a: Operand<'a, T>,
    /// The second factor.
    pub b: Operand<'a, T>,
    /// The number of examples.
    pub examples: usize,
    /// The rows of a result.
    pub rows: usize,
    /// The length of the sums.
    pub inner: usize,
    /// The columns of a result.
    pub cols: usize,
}

/// A checked problem with its output.
#[doc(hidden)]
pub struct Task<'a, T> {
    pub(super) problem: Products<'a, T>,
    pub(super) out: &'a mut [T],
    /// Room for a transposed b.
    pub(super) packed: &'a mut Vec<T>,
}

impl<T> Products<'_, T> {
    pub(super) fn check(&self, out: usize) -> Result<()> {
        let Products { a, b, examples, rows, inner, cols } = self;
        let (examples, rows, inner, cols) = (*examples, *rows, *inner, *cols);
        let count = |operand: &Operand<'_, T>| if operand.shared { 1 } else { examples };
        let fits = |numbers: usize, count: usize, rows: usize, cols: usize| {
            rows.checked_mul(cols).and_then(|one| one.checked_mul(count)) == Some(numbers)
        };
        let fit = fits(a.numbers.len(), count(a), rows, inner)
            && fits(b.numbers.len(), count(b), inner, cols)
            && fits(out, examples, rows, cols);
        if fit {
            return Ok(());
        }
        Err(Error::Shape(format!(
            "{} and {} numbers are no factors of {examples} products of {rows}×{inner} and {inner}×{cols} with {out} results",
            a.numbers.len(),
            b.numbers.len()
        )))
    }
}

impl<T: Chain> Task<'_, T> {
    #[inline(always)]
    pub(super) fn run(self) {
        let Task { problem: Products { a, b, examples, mut rows, inner, cols }, out, packed } = self;
        let (one_a, one_b) = (rows * inner, inner * cols);
        let mut times = examples;
        if b.shared && !a.shared && !a.transposed {
            // The rows of all examples in one.
            rows *= examples;
            times = 1;
        }
        let results = rows * cols;
        for e in 0..times {
            let a_numbers = if a.shared { a.numbers } else { &a.numbers[e * one_a..] };
            let b_numbers = if b.shared { b.numbers } else { &b.numbers[e * one_b..(e + 1) * one_b] };
            let a = if a.transposed {
                Strided { numbers: a_numbers, row: 1, inner: rows }
            } else {
                Strided { numbers: a_numbers, row: inner, inner: 1 }
            };
            let out = &mut out[e * results..(e + 1) * results];
            if b.transposed {
                if e == 0 || !b.shared {
                    transpose(b_numbers, (cols, inner), packed);
                }
                multiply(a, packed, (inner, cols), out);
            } else {
                multiply(a, b_numbers, (inner, cols), out);
            }
        }
    }
}

/// The transpose of a matrix of this many rows and columns.
#[inline(always)]
fn transpose<T: Chain>(numbers: &[T], (rows, cols): (usize, usize), to: &mut Vec<T>) {
    to.clear();
    to.resize(rows * cols, T::ZERO);
    for i in 0..rows {
        for j in 0..cols {
            to[j * rows + i] = numbers[i * cols + j];
        }
    }
}
