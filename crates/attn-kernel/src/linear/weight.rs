//! The types of weights.

use std::fmt::Debug;

use half::{bf16, f16};

use crate::simd::{LoadWeights, MAX_LANES, Simd};

/// A type of weights: `f32`, `f16` or `bf16`. All of their values are values of `f32` too, so widening is exact.
pub trait Weight: Copy + Debug + Default + Send + Sync + 'static {
    /// Its name: `f32`, `f16` or `bf16`.
    const NAME: &'static str;

    /// The same number as an `f32`.
    fn widen(self) -> f32;
}

/// The inputs of [`RegisterWeight::load_square`], a register for each: the second half is for those of a lane that holds two weights.
pub(super) type Square<S> = [[<S as Simd<f32>>::Register; MAX_LANES]; 2];

/// A weight that a register of `f32` can be filled with.
pub(super) trait RegisterWeight: Weight {
    /// The weights of a row in a lane of a square that is transposed.
    const PER_LANE: usize = 1;

    /// The first LANES weights, widened.
    ///
    /// # Safety
    /// There are that many.
    unsafe fn load<S: LoadWeights>(simd: S, weights: *const Self) -> S::Register;

    /// PER_LANE · LANES weights of each row, from the k-th on, transposed and widened: a register for each of these inputs, in
    /// which lane i has the weight of row i. The caller's square is used again and again: a new one would be cleared each time.
    ///
    /// # Safety
    /// Each of LANES rows has this many weights there.
    #[inline(always)]
    unsafe fn load_square<S: LoadWeights>(
        simd: S,
        rows: &[*const Self; MAX_LANES],
        k: usize,
        [square, _]: &mut Square<S>,
    ) {
        for lane in 0..S::LANES {
            // SAFETY: the caller has these weights.
            square[lane] = unsafe { Self::load(simd, rows[lane].add(k)) };
        }
        simd.transpose(square);
    }
}

macro_rules! impl_weight {
    ($($weight:ty: $name:literal, $widen:expr;)+) => {$(
        impl Weight for $weight {
            const NAME: &'static str = $name;

            #[inline(always)]
            fn widen(self) -> f32 {
                $widen(self)
            }
        }
    )+};
}

impl_weight! {
    f32: "f32", std::convert::identity;
    f16: "f16", f16::to_f32;
    bf16: "bf16", bf16::to_f32;
}

impl RegisterWeight for f32 {
    #[inline(always)]
    unsafe fn load<S: LoadWeights>(simd: S, weights: *const f32) -> S::Register {
        // SAFETY: the caller has these weights.
        unsafe { simd.load(std::slice::from_raw_parts(weights, S::LANES)) }
    }

    #[inline(always)]
    unsafe fn load_square<S: LoadWeights>(
        simd: S,
        rows: &[*const f32; MAX_LANES],
        k: usize,
        [square, _]: &mut Square<S>,
    ) {
        // SAFETY: the caller has these weights.
        unsafe { simd.load_square(&rows.map(|row| row.wrapping_add(k)), square) };
    }
}

impl RegisterWeight for f16 {
    #[inline(always)]
    unsafe fn load<S: LoadWeights>(simd: S, weights: *const f16) -> S::Register {
        // SAFETY: the caller has these weights.
        unsafe { simd.load_f16(std::slice::from_raw_parts(weights, S::LANES)) }
    }
}

impl RegisterWeight for bf16 {
    const PER_LANE: usize = 2;

    #[inline(always)]
    unsafe fn load<S: LoadWeights>(simd: S, weights: *const bf16) -> S::Register {
        // SAFETY: the caller has these weights.
        unsafe { simd.load_bf16(std::slice::from_raw_parts(weights, S::LANES)) }
    }

    /// Pairs are transposed as if they were one number, and then split: half of the instructions.
    #[inline(always)]
    unsafe fn load_square<S: LoadWeights>(
        simd: S,
        rows: &[*const bf16; MAX_LANES],
        k: usize,
        square: &mut Square<S>,
    ) {
        let [pairs, _] = &mut *square;
        // SAFETY: the caller has LANES pairs in each row.
        unsafe { simd.load_square(&rows.map(|row| row.wrapping_add(k).cast()), pairs) };
        // From the last on, so that no pair is overwritten before it is split.
        let inputs = square.as_flattened_mut();
        for lane in (0..S::LANES).rev() {
            [inputs[2 * lane], inputs[2 * lane + 1]] = simd.split_bf16_pairs(inputs[lane]);
        }
    }
}
