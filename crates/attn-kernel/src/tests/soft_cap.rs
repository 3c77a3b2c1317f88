//! The soft cap c · tanh(s / c) against what it should be: at most 8u of itself plus η(c + 1) off, where u is half a unit in the
//! last place of 1 and η the smallest positive number; never above c, odd to the bit.

use crate::{Error, Kernels, SoftCap};

use super::double_double::DoubleDouble;
use super::note;
use super::oracle::TestFloat;
use super::random::Random;

/// Caps of models, and the ends of what is allowed.
const CAPS: [f64; 6] = [1.0, 0.1, 30.0, 50.0, 12_345.678, 1e-5];

/// The error that is promised, in u.
const PROMISED: f64 = 8.0;

/// The units and the largest error that were found, and where.
#[derive(Clone, Copy, Debug)]
struct WorstError {
    units: f64,
    score: f64,
}

impl WorstError {
    const NONE: WorstError = WorstError { units: 0.0, score: f64::NAN };

    fn or(self, units: f64, score: f64) -> WorstError {
        // NaN is the worst of all.
        if units <= self.units { self } else { WorstError { units, score } }
    }
}

/// The error of one score in u of the result, of which η(c + 1) is not counted.
fn error<T: TestFloat>(cap: T, score: T, exact: impl Fn(f64, f64) -> DoubleDouble) -> f64 {
    let found = SoftCap::new(cap).expect("it is positive").of(score).to_f64();
    let exact = exact(score.to_f64(), cap.to_f64());
    let off = DoubleDouble::from(found).distance(exact);
    let lost = libm::scalbn(cap.to_f64() + 1.0, T::LEAST_EXPONENT);
    assert!(found.abs() <= cap.to_f64(), "{}: {score:?} capped at {cap:?} is {found:?}", T::NAME);
    if off <= lost { 0.0 } else { (off - lost) / (T::UNIT * exact.high.abs()) }
}

/// In `f64`, whose tanh is better than an `f32` by 2^−28.
fn exact_f32(score: f64, cap: f64) -> DoubleDouble {
    DoubleDouble::from(cap * libm::tanh(score / cap))
}

/// In double-double.
fn exact_f64(score: f64, cap: f64) -> DoubleDouble {
    let cap = DoubleDouble::from(cap);
    DoubleDouble::from(score).over(cap).tanh().times(cap)
}

/// Goes up the positive floats of these bits: the worst error, and the largest fall from one to the next in bits.
fn search(cap: f32, bits: impl Iterator<Item = u32>) -> (WorstError, u32) {
    let soft_cap = SoftCap::new(cap).expect("it is positive");
    let (mut worst, mut fall, mut highest) = (WorstError::NONE, 0, 0);
    for bits in bits {
        let score = f32::from_bits(bits);
        let found = soft_cap.of(score);
        assert_eq!(soft_cap.of(-score).to_bits(), (-found).to_bits(), "{score:e} at {cap:e}: not odd");
        worst = worst.or(error(cap, score, exact_f32), f64::from(score));
        fall = fall.max(u32::saturating_sub(highest, found.to_bits()));
        highest = highest.max(found.to_bits());
    }
    (worst, fall)
}

#[test]
fn the_cap_of_f32_scores_keeps_its_bound_and_rises_with_them() {
    const INFINITY: u32 = 0x7F80_0000;
    let ends = [f64::from(f32::MIN_POSITIVE), 1e30, f64::from(f32::MAX)];
    for cap in CAPS.into_iter().chain(ends).map(|cap| cap as f32) {
        // All magnitudes, and all floats around the ends of the polynomial's pieces: s/c = k · ln 2 / 4.
        let (mut worst, mut fall) = search(cap, (0..=INFINITY).step_by(4999));
        for quarter in 1..60u32 {
            let middle = (f64::from(quarter) * std::f64::consts::LN_2 / 4.0 * f64::from(cap)) as f32;
            if middle.is_finite() {
                let (beside, steps) =
                    search(cap, middle.to_bits().saturating_sub(300)..middle.to_bits() + 300);
                worst = worst.or(beside.units, beside.score);
                fall = fall.max(steps);
            }
        }
        note(&format!(
            "{cap:e} · tanh(s/{cap:e}) in f32: {worst:?}, falls by {fall} units in the last place"
        ));
        assert!(worst.units <= PROMISED, "{cap:e}: {worst:?}");
        assert!(fall <= 4, "{cap:e}: falls by {fall}");
    }
}

#[test]
fn the_cap_of_f64_scores_keeps_its_bound() {
    let mut random = Random::new(31);
    for cap in CAPS.into_iter().chain([1e-200, 1e200]) {
        let mut worst = WorstError::NONE;
        for _ in 0..4_000 {
            let tiny = cap * libm::scalbn(1.0 + random.uniform(), -(random.below(100) as i32));
            let quarter = 0.25 * random.below(120) as f64 * std::f64::consts::LN_2 * cap;
            let beside = quarter * (1.0 + (random.below(64) as f64 - 32.0) * f64::EPSILON);
            for score in [tiny, 3.0 * random.uniform() * cap, 25.0 * random.uniform() * cap, beside] {
                worst = worst.or(error(cap, score, exact_f64), score);
            }
        }
        note(&format!("{cap:e} · tanh(s/{cap:e}) in f64: {worst:?}"));
        assert!(worst.units <= PROMISED, "{cap:e}: {worst:?}");
    }
}

#[test]
fn infinity_becomes_the_cap_zeros_keep_their_sign_and_nan_stays() {
    fn check<T: Kernels>(caps: [T; 4]) {
        for cap in caps {
            let soft_cap = SoftCap::new(cap).expect("it is positive");
            let of = |score: f64| soft_cap.of(T::from_f64(score));
            assert_eq!(of(f64::INFINITY).bits(), cap.bits());
            assert_eq!(of(f64::NEG_INFINITY).bits(), (-cap).bits());
            assert_eq!(of(0.0).bits(), T::ZERO.bits());
            assert_eq!(of(-0.0).bits(), (-T::ZERO).bits());
            assert!(of(f64::NAN).to_f64().is_nan());
        }
    }
    check([1.0, 50.0, f32::MIN_POSITIVE, f32::MAX]);
    check([1.0, 50.0, f64::MIN_POSITIVE, f64::MAX]);
}

#[test]
fn a_cap_that_is_not_finite_and_above_0_is_refused_with_the_remedy() {
    for cap in [0.0, -0.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE / 2.0] {
        let error = SoftCap::new(cap).expect_err("it is refused");
        assert_eq!(error, Error::SoftCap(format!("{cap:?}")));
        let message = error.to_string();
        let is_named = message.contains(&format!("{cap:?}")) && message.contains("finite and above 0");
        assert!(is_named && message.contains("give such a number"), "{message}");
    }
}
