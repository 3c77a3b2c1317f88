//! The fast path: attention over many heads without an n×n matrix, in the widest registers the processor has.
#![allow(unsafe_code)]
// An index here is a key, a column, a lane or a register, of several arrays at once.
#![allow(clippy::needless_range_loop)]

mod attend;
mod decode;
mod decode_block;
mod dispatch;
mod exp2;
mod layout;
mod plain;
mod plain_decode;
mod pool;
mod problem;
mod product;
mod real;
mod scratch;
mod simd;
mod tile;
mod transpose;
mod visible;

pub use attend::{FEWEST_FOR_TILES, Machine, Used, attend};
pub use exp2::Exp2;
pub use layout::{Heads, Layout};
pub use plain::BLOCK;
pub use problem::{Attention, Band};
pub use real::Real;
pub use simd::SimdLevel;
