//! The kernel of linear layers, compiled for each instruction set and type of weights.

use std::marker::PhantomData;

use super::few::{FewTask, multiply_few, scratch_bytes_of_few};
use super::group::{GroupTask, multiply_group, scratch_bytes};
use super::problem::WeightOrder;
use super::weight::{RegisterWeight, Weight};
use crate::simd::{InstructionSet, LoadWeights, Simd, SimdLevel, WithSet, WithTileSize, Work};

/// The kernel of one instruction set, for weights of type W.
#[derive(Clone, Copy)]
pub struct LinearKernel<W: 'static> {
    /// The scratch memory of a task with few rows in bytes, by the order of the weights and the numbers of rows and outputs.
    pub(crate) scratch_bytes_of_few: fn(WeightOrder, usize, usize) -> usize,
    /// The scratch memory of a task with many rows, in bytes.
    pub(crate) scratch_bytes: usize,
    /// See [`multiply_few`].
    pub(crate) multiply_few: unsafe fn(FewTask<'_, W>),
    /// See [`multiply_group`].
    pub(crate) multiply_group: unsafe fn(GroupTask<'_, W>),
}

/// A type of weights that there are kernels for: all of them.
pub trait LinearWeight: Weight {
    /// The kernel of a level, for processors that have it; `None` for the plain version.
    #[doc(hidden)]
    fn kernel(level: SimdLevel) -> Option<LinearKernel<Self>>;
}

macro_rules! impl_linear_weight {
    ($($weight:ty),+) => {$(
        impl LinearWeight for $weight {
            fn kernel(level: SimdLevel) -> Option<LinearKernel<$weight>> {
                level.with_set(MakeKernel::<$weight>(PhantomData))
            }
        }
    )+};
}

impl_linear_weight!(f32, half::f16, half::bf16);

struct MakeKernel<W>(PhantomData<W>);

impl<W: RegisterWeight> WithSet for MakeKernel<W> {
    type Output = LinearKernel<W>;

    fn call<S: InstructionSet>(self) -> LinearKernel<W> {
        S::with_panel_size(MakeTile::<W, S>(PhantomData))
    }
}

struct MakeTile<W, S>(PhantomData<(W, S)>);

impl<W: RegisterWeight, S: InstructionSet + Simd<f32>> WithTileSize for MakeTile<W, S> {
    type Output = LinearKernel<W>;

    fn call<const R: usize, const M: usize>(self) -> LinearKernel<W> {
        LinearKernel {
            scratch_bytes_of_few: scratch_bytes_of_few::<S>,
            scratch_bytes: scratch_bytes::<S, R>(),
            multiply_few: S::run::<MultiplyFew<W>>,
            multiply_group: S::run::<MultiplyGroup<W, R, M>>,
        }
    }
}

struct MultiplyGroup<W, const R: usize, const M: usize>(PhantomData<W>);

impl<W: RegisterWeight, S: InstructionSet, const R: usize, const M: usize> Work<S>
    for MultiplyGroup<W, R, M>
{
    type Input<'a> = GroupTask<'a, W>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(simd: S, task: GroupTask<'_, W>) {
        // SAFETY: the cells are the caller's.
        unsafe { multiply_group::<W, S, R, M>(simd, task) }
    }
}

struct MultiplyFew<W>(PhantomData<W>);

impl<W: RegisterWeight, S: LoadWeights> Work<S> for MultiplyFew<W> {
    type Input<'a> = FewTask<'a, W>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(simd: S, task: FewTask<'_, W>) {
        // SAFETY: the cells are the caller's.
        unsafe { multiply_few::<W, S>(simd, task) }
    }
}
