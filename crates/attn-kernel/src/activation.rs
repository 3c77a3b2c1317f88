//! Activations: GELU in both forms, and SiLU.
//!
//! ```text
//! v = x                                  SiLU:      x · σ(v)
//! v = 2·√(2/π)·(x + 0.044715·x³)         GELU, tanh form: ½x·(1 + tanh(v/2)) = x · σ(v)
//! e = exp(−|v|)                          σ(v) = 1 / (1 + e), or e / (1 + e) where v < 0
//!
//! s = exp(−x²/2) · q(1 / (1 + p|x|))     GELU, erf form: Φ(−|x|) = ½ erfc(|x| / √2) ≈ s, a polynomial q
//! Φ(x) = 1 − s, or s where x < 0         x · Φ(x)
//! ```
//!
//! Nothing cancels, so that the small results for negative x are good too.

use crate::exp2::{Exp2, RegisterExp2};
use crate::simd::Simd;

/// A function that a layer applies to every number.
///
/// With u = 2⁻²⁴ the result is off by at most 5u·|x| + 2⁻¹¹⁸, and where its size is 2⁻¹⁰⁰·|x| or more, by at most 400u of itself:
/// where x is far below 0, an error of the exponent counts. NaN gives NaN; so does −∞, as the formula has it there (∞ · 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// ½x·(1 + erf(x/√2)): PyTorch's `gelu`.
    Gelu,
    /// ½x·(1 + tanh(√(2/π)·(x + 0.044715·x³))): GPT-2's `gelu_new`, Gemma's `gelu_pytorch_tanh`.
    GeluTanh,
    /// x / (1 + exp(−x)): the SiLU or Swish of Llama.
    Silu,
}

/// 2·√(2/π).
const SLOPE: f32 = 1.595_769_2;

/// 2·√(2/π) · 0.044715.
const CUBIC: f32 = 0.071_354_814;

/// p of the header.
const POLE: f32 = 0.281_25;

/// q of the header, from the highest power down: minimax in the relative error for |x| ≤ 14 (Remez, 1.9e−9) with q(1) = ½.
const ERFC: [f32; 11] = [
    -0.018_886_944,
    0.124_426_04,
    -0.319_524_14,
    0.382_772_56,
    -0.243_829_09,
    0.199_371_28,
    0.038_676_526,
    0.114_033_03,
    0.110_628_9,
    0.112_336_874,
    -5.055_419e-6,
];

/// eˣ for x ≤ 0.
pub(crate) fn exp() -> Exp2<f32> {
    Exp2::of_multiples(std::f32::consts::LOG2_E, 0)
}

impl Activation {
    /// The function's value at x.
    #[inline(always)]
    pub fn of(self, x: f32) -> f32 {
        self.with(&exp(), x)
    }

    #[inline(always)]
    fn with(self, exp: &Exp2<f32>, x: f32) -> f32 {
        let result = match self {
            Activation::Silu => times_sigmoid(exp, x, x),
            Activation::GeluTanh => {
                let slope = x.mul_add(x, 0.0).mul_add(CUBIC, SLOPE);
                times_sigmoid(exp, x, x.mul_add(slope, 0.0))
            }
            Activation::Gelu => {
                let t = 1.0 / x.abs().mul_add(POLE, 1.0);
                let mut q = ERFC[0];
                for coefficient in &ERFC[1..] {
                    q = q.mul_add(t, *coefficient);
                }
                let s = exp.of(x.mul_add(x * -0.5, 0.0)).mul_add(q, 0.0);
                x.mul_add(if x < 0.0 { s } else { 1.0 - s }, 0.0)
            }
        };
        result.copysign(x)
    }
}

/// x · σ(v).
#[inline(always)]
fn times_sigmoid(exp: &Exp2<f32>, x: f32, v: f32) -> f32 {
    let e = exp.of(-v.abs());
    x.mul_add(if v < 0.0 { e } else { 1.0 }, 0.0) / (e + 1.0)
}

/// [`Activation`]'s functions for all lanes of a register.
#[derive(Clone, Copy)]
pub(crate) struct RegisterActivation<S: Simd<f32>> {
    simd: S,
    exp: RegisterExp2<f32, S>,
    zero: S::Register,
    one: S::Register,
    minus_half: S::Register,
}

impl<S: Simd<f32>> RegisterActivation<S> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        RegisterActivation {
            simd,
            exp: RegisterExp2::new(simd, &exp()),
            zero: simd.splat(0.0),
            one: simd.splat(1.0),
            minus_half: simd.splat(-0.5),
        }
    }

    /// x · σ(v).
    #[inline(always)]
    fn times_sigmoid(&self, x: S::Register, v: S::Register) -> S::Register {
        let RegisterActivation { simd, zero, one, .. } = *self;
        let e = self.exp.of(simd.with_sign_of(v, self.minus_half));
        let numerator = self.below_zero_or(v, e, one);
        simd.div(simd.mul_add(x, numerator, zero), simd.add(e, one))
    }

    /// `below` in the lanes where v < 0, `otherwise` in the others.
    #[inline(always)]
    fn below_zero_or(&self, v: S::Register, below: S::Register, otherwise: S::Register) -> S::Register {
        let RegisterActivation { simd, zero, .. } = *self;
        let below = simd.sub(below, simd.zero_below(below, v, zero));
        simd.add(below, simd.zero_below(otherwise, v, zero))
    }

    #[inline(always)]
    fn silu(&self, x: S::Register) -> S::Register {
        self.simd.with_sign_of(self.times_sigmoid(x, x), x)
    }

    #[inline(always)]
    fn gelu_tanh(&self, x: S::Register) -> S::Register {
        let RegisterActivation { simd, zero, .. } = *self;
        let square = simd.mul_add(x, x, zero);
        let slope = simd.mul_add(square, simd.splat(CUBIC), simd.splat(SLOPE));
        simd.with_sign_of(self.times_sigmoid(x, simd.mul_add(x, slope, zero)), x)
    }

    #[inline(always)]
    fn gelu(&self, x: S::Register) -> S::Register {
        let RegisterActivation { simd, zero, one, .. } = *self;
        let size = simd.with_sign_of(x, zero);
        let t = simd.div(one, simd.mul_add(size, simd.splat(POLE), one));
        let mut q = simd.splat(ERFC[0]);
        for coefficient in &ERFC[1..] {
            q = simd.mul_add(q, t, simd.splat(*coefficient));
        }
        let half = simd.mul_add(x, self.minus_half, zero);
        let s = simd.mul_add(self.exp.of(simd.mul_add(x, half, zero)), q, zero);
        let phi = self.below_zero_or(x, s, simd.sub(one, s));
        simd.with_sign_of(simd.mul_add(x, phi, zero), x)
    }
}

/// Replaces every number by the function's value.
#[inline(always)]
pub(crate) fn replace_all<S: Simd<f32>>(simd: S, activation: Activation, numbers: &mut [f32]) {
    let registers = RegisterActivation::new(simd);
    match activation {
        Activation::Gelu => replace(simd, activation, numbers, |x| registers.gelu(x)),
        Activation::GeluTanh => replace(simd, activation, numbers, |x| registers.gelu_tanh(x)),
        Activation::Silu => replace(simd, activation, numbers, |x| registers.silu(x)),
    }
}

#[inline(always)]
fn replace<S: Simd<f32>>(
    simd: S,
    activation: Activation,
    numbers: &mut [f32],
    of: impl Fn(S::Register) -> S::Register,
) {
    let mut registers = numbers.chunks_exact_mut(S::LANES);
    for numbers in &mut registers {
        // SAFETY: a chunk is as long as a register.
        unsafe { simd.store(of(simd.load(numbers)), numbers) };
    }
    replace_all_plain(activation, registers.into_remainder());
}

/// The plain version of [`replace_all`].
#[inline(always)]
pub(crate) fn replace_all_plain(activation: Activation, numbers: &mut [f32]) {
    let exp = exp();
    for number in numbers {
        *number = activation.with(&exp, *number);
    }
}
