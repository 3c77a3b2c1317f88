//! The way back from cosines and distances of rows to the rows.

use super::backward::Backward;
use super::norms;
use crate::attention::Axis;
use crate::error::Result;
use crate::graph::{NodeId, Op};

/// `y = u vᵀ` with the rows of a and b at length 1: back through the product, then through the length.
pub(super) fn cosine(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let (own, other, dy) = (step.input(input), step.input(1 - input), step.dy);
    let [own_unit, other_unit] = [(own, input), (other, 1 - input)].map(|(of, at)| {
        let name = if at == 0 { "first_units" } else { "second_units" };
        step.of_step(name, Op::UnitRows, &[of])
    });
    let (own_unit, other_unit) = (own_unit?, other_unit?);
    let of_unit = match input {
        0 => step.part("first_units", Op::Product, &[dy, other_unit])?,
        _ => step.part("second_units", Op::TransposedProduct, &[dy, other_unit])?,
    };
    norms::unit_rows(step, own, own_unit, of_unit)
}

/// `y` is the distance of a row of a and a row of b. With `w = dy / y`, and 0 where the distance is 0,
/// `da = (Σ w) ∘ a − w b` and `db = (Σ wᵀ) ∘ b − wᵀ a`.
pub(super) fn euclidean(step: &mut Backward<'_>, input: usize) -> Result<NodeId> {
    let (own, other, y, dy) = (step.input(input), step.input(1 - input), step.y, step.dy);
    let apart = step.where_zero("apart", false, y)?;
    let together = step.where_zero("together", true, y)?;
    let divisor = step.of_step("divisor", Op::Add, &[y, together])?;
    let counted = step.part("apart", Op::Multiply, &[dy, apart])?;
    let per_distance = step.part("per_distance", Op::Quotient, &[counted, divisor])?;
    let (sums, pulled) = if input == 0 {
        let sums = step.part("row_sums", Op::Sums(Axis::Rows), &[per_distance])?;
        (sums, step.part("pulled_first", Op::Product, &[per_distance, other])?)
    } else {
        let ones = step.ones(step.shape(y).rows, 1)?;
        let sums = step.part("column_sums", Op::TransposedProduct, &[per_distance, ones])?;
        (sums, step.part("pulled_second", Op::TransposedProduct, &[per_distance, other])?)
    };
    let sums = step.spread("sums_repeated", Axis::Rows, sums, own)?;
    let stretched = step.part("stretched", Op::Multiply, &[sums, own])?;
    step.finish(Op::Subtract, &[stretched, pulled])
}
