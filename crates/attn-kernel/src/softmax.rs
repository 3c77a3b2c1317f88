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
    /// Before the first key.
    pub const EMPTY: SoftmaxState<T> = SoftmaxState { max: T::NEG_INFINITY, sum: T::ZERO };

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

    /// ln Σ exp(score), −∞ for a fully masked row. Computed in `f64`, once a row.
    pub fn log_sum_exp(&self, head: &Head<'_, T>, shift: u32) -> T {
        if self.sum == T::ZERO {
            return T::NEG_INFINITY;
        }
        let scale = if head.scale_first { 1.0 } else { head.scale.to_f64() };
        let unshifted = self.sum.to_f64() * libm::pow(2.0, f64::from(shift));
        T::from_f64(self.max.to_f64() * scale + libm::log(unshifted))
    }
}
