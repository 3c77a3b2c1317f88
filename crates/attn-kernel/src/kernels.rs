//! The kernels: the algorithms compiled for each instruction set.
//!
//! The algorithms are written once, over [`Simd`]. Each [`Work`] here is one of them, and [`InstructionSet::run`] is that work
//! compiled for the set.

use std::hint::black_box;
use std::marker::PhantomData;

use crate::decode::{AttendPart, FinishRow, PartTask, RowTask};
use crate::error::Result;
use crate::memory::{LINE, prefetch_near};
use crate::pool::Machine;
use crate::problem::Head;
use crate::products::{self, ProductKernel, Products};
use crate::real::Real;
use crate::simd::{InstructionSet, Scalar, Simd, SimdLevel, TileWidth, WithSet, WithTileSize, Work};
use crate::tile::{self, AttendTile, Tile};

/// A number type that there are kernels for: `f32` and `f64`.
pub trait Kernels: Real {
    /// The kernels of a level, for processors that have it; `None` for the plain version.
    #[doc(hidden)]
    fn kernels(level: SimdLevel) -> Option<KernelSet<Self>>;

    /// The products of many examples at a level, for processors that have it.
    #[doc(hidden)]
    fn products(level: SimdLevel) -> ProductKernel<Self>;
}

/// The kernels of one instruction set.
pub struct KernelSet<T: 'static> {
    /// By [`TileWidth`], in its order.
    pub(crate) tiles: [TileKernel<T>; 3],
    pub(crate) decode: DecodeKernel<T>,
    pub(crate) peak: PeakKernel<T>,
}

/// A function that attends from a tile of queries, and the size of its tile.
#[derive(Clone, Copy)]
pub(crate) struct TileKernel<T: 'static> {
    /// The width of the tile.
    pub width: TileWidth,
    /// The maximum number of queries.
    pub queries: usize,
    /// The scratch memory in bytes.
    pub scratch_bytes: fn(&Head<'_, T>) -> usize,
    /// See [`AttendTile`].
    pub attend: unsafe fn(Tile<'_, T>),
}

/// The functions that attend from a few queries.
#[derive(Clone, Copy)]
pub(crate) struct DecodeKernel<T: 'static> {
    /// See [`AttendPart`].
    pub attend_part: unsafe fn(PartTask<'_, T>),
    /// See [`FinishRow`].
    pub finish_row: unsafe fn(RowTask<'_, T>),
}

impl<T: Real> KernelSet<T> {
    fn of<S: InstructionSet + Simd<T>>() -> KernelSet<T> {
        let tile = |width| S::with_tile_size(width, MakeTile::<T, S> { width, types: PhantomData });
        let attend_part = match <S as Simd<T>>::PER_SIXTEEN {
            1 => S::run::<AttendPart<T, 1>>,
            2 => S::run::<AttendPart<T, 2>>,
            4 => S::run::<AttendPart<T, 4>>,
            _ => S::run::<AttendPart<T, 8>>,
        };
        KernelSet {
            tiles: TileWidth::ALL.map(tile),
            decode: DecodeKernel { attend_part, finish_row: S::run::<FinishRow<T>> },
            // Two registers are for the factors.
            peak: if <S as Simd<T>>::REGISTERS < 32 { peak::<T, S, 12>() } else { peak::<T, S, 16>() },
        }
    }
}

struct MakeTile<T, S> {
    width: TileWidth,
    types: PhantomData<(T, S)>,
}

impl<T: Real, S: InstructionSet + Simd<T>> WithTileSize for MakeTile<T, S> {
    type Output = TileKernel<T>;

    fn call<const R: usize, const M: usize>(self) -> TileKernel<T> {
        TileKernel {
            width: self.width,
            queries: R * <S as Simd<T>>::LANES,
            scratch_bytes: tile::scratch_bytes::<T, S, R>,
            attend: S::run::<AttendTile<T, R, M>>,
        }
    }
}

fn peak<T: Real, S: InstructionSet + Simd<T>, const C: usize>() -> PeakKernel<T> {
    let per_turn = C * <S as Simd<T>>::LANES;
    PeakKernel { per_turn, chains: S::run::<Chains<T, C>>, total: S::run::<Total<T>> }
}

/// Makes the kernels for one number type and the instruction set that it is called with.
struct MakeKernels<T>(PhantomData<T>);

// Not for every type at once: so the kernels are compiled here, with the optimisation of this crate, and not in the crates that call
// them.
macro_rules! impl_kernels {
    ($($number:ty),+) => {$(
        impl WithSet for MakeKernels<$number> {
            type Output = KernelSet<$number>;

            fn call<S: InstructionSet>(self) -> KernelSet<$number> {
                KernelSet::of::<S>()
            }
        }

        impl Kernels for $number {
            fn kernels(level: SimdLevel) -> Option<KernelSet<$number>> {
                level.with_set(MakeKernels::<$number>(PhantomData))
            }

            fn products(level: SimdLevel) -> ProductKernel<$number> {
                products::kernel(level)
            }
        }
    )+};
}

impl_kernels!(f32, f64);

/// Multiplies, in the widest registers of `simd`. `packed` is working memory that is kept between calls.
///
/// # Errors
/// If the numbers do not fit the shapes, or this processor lacks the instruction set.
pub fn multiply_examples<T: Kernels>(
    problem: Products<'_, T>,
    simd: SimdLevel,
    packed: &mut Vec<T>,
    out: &mut [T],
) -> Result<()> {
    Machine { simd, threads: 1 }.check()?;
    let task = products::Task::new(problem, packed, out)?;
    // SAFETY: the level was found available.
    unsafe { T::products(simd)(task) };
    Ok(())
}

// The two loops that find the limits of the machine: one that only computes, one that only reads.

/// The loops that find the limits of one instruction set.
pub(crate) struct PeakKernel<T: 'static> {
    /// Multiply-adds of one turn of [`Chains`], all lanes together.
    pub per_turn: usize,
    /// See [`Chains`].
    pub chains: unsafe fn(usize) -> T,
    /// See [`Total`].
    pub total: unsafe fn(&[T]) -> T,
}

impl<T: Real> PeakKernel<T> {
    /// The loops without SIMD.
    pub fn plain() -> PeakKernel<T> {
        // SAFETY: of both, only the instruction set asks for a promise.
        let chains = |turns: usize| unsafe { <Chains<T, 16> as Work<Scalar>>::run(Scalar, turns) };
        // SAFETY: as above.
        let total = |numbers: &[T]| unsafe { <Total<T> as Work<Scalar>>::run(Scalar, numbers) };
        PeakKernel { per_turn: 16, chains, total }
    }
}

/// The independent sums of [`Total`], so that one addition need not wait for another.
const SUMS: usize = 8;

/// Prefetch distance of [`Total`], in cache lines: by itself the processor looks less far ahead (34 GB/s instead of 47 with AVX-512).
const PREFETCH_LINES: usize = 64;

/// C independent chains of multiply-adds: enough to keep all units of a core busy, and no more than there are registers for.
/// The result only keeps the compiler from removing the loop.
struct Chains<T, const C: usize>(PhantomData<T>);

impl<T: Real, S: Simd<T>, const C: usize> Work<S> for Chains<T, C> {
    type Input<'a> = usize;
    type Output = T;

    #[inline(always)]
    unsafe fn run(simd: S, turns: usize) -> T {
        // x ↦ 0.999 x + 0.001 converges to 1: no chain overflows or becomes subnormal, where arithmetic is slow.
        let (factor, summand) = (black_box(T::from_f64(0.999)), black_box(T::from_f64(0.001)));
        let (factor, summand) = (simd.splat(factor), simd.splat(summand));
        let mut chains = [simd.splat(T::ZERO); C];
        for (i, chain) in chains.iter_mut().enumerate() {
            *chain = simd.splat(black_box(T::from_f64(i as f64)));
        }
        for _ in 0..turns {
            for chain in &mut chains {
                *chain = simd.mul_add(*chain, factor, summand);
            }
        }
        sum_of_lanes(simd, &chains)
    }
}

/// The sum of all numbers but a few last ones; the additions cost nothing compared with reading them.
struct Total<T>(PhantomData<T>);

impl<T: Real, S: Simd<T>> Work<S> for Total<T> {
    type Input<'a> = &'a [T];
    type Output = T;

    #[inline(always)]
    unsafe fn run(simd: S, numbers: &[T]) -> T {
        let mut sums = [simd.splat(T::ZERO); SUMS];
        let lanes_per_line = LINE / size_of::<T>();
        for numbers in numbers.chunks_exact(SUMS * S::LANES) {
            for (i, sum) in sums.iter_mut().enumerate() {
                if (i * S::LANES).is_multiple_of(lanes_per_line) {
                    let ahead = i * S::LANES + PREFETCH_LINES * lanes_per_line;
                    prefetch_near(numbers.as_ptr().wrapping_add(ahead));
                }
                // SAFETY: a chunk is SUMS registers long.
                *sum = simd.add(*sum, unsafe { simd.load(&numbers[i * S::LANES..]) });
            }
        }
        sum_of_lanes(simd, &sums)
    }
}

#[inline(always)]
fn sum_of_lanes<T: Real, S: Simd<T>>(simd: S, registers: &[S::Register]) -> T {
    let lanes = registers.iter().flat_map(|&register| simd.numbers(register));
    lanes.fold(T::ZERO, |sum, lane| sum + lane)
}
