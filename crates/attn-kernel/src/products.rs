//! Products of many small matrices, one for each example of a batch: what a training step multiplies.
//!
//! The matrices are too small for the blocks of [`crate::linear`], and there are thousands of them. Each cell of a result is one
//! chain over the inner dimension, from left to right, starting at +0: in `f32` of fused multiply-adds, in `f64` of a product and
//! a sum that are rounded one after the other, as in the definition. No result depends on the instruction set, on the batch or on
//! the place in it.

use std::marker::PhantomData;

use crate::error::{Error, Result};
use crate::real::Real;
use crate::simd::{InstructionSet, SimdLevel, WithSet, Work};

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
    problem: Products<'a, T>,
    out: &'a mut [T],
    /// Room for a transposed b.
    packed: &'a mut Vec<T>,
}

impl<T> Products<'_, T> {
    fn check(&self, out: usize) -> Result<()> {
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

impl<'a, T: Real> Task<'a, T> {
    /// # Errors
    /// [`Error::Shape`] if the numbers do not fit the shapes.
    pub(crate) fn new(problem: Products<'a, T>, packed: &'a mut Vec<T>, out: &'a mut [T]) -> Result<Self> {
        problem.check(out.len())?;
        Ok(Task { problem, out, packed })
    }
}

/// A function that multiplies all examples of a task. It is not safe on a processor without its instruction set.
pub type ProductKernel<T> = unsafe fn(Task<'_, T>);

/// The kernel of a level, for processors that have it; the plain version for [`SimdLevel::Portable`].
pub(crate) fn kernel<T: Real>(level: SimdLevel) -> ProductKernel<T> {
    level.with_set(MakeKernel::<T>(PhantomData)).unwrap_or(|task| task.run())
}

struct MakeKernel<T>(PhantomData<T>);

impl<T: Real> WithSet for MakeKernel<T> {
    type Output = ProductKernel<T>;

    fn call<S: InstructionSet>(self) -> ProductKernel<T> {
        S::run::<MakeKernel<T>>
    }
}

impl<T: Real, S> Work<S> for MakeKernel<T> {
    type Input<'a> = Task<'a, T>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(_: S, task: Task<'_, T>) {
        task.run();
    }
}

// The examples one after the other, each tile by tile: some rows times some columns, whose sums stay in registers.

impl<T: Real> Task<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Task { problem: Products { a, b, examples, mut rows, inner, cols }, out, packed } = self;
        let (one_a, one_b) = (rows * inner, inner * cols);
        let mut times = examples;
        if b.shared && !a.shared && !a.transposed {
            // The rows of all examples in one.
            rows *= examples;
            times = 1;
        }
        let results = rows * cols;
        let [row, column] = if a.transposed { [1, rows] } else { [inner, 1] };
        for e in 0..times {
            let a = if a.shared { a.numbers } else { &a.numbers[e * one_a..] };
            let b_numbers = if b.shared { b.numbers } else { &b.numbers[e * one_b..(e + 1) * one_b] };
            if b.transposed && (e == 0 || !b.shared) {
                transpose(b_numbers, (cols, inner), packed);
            }
            let b = if b.transposed { &packed[..] } else { b_numbers };
            let product = Product { a, row, column, b, inner, cols };
            product.write(&mut out[e * results..(e + 1) * results]);
        }
    }
}

/// The transpose of a matrix of this many rows and columns.
#[inline(always)]
fn transpose<T: Real>(numbers: &[T], (rows, cols): (usize, usize), to: &mut Vec<T>) {
    to.clear();
    to.resize(rows * cols, T::ZERO);
    for i in 0..rows {
        for j in 0..cols {
            to[j * rows + i] = numbers[i * cols + j];
        }
    }
}

/// The rows of a tile.
const ROWS: usize = 4;

/// The product of one example, `a b`, with b row by row.
#[derive(Clone, Copy)]
struct Product<'a, T> {
    a: &'a [T],
    /// From one row of a to the next, and from one column.
    row: usize,
    column: usize,
    b: &'a [T],
    inner: usize,
    cols: usize,
}

impl<T: Real> Product<'_, T> {
    #[inline(always)]
    fn write(self, out: &mut [T]) {
        if self.cols == 0 {
            return;
        }
        let all = out.len() / self.cols;
        let mut first = 0;
        while first + ROWS <= all {
            self.rows::<ROWS>(first, &mut out[first * self.cols..][..ROWS * self.cols]);
            first += ROWS;
        }
        while first < all {
            self.rows::<1>(first, &mut out[first * self.cols..][..self.cols]);
            first += 1;
        }
    }

    /// M rows of the result, in tiles of 16, 8, 4 columns and single ones.
    #[inline(always)]
    fn rows<const M: usize>(self, first: usize, out: &mut [T]) {
        let mut at = 0;
        while at + 16 <= self.cols {
            self.tile::<M, 16>(first, at, out);
            at += 16;
        }
        if at + 8 <= self.cols {
            self.tile::<M, 8>(first, at, out);
            at += 8;
        }
        if at + 4 <= self.cols {
            self.tile::<M, 4>(first, at, out);
            at += 4;
        }
        while at < self.cols {
            self.tile::<M, 1>(first, at, out);
            at += 1;
        }
    }

    /// M rows and W columns of the result.
    #[inline(always)]
    fn tile<const M: usize, const W: usize>(self, first: usize, at: usize, out: &mut [T]) {
        let Product { a, row, column, b, inner, cols } = self;
        let mut sums = [[T::ZERO; W]; M];
        // Loops by index: iterators that are joined are not inlined in functions of an instruction set.
        for k in 0..inner {
            let Some(b) = b[k * cols + at..].first_chunk::<W>() else { return };
            for m in 0..M {
                let factor = a[(first + m) * row + k * column];
                for w in 0..W {
                    sums[m][w] = T::chain(sums[m][w], factor, b[w]);
                }
            }
        }
        for m in 0..M {
            out[m * cols + at..][..W].copy_from_slice(&sums[m]);
        }
    }
}
