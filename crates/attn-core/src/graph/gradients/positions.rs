//! The way back through positions.

use super::backward::Backward;
use crate::attention::{Axis, Buckets, Places, Rotation};
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op};

/// A rotation is undone by the negative angle.
pub(super) fn rotary(step: &mut Backward<'_>, rotation: Rotation) -> Result<NodeId> {
    let (frequencies, dy) = (step.input(1), step.dy);
    let negative = step.of_step("back", Op::Scale(Factor::Number(-1.0)), &[frequencies])?;
    step.finish(Op::Rotary(rotation), &[dy, negative])
}

/// Each bucket of the table gets the sum of the cells whose distance is in it.
pub(super) fn bucket_bias(
    step: &mut Backward<'_>,
    column: usize,
    buckets: Buckets,
    places: Places,
) -> Result<NodeId> {
    let (table, dy) = (step.input(0), step.dy);
    let identity = step.identity(buckets.count)?;
    let mut sums = Vec::new();
    for bucket in 0..buckets.count {
        // The bias from a table that has a 1 for this bucket alone: 1 where the distance is in it.
        let here = Op::BucketBias { column: bucket, buckets, places };
        let here = step.of_step(&format!("in_bucket_{bucket}"), here, &[identity])?;
        let cells = step.part(&format!("bucket_{bucket}"), Op::Multiply, &[dy, here])?;
        sums.push(step.part(&format!("bucket_{bucket}_sum"), Op::Sums(Axis::Whole), &[cells])?);
    }
    let sums = step.part("buckets", Op::Stack(None), &sums)?;
    let heads = step.identity(step.shape(table).cols)?;
    let head = step.of_step("head", Op::Rows { start: column, count: 1 }, &[heads])?;
    step.finish(Op::Product, &[sums, head])
}
