//! The number types: `f32` and `f64`.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

use bytemuck::Pod;

/// A floating-point type, with the properties of its format that the kernel needs.
pub trait Real:
    Pod
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Its name: `f32` or `f64`.
    const NAME: &'static str;
    /// +0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// −2.
    const MINUS_TWO: Self;
    /// −∞.
    const NEG_INFINITY: Self;
    /// The lowest finite number.
    const MIN: Self;
    /// The smallest positive normal number.
    const MIN_POSITIVE: Self;
    /// 1.5 · 2^(precision − 1), plus the exponent bias. Adding it to x rounds x to a whole number n (half to even), since the sum
    /// has no bits for a fraction; the last bits of the sum are then the exponent field of 2^n.
    const ROUNDER: Self;
    /// The lowest exponent of a normal number.
    const MIN_EXPONENT: Self;
    /// The polynomial p(f) ≈ 2^f on [−½, ½] with p(0) = 1: coefficients from the highest power down to 1. Minimax in the
    /// relative error (Remez), 2.0e−9 for `f32` and 3.4e−18 for `f64`; `benches/exp2.py` computes them.
    const EXP2: &'static [Self];

    /// self · factor + summand, rounded once.
    fn mul_add(self, factor: Self, summand: Self) -> Self;
    /// `sum + a · b` of a product of many matrices: fused in `f32`, rounded twice in `f64`.
    fn chain(sum: Self, a: Self, b: Self) -> Self;
    /// |self| with the sign of `sign`, which may be −0.
    fn with_sign_of(self, sign: Self) -> Self;
    /// 2^n, where this number is n + [`Real::ROUNDER`] and n at least the lowest exponent.
    fn power_of_two(self) -> Self;
    /// The nearest number of this kind.
    fn from_f64(x: f64) -> Self;
    /// This number as an `f64`.
    fn to_f64(self) -> f64;
    /// The bits, for comparing results exactly.
    fn bits(self) -> u64;

    /// The max of both; `other` where either is NaN.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}

macro_rules! impl_real {
    ($($number:ident: $name:literal, $rounder:expr, $min_exponent:expr, $exponent_at:literal, $chain:expr, $exp2:expr;)+) => {$(
        impl Real for $number {
            const NAME: &'static str = $name;
            const ZERO: $number = 0.0;
            const ONE: $number = 1.0;
            const MINUS_TWO: $number = -2.0;
            const NEG_INFINITY: $number = $number::NEG_INFINITY;
            const MIN: $number = $number::MIN;
            const MIN_POSITIVE: $number = $number::MIN_POSITIVE;
            const ROUNDER: $number = $rounder;
            const MIN_EXPONENT: $number = $min_exponent;
            const EXP2: &'static [$number] = &$exp2;

            #[inline(always)]
            fn mul_add(self, factor: $number, summand: $number) -> $number {
                $number::mul_add(self, factor, summand)
            }

            #[inline(always)]
            fn chain(sum: $number, a: $number, b: $number) -> $number {
                $chain(sum, a, b)
            }

            #[inline(always)]
            fn with_sign_of(self, sign: $number) -> $number {
                self.copysign(sign)
            }

            #[inline(always)]
            fn power_of_two(self) -> $number {
                $number::from_bits(self.to_bits() << $exponent_at)
            }

            fn from_f64(x: f64) -> $number {
                x as $number
            }

            fn to_f64(self) -> f64 {
                f64::from(self)
            }

            fn bits(self) -> u64 {
                u64::from(self.to_bits())
            }
        }
    )+};
}

impl_real! {
    f32: "f32", 12_582_912.0 + 127.0, -126.0, 23, |sum, a: f32, b| a.mul_add(b, sum),
    [1.535_335_6e-4, 1.339_887_4e-3, 9.618_437e-3, 5.550_332_4e-2, 2.402_264_8e-1, 6.931_472e-1, 1.0];
    f64: "f64", 6_755_399_441_055_744.0 + 1023.0, -1022.0, 52, |sum, a: f64, b: f64| sum + a * b,
    [
        4.434_771_298_200_377e-10,
        7.073_783_248_503_134e-9,
        1.017_819_957_184_213_8e-7,
        1.321_543_528_230_848_8e-6,
        1.525_273_349_312_748_9e-5,
        1.540_353_045_711_209e-4,
        1.333_355_814_677_462e-3,
        9.618_129_107_594_12e-3,
        5.550_410_866_482_008_4e-2,
        2.402_265_069_591_013e-1,
        std::f64::consts::LN_2,
        1.0,
    ];
}
