//! The one inner loop that nearly all the time is spent in.

use super::real::Real;
use super::simd::Simd;

/// `sums[i][r] + Σ_t a[i,t] · b[t][r]`: M rows of numbers times a matrix whose rows are R registers, t from first to last.
///
/// Both products of attention are this one: for the scores, a is keys and b the queries' columns; for the mixtures, a is
/// columns of values and b the weights. The M · R sums stay in registers throughout. For every t, R loads and M broadcasts
/// feed M · R multiply-adds; M · R must be about 8 or more, since each of the two multiply-add units takes 4 turns and a sum
/// waits for its own last one.
#[inline(always)]
pub(super) fn accumulate<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    mut sums: [[S::Register; R]; M],
    a: impl Fn(usize, usize) -> T,
    b: &[[S::Register; R]],
) -> [[S::Register; R]; M] {
    // Eight at a time, so that counting and addressing are few of the instructions: where another thread uses the same core,
    // it takes half of those that the core can begin.
    let (eights, last) = b.as_chunks::<UNROLLED>();
    for (eight, b) in eights.iter().enumerate() {
        for (t, b) in b.iter().enumerate() {
            multiply_add(simd, &mut sums, |i| a(i, eight * UNROLLED + t), b);
        }
    }
    for (t, b) in last.iter().enumerate() {
        multiply_add(simd, &mut sums, |i| a(i, eights.len() * UNROLLED + t), b);
    }
    sums
}

/// See [`accumulate`].
const UNROLLED: usize = 8;

#[inline(always)]
fn multiply_add<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    sums: &mut [[S::Register; R]; M],
    a: impl Fn(usize) -> T,
    b: &[S::Register; R],
) {
    for i in 0..M {
        let a = simd.splat(a(i));
        for r in 0..R {
            sums[i][r] = simd.mul_add(a, b[r], sums[i][r]);
        }
    }
}

/// The same, where the lanes whose bit is not set in `seen_by[t]` keep their sums, whatever a(i, t) is.
#[inline(always)]
pub(super) fn accumulate_seen<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    mut sums: [[S::Register; R]; M],
    a: impl Fn(usize, usize) -> T,
    b: &[[S::Register; R]],
    seen_by: &[u64],
) -> [[S::Register; R]; M] {
    for (t, (b, seen_by)) in b.iter().zip(seen_by).enumerate() {
        for i in 0..M {
            let a = simd.splat(a(i, t));
            for r in 0..R {
                let more = simd.mul_add(a, b[r], sums[i][r]);
                sums[i][r] = simd.choose(seen_by >> (r * S::LANES), more, sums[i][r]);
            }
        }
    }
    sums
}
