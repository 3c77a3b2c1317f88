//! The steps of attention in a layer, side by side for all of its heads.

use super::attend::{PipelinePart, sentence};
use super::model_layer::ShownLayer;
use crate::error::{Error, Result};
use crate::graph::{Graph, Node, NodeId, Stage};

/// A step of attention in each head of a layer.
#[derive(Clone, Debug)]
pub struct HeadStep {
    /// The step.
    pub stage: Stage,
    /// The sentence that describes it, for any head.
    pub text: String,
    /// Its node for each query head. Heads that share keys and values share their nodes.
    pub nodes: Vec<NodeId>,
}

/// The steps of the heads of a layer, counted from 1: queries, keys and values first, the context vectors last. `heads` are the
/// numbers of query heads and of key/value heads.
///
/// # Errors
/// If the heads do not have the same steps.
pub fn head_steps(graph: &Graph, layer: usize, heads: [usize; 2]) -> Result<Vec<HeadStep>> {
    let of_head = |head: usize| nodes(graph, ShownLayer { layer, head: Some(head), heads });
    let first = of_head(1);
    let mut steps: Vec<HeadStep> = first
        .iter()
        .map(|&(id, stage)| HeadStep { stage, text: said(&graph[id]), nodes: Vec::new() })
        .collect();
    for head in 1..=heads[0] {
        let own = of_head(head);
        if own.len() != steps.len() || own.iter().zip(&steps).any(|((_, stage), step)| *stage != step.stage) {
            return Err(Error::new(format!("head {head} of layer {layer} has other steps than head 1")));
        }
        for (step, (id, _)) in steps.iter_mut().zip(own) {
            step.nodes.push(id);
        }
    }
    Ok(steps)
}

/// The nodes of a head, with their steps.
fn nodes(graph: &Graph, shown: ShownLayer) -> Vec<(NodeId, Stage)> {
    // The mix of the only head is that of all heads side by side.
    let is_mix = |node: &Node| {
        shown.heads[0] == 1 && node.step.is_some_and(|step| step.stage == Stage::Joined) && shown.has(node)
    };
    let is_one = |node: &Node| !node.op.is_given() && shown.has(node) && shown.is_of_head(node);
    let nodes = graph.nodes().filter(|(_, node)| is_one(node) || is_mix(node));
    nodes.filter_map(|(id, node)| Some((id, node.step?.stage))).collect()
}

/// The sentence of a step, without the number of the head.
fn said(node: &Node) -> String {
    let text = sentence(&PipelinePart::of(node, 0), node, false);
    let Some((head, rest)) = text.split_once(": ").filter(|(head, _)| head.starts_with("Head ")) else {
        return text;
    };
    debug_assert!(head.len() < 10);
    let mut letters = rest.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
