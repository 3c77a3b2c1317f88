//! Sixteen virtual lanes in K registers.

use crate::plain_decode::VIRTUAL_LANES;
use crate::real::Real;
use crate::simd::Simd;

/// Prefetch distance, in rows of keys or values. Without prefetching, 8192 keys took half as long again.
pub(super) const PREFETCH_ROWS: usize = 16;

/// The sixteen lanes of K registers.
#[inline(always)]
pub(super) fn virtual_lanes<T: Real, S: Simd<T>, const K: usize>(
    simd: S,
    registers: [S::Register; K],
) -> [T; VIRTUAL_LANES] {
    let mut lanes = [T::ZERO; VIRTUAL_LANES];
    for (part, register) in registers.into_iter().enumerate() {
        // SAFETY: K registers hold sixteen numbers.
        unsafe { simd.store(register, &mut lanes[part * S::LANES..]) };
    }
    lanes
}

/// [`fold`](crate::plain_decode::fold) for `count` sums of sixteen lanes, a register of results at a time: each time two sums
/// are halved, one exchange of half registers aligns the halves to be added.
#[inline(always)]
pub(super) fn fold_all<T: Real, S: Simd<T>, const K: usize>(
    simd: S,
    mut sums: [[S::Register; K]; VIRTUAL_LANES],
    count: usize,
) -> [T; VIRTUAL_LANES] {
    let mut results = [T::ZERO; VIRTUAL_LANES];
    let mut from = 0;
    while from < count {
        let sums = &mut sums[from..from + S::LANES];
        for sum in sums.iter_mut() {
            let mut half = K / 2;
            while half > 0 {
                for part in 0..half {
                    sum[part] = simd.add(sum[part], sum[part + half]);
                }
                half /= 2;
            }
        }
        let mut half = S::LANES / 2;
        while half > 0 {
            for i in 0..half {
                let (low, high) = simd.exchange(sums[i][0], sums[i + half][0], half);
                sums[i][0] = simd.add(low, high);
            }
            half /= 2;
        }
        // SAFETY: LANES divides sixteen.
        unsafe { simd.store(sums[0][0], &mut results[from..]) };
        from += S::LANES;
    }
    results
}
