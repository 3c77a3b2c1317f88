//! Recipes: inputs and options to the graph of a whole computation.

mod alter;
mod alteration;
mod attend;
mod fused;
mod heads;
mod loss;
mod output;
mod positions;
mod recipe;
#[cfg(test)]
mod tests;
mod weights;

use crate::attention::{Axis, Base};
use crate::error::Result;
use crate::matrix::Matrix;

use super::{Factor, Graph, Op, Origin};

pub use alter::{Alter, Alteration, Combine, Move, Norm, OtherMatrix, Site, Slant};
pub use attend::{AttendInputs, HeadCache, attend, attend_as_far_as_possible, attend_in};
pub(crate) use attend::{LookAtWeights, StepsOfHeads};
pub use fused::attend_fused;
pub(crate) use fused::{HeadInputs, heads_inside, removed};
pub use heads::split;
pub use loss::{CrossEntropy, cross_entropy, cross_entropy_in_batch};
pub use recipe::{
    AfterNormalise, AlibiSlopes, Biasing, CapPlace, Divisor, Featurewise, Gating, Groups, HeadSharing,
    Hiding, MagnitudeUse, Merge, NormPlace, Normalise, NormaliseAxis, NormedRoles, Output, PositionKind,
    Positions, Projection, QK_NORM_EPSILON, QkNorm, Qkv, QkvSource, QkvSources, Recipe, Residual, Rotary,
    RotatedPart, RotatedRoles, Scale, Score, ScoreFunction, ScoreRows, Shift, SineSigns, SinkUse, Split,
    SplitRoles,
};
pub use weights::{BiasAndMask, Weights, weights};

// The graph of similarities between words.

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

// The graph of a softmax with every step as a node.

/// Scores (one row, or several), over the temperature, minus the maximum, exponentials, their sum, the weights, and the
/// sum of the weights: `x`, `x_tempered`, `shifted`, `powers`, `power_sum`, `A`, `A_sum`. The node `x_tempered` exists
/// only where there is a temperature.
///
/// # Errors
/// If there are more than [`MAX_CELLS`](crate::graph::MAX_CELLS) numbers.
pub fn softmax(scores: Matrix, origin: Origin, temperature: Option<f64>, base: Base) -> Result<Graph> {
    let mut graph = Graph::new();
    let mut last = graph.given("x", scores, origin)?;
    if let Some(temperature) = temperature {
        last = graph.add("x_tempered", Op::Temperature(temperature), &[last])?;
    }
    let shifted = graph.add("shifted", Op::MinusMax(Axis::Rows), &[last])?;
    let powers = graph.add("powers", Op::Exponential(base), &[shifted])?;
    graph.add("power_sum", Op::Sums(Axis::Rows), &[powers])?;
    let weights = graph.add("A", Op::Softmax(Axis::Rows, base), &[last])?;
    graph.add("A_sum", Op::Sums(Axis::Rows), &[weights])?;
    graph.warn_of_range();
    Ok(graph)
}
