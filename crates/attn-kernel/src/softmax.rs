//! The state of the online softmax.

use crate::problem::Head;
use crate::real::Real;

/// The running max m and the running sum l of one row: the max of the scores so far, and the sum of the weights relative to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SoftmaxState<T> {
    pub max: T,
    pub sum: T,
}

impl<T: Real> SoftmaxState<T> {
    /// Before the first score.
    pub const EMPTY: SoftmaxState<T> = SoftmaxState { max: T::NEG_INFINITY, sum: T::ZERO };

    /// Before the first key of a row: empty, or the sink alone, whose weight relative to itself is 1 (2^−shift).
    #[inline(always)]
    pub fn start(head: &Head<'_, T>, shift: u32) -> SoftmaxState<T> {
        match head.sink {
            Some(sink) => SoftmaxState { max: sink, sum: head.exp2(shift).of(T::ZERO) },
            None => SoftmaxState::EMPTY,
        }
    }

    /// 1 / l, the factor of the accumulator at the end; 0 for a fully masked row.
    #[inline(always)]
    pub fn inverse(&self) -> T {
        if self.sum == T::ZERO { T::ZERO } else { T::ONE / self.sum }
    }

    /// The number that is subtracted from the scores: the running max, or 0 while it is −∞, since −∞ − −∞ is NaN.
    #[inline(always)]
    pub fn reference(&self) -> T {
        if self.max == T::NEG_INFINITY { T::ZERO } else { self.max }
    }

    /// ln Σ exp(score) over the visible keys and the sink; for a fully masked row the sink, −∞ without one. Computed in `f64`,
    /// once a row.
    pub fn log_sum_exp(&self, head: &Head<'_, T>, shift: u32) -> T {
        if self.sum == T::ZERO {
            return T::NEG_INFINITY;
        }
        let scale = if head.scale_first { 1.0 } else { head.scale.to_f64() };
        let unshifted = self.sum.to_f64() * libm::pow(2.0, f64::from(shift));
        T::from_f64(self.max.to_f64() * scale + libm::log(unshifted))
    }
}
