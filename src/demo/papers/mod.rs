//! Demos of methods in papers that the five documents leave out: how a kernel computes attention block by block, what
//! today's models add to it, or compute in its place, how gradients run back through it, and what
//! two layers of it can do together.

mod alibi;
mod backward;
mod blocks;
mod cache;
mod cache_costs;
mod descent;
mod differential;
mod gap;
mod induction;
mod latent;
mod linear;
mod online;
mod rope;
mod rope_scaling;
mod saturated;
mod sink;

use super::{Builder, Demo};
use crate::error::{Error, Result};
use crate::graph::NodeId;

/// How kernels compute attention, then what models add to it, then what they compute instead; then gradients, and a circuit of two
/// layers.
pub const DEMOS: &[Demo] = &[
    online::DEMO,
    blocks::DEMO,
    cache::DEMO,
    rope::DEMO,
    alibi::DEMO,
    sink::DEMO,
    linear::DEMO,
    latent::DEMO,
    differential::DEMO,
    backward::DEMO,
    saturated::DEMO,
    descent::DEMO,
    induction::DEMO,
];

/// Checks that given weights have an even number of columns, because `why` (“shared by two heads”).
///
/// # Errors
/// If the number is odd.
fn even_columns(demo: &Builder, name: &str, weights: NodeId, why: &str) -> Result<()> {
    let shape = demo.matrix(weights)?.shape();
    if shape.cols.is_multiple_of(2) {
        return Ok(());
    }
    Err(Error::new(format!("{name} is {shape}, but its columns are {why}"))
        .help(format!("give {name} an even number of columns")))
}
