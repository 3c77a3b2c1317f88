//! The product of one example, tile by tile: some rows times some columns, whose sums stay in registers.

use crate::real::Real;

/// A number type with the step of a chain.
pub trait Chain: Real {
    /// `sum + a · b`: fused in `f32`, rounded twice in `f64`.
    fn chain(sum: Self, a: Self, b: Self) -> Self;
}

impl Chain for f32 {
    #[inline(always)]
    fn chain(sum: f32, a: f32, b: f32) -> f32 {
        a.mul_add(b, sum)
    }
}

impl Chain for f64 {
    #[inline(always)]
    fn chain(sum: f64, a: f64, b: f64) -> f64 {
        sum + a * b
    }
}

/// The rows of a tile.
const ROWS: usize = 4;

/// The first factor of one example: cell (i, k) is at `i · row + k · inner`.
#[derive(Clone, Copy)]
pub(super) struct Strided<'a, T> {
    pub numbers: &'a [T],
    pub row: usize,
    pub inner: usize,
}

/// One example: `out = a b`, with b row by row.
#[inline(always)]
pub(super) fn multiply<T: Chain>(a: Strided<'_, T>, b: &[T], (inner, cols): (usize, usize), out: &mut [T]) {
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
fn rows<T: Chain, const M: usize>(
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
fn tile<T: Chain, const M: usize, const W: usize>(
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
