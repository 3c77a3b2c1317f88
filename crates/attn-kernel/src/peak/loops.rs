//! The two loops: one that only computes, one that only reads.

use std::hint::black_box;

use crate::prefetch::{self, LINE};
use crate::real::Real;
use crate::simd::Simd;

/// The loops that find the limits of one instruction set.
pub(crate) struct PeakKernel<T: 'static> {
    /// Multiply-adds of one turn of [`chains`], all lanes together.
    pub per_turn: usize,
    /// See [`chains`].
    pub chains: unsafe fn(usize) -> T,
    /// See [`total`].
    pub total: unsafe fn(&[T]) -> T,
}

impl<T: Real> PeakKernel<T> {
    /// The loops without SIMD.
    pub fn plain() -> PeakKernel<T> {
        PeakKernel { per_turn: PLAIN_CHAINS, chains: plain_chains::<T>, total: plain_total::<T> }
    }
}

/// The independent sums of [`total`], so that one addition need not wait for another.
const SUMS: usize = 8;

/// Prefetch distance of [`total`], in cache lines: by itself the processor looks less far ahead (34 GB/s instead of 47 with AVX-512).
const PREFETCH_LINES: usize = 64;

/// The chains without SIMD.
const PLAIN_CHAINS: usize = 16;

/// C independent chains of multiply-adds: enough to keep all units of a core busy, and no more than there are registers for.
/// The result only keeps the compiler from removing the loop.
#[inline(always)]
pub(crate) fn chains<T: Real, S: Simd<T>, const C: usize>(simd: S, turns: usize) -> T {
    // x ↦ 0.999 x + 0.001 converges to 1: no chain overflows or becomes subnormal, where arithmetic is slow.
    let (factor, summand) = (black_box(T::from_f64(0.999)), black_box(T::from_f64(0.001)));
    let (factor, summand) = (simd.splat(factor), simd.splat(summand));
    let mut chains = [simd.splat(T::ZERO); C];
    for (i, chain) in chains.iter_mut().enumerate() {
        *chain = simd.splat(black_box(T::from_f64(i as f64)));
    }
    for _ in 0..turns {
        for chain in &mut chains {
            *chain = simd.mul_add(*chain, factor, summand);
        }
    }
    sum_of_lanes(simd, &chains)
}

/// The sum of all numbers but a few last ones; the additions cost nothing compared with reading them.
#[inline(always)]
pub(crate) fn total<T: Real, S: Simd<T>>(simd: S, numbers: &[T]) -> T {
    let mut sums = [simd.splat(T::ZERO); SUMS];
    let lanes_per_line = LINE / size_of::<T>();
    for numbers in numbers.chunks_exact(SUMS * S::LANES) {
        for (i, sum) in sums.iter_mut().enumerate() {
            if (i * S::LANES).is_multiple_of(lanes_per_line) {
                prefetch::near(numbers.as_ptr().wrapping_add(i * S::LANES + PREFETCH_LINES * lanes_per_line));
            }
            // SAFETY: a chunk is SUMS registers long.
            *sum = simd.add(*sum, unsafe { simd.load(&numbers[i * S::LANES..]) });
        }
    }
    sum_of_lanes(simd, &sums)
}

#[inline(always)]
fn sum_of_lanes<T: Real, S: Simd<T>>(simd: S, registers: &[S::Register]) -> T {
    let lanes = registers.iter().flat_map(|&register| simd.numbers(register));
    lanes.fold(T::ZERO, |sum, lane| sum + lane)
}

/// [`chains`] without registers.
fn plain_chains<T: Real>(turns: usize) -> T {
    let (factor, summand) = (black_box(T::from_f64(0.999)), black_box(T::from_f64(0.001)));
    let mut chains: [T; PLAIN_CHAINS] = std::array::from_fn(|i| black_box(T::from_f64(i as f64)));
    for _ in 0..turns {
        for chain in &mut chains {
            *chain = chain.mul_add(factor, summand);
        }
    }
    chains.iter().fold(T::ZERO, |sum, &chain| sum + chain)
}

/// [`total`] without registers.
fn plain_total<T: Real>(numbers: &[T]) -> T {
    let mut sums = [T::ZERO; SUMS];
    for numbers in numbers.chunks_exact(SUMS) {
        for (sum, &number) in sums.iter_mut().zip(numbers) {
            *sum = *sum + number;
        }
    }
    sums.iter().fold(T::ZERO, |all, &sum| all + sum)
}
