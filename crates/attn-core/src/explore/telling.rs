//! The cell to look at first.

use crate::graph::{CellId, Graph, Node, NodeId, Op, Stage};

/// The most telling cell of some nodes: in the last matrix of attention weights the largest weight by which a token attends to
/// another one; without weights the number of the largest size in the last matrix that was computed. A number that is shown as 0 or
/// 1 tells little: a sum, a difference, a weight without a choice. `None` where no cell has another number.
pub fn most_telling(graph: &Graph, nodes: &[NodeId]) -> Option<CellId> {
    let is_matrix = |id: NodeId| graph[id].shape().rows > 1 && graph[id].shape().cols > 1;
    let last = |is_meant: &dyn Fn(NodeId) -> bool| {
        nodes.iter().rev().filter(|&&id| is_meant(id)).find_map(|&id| largest(graph, id))
    };
    last(&|id| is_matrix(id) && is_weights(&graph[id]))
        .or_else(|| last(&|id| is_matrix(id) && !graph[id].op.is_given()))
        .or_else(|| last(&|id| !graph[id].op.is_given()))
}

fn is_weights(node: &Node) -> bool {
    let is_loss = node.step.is_some_and(|step| step.stage == Stage::Loss);
    matches!(node.op, Op::Softmax(..) | Op::SoftmaxWithSink { .. }) && !is_loss
}

/// Whether a number and another one are the same with four decimals.
pub fn is_shown_as(number: f64, other: f64) -> bool {
    (number - other).abs() < 0.00005
}

/// The number of the largest size that is not shown as 0 or 1, the first one of equal ones; of weights not that of a token on itself.
fn largest(graph: &Graph, node: NodeId) -> Option<CellId> {
    let tensor = graph[node].tensor()?;
    let shape = tensor.shape();
    let is_of_tokens = is_weights(&graph[node]) && shape.rows == shape.cols;
    let mut best: Option<(f64, CellId)> = None;
    for row in 0..shape.rows {
        for col in (0..shape.cols).filter(|&col| !(is_of_tokens && row == col)) {
            let size = tensor.at(row, col).abs();
            let is_telling = size.is_finite() && !is_shown_as(size, 0.0) && !is_shown_as(size, 1.0);
            if is_telling && best.is_none_or(|(most, _)| size > most) {
                best = Some((size, CellId { node, row, col }));
            }
        }
    }
    best.map(|(_, cell)| cell)
}
