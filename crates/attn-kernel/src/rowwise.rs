//! What a layer does between its products, to every number or every row: activations, and the softmax of a pattern.
//!
//! Each is written once, for registers of any width: the plain version, which defines the bits, has registers of one number. Sums over
//! a row are sixteen chains, whatever the registers hold.

use crate::activation::{exp, replace_all};
use crate::error::{Error, Result};
use crate::exp2::Exp2;
use crate::layout::Layout;
use crate::output::{RowId, SharedRows};
use crate::plain::{VIRTUAL_LANES, fold};
use crate::pool::{Machine, Resources, each_task};
use crate::real::Real;
use crate::simd::{InstructionSet, Scalar, Simd, SimdLevel, WithSet, Work};

pub use crate::activation::Activation;

/// The numbers of a task, about: some microseconds.
const TASK_NUMBERS: usize = 8192;

/// Applies the activation to every number, in place.
///
/// # Errors
/// If this processor lacks `machine.simd`.
pub fn activate(activation: Activation, numbers: &mut [f32], machine: Machine) -> Result<Resources> {
    machine.check()?;
    let kernel = kernel(machine.simd);
    let count = numbers.len();
    let shared = SharedRows::new(numbers, Layout::stacked(1, 1, count))?;
    Ok(each_task(machine, count.div_ceil(TASK_NUMBERS), &|task| {
        let (first, row) = (task * TASK_NUMBERS, RowId { head: 0, row: 0 });
        // SAFETY: every number is one task's.
        let numbers = unsafe { shared.row_mut(row, first, TASK_NUMBERS.min(count - first)) };
        // SAFETY: the level was found available.
        unsafe { kernel(RowTask::Activate(activation, numbers)) };
    }))
}

/// The softmax of every row of `scores`, T × N, in place. A score of −∞ gets the weight 0, all of a row of them too.
///
/// The sum of a row is sixteen chains, key j in chain j mod 16, folded 16 → 8 → 4 → 2 → 1; then every exponential is divided by it.
/// # Accuracy
/// With u = 2⁻²⁴, D the largest difference of two finite scores of the row, and to first order in u, a weight is off by at most
/// u · (2D + N/16 + 10) of itself and 2⁻¹²⁵.
/// # Errors
/// If the scores are not rows of `columns` numbers, or this processor lacks `machine.simd`.
pub fn softmax_rows(scores: &mut [f32], columns: usize, machine: Machine) -> Result<Resources> {
    machine.check()?;
    let count = scores.len();
    if count == 0 {
        return Ok(Resources::default());
    }
    if columns == 0 || !count.is_multiple_of(columns) {
        return Err(Error::Shape(format!("{count} scores are no rows of {columns} keys")));
    }
    let (kernel, rows) = (kernel(machine.simd), count / columns);
    let shared = SharedRows::new(scores, Layout::stacked(1, rows, columns))?;
    let together = TASK_NUMBERS.div_ceil(columns);
    Ok(each_task(machine, rows.div_ceil(together), &|task| {
        for row in task * together..((task + 1) * together).min(rows) {
            // SAFETY: every row is one task's.
            let scores = unsafe { shared.row_mut(RowId { head: 0, row }, 0, columns) };
            // SAFETY: the level was found available.
            unsafe { kernel(RowTask::Softmax(scores)) };
        }
    }))
}

/// What is done to some numbers.
enum RowTask<'a> {
    Activate(Activation, &'a mut [f32]),
    /// A row of scores.
    Softmax(&'a mut [f32]),
}

/// The function that does it at a level that this processor has; it is not safe at another.
fn kernel(level: SimdLevel) -> unsafe fn(RowTask<'_>) {
    // SAFETY: of the work, only its instruction set asks for a promise.
    level.with_set(RunTask).unwrap_or(|task| unsafe { RunTask::run(Scalar, task) })
}

struct RunTask;

impl WithSet for RunTask {
    type Output = unsafe fn(RowTask<'_>);

    fn call<S: InstructionSet>(self) -> unsafe fn(RowTask<'_>) {
        S::run::<RunTask>
    }
}

impl<S: Simd<f32>> Work<S> for RunTask {
    type Input<'a> = RowTask<'a>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(simd: S, task: RowTask<'_>) {
        match task {
            RowTask::Activate(activation, numbers) => replace_all(simd, activation, numbers),
            RowTask::Softmax(row) => softmax(simd, row),
        }
    }
}

// The softmax of a row of scores, in place.

/// Scores become weights, 0 for those of −∞.
///
/// The sum is sixteen chains, key j in chain j mod 16.
#[inline(always)]
fn softmax<S: Simd<f32>>(simd: S, row: &mut [f32]) {
    let max = max_of(simd, row);
    // −∞ − −∞ is NaN.
    let sum = replace_by_exponentials(simd, row, if max == f32::NEG_INFINITY { 0.0 } else { max });
    if sum == 0.0 {
        return;
    }
    let sums = simd.splat(sum);
    let mut registers = row.chunks_exact_mut(S::LANES);
    for weights in &mut registers {
        // SAFETY: a chunk is as long as a register.
        unsafe { simd.store(simd.div(simd.load(weights), sums), weights) };
    }
    for weight in registers.into_remainder() {
        *weight /= sum;
    }
}

#[inline(always)]
fn max_of<S: Simd<f32>>(simd: S, row: &[f32]) -> f32 {
    let mut max = simd.splat(f32::NEG_INFINITY);
    let mut registers = row.chunks_exact(S::LANES);
    for scores in &mut registers {
        // SAFETY: a chunk is as long as a register.
        max = simd.max(unsafe { simd.load(scores) }, max);
    }
    let lanes = simd.numbers(max);
    let all = lanes[..S::LANES].iter().chain(registers.remainder());
    all.fold(f32::NEG_INFINITY, |max, score| Real::max(*score, max))
}

// Sums over a row: sixteen chains, column j in chain j mod 16, folded 16 → 8 → 4 → 2 → 1.

/// The most registers that sixteen `f32` fill: those of one number.
const MAX_REGISTERS: usize = 16;

/// Replaces every score of a row by exp(score − max); returns the sum.
#[inline(always)]
fn replace_by_exponentials<S: Simd<f32>>(simd: S, row: &mut [f32], max: f32) -> f32 {
    let (exp, max) = (exp(), simd.splat(max));
    let mut sums = [simd.splat(0.0); MAX_REGISTERS];
    let (sixteens, last) = row.as_chunks_mut::<VIRTUAL_LANES>();
    for sixteen in sixteens {
        replace_sixteen(simd, &exp, max, sixteen, &mut sums);
    }
    if !last.is_empty() {
        // What fills up the last sixteen adds 0.
        let mut sixteen = [f32::NEG_INFINITY; VIRTUAL_LANES];
        sixteen[..last.len()].copy_from_slice(last);
        replace_sixteen(simd, &exp, max, &mut sixteen, &mut sums);
        last.copy_from_slice(&sixteen[..last.len()]);
    }
    let mut lanes = [0.0; VIRTUAL_LANES];
    for (lanes, sum) in lanes.chunks_exact_mut(S::LANES).zip(sums) {
        // SAFETY: a chunk is as long as a register.
        unsafe { simd.store(sum, lanes) };
    }
    fold(lanes)
}

// Not a closure: that is not inlined in functions of an instruction set, and takes thirty times as long.
#[inline(always)]
fn replace_sixteen<S: Simd<f32>>(
    simd: S,
    exp: &Exp2<f32>,
    max: S::Register,
    sixteen: &mut [f32; VIRTUAL_LANES],
    sums: &mut [S::Register; MAX_REGISTERS],
) {
    for (numbers, sum) in sixteen.chunks_exact_mut(S::LANES).zip(sums) {
        // SAFETY: a chunk is as long as a register.
        unsafe {
            let x = exp.of_lanes(simd, simd.sub(simd.load(numbers), max));
            simd.store(x, numbers);
            *sum = simd.add(*sum, x);
        }
    }
}
