//! The instruction sets. Another one is a file of its own here and an entry in the list of `level.rs`.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx2_weights;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512_weights;
mod level;
#[cfg(target_arch = "aarch64")]
mod neon;
mod registers;
mod set;

pub use level::SimdLevel;
pub(crate) use level::WithSet;
pub(crate) use registers::{LoadWeights, MAX_LANES, Simd};
pub(crate) use set::{InstructionSet, TileWidth, WithTileSize, Work};
