//! Linear layers: `out = x Wᵀ + b`, with weights of type `f32`, `f16` or `bf16` that are read in place.
//!
//! `problem.rs` has the problem and `plain.rs` the sum in a few lines; `weight.rs` the types of weights. With SIMD a task is a
//! group of outputs (`group.rs`): a block of their weights is widened and packed with one output a lane (`pack.rs`), and all rows
//! of the input are multiplied by it, a tile at a time (`tile.rs`). Where there are few rows, they are multiplied by the weights as
//! these come from memory (`few.rs`, and `one_row.rs` for a single one).

mod few;
mod group;
mod kernel;
mod one_row;
mod pack;
mod plain;
mod problem;
mod rows;
mod run;
mod tile;
mod upcoming;
mod weight;

pub use kernel::LinearWeight;
pub use problem::{Linear, WeightOrder};
pub use rows::Rows;
pub use run::linear;
pub use weight::Weight;
