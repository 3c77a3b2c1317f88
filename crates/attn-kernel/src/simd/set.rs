//! The dozen operations that all algorithms are written with, and the properties of each instruction set beside them: detection,
//! compilation, and the size of its tiles.

use bytemuck::Pod;
use half::{bf16, f16};

use crate::real::Real;

/// The maximum of [`Simd::LANES`] over all sets.
pub(crate) const MAX_LANES: usize = 16;

/// Registers of several numbers, their lanes. A value of such a type is the proof that this processor has them, which is why
/// the operations are safe to call.
///
/// Every operation does the same in every lane, rounds as the scalar one does, and never mixes lanes except in `exchange`.
pub(crate) trait Simd<T: Real>: Copy {
    /// A register of [`Self::LANES`] numbers.
    type Register: Pod;
    /// The number of lanes: a power of two, at most [`MAX_LANES`].
    const LANES: usize;
    /// The number of registers.
    const REGISTERS: usize;
    /// The number of registers that hold sixteen numbers.
    const PER_SIXTEEN: usize = 16 / Self::LANES;

    /// x in every lane.
    fn splat(self, x: T) -> Self::Register;
    /// The first [`Self::LANES`] of `numbers`.
    ///
    /// # Safety
    /// `numbers` has that many.
    unsafe fn load(self, numbers: &[T]) -> Self::Register;
    /// Into the first [`Self::LANES`] of `numbers`.
    ///
    /// # Safety
    /// `numbers` has that many.
    unsafe fn store(self, register: Self::Register, numbers: &mut [T]);
    /// The register's numbers, then zeros.
    #[inline(always)]
    fn numbers(self, register: Self::Register) -> [T; MAX_LANES] {
        let mut numbers = [T::ZERO; MAX_LANES];
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
    /// a · b.
    fn mul(self, a: Self::Register, b: Self::Register) -> Self::Register;
    /// a / b.
    fn div(self, a: Self::Register, b: Self::Register) -> Self::Register;
    /// The max of both; b where either is NaN ([`Real::max`]).
    fn max(self, a: Self::Register, b: Self::Register) -> Self::Register;
    /// |a| with the sign of `sign`.
    fn with_sign_of(self, a: Self::Register, sign: Self::Register) -> Self::Register;
    /// 2^n as [`Real::power_of_two`] has it.
    fn power_of_two(self, rounded: Self::Register) -> Self::Register;
    /// a · 2^n, but 0 in the lanes where y < cutoff. A product, not a sum of exponents, so that NaN stays NaN whatever its own last
    /// bits are.
    #[inline(always)]
    fn times_two_to(
        self,
        a: Self::Register,
        rounded: Self::Register,
        y: Self::Register,
        cutoff: Self::Register,
    ) -> Self::Register {
        self.zero_below(self.mul(a, self.power_of_two(rounded)), y, cutoff)
    }
    /// a, but 0 in the lanes where y < cutoff.
    fn zero_below(self, a: Self::Register, y: Self::Register, cutoff: Self::Register) -> Self::Register;
    /// a in the lanes whose bit is set, b in the others; lane 0 is the lowest bit.
    fn select(self, lanes: u64, a: Self::Register, b: Self::Register) -> Self::Register;
    /// Lanes in groups of `group` (a power of two): of each pair of groups, b's first takes the place of a's second, and
    /// a's second that of b's first. `exchange(a b c d, e f g h)` with groups of 1 is `(a e c g, b f d h)`.
    fn exchange(self, a: Self::Register, b: Self::Register, group: usize)
    -> (Self::Register, Self::Register);
    /// Transposes the first [`Self::LANES`] registers: lane j of register i becomes lane i of register j.
    #[inline(always)]
    fn transpose(self, rows: &mut [Self::Register; MAX_LANES]) {
        exchange_rows(self, rows, 1);
        if Self::LANES > 2 {
            exchange_rows(self, rows, 2);
        }
        if Self::LANES > 4 {
            exchange_rows(self, rows, 4);
        }
        if Self::LANES > 8 {
            exchange_rows(self, rows, 8);
        }
    }
}

/// The operations of [`Simd`] that are one instruction of a set each, by the names of the instructions.
macro_rules! instructions {
    (
        $number:ty, $register:ty, splat: $splat:ident, load: $load:ident, store: $store:ident,
        $($two:ident: $of_two:ident,)+
        $(; mul_add: $mul_add:ident,)?
    ) => {
        type Register = $register;

        #[inline(always)]
        fn splat(self, x: $number) -> $register {
            // SAFETY: `self` is the proof that the processor has the set; so for every operation.
            unsafe { $splat(x) }
        }

        #[inline(always)]
        unsafe fn load(self, numbers: &[$number]) -> $register {
            assert_in_tests!(numbers.len() >= <Self as Simd<$number>>::LANES);
            // SAFETY: the caller has as many numbers there.
            unsafe { $load(numbers.as_ptr()) }
        }

        #[inline(always)]
        unsafe fn store(self, register: $register, numbers: &mut [$number]) {
            assert_in_tests!(numbers.len() >= <Self as Simd<$number>>::LANES);
            // SAFETY: the caller has as many numbers there.
            unsafe { $store(numbers.as_mut_ptr(), register) }
        }

        $(#[inline(always)]
        fn $two(self, a: $register, b: $register) -> $register {
            // SAFETY: see `splat`.
            unsafe { $of_two(a, b) }
        })+

        $(#[inline(always)]
        fn mul_add(self, a: $register, b: $register, c: $register) -> $register {
            // SAFETY: see `splat`.
            unsafe { $mul_add(a, b, c) }
        })?
    };
}

pub(super) use instructions;

/// One round of a transposition: exchanges groups of `distance` lanes between rows so far apart.
#[inline(always)]
fn exchange_rows<T: Real, S: Simd<T>>(simd: S, rows: &mut [S::Register; MAX_LANES], distance: usize) {
    for i in 0..S::LANES {
        if i & distance == 0 {
            (rows[i], rows[i + distance]) = simd.exchange(rows[i], rows[i + distance], distance);
        }
    }
}

/// Registers of `f32` from weights in memory.
pub(crate) trait LoadWeights: Simd<f32> {
    /// The first [`Simd::LANES`] of `numbers`, widened.
    ///
    /// # Safety
    /// `numbers` has that many.
    unsafe fn load_f16(self, numbers: &[f16]) -> Self::Register;
    /// The first [`Simd::LANES`] of `numbers`, widened: their bits are the upper half of those of the `f32`.
    ///
    /// # Safety
    /// `numbers` has that many.
    unsafe fn load_bf16(self, numbers: &[bf16]) -> Self::Register;
    /// The first and the second number of each pair of numbers that lie in a lane together, widened.
    fn split_bf16_pairs(self, pairs: Self::Register) -> [Self::Register; 2];
    /// [`Simd::LANES`] numbers of each row, transposed: lane i of register j is number j of row i. The rows need not be aligned, so
    /// that a pair of shorter numbers can be one of these.
    ///
    /// # Safety
    /// Each of the first LANES rows has this many numbers.
    #[inline(always)]
    unsafe fn load_square(self, rows: &[*const f32; MAX_LANES], square: &mut [Self::Register; MAX_LANES]) {
        for lane in 0..Self::LANES {
            // SAFETY: the caller has these numbers; all bits are numbers.
            square[lane] = unsafe { rows[lane].cast::<Self::Register>().read_unaligned() };
        }
        self.transpose(square);
    }
}

/// An instruction set for both number types.
pub(crate) trait InstructionSet: Simd<f32> + Simd<f64> + LoadWeights {
    /// Returns true if this processor has it.
    fn is_available() -> bool;

    /// The work `W`, compiled for this set, as a function of its own.
    ///
    /// # Safety
    /// This processor has the set, and the promise of `W::run` is kept.
    unsafe fn run<W: Work<Self>>(input: W::Input<'_>) -> W::Output;

    /// Calls `then` with the tile of this width.
    fn with_tile_size<W: WithTileSize>(width: TileWidth, then: W) -> W::Output;

    /// Calls `then` with the tile of linear layers: R registers of outputs times M rows.
    fn with_panel_size<W: WithTileSize>(then: W) -> W::Output;
}

/// Something to compile for a set. `run` has to be `#[inline(always)]`: only inside [`InstructionSet::run`] may the compiler
/// use the set's instructions.
pub(crate) trait Work<S> {
    type Input<'a>;
    type Output;

    /// # Safety
    /// The result of the work.
    unsafe fn run(simd: S, input: Self::Input<'_>) -> Self::Output;
}

/// The width of a tile. Wide tiles read keys and values less often; narrow ones waste less where there are few queries or a
/// mask hides much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TileWidth {
    Narrow,
    Middle,
    Wide,
}

impl TileWidth {
    pub const ALL: [TileWidth; 3] = [TileWidth::Narrow, TileWidth::Middle, TileWidth::Wide];

    /// The time of a score relative to one in a wide tile: measured with AVX-512 while other programs used the same core,
    /// which is when loads are expensive.
    pub fn relative_cost(self) -> f64 {
        match self {
            TileWidth::Narrow => 1.2,
            TileWidth::Middle => 1.06,
            TileWidth::Wide => 1.0,
        }
    }
}

/// Something to do with the size of a tile: R registers of queries times M keys, or columns, at a time. That takes R · M sums,
/// and R + 1 registers for the factors.
pub(crate) trait WithTileSize {
    type Output;
    fn call<const R: usize, const M: usize>(self) -> Self::Output;
}
