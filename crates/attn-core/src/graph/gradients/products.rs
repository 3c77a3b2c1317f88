//! The way back through products, and through arithmetic cell by cell.

use super::backward::Backward;
use crate::attention::{Axis, WeightLayout};
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op};

/// `y = a b`: `da = dy bᵀ`, `db = aᵀ dy`.
pub(super) fn product(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let (a, b, dy) = (step.input(0), step.input(1), step.dy);
    match input {
        0 => step.finish(Op::ProductTransposed, &[dy, b]),
        _ => step.finish(Op::TransposedProduct, &[a, dy]),
    }
}

/// `y = a bᵀ`: `da = dy b`, `db = dyᵀ a`.
pub(super) fn product_transposed(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let (a, b, dy) = (step.input(0), step.input(1), step.dy);
    match input {
        0 => step.finish(Op::Product, &[dy, b]),
        _ => step.finish(Op::TransposedProduct, &[dy, a]),
    }
}

/// `y = aᵀ b`: `da = b dyᵀ`, `db = a dy`.
pub(super) fn transposed_product(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let (a, b, dy) = (step.input(0), step.input(1), step.dy);
    match input {
        0 => step.finish(Op::ProductTransposed, &[b, dy]),
        _ => step.finish(Op::Product, &[a, dy]),
    }
}

/// `y = x W + c`: as a product, and `dc` is the sum over all rows.
pub(super) fn linear(step: &mut Backward<'_>, layout: WeightLayout, input: usize) -> Result<NodeId> {
    let dy = step.dy;
    match (input, layout) {
        (0 | 1, WeightLayout::InOut) => product(step, input),
        (0 | 1, WeightLayout::OutIn) => product_transposed(step, input),
        _ => step.finish(Op::Sums(Axis::Columns), &[dy]),
    }
}

/// A difference hands its gradient on, with the other sign to what is subtracted.
pub(super) fn difference(step: &mut Backward<'_>, is_subtracted: bool) -> Result<NodeId> {
    let dy = step.dy;
    if is_subtracted { step.finish(Op::Scale(Factor::Number(-1.0)), &[dy]) } else { step.same() }
}

/// `y = a / b` for a number b: `da = dy / b`, `db = −Σ dy ∘ y / b`.
pub(super) fn divide(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let (b, y, dy) = (step.input(1), step.y, step.dy);
    if input == 0 {
        return step.finish(Op::Divide, &[dy, b]);
    }
    let weighted = step.part("weighted", Op::Multiply, &[dy, y])?;
    let sum = step.part("sum", Op::Sums(Axis::Whole), &[weighted])?;
    let share = step.part("share", Op::Divide, &[sum, b])?;
    step.finish(Op::Scale(Factor::Number(-1.0)), &[share])
}

/// `y = a · b` for a number b: `da = dy · b`, `db = Σ dy ∘ a`.
pub(super) fn times(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let (a, b, dy) = (step.input(0), step.input(1), step.dy);
    if input == 0 {
        return step.finish(Op::Times, &[dy, b]);
    }
    let weighted = step.part("weighted", Op::Multiply, &[dy, a])?;
    step.finish(Op::Sums(Axis::Whole), &[weighted])
}

/// `y = a / b`, cell by cell: `da = dy / b`, `db = −dy ∘ y / b`.
pub(super) fn quotient(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let (b, y, dy) = (step.input(1), step.y, step.dy);
    if input == 0 {
        return step.finish(Op::Quotient, &[dy, b]);
    }
    let weighted = step.part("weighted", Op::Multiply, &[dy, y])?;
    let share = step.part("share", Op::Quotient, &[weighted, b])?;
    step.finish(Op::Scale(Factor::Number(-1.0)), &[share])
}
