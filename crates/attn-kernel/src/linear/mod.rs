//! Linear layers: `out = x Wᵀ + b`, with weights of type `f32`, `f16` or `bf16` that are read in place.
//!
//! `problem.rs` has the problem, the types of weights, and the sum in a few lines. With SIMD a task is a group of outputs (`panels.rs`).
//! Where there are few rows, they are multiplied by the weights as these come from memory (`few.rs`).

mod few;
mod panels;
mod problem;

use std::marker::PhantomData;

use few::{FewTask, MultiplyFew, scratch_bytes_of_few};
use panels::{GROUP_OUTPUTS, Group, GroupTask, MultiplyGroup, scratch_bytes};
use problem::RegisterWeight;

use crate::error::Result;
use crate::layout::Layout;
use crate::output::{RowId, SharedRows};
use crate::pool::{self, Machine, Resources};
use crate::simd::{InstructionSet, Simd, SimdLevel, WithSet, WithTileSize};

pub use problem::{Linear, Rows, Weight, WeightOrder};

/// Up to this many rows, all weights are read in place.
const MAX_FEW_ROWS: usize = 8;

/// The tasks for each thread where there are few rows. Another program may hold one of the threads up, so there are several; but of
/// weights in rows of inputs a task reads a piece of every row, and long pieces are faster (768 outputs on two threads: 21 GB/s, and
/// 12 with four tasks each).
const fn tasks_per_thread(order: WeightOrder) -> usize {
    match order {
        WeightOrder::OutIn => 4,
        WeightOrder::InOut => 1,
    }
}

/// The sums of a task with few rows: they stay in the nearest cache.
const FEW_SUMS: usize = 4096;

/// The rows of a task.
const TASK_ROWS: usize = 512;

/// Fewer multiplications than this run on one thread: about twenty microseconds.
const MIN_PRODUCTS_FOR_THREADS: usize = 500_000;

/// `out[t,n] = Σ_k x[t,k] · w[k,n] + b[n]`, where w\[k,n\] is `weights[k,n]` or `weights[n,k]`, by the order of the weights.
///
/// # Shapes
/// See [`Linear`] for the inputs; `output` is (T, N), row after row, and overwritten.
/// # One result
/// An output is one chain of fused multiply-adds over k, from the first to the last, that starts at +0; then the bias is added.
/// It depends on its row of x, its weights and its bias alone: not on the other rows, the order of the weights in memory, the
/// threads or the instruction set.
/// # Accuracy
/// With u = 2⁻²⁴, |out − exact| ≤ γ · (Σ_k |x w| + |b|) + K + 1 times the smallest subnormal number, where
/// γ = (K + 1) u / (1 − (K + 1) u), if no sum overflows.
/// # Errors
/// If the shapes do not fit each other, this processor lacks `machine.simd`, or there is not enough memory.
/// # Source
/// The panels: Goto & van de Geijn 2008, “Anatomy of High-Performance Matrix Multiplication”. The bound: Higham 2002, “Accuracy
/// and Stability of Numerical Algorithms”, section 3.1.
pub fn linear<W: LinearWeight>(
    problem: &Linear<'_, W>,
    machine: Machine,
    output: &mut [f32],
) -> Result<Resources> {
    problem.check(output.len())?;
    machine.check()?;
    let (rows, outputs) = (problem.input.rows(), problem.outputs());
    if rows == 0 || outputs == 0 {
        return Ok(Resources::default());
    }
    let output = SharedRows::new(output, Layout::stacked(1, rows, outputs))?;
    let products = rows.saturating_mul(outputs).saturating_mul(problem.inputs());
    let threads = if products < MIN_PRODUCTS_FOR_THREADS { 1 } else { machine.threads.max(1) };
    match W::kernel(machine.simd) {
        Some(kernel) if rows <= MAX_FEW_ROWS => run_few(problem, &kernel, threads, &output),
        Some(kernel) => run_groups(problem, &kernel, threads, &output),
        None => Ok(run_plain(problem, threads, &output)),
    }
}

/// A task is some outputs, for all rows.
fn run_few<W: LinearWeight>(
    problem: &Linear<'_, W>,
    kernel: &LinearKernel<W>,
    threads: usize,
    output: &SharedRows<'_, f32>,
) -> Result<Resources> {
    let (rows, outputs) = (problem.input.rows(), problem.outputs());
    let tasks = tasks_per_thread(problem.order) * threads;
    let each = outputs.div_ceil(tasks).next_multiple_of(32).min(FEW_SUMS / rows / 32 * 32);
    let bytes = (kernel.scratch_bytes_of_few)(problem.order, rows, each);
    pool::run_with_scratch(threads, outputs.div_ceil(each), bytes, &|task, scratch| {
        let outputs = task * each..((task + 1) * each).min(outputs);
        // SAFETY: the level was found available; every output is one task's.
        unsafe { (kernel.multiply_few)(FewTask { linear: problem, outputs, scratch, output }) };
    })
}

/// A task is a group of outputs, for some hundred rows.
fn run_groups<W: LinearWeight>(
    problem: &Linear<'_, W>,
    kernel: &LinearKernel<W>,
    threads: usize,
    output: &SharedRows<'_, f32>,
) -> Result<Resources> {
    let (rows, outputs) = (problem.input.rows(), problem.outputs());
    let groups = outputs.div_ceil(GROUP_OUTPUTS);
    let tasks = groups * rows.div_ceil(TASK_ROWS);
    pool::run_with_scratch(threads, tasks, kernel.scratch_bytes, &|task, scratch| {
        let (first_row, first_output) = (task / groups * TASK_ROWS, task % groups * GROUP_OUTPUTS);
        let group_from = |first: usize| first.min(outputs)..(first + GROUP_OUTPUTS).min(outputs);
        let group = Group {
            linear: problem,
            rows: first_row..(first_row + TASK_ROWS).min(rows),
            outputs: group_from(first_output),
            output,
            next_outputs: group_from(first_output + threads * GROUP_OUTPUTS),
        };
        // SAFETY: the level was found available; every cell is one task's.
        unsafe { (kernel.multiply_group)(GroupTask { group, scratch }) };
    })
}

/// Without SIMD: a task is a row of the input.
fn run_plain<W: Weight>(problem: &Linear<'_, W>, threads: usize, output: &SharedRows<'_, f32>) -> Resources {
    let threads = pool::run(threads, problem.input.rows(), &|row| {
        for n in 0..problem.outputs() {
            let sum = problem::output(problem, row, n);
            // SAFETY: every row is one task's.
            unsafe { output.set(RowId { head: 0, row }, n, sum) };
        }
    });
    Resources { extra_bytes: 0, threads }
}

/// The kernel of one instruction set, for weights of type W.
#[derive(Clone, Copy)]
pub struct LinearKernel<W: 'static> {
    /// The scratch memory of a task with few rows in bytes, by the order of the weights and the numbers of rows and outputs.
    pub(crate) scratch_bytes_of_few: fn(WeightOrder, usize, usize) -> usize,
    /// The scratch memory of a task with many rows, in bytes.
    pub(crate) scratch_bytes: usize,
    /// See [`MultiplyFew`].
    pub(crate) multiply_few: unsafe fn(FewTask<'_, W>),
    /// See [`MultiplyGroup`].
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
