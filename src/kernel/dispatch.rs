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
    pub finish_row: unsafe fn(&Group<'_, T>, usize, &Partials<'_, T>, &Results<'_, T>),
}

/// How wide a tile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// One register of queries: for few queries, where a wider tile would be empty in part.
    Narrow,
    /// Two registers.
    Middle,
    /// Four registers: the keys and values are read half as often.
    Wide,
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

/// The kernels of one set of instructions, behind functions that are compiled for it.
macro_rules! doors {
    ($set:ident, $module:ident, $features:literal) => {
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

            pub(super) fn tile<T: Real, const R: usize, const M: usize>() -> TileKernel<T>
            where
                $set: Simd<T>,
            {
                TileKernel {
                    queries: R * <$set as Simd<T>>::LANES,
                    scratch_bytes: tile::scratch_bytes::<T, $set, R>,
                    attend: attend_tile::<T, R, M>,
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
                partials: &Partials<'_, T>,
                results: &Results<'_, T>,
            ) {
                // SAFETY: the caller has found the features; the row is the caller's.
                unsafe { decode::finish_row(group, row, partials, results) }
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
doors!(Avx512, avx512, "avx512f");
#[cfg(target_arch = "x86_64")]
doors!(Avx2, avx2, "avx2,fma");
#[cfg(target_arch = "aarch64")]
doors!(Neon, neon, "neon");

impl Kernels for f32 {
    #[allow(private_interfaces)]
    fn tile(level: SimdLevel, width: Width) -> Option<TileKernel<f32>> {
        match (level, width) {
            #[cfg(target_arch = "x86_64")]
            (SimdLevel::Avx512, Width::Narrow) => Some(avx512::tile::<f32, 1, 16>()),
            #[cfg(target_arch = "x86_64")]
            (SimdLevel::Avx512, Width::Middle) => Some(avx512::tile::<f32, 2, 8>()),
            #[cfg(target_arch = "x86_64")]
            (SimdLevel::Avx512, Width::Wide) => Some(avx512::tile::<f32, 4, 4>()),
            #[cfg(target_arch = "x86_64")]
            (SimdLevel::Avx2, Width::Narrow) => Some(avx2::tile::<f32, 1, 8>()),
            #[cfg(target_arch = "x86_64")]
            (SimdLevel::Avx2, _) => Some(avx2::tile::<f32, 3, 4>()),
            #[cfg(target_arch = "aarch64")]
            (SimdLevel::Neon, Width::Narrow) => Some(neon::tile::<f32, 1, 16>()),
            #[cfg(target_arch = "aarch64")]
            (SimdLevel::Neon, _) => Some(neon::tile::<f32, 3, 8>()),
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
        match (level, width) {
            #[cfg(target_arch = "x86_64")]
            (SimdLevel::Avx512, Width::Narrow) => Some(avx512::tile::<f64, 1, 16>()),
            #[cfg(target_arch = "x86_64")]
            (SimdLevel::Avx512, Width::Middle) => Some(avx512::tile::<f64, 2, 8>()),
            #[cfg(target_arch = "x86_64")]
            (SimdLevel::Avx512, Width::Wide) => Some(avx512::tile::<f64, 4, 4>()),
            #[cfg(target_arch = "x86_64")]
            (SimdLevel::Avx2, Width::Narrow) => Some(avx2::tile::<f64, 1, 8>()),
            #[cfg(target_arch = "x86_64")]
            (SimdLevel::Avx2, _) => Some(avx2::tile::<f64, 3, 4>()),
            #[cfg(target_arch = "aarch64")]
            (SimdLevel::Neon, Width::Narrow) => Some(neon::tile::<f64, 1, 16>()),
            #[cfg(target_arch = "aarch64")]
            (SimdLevel::Neon, _) => Some(neon::tile::<f64, 3, 8>()),
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
