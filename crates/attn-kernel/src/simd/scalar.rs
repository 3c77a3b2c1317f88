//! Registers of one number: the operations in plain Rust. They say what those of every set do, lane by lane, and run where the
//! processor has no set that is known here.

use super::set::Simd;
use crate::real::Real;

/// One number a register, on every processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar;

impl<T: Real> Simd<T> for Scalar {
    type Register = T;
    const LANES: usize = 1;
    const REGISTERS: usize = 16;

    #[inline(always)]
    fn splat(self, x: T) -> T {
        x
    }

    #[inline(always)]
    unsafe fn load(self, numbers: &[T]) -> T {
        numbers[0]
    }

    #[inline(always)]
    unsafe fn store(self, register: T, numbers: &mut [T]) {
        numbers[0] = register;
    }

    #[inline(always)]
    fn add(self, a: T, b: T) -> T {
        a + b
    }

    #[inline(always)]
    fn sub(self, a: T, b: T) -> T {
        a - b
    }

    #[inline(always)]
    fn mul(self, a: T, b: T) -> T {
        a * b
    }

    #[inline(always)]
    fn div(self, a: T, b: T) -> T {
        a / b
    }

    #[inline(always)]
    fn mul_add(self, a: T, b: T, c: T) -> T {
        a.mul_add(b, c)
    }

    #[inline(always)]
    fn max(self, a: T, b: T) -> T {
        a.max(b)
    }

    #[inline(always)]
    fn with_sign_of(self, a: T, sign: T) -> T {
        a.with_sign_of(sign)
    }

    #[inline(always)]
    fn power_of_two(self, rounded: T) -> T {
        rounded.power_of_two()
    }

    #[inline(always)]
    fn zero_below(self, a: T, y: T, cutoff: T) -> T {
        if y < cutoff { T::ZERO } else { a }
    }

    #[inline(always)]
    fn select(self, lanes: u64, a: T, b: T) -> T {
        if lanes & 1 == 1 { a } else { b }
    }

    /// There is no group to exchange within one lane.
    #[inline(always)]
    fn exchange(self, a: T, b: T, _group: usize) -> (T, T) {
        (a, b)
    }
}
