//! The graph of a softmax with every step as a node.

use crate::attention::{Axis, Base};
use crate::error::Result;
use crate::graph::{Graph, Op, Origin};
use crate::matrix::Matrix;

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
