//! The product of all examples, compiled for each instruction set.

use std::marker::PhantomData;

use super::problem::Task;
use super::tile::Chain;
use crate::simd::{InstructionSet, SimdLevel, WithSet, Work};

/// A number type that there are products for: `f32` and `f64`.
pub trait ProductKernels: Chain {
    /// The kernel of a level, for processors that have it; the plain version for [`SimdLevel::Portable`].
    #[doc(hidden)]
    fn products(level: SimdLevel) -> ProductKernel<Self>;
}

/// A function that multiplies all examples of a task. It is not safe on a processor without its instruction set.
#[doc(hidden)]
pub type ProductKernel<T> = unsafe fn(Task<'_, T>);

struct MakeKernel<T>(PhantomData<T>);

impl<T: Chain> WithSet for MakeKernel<T> {
    type Output = ProductKernel<T>;

    fn call<S: InstructionSet>(self) -> ProductKernel<T> {
        S::run::<Multiply<T>>
    }
}

struct Multiply<T>(PhantomData<T>);

impl<T: Chain, S> Work<S> for Multiply<T> {
    type Input<'a> = Task<'a, T>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(_: S, task: Task<'_, T>) {
        task.run();
    }
}

fn plain<T: Chain>(task: Task<'_, T>) {
    task.run();
}

impl<T: Chain> ProductKernels for T {
    fn products(level: SimdLevel) -> ProductKernel<T> {
        level.with_set(MakeKernel::<T>(PhantomData)).unwrap_or(plain::<T>)
    }
}
