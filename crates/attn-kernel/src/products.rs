//! Products of many small matrices, one for each example of a batch: what a training step multiplies.
//!
//! The matrices are too small for the blocks of [`crate::linear`], and there are thousands of them. Each cell of a result is one
//! chain over the inner dimension, from left to right, starting at +0: in `f32` of fused multiply-adds, in `f64` of a product and
//! a sum that are rounded one after the other, as in the definition. No result depends on the instruction set, on the batch or on
//! the place in it.

use std::marker::PhantomData;

use crate::error::{Error, Result};
use crate::pool::Machine;
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

/// Multiplies, in the widest registers of `simd`. `packed` is working memory that is kept between calls.
///
/// # Errors
/// If the numbers do not fit the shapes, or this processor lacks the instruction set.
pub fn multiply_examples<T: ProductKernels>(
    problem: Products<'_, T>,
    simd: SimdLevel,
    packed: &mut Vec<T>,
    out: &mut [T],
) -> Result<()> {
    Machine { simd, threads: 1 }.check()?;
    problem.check(out.len())?;
    let kernel = T::products(simd);
    // SAFETY: the level was found available.
    unsafe { kernel(Task { problem, out, packed }) };
    Ok(())
}

/// A number type that there are products for: `f32` and `f64`.
pub trait ProductKernels: Real {
    /// `sum + a · b`: fused in `f32`, rounded twice in `f64`.
    #[doc(hidden)]
    fn chain(sum: Self, a: Self, b: Self) -> Self;

    /// The kernel of a level, for processors that have it; the plain version for [`SimdLevel::Portable`].
    #[doc(hidden)]
    fn products(level: SimdLevel) -> ProductKernel<Self>;
}

/// A function that multiplies all examples of a task. It is not safe on a processor without its instruction set.
pub type ProductKernel<T> = unsafe fn(Task<'_, T>);

// Not for every type at once: so the kernels are compiled here, with the optimisation of this crate, and not in the crates that call
// them.
macro_rules! impl_product_kernels {
    ($($number:ty: |$sum:ident, $a:ident, $b:ident| $chain:expr;)+) => {$(
        impl ProductKernels for $number {
            #[inline(always)]
            fn chain($sum: $number, $a: $number, $b: $number) -> $number {
                $chain
            }

            fn products(level: SimdLevel) -> ProductKernel<$number> {
                level.with_set(MakeKernel::<$number>(PhantomData)).unwrap_or(|task| task.run())
            }
        }
    )+};
}

impl_product_kernels! {
    f32: |sum, a, b| a.mul_add(b, sum);
    f64: |sum, a, b| sum + a * b;
}

struct MakeKernel<T>(PhantomData<T>);

impl<T: ProductKernels> WithSet for MakeKernel<T> {
    type Output = ProductKernel<T>;

    fn call<S: InstructionSet>(self) -> ProductKernel<T> {
        S::run::<MakeKernel<T>>
    }
}

impl<T: ProductKernels, S> Work<S> for MakeKernel<T> {
    type Input<'a> = Task<'a, T>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(_: S, task: Task<'_, T>) {
        task.run();
    }
}

// The examples one after the other, each tile by tile: some rows times some columns, whose sums stay in registers.

impl<T: ProductKernels> Task<'_, T> {
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
fn transpose<T: ProductKernels>(numbers: &[T], (rows, cols): (usize, usize), to: &mut Vec<T>) {
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

/// The first factor of one example: cell (i, k) is at `i · row + k · inner`.
#[derive(Clone, Copy)]
struct Strided<'a, T> {
    pub numbers: &'a [T],
    pub row: usize,
    pub inner: usize,
}

/// One example: `out = a b`, with b row by row.
#[inline(always)]
fn multiply<T: ProductKernels>(a: Strided<'_, T>, b: &[T], (inner, cols): (usize, usize), out: &mut [T]) {
    if cols == 0 {
        return;
    }
    let all = out.len() / cols;
    let mut first = 0;
    while first + ROWS <= all {
        rows::<T, ROWS>(a, first, b, (inner, cols), &mut out[first * cols..][..ROWS * cols]);
        first += ROWS;
    }
    while first < all {
        rows::<T, 1>(a, first, b, (inner, cols), &mut out[first * cols..][..cols]);
        first += 1;
    }
}

/// M rows of the result, in tiles of 16, 8, 4 columns and single ones.
#[inline(always)]
fn rows<T: ProductKernels, const M: usize>(
    a: Strided<'_, T>,
    first: usize,
    b: &[T],
    (inner, cols): (usize, usize),
    out: &mut [T],
) {
    let mut at = 0;
    while at + 16 <= cols {
        tile::<T, M, 16>(a, first, b, (inner, cols, at), out);
        at += 16;
    }
    if at + 8 <= cols {
        tile::<T, M, 8>(a, first, b, (inner, cols, at), out);
        at += 8;
    }
    if at + 4 <= cols {
        tile::<T, M, 4>(a, first, b, (inner, cols, at), out);
        at += 4;
    }
    while at < cols {
        tile::<T, M, 1>(a, first, b, (inner, cols, at), out);
        at += 1;
    }
}

/// M rows and W columns of the result.
#[inline(always)]
fn tile<T: ProductKernels, const M: usize, const W: usize>(
    a: Strided<'_, T>,
    first: usize,
    b: &[T],
    (inner, cols, at): (usize, usize, usize),
    out: &mut [T],
) {
    let mut sums = [[T::ZERO; W]; M];
    // Loops by index: iterators that are joined are not inlined in functions of an instruction set.
    for k in 0..inner {
        let Some(row) = b[k * cols + at..].first_chunk::<W>() else { return };
        for m in 0..M {
            let factor = a.numbers[(first + m) * a.row + k * a.inner];
            for w in 0..W {
                sums[m][w] = T::chain(sums[m][w], factor, row[w]);
            }
        }
    }
    for m in 0..M {
        out[m * cols + at..][..W].copy_from_slice(&sums[m]);
    }
}
