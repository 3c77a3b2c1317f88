//! The way back from weights to scores: softmax, sums that divide, and the mask.

use super::backward::Backward;
use crate::attention::{Axis, Base, Mask};
use crate::elementary;
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op};

/// `dy` minus its mean along the axis, where each cell counts by its weight y.
pub(super) fn centred(step: &mut Backward<'_>, axis: Axis) -> Result<NodeId> {
    let (y, dy) = (step.y, step.dy);
    let weighted = step.part("weighted", Op::Multiply, &[y, dy])?;
    let mean = step.part("mean", Op::Sums(axis), &[weighted])?;
    let repeated = step.spread("mean_repeated", axis, mean, dy)?;
    step.part("centred", Op::Subtract, &[dy, repeated])
}

/// `y = softmax(a)`: `da = y ∘ (dy − Σ y ∘ dy)`, times the logarithm of the base where it is not e.
pub(super) fn softmax(step: &mut Backward<'_>, axis: Axis, base: Base) -> Result<NodeId> {
    let centred = centred(step, axis)?;
    let y = step.y;
    match base {
        Base::E => step.finish(Op::Multiply, &[y, centred]),
        Base::Number(base) => {
            let of_e = step.part("of_base_e", Op::Multiply, &[y, centred])?;
            step.finish(Op::Scale(Factor::Number(elementary::ln(base))), &[of_e])
        }
    }
}

/// `y = −ln softmax(a)`: `da = softmax(a) ∘ Σ dy − dy`.
pub(super) fn negative_log_softmax(step: &mut Backward<'_>) -> Result<NodeId> {
    let (a, dy) = (step.input(0), step.dy);
    let softmax = step.made("softmax", Op::Softmax(Axis::Rows, Base::E), &[a])?;
    let sum = step.part("sum", Op::Sums(Axis::Rows), &[dy])?;
    let repeated = step.spread("sum_repeated", Axis::Rows, sum, dy)?;
    let shared = step.part("shared", Op::Multiply, &[softmax, repeated])?;
    step.finish(Op::Subtract, &[shared, dy])
}

/// As for the softmax, and the sink loses what the keys win: `−(1 − Σ y) · Σ y ∘ dy`, summed over all rows.
pub(super) fn softmax_with_sink(step: &mut Backward<'_>, head: usize, input: usize) -> Result<NodeId> {
    if input == 0 {
        return softmax(step, Axis::Rows, Base::E);
    }
    let (y, dy, sinks) = (step.y, step.dy, step.input(1));
    let weighted = step.part("weighted", Op::Multiply, &[y, dy])?;
    let mean = step.part("mean", Op::Sums(Axis::Rows), &[weighted])?;
    let of_keys = step.of_step("of_keys", Op::Sums(Axis::Rows), &[y])?;
    let ones = step.ones_like(of_keys)?;
    let of_sink = step.of_step("of_sink", Op::Subtract, &[ones, of_keys])?;
    let lost = step.part("sink_products", Op::Multiply, &[of_sink, mean])?;
    let lost = step.part("sink_sum", Op::Sums(Axis::Whole), &[lost])?;
    let lost = step.part("sink", Op::Scale(Factor::Number(-1.0)), &[lost])?;
    let identity = step.identity(step.shape(sinks).cols)?;
    let place = step.of_step("sink_place", Op::Rows { start: head, count: 1 }, &[identity])?;
    step.finish(Op::Times, &[place, lost])
}

/// `y = a / s` with the sum s of a row: `da = (dy − Σ y ∘ dy) / s`.
pub(super) fn divide_by_sum(step: &mut Backward<'_>, axis: Axis) -> Result<NodeId> {
    let (a, dy) = (step.input(0), step.dy);
    let centred = centred(step, axis)?;
    let sums = step.of_step("sum", Op::Sums(axis), &[a])?;
    let sums = step.spread("sum_repeated", axis, sums, dy)?;
    step.finish(Op::Quotient, &[centred, sums])
}

/// Hidden cells get 0.
pub(super) fn mask(step: &mut Backward<'_>, mask: Mask) -> Result<NodeId> {
    let inputs: Vec<NodeId> = (0..step.inputs()).map(|at| step.input(at)).collect();
    let pattern = step.of_step("pattern", Op::MaskPattern(mask), &inputs)?;
    step.sloped(pattern)
}
