//! The exponential in registers gives the bits of the one number by number.

use std::marker::PhantomData;

use crate::exp2::Exp2;
use crate::real::Real;
use crate::simd::{InstructionSet, Simd, SimdLevel, WithSet, Work};

/// Numbers, a whole number of registers, and the exponential to take of them.
#[derive(Clone, Copy)]
struct Sample<'a, T> {
    numbers: &'a [T],
    exp2: &'a Exp2<T>,
}

/// Compares every lane of every register, and returns the number of compared numbers. NaN gives NaN, whatever bits it has.
struct Compare<T>(PhantomData<T>);

impl<T: Real, S: Simd<T>> Work<S> for Compare<T> {
    type Input<'a> = Sample<'a, T>;
    type Output = usize;

    #[inline(always)]
    unsafe fn run(simd: S, Sample { numbers, exp2 }: Sample<'_, T>) -> usize {
        let mut compared = 0;
        for numbers in numbers.chunks_exact(S::LANES) {
            let mut found = [[T::ZERO; 16]; 2];
            // SAFETY: a chunk is as long as a register, and there is room for what any register holds.
            unsafe {
                let y = simd.load(numbers);
                simd.store(exp2.of_lanes(simd, y), &mut found[0]);
                simd.store(exp2.correction_lanes(simd, y), &mut found[1]);
            }
            for (lane, &y) in numbers.iter().enumerate() {
                for (found, expected) in [(found[0][lane], exp2.of(y)), (found[1][lane], exp2.correction(y))]
                {
                    let same = found.bits() == expected.bits()
                        || (found.to_f64().is_nan() && expected.to_f64().is_nan());
                    assert!(same, "{exp2:?} of {y:?}: {found:?} instead of {expected:?}");
                    let is_kept = expected.to_f64().is_nan() || !y.to_f64().is_nan();
                    assert!(is_kept, "{exp2:?} of NaN ({:#x}): {expected:?}", y.bits());
                    compared += 1;
                }
            }
        }
        compared
    }
}

impl WithSet for Sample<'_, f32> {
    type Output = usize;
    fn call<S: InstructionSet>(self) -> usize {
        // SAFETY: the level was found available.
        unsafe { S::run::<Compare<f32>>(self) }
    }
}

impl WithSet for Sample<'_, f64> {
    type Output = usize;
    fn call<S: InstructionSet>(self) -> usize {
        // SAFETY: the level was found available.
        unsafe { S::run::<Compare<f64>>(self) }
    }
}

/// Numbers up to 0 of any exponent and mantissa, many between `lowest` and 0, and NaN.
fn sample<T: Real>(from_bits: impl Fn(u64) -> T, lowest: f64) -> Vec<T> {
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ (state >> 29)
    };
    let any: Vec<T> = (0..40_000).map(|_| from_bits(random())).collect();
    let any = any.into_iter().map(|x| if x > T::ZERO { -x } else { x });
    let range = (0..40_000).map(|i| T::from_f64(lowest * 1.01 * f64::from(i) / 40_000.0));
    let special = [0.0, -0.0, lowest, -1e30, f64::NAN, f64::NEG_INFINITY].map(T::from_f64);
    special.into_iter().chain([T::MIN, -T::MIN_POSITIVE]).chain(any).chain(range).collect()
}

/// Not-a-numbers of every kind of payload, of both signs: their last bits must not end up in the exponent.
fn payloads(mantissa_bits: u32, exponent: u64, sign: u64) -> impl Iterator<Item = u64> {
    let quiet = 1 << (mantissa_bits - 1);
    let low = (0..mantissa_bits - 1).flat_map(|bit| [1 << bit, (1 << bit) - 1]);
    let quiet = low.chain([0x1FF, 0x7A2, quiet - 1]).map(move |low| exponent | quiet | low);
    quiet.chain([exponent | 1]).flat_map(move |bits| [bits, bits | sign])
}

fn nans_f32() -> impl Iterator<Item = f32> {
    payloads(23, 0x7F80_0000, 1 << 31).map(|bits| f32::from_bits(bits as u32))
}

fn nans_f64() -> impl Iterator<Item = f64> {
    payloads(52, 0x7FF0_0000_0000_0000, 1 << 63).map(f64::from_bits)
}

#[test]
fn two_to_the_nan_is_nan_whatever_bits_it_has() {
    fn check_all<T: Real>(numbers: &[T]) {
        for (factor, shift) in [(1.0, 0), (0.180_336_88, 0), (1.5, 12), (3e-5, 0), (1e6, 21)] {
            let exp2 = Exp2::of_multiples(T::from_f64(factor), shift);
            for x in numbers {
                let (y, correction) = (exp2.of(*x), exp2.correction(*x));
                let both = y.to_f64().is_nan() && correction.to_f64().is_nan();
                assert!(both, "{exp2:?} of {:#x}: {y:?}, {correction:?}", x.bits());
            }
        }
    }
    let single: Vec<f32> = nans_f32().collect();
    let double: Vec<f64> = nans_f64().collect();
    check_all(&single);
    check_all(&double);
}

fn check<T: Real>(numbers: Vec<T>)
where
    for<'a> Sample<'a, T>: WithSet<Output = usize>,
{
    // A whole number of the longest registers.
    let numbers = &numbers[..numbers.len() / 16 * 16];
    for level in super::levels(&format!("exp2 in registers, {}", T::NAME)) {
        for (factor, shift) in [(1.0, 0), (0.180_336_88, 0), (1.5, 12), (3e-5, 0), (1e6, 21)] {
            let exp2 = &Exp2::of_multiples(T::from_f64(factor), shift);
            let compared = level.with_set(Sample { numbers, exp2 });
            let expected = if level == SimdLevel::Portable { None } else { Some(2 * numbers.len()) };
            assert_eq!(compared, expected, "{level}");
        }
    }
}

#[test]
fn two_to_the_x_in_registers_has_the_bits_of_the_one_by_one_in_f32() {
    check::<f32>(nans_f32().chain(sample(|bits| f32::from_bits(bits as u32), -126.0)).collect());
}

#[test]
fn two_to_the_x_in_registers_has_the_bits_of_the_one_by_one_in_f64() {
    check::<f64>(nans_f64().chain(sample(f64::from_bits, -1022.0)).collect());
}
