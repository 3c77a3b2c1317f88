//! The run of products example by example.

use super::kernel::ProductKernels;
use super::problem::{Products, Task};
use crate::error::Result;
use crate::machine::Machine;
use crate::simd::SimdLevel;

/// Multiplies, in the widest registers of `simd`. `packed` is working memory that is kept between calls.
///
/// # Errors
/// If the numbers do not fit the shapes, or this processor lacks the instruction set.
pub fn multiply_examples<T: ProductKernels>(
    problem: Products<'_, T>,
    simd: SimdLevel,
    packed: &mut Vec<T>,
    out: &mut [T],
) -> Result<()> {
    Machine { simd, threads: 1 }.check()?;
    problem.check(out.len())?;
    let kernel = T::products(simd);
    // SAFETY: the level was found available.
    unsafe { kernel(Task { problem, out, packed }) };
    Ok(())
}
