//! The soft cap in registers gives the bits of the one number by number.

use std::marker::PhantomData;

use crate::exp2::SoftCap;
use crate::real::Real;
use crate::simd::{InstructionSet, Simd, SimdLevel, WithSet, Work};

/// Numbers, and the cap to take of them.
#[derive(Clone, Copy)]
struct Sample<'a, T> {
    numbers: &'a [T],
    soft_cap: &'a SoftCap<T>,
}

/// Compares every number, those that fill a register and the last ones, and returns their number. NaN gives NaN.
struct Compare<T>(PhantomData<T>);

impl<T: Real, S: Simd<T>> Work<S> for Compare<T> {
    type Input<'a> = Sample<'a, T>;
    type Output = usize;

    #[inline(always)]
    unsafe fn run(simd: S, Sample { numbers, soft_cap }: Sample<'_, T>) -> usize {
        let mut found = numbers.to_vec();
        soft_cap.replace_all(simd, &mut found);
        for (&x, &found) in numbers.iter().zip(&found) {
            let expected = soft_cap.of(x);
            assert_eq!(x.to_f64().is_nan(), expected.to_f64().is_nan(), "{soft_cap:?} of {x:?}");
            let same = found.bits() == expected.bits() || (x.to_f64().is_nan() && found.to_f64().is_nan());
            assert!(same, "{soft_cap:?} of {x:?}: {found:?} instead of {expected:?}");
        }
        found.len()
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

/// Numbers of any bits, many of the size of the cap, zeros and infinities; not a whole number of registers.
fn sample<T: Real>(from_bits: impl Fn(u64) -> T, cap: T) -> Vec<T> {
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ (state >> 29)
    };
    let any: Vec<T> = (0..20_000).map(|_| from_bits(random())).collect();
    let near = (0..40_000).map(|i| cap * T::from_f64(f64::from(i - 20_000) / 1000.0));
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(T::from_f64);
    special.into_iter().chain(any).chain(near).collect()
}

fn check<T: Real>(from_bits: impl Fn(u64) -> T + Copy, max: T)
where
    for<'a> Sample<'a, T>: WithSet<Output = usize>,
{
    for level in super::levels(&format!("the soft cap in registers, {}", T::NAME)) {
        for cap in [T::ONE, T::from_f64(50.0), T::from_f64(1e-3), T::MIN_POSITIVE, max] {
            let (numbers, soft_cap) = (sample(from_bits, cap), SoftCap::new(cap).expect("it is positive"));
            assert_ne!(numbers.len() % 2, 0, "every register leaves some over");
            let compared = level.with_set(Sample { numbers: &numbers, soft_cap: &soft_cap });
            let expected = if level == SimdLevel::Portable { None } else { Some(numbers.len()) };
            assert_eq!(compared, expected, "{level}");
        }
    }
}

#[test]
fn the_cap_in_registers_has_the_bits_of_the_one_by_one_in_f32() {
    check::<f32>(|bits| f32::from_bits(bits as u32), f32::MAX);
}

#[test]
fn the_cap_in_registers_has_the_bits_of_the_one_by_one_in_f64() {
    check::<f64>(f64::from_bits, f64::MAX);
}
