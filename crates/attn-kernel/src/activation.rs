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

use crate::exp2::Exp2;
use crate::simd::{Scalar, Simd};

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
        self.of_lanes(Scalar, &exp(), x)
    }

    /// The function's values in every lane.
    #[inline(always)]
    fn of_lanes<S: Simd<f32>>(self, simd: S, exp: &Exp2<f32>, x: S::Register) -> S::Register {
        let zero = simd.splat(0.0);
        let result = match self {
            Activation::Silu => times_sigmoid(simd, exp, x, x),
            Activation::GeluTanh => {
                let square = simd.mul_add(x, x, zero);
                let slope = simd.mul_add(square, simd.splat(CUBIC), simd.splat(SLOPE));
                times_sigmoid(simd, exp, x, simd.mul_add(x, slope, zero))
            }
            Activation::Gelu => {
                let (one, minus_half) = (simd.splat(1.0), simd.splat(-0.5));
                let size = simd.with_sign_of(x, zero);
                let t = simd.div(one, simd.mul_add(size, simd.splat(POLE), one));
                let mut q = simd.splat(ERFC[0]);
                for coefficient in &ERFC[1..] {
                    q = simd.mul_add(q, t, simd.splat(*coefficient));
                }
                let half = simd.mul_add(x, minus_half, zero);
                let s = simd.mul_add(exp.of_lanes(simd, simd.mul_add(x, half, zero)), q, zero);
                simd.mul_add(x, below_zero_or(simd, x, s, simd.sub(one, s)), zero)
            }
        };
        simd.with_sign_of(result, x)
    }
}

/// x · σ(v).
#[inline(always)]
fn times_sigmoid<S: Simd<f32>>(simd: S, exp: &Exp2<f32>, x: S::Register, v: S::Register) -> S::Register {
    let (zero, one) = (simd.splat(0.0), simd.splat(1.0));
    let e = exp.of_lanes(simd, simd.with_sign_of(v, simd.splat(-0.5)));
    simd.div(simd.mul_add(x, below_zero_or(simd, v, e, one), zero), simd.add(e, one))
}

/// `below` in the lanes where v < 0, `otherwise` in the others.
#[inline(always)]
fn below_zero_or<S: Simd<f32>>(
    simd: S,
    v: S::Register,
    below: S::Register,
    otherwise: S::Register,
) -> S::Register {
    let zero = simd.splat(0.0);
    let below = simd.sub(below, simd.zero_below(below, v, zero));
    simd.add(below, simd.zero_below(otherwise, v, zero))
}

/// Replaces every number by the function's value.
#[inline(always)]
pub(crate) fn replace_all<S: Simd<f32>>(simd: S, activation: Activation, numbers: &mut [f32]) {
    // The function is chosen once, not for each number.
    match activation {
        Activation::Gelu => replace(simd, Activation::Gelu, numbers),
        Activation::GeluTanh => replace(simd, Activation::GeluTanh, numbers),
        Activation::Silu => replace(simd, Activation::Silu, numbers),
    }
}

#[inline(always)]
fn replace<S: Simd<f32>>(simd: S, activation: Activation, numbers: &mut [f32]) {
    let exp = exp();
    let mut registers = numbers.chunks_exact_mut(S::LANES);
    for numbers in &mut registers {
        // SAFETY: a chunk is as long as a register.
        unsafe { simd.store(activation.of_lanes(simd, &exp, simd.load(numbers)), numbers) };
    }
    for number in registers.into_remainder() {
        *number = activation.of_lanes(Scalar, &exp, *number);
    }
}
