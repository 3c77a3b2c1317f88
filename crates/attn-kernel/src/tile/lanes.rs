//! Numbers of a tile: one for each query, in R registers.

use crate::real::Real;
use crate::simd::Simd;
use crate::softmax::SoftmaxState;

/// A number for each of R · LANES queries.
pub(super) type Lanes<T, S, const R: usize> = [<S as Simd<T>>::Register; R];

/// The [`SoftmaxState`] of every query of a tile.
pub(super) struct SoftmaxLanes<T: Real, S: Simd<T>, const R: usize> {
    pub max: Lanes<T, S, R>,
    pub sum: Lanes<T, S, R>,
}

impl<T: Real, S: Simd<T>, const R: usize> SoftmaxLanes<T, S, R> {
    /// The same state for every query.
    #[inline(always)]
    pub fn all(simd: S, state: SoftmaxState<T>) -> Self {
        SoftmaxLanes { max: [simd.splat(state.max); R], sum: [simd.splat(state.sum); R] }
    }

    /// The state of one query.
    #[inline(always)]
    pub fn row(&self, simd: S, lane: usize) -> SoftmaxState<T> {
        let of = |registers: &Lanes<T, S, R>| simd.numbers(registers[lane / S::LANES])[lane % S::LANES];
        SoftmaxState { max: of(&self.max), sum: of(&self.sum) }
    }
}
