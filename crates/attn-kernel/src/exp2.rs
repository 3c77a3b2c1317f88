//! 2^(c·y), the exponential that the softmax needs, by a polynomial.
//!
//! ```text
//! n = c·y rounded to a whole number         2^(c·y) = 2^n · 2^f
//! f = c·y − n, in [−½, ½]                   2^f ≈ p(f), a polynomial
//! ```
//!
//! The product c·y is never rounded by itself: it lives inside two fused multiply-adds. That is one operation less, and
//! one rounding less, than scaling first. [`RegisterExp2`] does the same operations in the same order, so its bits are the same.

use crate::real::Real;
use crate::simd::Simd;

/// The coefficients of the longest polynomial.
pub(crate) const MAX_COEFFICIENTS: usize = 12;

/// y ↦ 2^(factor·y − shift) for y ≤ 0; the shift keeps sums of very large values from overflowing and is 0 otherwise.
///
/// At most 1 unit in the last place off for factor 1 and y in [−126, 0] (`f64`: [−1022, 0]); 0 below; NaN for NaN.
#[derive(Clone, Copy, Debug)]
pub struct Exp2<T> {
    factor: T,
    /// Below this y the result is 0.
    cutoff: T,
    /// 2^−shift.
    one: T,
    /// 2^shift.
    unshift: T,
}

impl<T: Real> Exp2<T> {
    /// 2^(factor·y − shift), for a positive, finite factor.
    pub fn of_multiples(factor: T, shift: u32) -> Exp2<T> {
        let shift = f64::from(shift);
        // Subnormal results become 0. −∞ is below the cutoff for every factor.
        let cutoff = (T::MIN_EXPONENT + T::from_f64(shift)) / factor;
        let one = T::ONE.times_two_to(T::ROUNDER - T::from_f64(shift));
        Exp2 { factor, cutoff: cutoff.max(T::MIN), one, unshift: T::ONE / one }
    }

    /// 2^(factor·y): the factor of the running sum and the accumulator when the running max rises by −y.
    #[inline(always)]
    pub fn correction(&self, y: T) -> T {
        self.of(y) * self.unshift
    }

    /// 2^(factor·y − shift).
    #[inline(always)]
    pub fn of(&self, y: T) -> T {
        let rounded = y.mul_add(self.factor, T::ROUNDER);
        let whole = rounded - T::ROUNDER;
        let fraction = y.mul_add(self.factor, -whole);
        let mut power = T::EXP2[0] * self.one;
        for &coefficient in &T::EXP2[1..] {
            power = power.mul_add(fraction, coefficient * self.one);
        }
        if y < self.cutoff { T::ZERO } else { power.times_two_to(rounded) }
    }
}

/// [`Exp2`]'s method for all lanes of a register, with the constants in registers.
#[derive(Clone, Copy)]
pub(crate) struct RegisterExp2<T: Real, S: Simd<T>> {
    simd: S,
    factor: S::Register,
    cutoff: S::Register,
    rounder: S::Register,
    unshift: S::Register,
    coefficients: [S::Register; MAX_COEFFICIENTS],
}

impl<T: Real, S: Simd<T>> RegisterExp2<T, S> {
    /// The constants of `exp2`, each in all lanes of a register.
    #[inline(always)]
    pub fn new(simd: S, exp2: &Exp2<T>) -> Self {
        let mut coefficients = [simd.splat(T::ZERO); MAX_COEFFICIENTS];
        for (register, &coefficient) in coefficients.iter_mut().zip(T::EXP2) {
            *register = simd.splat(coefficient * exp2.one);
        }
        RegisterExp2 {
            simd,
            factor: simd.splat(exp2.factor),
            cutoff: simd.splat(exp2.cutoff),
            rounder: simd.splat(T::ROUNDER),
            unshift: simd.splat(exp2.unshift),
            coefficients,
        }
    }

    /// 2^(factor·y − shift) in every lane.
    #[inline(always)]
    pub fn of(&self, y: S::Register) -> S::Register {
        let simd = self.simd;
        let rounded = simd.mul_add(y, self.factor, self.rounder);
        let whole = simd.sub(rounded, self.rounder);
        let fraction = simd.mul_sub(y, self.factor, whole);
        let mut power = self.coefficients[0];
        for i in 1..T::EXP2.len() {
            power = simd.mul_add(power, fraction, self.coefficients[i]);
        }
        simd.times_two_to(power, rounded, y, self.cutoff)
    }

    /// 2^(factor·y) in every lane.
    #[inline(always)]
    pub fn correction(&self, y: S::Register) -> S::Register {
        self.simd.mul_add(self.of(y), self.unshift, self.simd.splat(T::ZERO))
    }
}
