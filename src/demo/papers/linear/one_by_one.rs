//! Tokens one by one: rows, what they write into a memory, and running sums.

use crate::demo::Builder;
use crate::error::{Error, Result};
use crate::graph::{NodeId, Op};

/// At most this many tokens are written into a memory one by one.
const MOST_TOKENS: usize = 64;

/// The number of rows of a node.
///
/// # Errors
/// If there is none, or there are too many to follow one by one.
pub(super) fn few_rows(demo: &Builder, name: &str, id: NodeId) -> Result<usize> {
    match demo.matrix(id)?.rows() {
        rows @ 1..=MOST_TOKENS => Ok(rows),
        rows => Err(Error::new(format!(
            "{name} has {rows} rows, and the demo follows 1 to {MOST_TOKENS} tokens one by one"
        ))),
    }
}

/// Row `at` of a matrix.
pub(super) fn row(demo: &mut Builder, name: &str, of: NodeId, at: usize) -> Result<NodeId> {
    demo.compute(name, Op::Rows { start: at, count: 1 }, &[of])
}

/// `kᵀ v` of two rows: the matrix that answers k with v.
pub(super) fn outer(demo: &mut Builder, name: &str, k: NodeId, v: NodeId) -> Result<NodeId> {
    let standing = demo.compute(&format!("{name}_key"), Op::Transpose, &[k])?;
    demo.compute(name, Op::Product, &[standing, v])
}

/// A running sum: the part, added to what was there.
pub(super) fn add_to(demo: &mut Builder, name: &str, before: Option<NodeId>, part: NodeId) -> Result<NodeId> {
    let inputs: Vec<NodeId> = before.into_iter().chain([part]).collect();
    demo.compute(name, Op::Add, &inputs)
}
