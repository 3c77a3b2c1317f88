//! Rows cut into tasks for threads.

use super::activation::Activation;
use super::kernel::{RowTask, kernel};
use super::norm::Norm;
use crate::band::Band;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::linear::Rows;
use crate::machine::{Machine, Resources};
use crate::output::{RowId, SharedRows};
use crate::tasks::each_task;

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

/// The softmax of every row of `scores`, T × N, in place: row i over the keys that query i sees. Hidden keys get the weight 0, all
/// keys of a fully masked row too.
///
/// The sum of a row is sixteen chains, key j in chain j mod 16, folded 16 → 8 → 4 → 2 → 1; then every exponential is divided by it.
/// # Accuracy
/// With u = 2⁻²⁴, D the largest difference of two visible scores of the row, and to first order in u, a weight is off by at most
/// u · (2D + N/16 + 10) of itself and 2⁻¹²⁵.
/// # Errors
/// If the scores are not rows of `columns` numbers, or this processor lacks `machine.simd`.
pub fn softmax_rows(scores: &mut [f32], columns: usize, band: Band, machine: Machine) -> Result<Resources> {
    machine.check()?;
    let count = scores.len();
    let Some(rows) = rows_of(count, columns) else {
        return Err(Error::Shape(format!("{count} scores are no rows of {columns} keys")));
    };
    let kernel = kernel(machine.simd);
    let shared = SharedRows::new(scores, Layout::stacked(1, rows, columns))?;
    Ok(each_row(machine, rows, columns, &|row| {
        // SAFETY: every row is one task's.
        let scores = unsafe { shared.row_mut(RowId { head: 0, row }, 0, columns) };
        // SAFETY: the level was found available.
        unsafe { kernel(RowTask::Softmax(scores, band.keys(row, columns))) };
    }))
}

/// The norm of every row of `input`, T × N, to `output`, row after row.
///
/// Both sums of a row, of the numbers and of the squared differences from their mean, are sixteen chains, column j in chain
/// j mod 16, folded 16 → 8 → 4 → 2 → 1.
/// # Accuracy
/// With u = 2⁻²⁴ and to first order in u, |out − exact| ≤ u · |w| · ((N/32 + 10) · |x − m| · r + (N/16 + 6) · r · mean |x|) + u · |out|,
/// for RMS without the term of the mean; r and m as in [`Norm`].
/// # Errors
/// If the shapes do not fit each other, or this processor lacks `machine.simd`.
pub fn normalize(
    norm: &Norm<'_>,
    input: Rows<'_, f32>,
    machine: Machine,
    output: &mut [f32],
) -> Result<Resources> {
    machine.check()?;
    let (rows, columns) = (input.rows(), input.columns());
    norm.check(columns)?;
    if rows.checked_mul(columns) != Some(output.len()) {
        return Err(Error::Shape(format!(
            "an output of {} numbers does not fit {rows} rows of {columns} columns",
            output.len()
        )));
    }
    let kernel = kernel(machine.simd);
    let shared = SharedRows::new(output, Layout::stacked(1, rows, columns))?;
    Ok(each_row(machine, rows, columns, &|row| {
        // SAFETY: every row is one task's.
        let output = unsafe { shared.row_mut(RowId { head: 0, row }, 0, columns) };
        // SAFETY: the level was found available.
        unsafe { kernel(RowTask::Normalize(norm, input.row(row), output)) };
    }))
}

/// The number of rows of `columns` numbers that are `count` numbers.
fn rows_of(count: usize, columns: usize) -> Option<usize> {
    match columns {
        0 => (count == 0).then_some(0),
        _ => count.is_multiple_of(columns).then(|| count / columns),
    }
}

/// Calls `work` with every row, some rows a task.
fn each_row(machine: Machine, rows: usize, columns: usize, work: &(dyn Fn(usize) + Sync)) -> Resources {
    if columns == 0 {
        return Resources::default();
    }
    let together = TASK_NUMBERS.div_ceil(columns);
    each_task(machine, rows.div_ceil(together), &|task| {
        (task * together..((task + 1) * together).min(rows)).for_each(work);
    })
}
