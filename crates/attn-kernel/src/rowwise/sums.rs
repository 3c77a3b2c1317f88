//! Sums over a row: sixteen chains, column j in chain j mod 16, folded 16 → 8 → 4 → 2 → 1.

use crate::plain_decode::{VIRTUAL_LANES, fold};
use crate::simd::Simd;

/// The most registers that sixteen `f32` fill.
const MAX_REGISTERS: usize = 4;

/// The plain version: `add(sum, x)` for every number of the row.
pub(super) fn sum(row: &[f32], add: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [0.0; VIRTUAL_LANES];
    for (j, x) in row.iter().enumerate() {
        lanes[j % VIRTUAL_LANES] = add(lanes[j % VIRTUAL_LANES], *x);
    }
    fold(lanes)
}

/// The same sum in registers; `replace` also makes a new number of each, which is not negative, and 0 of `none`.
#[inline(always)]
pub(super) fn replace_and_sum<S: Simd<f32>>(
    simd: S,
    row: &mut [f32],
    none: f32,
    replace: impl Fn(S::Register) -> S::Register + Copy,
) -> f32 {
    let mut sums = [simd.splat(0.0); MAX_REGISTERS];
    let (sixteens, last) = row.as_chunks_mut::<VIRTUAL_LANES>();
    for sixteen in sixteens {
        replace_sixteen(simd, sixteen, &mut sums, replace);
    }
    if !last.is_empty() {
        // What fills up the last sixteen adds 0.
        let mut sixteen = [none; VIRTUAL_LANES];
        sixteen[..last.len()].copy_from_slice(last);
        replace_sixteen(simd, &mut sixteen, &mut sums, replace);
        last.copy_from_slice(&sixteen[..last.len()]);
    }
    fold(lanes_of(simd, &sums))
}

#[inline(always)]
fn replace_sixteen<S: Simd<f32>>(
    simd: S,
    sixteen: &mut [f32; VIRTUAL_LANES],
    sums: &mut [S::Register; MAX_REGISTERS],
    replace: impl Fn(S::Register) -> S::Register + Copy,
) {
    for at in 0..VIRTUAL_LANES / S::LANES {
        let numbers = &mut sixteen[at * S::LANES..][..S::LANES];
        // SAFETY: this part is as long as a register.
        let x = replace(unsafe { simd.load(numbers) });
        // SAFETY: as above.
        unsafe { simd.store(x, numbers) };
        sums[at] = simd.add(sums[at], x);
    }
}

/// The same sum in registers: `add(sum, x)` for every number of the row.
#[inline(always)]
pub(super) fn sum_in_registers<S: Simd<f32>>(
    simd: S,
    row: &[f32],
    add: impl Fn(S::Register, S::Register) -> S::Register,
    add_one: impl Fn(f32, f32) -> f32,
) -> f32 {
    let mut sums = [simd.splat(0.0); MAX_REGISTERS];
    let (sixteens, last) = row.as_chunks::<VIRTUAL_LANES>();
    for sixteen in sixteens {
        for (numbers, sum) in sixteen.chunks_exact(S::LANES).zip(&mut sums) {
            // SAFETY: a chunk is as long as a register.
            *sum = add(*sum, unsafe { simd.load(numbers) });
        }
    }
    let mut lanes = lanes_of(simd, &sums);
    for (x, lane) in last.iter().zip(&mut lanes) {
        *lane = add_one(*lane, *x);
    }
    fold(lanes)
}

/// The sixteen lanes of the first registers.
#[inline(always)]
fn lanes_of<S: Simd<f32>>(simd: S, sums: &[S::Register; MAX_REGISTERS]) -> [f32; VIRTUAL_LANES] {
    let mut lanes = [0.0; VIRTUAL_LANES];
    for at in 0..VIRTUAL_LANES / S::LANES {
        // SAFETY: this part is as long as a register.
        unsafe { simd.store(sums[at], &mut lanes[at * S::LANES..][..S::LANES]) };
    }
    lanes
}
