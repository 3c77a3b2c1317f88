//! What the algorithms ask of a processor's registers: a dozen operations.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod level;
#[cfg(target_arch = "aarch64")]
mod neon;

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;
pub use level::SimdLevel;
#[cfg(target_arch = "aarch64")]
pub(super) use neon::Neon;

use super::real::Real;
use super::scratch::Plain;

/// The most numbers that any register holds.
pub(super) const MOST_LANES: usize = 16;

/// A processor with registers of several numbers, its lanes. A value of such a type is the proof that the processor which
/// runs this has them; that is why its operations are safe to call.
///
/// Every operation does the same in every lane, rounds as the scalar one does, and never mixes lanes but in `exchange`.
pub(super) trait Simd<T: Real>: Copy {
    /// As many numbers as a register holds.
    type Register: Plain;
    /// How many those are: a power of two, at most [`MOST_LANES`].
    const LANES: usize;

    /// x in every lane.
    fn splat(self, x: T) -> Self::Register;
    /// The first [`Self::LANES`] of `numbers`.
    ///
    /// # Safety
    /// There are so many.
    unsafe fn load(self, numbers: &[T]) -> Self::Register;
    /// Into the first [`Self::LANES`] of `numbers`.
    ///
    /// # Safety
    /// There are so many.
    unsafe fn store(self, register: Self::Register, numbers: &mut [T]);
    /// The register's numbers, then zeros.
    #[inline(always)]
    fn numbers(self, register: Self::Register) -> [T; MOST_LANES] {
        let mut numbers = [T::ZERO; MOST_LANES];
        // SAFETY: no register holds more.
        unsafe { self.store(register, &mut numbers) };
        numbers
    }
    /// a + b.
    fn add(self, a: Self::Register, b: Self::Register) -> Self::Register;
    /// a − b.
    fn sub(self, a: Self::Register, b: Self::Register) -> Self::Register;
    /// a · b + c, rounded once.
    fn mul_add(self, a: Self::Register, b: Self::Register, c: Self::Register) -> Self::Register;
    /// a · b − c, rounded once.
    fn mul_sub(self, a: Self::Register, b: Self::Register, c: Self::Register) -> Self::Register;
    /// a / b.
    fn div(self, a: Self::Register, b: Self::Register) -> Self::Register;
    /// The larger of both; b where either is NaN ([`Real::larger`]).
    fn larger(self, a: Self::Register, b: Self::Register) -> Self::Register;
    /// a · 2^n as [`Real::times_two_to`] has it, but 0 in the lanes where y < lowest.
    fn times_two_to(
        self,
        a: Self::Register,
        rounded: Self::Register,
        y: Self::Register,
        lowest: Self::Register,
    ) -> Self::Register;
    /// a, but 0 in the lanes where y < lowest.
    fn zero_below(self, a: Self::Register, y: Self::Register, lowest: Self::Register) -> Self::Register;
    /// a in the lanes whose bit is set, b in the others; lane 0 is the lowest bit.
    fn choose(self, lanes: u64, a: Self::Register, b: Self::Register) -> Self::Register;
    /// Lanes in groups of `group` (a power of two): of each pair of groups, b's first takes the place of a's second, and
    /// a's second that of b's first. `exchange(a b c d, e f g h)` with groups of 1 is `(a e c g, b f d h)`.
    fn exchange(self, a: Self::Register, b: Self::Register, group: usize)
    -> (Self::Register, Self::Register);
    /// Asks for the line of memory `ahead` numbers after the first of `numbers`, which need not exist; changes nothing.
    #[inline(always)]
    fn prefetch(self, numbers: &[T], ahead: usize) {
        let _ = (numbers, ahead);
    }
}
