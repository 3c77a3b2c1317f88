//! How far two nodes that should agree are apart.

use crate::demo::Builder;
use crate::error::Result;
use crate::graph::{NodeId, Op, Statistic};

/// Differences up to this size are rounding.
pub(super) const ROUNDING: f64 = 1e-9;

/// The largest difference between two nodes of one shape, as `gap_` and the name.
pub(super) fn gap(demo: &mut Builder, name: &str, nodes: [NodeId; 2]) -> Result<NodeId> {
    let change = demo.compute(&format!("change_{name}"), Op::Subtract, &nodes)?;
    demo.label(change, "difference");
    demo.compute(&format!("gap_{name}"), Op::Summary(Statistic::MaxSize), &[change])
}
