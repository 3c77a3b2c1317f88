//! 2^(c·y), the exponential that the softmax needs, by a polynomial; and the soft cap, by the same polynomial.
//!
//! ```text
//! n = c·y rounded to a whole number         2^(c·y) = 2^n · 2^f
//! f = c·y − n, in [−½, ½]                   2^f ≈ p(f), a polynomial
//! ```
//!
//! The product c·y is never rounded by itself: it lives inside two fused multiply-adds. That is one operation less, and
//! one rounding less, than scaling first. [`RegisterExp2`] does the same operations in the same order, so its bits are the same.

use crate::error::{Error, Result};
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

// The soft cap of a score, c · tanh(s / c), with the polynomial of the exponential.
//
// ```text
// y = −2 · log₂ e · |s| / c            so that 2^y = e^(−2|s|/c)
// n = y rounded to a whole number      f = y − n, in [−½, ½], exact
// e = 2^n · (2^f − 1) + (2^n − 1)      = 2^y − 1: near 0 it is the first term alone, and nothing cancels
// tanh(|s|/c) = e / (−2 − e)
// ```
//
// The sign of s is put back at the end, so that the cap is odd to the bit. [`RegisterSoftCap`] does the same operations in the
// same order, so its bits are the same.

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
        // Below the lowest exponent tanh is 1 already. NaN stays.
        let y = T::MIN_EXPONENT.max(score.with_sign_of(T::ZERO).mul_add(self.factor, T::ZERO));
        let rounded = y + T::ROUNDER;
        let fraction = y - (rounded - T::ROUNDER);
        let mut slope = T::EXP2[0];
        for &coefficient in &T::EXP2[1..T::EXP2.len() - 1] {
            slope = slope.mul_add(fraction, coefficient);
        }
        let power = T::ONE.times_two_to(rounded);
        let less_one = power.mul_add(slope.mul_add(fraction, T::ZERO), power - T::ONE);
        let tanh = less_one / (T::MINUS_TWO - less_one);
        tanh.mul_add(self.cap, T::ZERO).with_sign_of(score)
    }
}

/// [`SoftCap`]'s method for all lanes of a register, with the constants in registers.
#[derive(Clone, Copy)]
pub(crate) struct RegisterSoftCap<T: Real, S: Simd<T>> {
    simd: S,
    cap: S::Register,
    factor: S::Register,
    lowest: S::Register,
    rounder: S::Register,
    zero: S::Register,
    one: S::Register,
    minus_two: S::Register,
    coefficients: [S::Register; MAX_COEFFICIENTS],
}

impl<T: Real, S: Simd<T>> RegisterSoftCap<T, S> {
    /// The constants of `soft_cap`, each in all lanes of a register.
    #[inline(always)]
    pub fn new(simd: S, soft_cap: &SoftCap<T>) -> Self {
        let mut coefficients = [simd.splat(T::ZERO); MAX_COEFFICIENTS];
        for (register, &coefficient) in coefficients.iter_mut().zip(T::EXP2) {
            *register = simd.splat(coefficient);
        }
        RegisterSoftCap {
            simd,
            cap: simd.splat(soft_cap.cap),
            factor: simd.splat(soft_cap.factor),
            lowest: simd.splat(T::MIN_EXPONENT),
            rounder: simd.splat(T::ROUNDER),
            zero: simd.splat(T::ZERO),
            one: simd.splat(T::ONE),
            minus_two: simd.splat(T::MINUS_TWO),
            coefficients,
        }
    }

    /// c · tanh(score / c) in every lane.
    #[inline(always)]
    pub fn of(&self, score: S::Register) -> S::Register {
        let RegisterSoftCap { simd, zero, one, .. } = *self;
        let y = simd.mul_add(simd.with_sign_of(score, zero), self.factor, zero);
        let y = simd.max(self.lowest, y);
        let rounded = simd.add(y, self.rounder);
        let fraction = simd.sub(y, simd.sub(rounded, self.rounder));
        let mut slope = self.coefficients[0];
        for i in 1..T::EXP2.len() - 1 {
            slope = simd.mul_add(slope, fraction, self.coefficients[i]);
        }
        let power = simd.times_two_to(one, rounded, y, self.lowest);
        let less_one = simd.mul_add(power, simd.mul_add(slope, fraction, zero), simd.sub(power, one));
        let tanh = simd.div(less_one, simd.sub(self.minus_two, less_one));
        simd.with_sign_of(simd.mul_add(tanh, self.cap, zero), score)
    }

    /// Replaces every number by c · tanh(number / c).
    #[inline(always)]
    pub fn replace_all(&self, numbers: &mut [T], soft_cap: &SoftCap<T>) {
        let mut registers = numbers.chunks_exact_mut(S::LANES);
        for numbers in &mut registers {
            // SAFETY: a chunk is as long as a register.
            unsafe { self.simd.store(self.of(self.simd.load(numbers)), numbers) };
        }
        for number in registers.into_remainder() {
            *number = soft_cap.of(*number);
        }
    }
}
