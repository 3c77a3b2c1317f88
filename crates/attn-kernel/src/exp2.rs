//! 2^(c·y), the exponential that the softmax needs, by a polynomial; and the soft cap, by the same polynomial.
//!
//! ```text
//! n = c·y rounded to a whole number         2^(c·y) = 2^n · 2^f
//! f = c·y − n, in [−½, ½]                   2^f ≈ p(f), a polynomial
//! ```
//!
//! The product c·y is never rounded by itself: it lives inside two fused multiply-adds. That is one operation less, and
//! one rounding less, than scaling first. The operations are written once, for registers; one number is a register of one lane.

use crate::error::{Error, Result};
use crate::real::Real;
use crate::simd::{Scalar, Simd};

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
    /// 2^shift.
    unshift: T,
    /// Those of [`Real::EXP2`], times 2^−shift.
    coefficients: [T; MAX_COEFFICIENTS],
}

impl<T: Real> Exp2<T> {
    /// 2^(factor·y − shift), for a positive, finite factor.
    pub fn of_multiples(factor: T, shift: u32) -> Exp2<T> {
        let shift = f64::from(shift);
        // Subnormal results become 0. −∞ is below the cutoff for every factor.
        let cutoff = (T::MIN_EXPONENT + T::from_f64(shift)) / factor;
        let one = (T::ROUNDER - T::from_f64(shift)).power_of_two();
        let mut coefficients = [T::ZERO; MAX_COEFFICIENTS];
        for (number, coefficient) in coefficients.iter_mut().zip(T::EXP2) {
            *number = *coefficient * one;
        }
        Exp2 { factor, cutoff: cutoff.max(T::MIN), unshift: T::ONE / one, coefficients }
    }

    /// 2^(factor·y): the factor of the running sum and the accumulator when the running max rises by −y.
    #[inline(always)]
    pub fn correction(&self, y: T) -> T {
        self.correction_lanes(Scalar, y)
    }

    /// 2^(factor·y − shift).
    #[inline(always)]
    pub fn of(&self, y: T) -> T {
        self.of_lanes(Scalar, y)
    }

    /// 2^(factor·y) in every lane.
    #[inline(always)]
    pub(crate) fn correction_lanes<S: Simd<T>>(&self, simd: S, y: S::Register) -> S::Register {
        simd.mul(self.of_lanes(simd, y), simd.splat(self.unshift))
    }

    /// 2^(factor·y − shift) in every lane.
    #[inline(always)]
    pub(crate) fn of_lanes<S: Simd<T>>(&self, simd: S, y: S::Register) -> S::Register {
        let (factor, rounder) = (simd.splat(self.factor), simd.splat(T::ROUNDER));
        let rounded = simd.mul_add(y, factor, rounder);
        let fraction = simd.mul_add(y, factor, simd.sub(rounder, rounded));
        let mut power = simd.splat(self.coefficients[0]);
        for i in 1..T::EXP2.len() {
            power = simd.mul_add(power, fraction, simd.splat(self.coefficients[i]));
        }
        simd.times_two_to(power, rounded, y, simd.splat(self.cutoff))
    }
}

// The soft cap of a score, c · tanh(s / c), with the polynomial of the exponential.
//
// ```text
// y = −2 · log₂ e · |s| / c            so that 2^y = e^(−2|s|/c)
// n = y rounded to a whole number      f = y − n, in [−½, ½], exact
// e = 2^n · (2^f − 1) + (2^n − 1)      = 2^y − 1: near 0 it is the first term alone, and nothing cancels
// tanh(|s|/c) = e / (−2 − e)
// ```
//
// The sign of s is put back at the end, so that the cap is odd to the bit.

/// s ↦ c · tanh(s / c), for a cap c.
///
/// With u = half a unit in the last place of 1 and η the smallest positive number, the result is off by at most 8u of itself
/// plus η(c + 1), and never beyond ±c. In tests it was off by 5u at most, and fell by three units in the last place at most where
/// s rises. −0 stays −0, ±∞ becomes ±c, NaN stays NaN.
///
/// # Source
/// Bello et al. 2016, “Neural Combinatorial Optimization with Reinforcement Learning” (logits); Gemma Team 2024, “Gemma 2”
/// (scores of attention).
#[derive(Clone, Copy, Debug)]
pub struct SoftCap<T> {
    cap: T,
    /// −2 · log₂ e / c.
    factor: T,
}

impl<T: Real> SoftCap<T> {
    /// The cap c.
    ///
    /// # Errors
    /// [`Error::SoftCap`] if c is not finite or less than the smallest normal number.
    pub fn new(cap: T) -> Result<SoftCap<T>> {
        if cap >= T::MIN_POSITIVE && cap.to_f64().is_finite() {
            let factor = T::from_f64(-2.0 * std::f64::consts::LOG2_E / cap.to_f64());
            Ok(SoftCap { cap, factor })
        } else {
            Err(Error::SoftCap(format!("{cap:?}")))
        }
    }

    /// c · tanh(score / c).
    #[inline(always)]
    pub fn of(&self, score: T) -> T {
        self.of_lanes(Scalar, score)
    }

    /// c · tanh(score / c) in every lane.
    #[inline(always)]
    pub(crate) fn of_lanes<S: Simd<T>>(&self, simd: S, score: S::Register) -> S::Register {
        let (zero, one, rounder) = (simd.splat(T::ZERO), simd.splat(T::ONE), simd.splat(T::ROUNDER));
        let y = simd.mul_add(simd.with_sign_of(score, zero), simd.splat(self.factor), zero);
        // Below the lowest exponent tanh is 1 already. NaN stays.
        let lowest = simd.splat(T::MIN_EXPONENT);
        let y = simd.max(lowest, y);
        let rounded = simd.add(y, rounder);
        let fraction = simd.sub(y, simd.sub(rounded, rounder));
        let mut slope = simd.splat(T::EXP2[0]);
        for coefficient in &T::EXP2[1..T::EXP2.len() - 1] {
            slope = simd.mul_add(slope, fraction, simd.splat(*coefficient));
        }
        let power = simd.times_two_to(one, rounded, y, lowest);
        let less_one = simd.mul_add(power, simd.mul_add(slope, fraction, zero), simd.sub(power, one));
        let tanh = simd.div(less_one, simd.sub(simd.splat(T::MINUS_TWO), less_one));
        simd.with_sign_of(simd.mul_add(tanh, simd.splat(self.cap), zero), score)
    }

    /// Replaces every number by c · tanh(number / c).
    #[inline(always)]
    pub(crate) fn replace_all<S: Simd<T>>(&self, simd: S, numbers: &mut [T]) {
        let mut registers = numbers.chunks_exact_mut(S::LANES);
        for numbers in &mut registers {
            // SAFETY: a chunk is as long as a register.
            unsafe { simd.store(self.of_lanes(simd, simd.load(numbers)), numbers) };
        }
        for number in registers.into_remainder() {
            *number = self.of(*number);
        }
    }
}
