//! The way back from sums and maxima to the cells that they sum up.

use super::backward::Backward;
use crate::attention::Axis;
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op, Statistic};

/// A sum hands its gradient on to every cell.
pub(super) fn sums(step: &mut Backward<'_>, axis: Axis) -> Result<NodeId> {
    let (a, dy) = (step.input(0), step.dy);
    let shape = step.shape(a);
    match axis {
        Axis::Rows => step.finish(Op::RepeatColumns(shape.cols), &[dy]),
        Axis::Columns => {
            let ones = step.ones(shape.rows, 1)?;
            step.finish(Op::Product, &[ones, dy])
        }
        Axis::Whole => {
            let ones = step.ones(shape.rows, shape.cols)?;
            step.finish(Op::Times, &[ones, dy])
        }
    }
}

/// The share of each cell in the max: 1 for the largest, and equal shares where several are.
fn share_of_max(step: &mut Backward<'_>, axis: Axis, of: NodeId) -> Result<NodeId> {
    let gap = step.of_step("gap", Op::MinusMax(axis), &[of])?;
    let top = step.where_zero("largest", true, gap)?;
    step.of_step("largest_share", Op::DivideBySum(axis), &[top])
}

/// A max hands its gradient on to the largest cell.
pub(super) fn max(step: &mut Backward<'_>, axis: Axis) -> Result<NodeId> {
    let (a, dy) = (step.input(0), step.dy);
    let share = share_of_max(step, axis, a)?;
    let spread = step.spread("repeated", axis, dy, a)?;
    step.finish(Op::Multiply, &[share, spread])
}

/// `y = a − max`: the gradient, and the largest cell loses the sum of all.
pub(super) fn minus_max(step: &mut Backward<'_>, axis: Axis) -> Result<NodeId> {
    let (a, dy) = (step.input(0), step.dy);
    let share = share_of_max(step, axis, a)?;
    let sum = step.part("sum", Op::Sums(axis), &[dy])?;
    let spread = step.spread("sum_repeated", axis, sum, a)?;
    let of_max = step.part("of_largest", Op::Multiply, &[share, spread])?;
    step.finish(Op::Subtract, &[dy, of_max])
}

/// One number about all cells.
pub(super) fn summary(step: &mut Backward<'_>, statistic: Statistic) -> Result<NodeId> {
    let (a, y, dy) = (step.input(0), step.y, step.dy);
    let shape = step.shape(a);
    let count = Op::Scale(Factor::Inverse(shape.rows * shape.cols));
    match statistic {
        Statistic::Mean => {
            let spread = step.spread("repeated", Axis::Whole, dy, a)?;
            step.finish(count, &[spread])
        }
        Statistic::RootMeanSquare => {
            let share = step.part("share", Op::Quotient, &[dy, y])?;
            let share = step.part("share_of_cell", count, &[share])?;
            step.finish(Op::Times, &[a, share])
        }
        Statistic::Max => max(step, Axis::Whole),
        Statistic::MaxSize => max_size(step),
    }
}

/// The largest absolute value: its sign, times the gradient, in the cell that has it.
fn max_size(step: &mut Backward<'_>) -> Result<NodeId> {
    let (a, dy) = (step.input(0), step.dy);
    let negative = step.of_step("negative", Op::Scale(Factor::Number(-1.0)), &[a])?;
    let above = step.of_step("above", Op::Relu, &[a])?;
    let below = step.of_step("below", Op::Relu, &[negative])?;
    let size = step.of_step("size", Op::Add, &[above, below])?;
    let (plus, minus) = (step.where_zero("plus", false, above)?, step.where_zero("minus", false, below)?);
    let sign = step.of_step("sign", Op::Subtract, &[plus, minus])?;
    let share = share_of_max(step, Axis::Whole, size)?;
    let signed = step.of_step("signed_share", Op::Multiply, &[share, sign])?;
    step.finish(Op::Times, &[signed, dy])
}
