//! Products of many small matrices, one for each example of a batch: what a training step multiplies.
//!
//! The matrices are too small for the blocks of [`crate::linear`], and there are thousands of them. Each cell of a result is one
//! chain over the inner dimension, from left to right, starting at +0: in `f32` of fused multiply-adds, in `f64` of a product and
//! a sum that are rounded one after the other, as in the definition. No result depends on the instruction set, on the batch or on
//! the place in it.

mod kernel;
mod problem;
mod run;
mod tile;

pub use kernel::ProductKernels;
pub use problem::{Operand, Products};
pub use run::multiply_examples;
