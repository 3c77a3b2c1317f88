//! The heads of a graph, and a graph without some of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::{Factor, Given, Graph, NodeId, Op, Origin, Stage, Step};
use crate::matrix::Matrix;

/// The head that a node belongs to, from 1; that of the only head is 1. `None` for a node that belongs to no head.
pub(super) fn head_of(graph: &Graph, id: NodeId) -> Option<usize> {
    let step = graph[id].step?;
    match step.head {
        Some(head) => Some(head),
        None => (step.stage.is_scores() || step.stage == Stage::Weights).then_some(1),
    }
}

/// The outputs of the heads that are taken out, as zeros that are recorded instead of being computed, by their names.
pub(super) fn zeros_instead(graph: &Graph, removed: &BTreeSet<usize>) -> BTreeMap<String, Given> {
    let outputs = removed.iter().flat_map(|&head| outputs(graph, head));
    let zeros = |id: NodeId| {
        let node = &graph[id];
        let (rows, cols) = node.labels();
        let shape = node.shape();
        let zeros = Matrix::filled(shape.rows, shape.cols, 0.0)
            .with_row_labels(rows.cloned())
            .with_col_labels(cols.cloned());
        (node.name.clone(), Given::new(zeros, Origin::Removed))
    };
    outputs.map(zeros).collect()
}

/// The outputs of a head: the nodes that mix values by its weights, one in each layer.
pub(super) fn outputs(graph: &Graph, head: usize) -> Vec<NodeId> {
    let is_of_head = |step: Step| step.head == Some(head) || step.head.is_none() && head == 1;
    let is_output = |id: NodeId| {
        let node = &graph[id];
        if let Some(Step { stage: Stage::Mixed, head: of, .. }) = node.step
            && (of == Some(head) || of.is_none() && head == 1)
        {
            return true;
        }
        let weights = node.inputs.first().and_then(|&input| graph[input].step);
        let mixes = weights.is_some_and(|step| step.stage == Stage::Weights && is_of_head(step));
        mixes && node.op == Op::Product
    };
    graph.nodes().map(|(id, _)| id).filter(|&id| is_output(id) && !is_scaled_away(graph, id)).collect()
}

/// Whether a node is a head that a model has taken out already.
fn is_scaled_away(graph: &Graph, id: NodeId) -> bool {
    graph[id].op == Op::Scale(Factor::Number(0.0))
}
