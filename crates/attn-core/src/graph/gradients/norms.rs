//! The way back through norms: what lies along a row changes only its length, which the norm takes away again.

use super::backward::Backward;
use crate::attention::Axis;
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op};

/// `y = x / r ∘ w` with `r = √(mean x² + ε)`: `dx = (g − u · mean(g ∘ u)) / r` with `u = x / r` and `g = dy ∘ w`.
pub(super) fn rms_norm(step: &mut Backward<'_>, epsilon: f64, input: usize) -> Result<NodeId> {
    let x = step.input(0);
    let unit = match step.inputs() {
        1 => step.y,
        _ => step.of_step("unit", Op::RmsNorm(epsilon), &[x])?,
    };
    if input > 0 {
        return learned(step, unit, input);
    }
    let gained = gained(step)?;
    let across = across(step, gained, unit, true)?;
    let size = size(step, x, Some(epsilon))?;
    step.finish(Op::Quotient, &[across, size])
}

/// The same with x minus its mean: `dx = (h − mean h) / r` with `h = g − u · mean(g ∘ u)`.
pub(super) fn layer_norm(step: &mut Backward<'_>, epsilon: f64, input: usize) -> Result<NodeId> {
    let x = step.input(0);
    let unit = match step.inputs() {
        1 => step.y,
        _ => step.of_step("unit", Op::LayerNorm(epsilon), &[x])?,
    };
    if input > 0 {
        return learned(step, unit, input);
    }
    let gained = gained(step)?;
    let across = across(step, gained, unit, true)?;
    let across = step.part("across_minus_mean", Op::MinusMean, &[across])?;
    let from_mean = step.of_step("minus_mean", Op::MinusMean, &[x])?;
    let size = size(step, from_mean, Some(epsilon))?;
    step.finish(Op::Quotient, &[across, size])
}

/// `y = x / ‖x‖`: `dx = (dy − y · Σ dy ∘ y) / ‖x‖`. A row of zeros stays 0 in `y`, and its gradient is 0.
pub(super) fn unit_rows(step: &mut Backward<'_>, x: NodeId, unit: NodeId, of_unit: NodeId) -> Result<NodeId> {
    let across = across(step, of_unit, unit, false)?;
    let size = size(step, x, None)?;
    let has_length = step.where_zero("has_length", false, size)?;
    let has_none = step.where_zero("has_no_length", true, size)?;
    let divisor = step.part("divisor", Op::Add, &[size, has_none])?;
    let counted = step.part("counted", Op::Multiply, &[across, has_length])?;
    step.finish(Op::Quotient, &[counted, divisor])
}

/// The gradient of the gain, or of the bias after it.
fn learned(step: &mut Backward<'_>, unit: NodeId, input: usize) -> Result<NodeId> {
    let dy = step.dy;
    if input == 2 {
        return step.finish(Op::Sums(Axis::Columns), &[dy]);
    }
    let weighted = step.part("gain", Op::Multiply, &[dy, unit])?;
    step.finish(Op::Sums(Axis::Columns), &[weighted])
}

/// `dy` times the gain, where there is one.
fn gained(step: &mut Backward<'_>) -> Result<NodeId> {
    let dy = step.dy;
    if step.inputs() == 1 {
        return Ok(dy);
    }
    let gain = step.spread("gain_repeated", Axis::Columns, step.input(1), dy)?;
    step.part("gained", Op::Multiply, &[dy, gain])
}

/// `g` without its part along the unit of each row: `g − u · Σ g ∘ u`, with the mean instead of the sum for a norm by the mean.
fn across(step: &mut Backward<'_>, gained: NodeId, unit: NodeId, is_mean: bool) -> Result<NodeId> {
    let weighted = step.part("unit_products", Op::Multiply, &[gained, unit])?;
    let mut along = step.part("along", Op::Sums(Axis::Rows), &[weighted])?;
    if is_mean {
        let width = step.shape(unit).cols;
        along = step.part("along_mean", Op::Scale(Factor::Inverse(width)), &[along])?;
    }
    let along = step.spread("along_repeated", Axis::Rows, along, unit)?;
    let along = step.part("along_unit", Op::Multiply, &[unit, along])?;
    step.part("across", Op::Subtract, &[gained, along])
}

/// The size of each row, in all of its columns: its length, or the root of its mean square plus ε.
fn size(step: &mut Backward<'_>, x: NodeId, epsilon: Option<f64>) -> Result<NodeId> {
    let squares = step.of_step("squares", Op::Multiply, &[x, x])?;
    let mut sum = step.of_step("square_sum", Op::Sums(Axis::Rows), &[squares])?;
    if let Some(epsilon) = epsilon {
        let width = step.shape(x).cols;
        let mean = step.of_step("mean_square", Op::Scale(Factor::Inverse(width)), &[sum])?;
        let ones = step.ones_like(mean)?;
        let epsilon = step.of_step("epsilon", Op::Scale(Factor::Number(epsilon)), &[ones])?;
        sum = step.of_step("mean_square_more", Op::Add, &[mean, epsilon])?;
    }
    let size = step.of_step("size", Op::Root, &[sum])?;
    step.spread("size_repeated", Axis::Rows, size, x)
}
