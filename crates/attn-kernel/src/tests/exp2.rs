//! 2ˣ against what it should be: at most one unit in the last place off on [−126, 0] (`f64`: [−1022, 0]); with a factor, as
//! the softmax uses it, 1.15 units.

use std::thread;

use crate::{Exp2, Kernels};

use super::double_double::DoubleDouble;
use super::random::Random;
use super::{note, say};

fn exp2<T: Kernels>(x: T) -> T {
    Exp2::of_multiples(T::ONE, 0).of(x)
}

/// The largest error that was found, and where.
#[derive(Clone, Copy, Debug)]
struct WorstError {
    units: f64,
    x: f64,
}

impl WorstError {
    const NONE: WorstError = WorstError { units: 0.0, x: f64::NAN };

    fn or(self, units: f64, x: f64) -> WorstError {
        // NaN is the worst of all.
        if units <= self.units { self } else { WorstError { units, x } }
    }
}

/// The number of units in the last place of 2^(factor·x) between it and what comes out, in `f64`, which holds the product of
/// two `f32`, and where the power is off by 2^−29 of that unit.
fn error_f32(factor: f32, x: f32) -> f64 {
    const EXPONENT: u64 = 0x7FF << 52;
    let exact = libm::exp2(f64::from(factor) * f64::from(x));
    let unit = f64::from_bits((exact.to_bits() & EXPONENT) - (23 << 52));
    (f64::from(Exp2::of_multiples(factor, 0).of(x)) - exact).abs() / unit
}

/// The same in double-double.
fn error_f64(factor: f64, x: f64) -> f64 {
    let product = DoubleDouble::from(factor).times(DoubleDouble::from(x));
    let whole = product.high.round();
    let exact = DoubleDouble::LN_2.times(product.minus(DoubleDouble::from(whole))).exp();
    let found = DoubleDouble::from(Exp2::of_multiples(factor, 0).of(x)).times_two_to(-(whole as i32));
    let exponent = libm::ilogb(exact.high) - i32::from(exact.high == 1.0 && exact.low < 0.0);
    libm::scalbn(found.distance(exact), 52 - exponent)
}

/// All f32 of [−126, −0], as bits, from 0 down: neighbours are neighbours.
const ALL: std::ops::RangeInclusive<u32> = 0x8000_0000..=0xC2FC_0000;

/// Goes down the floats of these bits: the worst error; and 2ˣ falls with x, up to one unit in the last place.
fn search(bits: impl Iterator<Item = u32>) -> WorstError {
    let mut before = f32::INFINITY;
    let mut worst = WorstError::NONE;
    for bits in bits {
        let x = f32::from_bits(bits);
        let y = exp2(x);
        assert!(y.to_bits() <= before.to_bits() + 1, "2^{x:e} = {y:e} is above {before:e}");
        before = y;
        worst = worst.or(error_f32(1.0, x), f64::from(x));
    }
    worst
}

#[test]
fn two_to_the_x_of_f32_is_within_one_unit_on_a_sample() {
    // Every 997th float, and all floats around each whole and half number, which are the ends of the polynomial's pieces.
    let mut worst = search(ALL.step_by(997));
    for half in 1..=252u32 {
        let middle = (-0.5 * half as f32).to_bits();
        worst = [search((middle - 500).max(0x8000_0000)..(middle + 500).min(0xC2FC_0000))]
            .into_iter()
            .fold(worst, |worst, other| worst.or(other.units, other.x));
    }
    note(&format!("2^x in f32: {worst:?}"));
    assert!(worst.units <= 1.0, "{worst:?}");
}

#[test]
#[ignore = "1.1 thousand million floats: see tests/README.md"]
fn two_to_the_x_of_f32_is_within_one_unit_everywhere() {
    let middle = ALL.start() + (ALL.end() - ALL.start()) / 2;
    let worst = thread::scope(|scope| {
        // Both have the middle, so that no two neighbours are missed.
        let halves = [*ALL.start()..=middle, middle..=*ALL.end()];
        let threads = halves.map(|half| scope.spawn(move || search(half)));
        threads.map(|thread| thread.join().expect("falls with x"))
    });
    let worst = worst[0].or(worst[1].units, worst[1].x);
    say(&format!("2^x in f32, all {} floats of [-126, 0]: {worst:?}", ALL.end() - ALL.start() + 1));
    assert!(worst.units <= 1.0, "{worst:?}");
}

#[test]
fn two_to_the_x_of_f64_is_within_one_unit_on_a_sample() {
    let mut random = Random::new(6);
    let mut worst = WorstError::NONE;
    let anywhere = |random: &mut Random| -1022.0 * random.uniform();
    let near_0 = |random: &mut Random| -libm::scalbn(1.0 + random.uniform(), -(random.below(60) as i32));
    let near_a_half = |random: &mut Random| {
        let half = -0.5 * (1 + random.below(2043)) as f64;
        half * (1.0 + (random.below(64) as f64 - 32.0) * f64::EPSILON)
    };
    for _ in 0..20_000 {
        for x in [anywhere(&mut random), near_0(&mut random), near_a_half(&mut random)] {
            let x = x.max(-1022.0);
            worst = worst.or(error_f64(1.0, x), x);
        }
    }
    note(&format!("2^x in f64: {worst:?}"));
    assert!(worst.units <= 1.0, "{worst:?}");
}

/// scale · log₂ e for 1/√d_k and other scales, tiny ones and huge ones.
fn factors() -> impl Iterator<Item = f64> {
    let widths = [1.0, 2.0, 3.0, 16.0, 64.0, 80.0, 128.0, 1000.0].map(|width: f64| 1.0 / width.sqrt());
    widths.into_iter().chain([3.0, 10.0, 1e-3, 1e-9, 1e4, 1e9]).map(|scale| scale * std::f64::consts::LOG2_E)
}

/// The fraction of factor·x is rounded once, by a quarter of a unit for the largest: 0.15 units in the last place of the power.
const WITH_A_FACTOR: f64 = 1.15;

#[test]
fn two_to_a_multiple_of_x_is_nearly_within_one_unit_too() {
    let mut random = Random::new(8);
    for factor in factors() {
        let single = factor as f32;
        let (mut worst_f32, mut worst_f64) = (WorstError::NONE, WorstError::NONE);
        for _ in 0..20_000 {
            let x = (-126.0 * random.uniform() / f64::from(single)) as f32;
            // Beside a half, where the fraction is largest.
            let half = (-0.5 * (1 + random.below(250)) as f64 / f64::from(single)) as f32;
            let beside = f32::from_bits(half.to_bits() + 20 - random.below(40) as u32);
            for x in [x, beside] {
                worst_f32 = worst_f32.or(error_f32(single, x), f64::from(x));
            }
        }
        for _ in 0..2_000 {
            let x = -1022.0 * random.uniform() / factor;
            let half = -0.5 * (1 + random.below(2000)) as f64 / factor;
            for x in [x, half * (1.0 + (20.0 - random.below(40) as f64) * f64::EPSILON)] {
                worst_f64 = worst_f64.or(error_f64(factor, x), x);
            }
        }
        note(&format!("2^({factor} x): f32 {worst_f32:?}, f64 {worst_f64:?}"));
        for worst in [worst_f32, worst_f64] {
            assert!(worst.units <= WITH_A_FACTOR, "2^({factor} x): {worst:?}");
        }
    }
}

#[test]
fn whole_powers_are_exact() {
    for n in 0..=126 {
        assert_eq!(exp2(-(n as f32)).to_bits(), (127 - n) << 23, "2^-{n}");
    }
    for n in 0..=1022 {
        assert_eq!(exp2(-(n as f64)).to_bits(), (1023 - n) << 52, "2^-{n}");
    }
}

#[test]
fn what_would_be_subnormal_is_0_and_nan_stays() {
    assert_eq!(exp2(-0.0f32).to_bits(), 1.0f32.to_bits());
    assert_eq!(exp2(-0.0f64).to_bits(), 1.0f64.to_bits());
    for x in [f32::from_bits((-126.0f32).to_bits() + 1), -127.5, -1e30, f32::MIN, f32::NEG_INFINITY] {
        assert_eq!(exp2(x).to_bits(), 0, "{x:e}");
    }
    for x in [f64::from_bits((-1022.0f64).to_bits() + 1), -1023.5, -1e300, f64::MIN, f64::NEG_INFINITY] {
        assert_eq!(exp2(x).to_bits(), 0, "{x:e}");
    }
    // The last bits of a NaN are no whole number that could end up in the exponent.
    for bits in [0x7FC0_0000, 0x7FC0_0001, 0x7FC0_01FF, 0x7FFF_FFFF, 0xFFC0_0000, 0xFFC0_01FF, 0x7F80_0001] {
        assert!(exp2(f32::from_bits(bits)).is_nan(), "{bits:#x}");
    }
    for bits in [0x7FF8 << 48, (0x7FF8 << 48) + 0x7A2, u64::MAX >> 1, 0xFFF8 << 48, (0xFFF8 << 48) + 0x7A2] {
        assert!(exp2(f64::from_bits(bits)).is_nan(), "{bits:#x}");
    }
    assert!(exp2(f32::MIN_POSITIVE * -0.25) == 1.0, "a subnormal x");
}
