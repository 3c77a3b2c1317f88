//! The graph of similarities between words.

use crate::error::Result;
use crate::graph::{Factor, Graph, Op, Origin};
use crate::matrix::Matrix;

/// A measure of the similarity of two vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The dot product.
    Dot,
    /// The dot product divided by the root of the width.
    Scaled,
    /// The cosine of the angle.
    Cosine,
    /// The Euclidean distance: smaller is more similar.
    Euclidean,
}

impl Measure {
    /// All four, in the order of the tables.
    pub const ALL: [Measure; 4] = [Measure::Dot, Measure::Scaled, Measure::Cosine, Measure::Euclidean];
}

/// The words as rows of `X`, and a table for each measure: `dot`, `scaled`, `cosine`, `euclidean`.
///
/// # Errors
/// If there are more than [`MAX_CELLS`](crate::graph::MAX_CELLS) numbers.
pub fn similarity(words: Matrix, origin: Origin, measures: &[Measure]) -> Result<Graph> {
    let mut graph = Graph::new();
    let width = words.cols();
    let x = graph.given("X", words, origin)?;
    let wanted = |measure| measures.contains(&measure);
    if wanted(Measure::Dot) || wanted(Measure::Scaled) {
        let dot = graph.add("dot", Op::ProductTransposed, &[x, x])?;
        if wanted(Measure::Scaled) {
            graph.add("scaled", Op::Scale(Factor::InverseRoot(width)), &[dot])?;
        }
    }
    if wanted(Measure::Cosine) {
        graph.add("cosine", Op::Cosine, &[x, x])?;
    }
    if wanted(Measure::Euclidean) {
        graph.add("euclidean", Op::Euclidean, &[x, x])?;
    }
    graph.warn_of_range();
    Ok(graph)
}
