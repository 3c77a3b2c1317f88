//! From a set of SIMD instructions to the code that uses it.
//!
//! The algorithms are written once, over [`Simd`], and compiled once for each set: every function here is the door to one
//! such copy, and `target_feature` lets the compiler use the set's instructions behind it.

use super::decode::{self, Group, Partials};
use super::layout::Results;
use super::peak::{self, PeakKernel};
use super::problem::Head;
use super::real::Real;
use super::scratch::Scratch;
#[cfg(target_arch = "aarch64")]
use super::simd::Neon;
#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Simd, SimdLevel};
use super::tile::{self, Tile};

/// How to attend from a tile of queries.
pub(super) struct TileKernel<T: 'static> {
    /// So many queries at most.
    pub queries: usize,
    /// What it needs, in bytes.
    pub scratch_bytes: fn(&Head<'_, T>) -> usize,
    /// See [`tile::attend_tile`].
    pub attend: unsafe fn(&Tile<'_, T>, Scratch<'_>, &Results<'_, T>),
}

/// How to attend from few queries.
pub(super) struct DecodeKernel<T: 'static> {
    /// See [`decode::attend_part`].
    pub attend_part: unsafe fn(&Group<'_, T>, usize, Scratch<'_>, &Partials<'_, T>),
    /// See [`decode::finish_row`].
    pub finish_row: unsafe fn(&Group<'_, T>, usize, Scratch<'_>, &Partials<'_, T>, &Results<'_, T>),
}

/// How wide a tile is. Wide tiles read keys and values less often; narrow ones compute less for nothing, where there are
/// few queries or a mask hides much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Narrow,
    Middle,
    Wide,
}

impl Width {
    pub const ALL: [Width; 3] = [Width::Narrow, Width::Middle, Width::Wide];

    /// What a score takes, as a multiple of what it takes in a wide tile: measured with AVX-512, while other programs used the
    /// same core, which is when loads are dear.
    pub fn price(self) -> f64 {
        match self {
            Width::Narrow => 1.2,
            Width::Middle => 1.06,
            Width::Wide => 1.0,
        }
    }
}

/// The numbers that there are kernels for. `None`: the plain version.
pub trait Kernels: Sized + 'static {
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn tile(level: SimdLevel, width: Width) -> Option<TileKernel<Self>>;
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn decode(level: SimdLevel) -> Option<DecodeKernel<Self>>;
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn peak(level: SimdLevel) -> Option<PeakKernel<Self>>;
}

/// The kernels of one set of instructions, behind functions that are compiled for it. A tile of a width has R registers of
/// queries and takes M keys, or columns, by them at a time: R · M sums, and R + 1 registers for what is multiplied.
macro_rules! doors {
    ($set:ident, $module:ident, $features:literal, { $($width:pat => $r:literal by $m:literal),+ }) => {
        mod $module {
            use super::*;

            #[target_feature(enable = $features)]
            unsafe fn attend_tile<T: Real, const R: usize, const M: usize>(
                tile: &Tile<'_, T>,
                scratch: Scratch<'_>,
                results: &Results<'_, T>,
            ) where
                $set: Simd<T>,
            {
                // SAFETY: the caller has found the features; the rows are the caller's.
                unsafe { tile::attend_tile::<T, $set, R, M>($set::assume(), tile, scratch, results) }
            }

            pub(super) fn tile<T: Real>(width: Width) -> TileKernel<T>
            where
                $set: Simd<T>,
            {
                match width {
                    $($width => TileKernel {
                        queries: $r * <$set as Simd<T>>::LANES,
                        scratch_bytes: tile::scratch_bytes::<T, $set, $r>,
                        attend: attend_tile::<T, $r, $m>,
                    },)+
                }
            }

            #[target_feature(enable = $features)]
            unsafe fn attend_part<T: Real, const K: usize>(
                group: &Group<'_, T>,
                number: usize,
                scratch: Scratch<'_>,
                partials: &Partials<'_, T>,
            ) where
                $set: Simd<T>,
            {
                // SAFETY: the caller has found the features; the part is the caller's.
                unsafe { decode::attend_part::<T, $set, K>($set::assume(), group, number, scratch, partials) }
            }

            #[target_feature(enable = $features)]
            unsafe fn finish_row<T: Real>(
                group: &Group<'_, T>,
                row: usize,
                scratch: Scratch<'_>,
                partials: &Partials<'_, T>,
                results: &Results<'_, T>,
            ) {
                // SAFETY: the caller has found the features; the row is the caller's.
                unsafe { decode::finish_row(group, row, scratch, partials, results) }
            }

            pub(super) fn decode<T: Real, const K: usize>() -> DecodeKernel<T>
            where
                $set: Simd<T>,
            {
                DecodeKernel { attend_part: attend_part::<T, K>, finish_row: finish_row::<T> }
            }

            #[target_feature(enable = $features)]
            unsafe fn chains<T: Real, const C: usize>(turns: usize) -> T
            where
                $set: Simd<T>,
            {
                // SAFETY: the caller has found the features.
                peak::chains::<T, $set, C>(unsafe { $set::assume() }, turns)
            }

            #[target_feature(enable = $features)]
            unsafe fn total<T: Real>(numbers: &[T]) -> T
            where
                $set: Simd<T>,
            {
                // SAFETY: the caller has found the features.
                peak::total::<T, $set>(unsafe { $set::assume() }, numbers)
            }

            pub(super) fn peak<T: Real, const C: usize>() -> PeakKernel<T>
            where
                $set: Simd<T>,
            {
                let per_turn = C * <$set as Simd<T>>::LANES;
                PeakKernel { per_turn, chains: chains::<T, C>, total: total::<T> }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
doors!(Avx512, avx512, "avx512f", { Width::Narrow => 1 by 16, Width::Middle => 2 by 8, Width::Wide => 4 by 6 });
#[cfg(target_arch = "x86_64")]
doors!(Avx2, avx2, "avx2,fma", { Width::Narrow => 1 by 8, Width::Middle | Width::Wide => 3 by 4 });
#[cfg(target_arch = "aarch64")]
doors!(Neon, neon, "neon", { Width::Narrow => 1 by 16, Width::Middle | Width::Wide => 3 by 8 });

impl Kernels for f32 {
    #[allow(private_interfaces)]
    fn tile(level: SimdLevel, width: Width) -> Option<TileKernel<f32>> {
        match level {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => Some(avx512::tile(width)),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => Some(avx2::tile(width)),
            #[cfg(target_arch = "aarch64")]
            SimdLevel::Neon => Some(neon::tile(width)),
            _ => None,
        }
    }

    #[allow(private_interfaces)]
    fn decode(level: SimdLevel) -> Option<DecodeKernel<f32>> {
        match level {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => Some(avx512::decode::<f32, 1>()),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => Some(avx2::decode::<f32, 2>()),
            #[cfg(target_arch = "aarch64")]
            SimdLevel::Neon => Some(neon::decode::<f32, 4>()),
            _ => None,
        }
    }

    #[allow(private_interfaces)]
    fn peak(level: SimdLevel) -> Option<PeakKernel<f32>> {
        match level {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => Some(avx512::peak::<f32, 16>()),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => Some(avx2::peak::<f32, 12>()),
            #[cfg(target_arch = "aarch64")]
            SimdLevel::Neon => Some(neon::peak::<f32, 16>()),
            _ => None,
        }
    }
}

impl Kernels for f64 {
    #[allow(private_interfaces)]
    fn tile(level: SimdLevel, width: Width) -> Option<TileKernel<f64>> {
        match level {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => Some(avx512::tile(width)),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => Some(avx2::tile(width)),
            #[cfg(target_arch = "aarch64")]
            SimdLevel::Neon => Some(neon::tile(width)),
            _ => None,
        }
    }

    #[allow(private_interfaces)]
    fn decode(level: SimdLevel) -> Option<DecodeKernel<f64>> {
        match level {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => Some(avx512::decode::<f64, 2>()),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => Some(avx2::decode::<f64, 4>()),
            #[cfg(target_arch = "aarch64")]
            SimdLevel::Neon => Some(neon::decode::<f64, 8>()),
            _ => None,
        }
    }

    #[allow(private_interfaces)]
    fn peak(level: SimdLevel) -> Option<PeakKernel<f64>> {
        match level {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => Some(avx512::peak::<f64, 16>()),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => Some(avx2::peak::<f64, 12>()),
            #[cfg(target_arch = "aarch64")]
            SimdLevel::Neon => Some(neon::peak::<f64, 16>()),
            _ => None,
        }
    }
}
