//! The way back through steps that only choose, repeat, join and arrange: each number goes back to where it came from.

use super::backward::Backward;
use crate::attention::Axis;
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::Shape;

/// `y = a E`, where E is what the step makes of the identity: `da = dy Eᵀ`.
pub(super) fn of_columns(step: &mut Backward<'_>) -> Result<NodeId> {
    let identity = step.identity(step.shape(step.input(0)).cols)?;
    let selection = step.of_step("selection", step.op(), &[identity])?;
    step.finish(Op::ProductTransposed, &[step.dy, selection])
}

/// `y = E a`, where E is what the step makes of the identity: `da = Eᵀ dy`.
pub(super) fn of_rows(step: &mut Backward<'_>) -> Result<NodeId> {
    let identity = step.identity(step.shape(step.input(0)).rows)?;
    let selection = step.of_step("selection", step.op(), &[identity])?;
    step.finish(Op::TransposedProduct, &[selection, step.dy])
}

/// The sum of a block goes to each of its cells: `da = Rᵀ dy Cᵀ`, with the blocks of rows R and of columns C.
pub(super) fn block_sums(step: &mut Backward<'_>, rows: usize, cols: usize) -> Result<NodeId> {
    let shape = step.shape(step.input(0));
    let of_rows = step.identity(shape.rows)?;
    let of_rows = step.of_step("row_blocks", Op::BlockSums { rows, cols: 1 }, &[of_rows])?;
    let of_cols = step.identity(shape.cols)?;
    let of_cols = step.of_step("column_blocks", Op::BlockSums { rows: 1, cols }, &[of_cols])?;
    let spread = step.part("rows", Op::TransposedProduct, &[of_rows, step.dy])?;
    step.finish(Op::ProductTransposed, &[spread, of_cols])
}

/// The columns that an input has in the whole.
pub(super) fn concatenated(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let start = (0..input).map(|at| step.shape(step.input(at)).cols).sum();
    let count = step.shape(step.input(input)).cols;
    step.finish(Op::Columns { start, count }, &[step.dy])
}

/// The rows that an input has in the whole.
pub(super) fn stacked(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let start = (0..input).map(|at| step.shape(step.input(at)).rows).sum();
    let count = step.shape(step.input(input)).rows;
    step.finish(Op::Rows { start, count }, &[step.dy])
}

/// The shape of before.
pub(super) fn reshaped(step: &mut Backward<'_>) -> Result<NodeId> {
    let Shape { rows, cols } = step.shape(step.input(0));
    step.finish(Op::Reshape { rows, cols }, &[step.dy])
}

/// The diagonal, as a row.
pub(super) fn diagonal(step: &mut Backward<'_>) -> Result<NodeId> {
    let identity = step.identity(step.shape(step.y).cols)?;
    let kept = step.part("diagonal", Op::Multiply, &[step.dy, identity])?;
    step.finish(Op::Sums(Axis::Columns), &[kept])
}
