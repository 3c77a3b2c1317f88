//! Scores of queries and keys that are drawn.

use super::builder::Builder;
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::random::LegacyStream;
use crate::story::condition::{Condition, columns, equal};

/// The keys have the widths of the demo's own: sentences may name them.
pub(super) fn of_their_width(widths: &[usize]) -> Condition {
    let own = |width: &usize| equal(columns(&format!("K_d{width}")), *width as f64);
    Condition::All(widths.iter().map(own).collect())
}

/// Draws queries and keys of this width, `Q_d4` and `K_d4`; returns their scores `S_d4`, and the width of the keys, which may be given
/// in place of the drawn ones.
///
/// # Errors
/// If given queries and keys do not fit.
pub(super) fn drawn_scores(
    demo: &mut Builder,
    stream: &mut LegacyStream,
    tokens: usize,
    width: usize,
) -> Result<(NodeId, usize)> {
    let q = demo.drawn(&format!("Q_d{width}"), stream.standard_normal_matrix(tokens, width))?;
    let k = demo.drawn(&format!("K_d{width}"), stream.standard_normal_matrix(tokens, width))?;
    let d_k = demo.matrix(k)?.cols();
    let s = demo.compute(&format!("S_d{width}"), Op::ProductTransposed, &[q, k])?;
    Ok((s, d_k))
}
