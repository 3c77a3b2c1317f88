//! The steps of a model's layer in the field's words.

use super::attend::told;
use super::look_at::look_at;
use super::model::{Step, StepItem, Story};
use crate::attention::key_value_head;
use crate::error::{Error, Result};
use crate::graph::{Graph, Node, NodeId, Role, Stage};

/// A layer of a model, or one of its heads.
#[derive(Clone, Copy, Debug)]
pub struct ShownLayer {
    /// The layer, counted from 1.
    pub layer: usize,
    /// The head, counted from 1; all of them where there is none.
    pub head: Option<usize>,
    /// The number of query heads and of key/value heads.
    pub heads: [usize; 2],
}

/// The steps of a layer: the sentences are true for any model.
pub fn model_layer(title: &str, graph: Graph, shown: ShownLayer) -> Story {
    let mut steps: Vec<Step> = Vec::new();
    let mut last = String::new();
    for (id, node) in graph.nodes() {
        if node.op.is_given() || !shown.has(node) || (shown.head.is_some() && !shown.is_of_head(node)) {
            continue;
        }
        let text = text(node, shown.layer, graph.find(&format!("L{}.MLP", shown.layer)).is_some());
        if text != last || steps.is_empty() {
            steps.push(Step::new(text.clone(), Vec::new()));
            last = text;
        }
        if let Some(step) = steps.last_mut() {
            step.shown.push(StepItem::Node(id));
        }
    }
    for step in &mut steps {
        step.notice = look_at(&graph, step);
    }
    Story::of_steps(title, graph, steps)
}

impl ShownLayer {
    /// Returns true if a node is computed in this layer; the stream that it gives to the next one has the name of that.
    pub(super) fn has(&self, node: &Node) -> bool {
        let in_layer = |layer: usize| node.name.strip_prefix(&format!("L{layer}.")).is_some();
        let is_next = node.name == format!("L{}.X", self.layer + 1) || node.name == "X_final";
        let is_own_stream = node.name == format!("L{}.X", self.layer);
        (in_layer(self.layer) && !is_own_stream) || is_next
    }

    /// Returns true if a node belongs to the head: its own, those of the key/value head that it reads, and what all heads share up
    /// to their mix.
    pub(super) fn is_of_head(&self, node: &Node) -> bool {
        let Some(head) = self.head else { return true };
        let [heads, groups] = self.heads;
        let group = key_value_head(head - 1, heads, groups) + 1;
        node.step.is_some_and(|step| match (step.stage, step.head) {
            (Stage::Role(Role::K | Role::V) | Stage::KeysNormed | Stage::KeysRotated, Some(own)) => {
                own == group
            }
            (_, Some(own)) => own == head,
            (Stage::Frequencies | Stage::FrequenciesScaled, None) => true,
            (stage, None) => heads == 1 && stage.is_per_head(),
        })
    }
}

/// The sentence of a node, in a layer with or without an MLP.
fn text(node: &Node, layer: usize, has_mlp: bool) -> String {
    let prefix = format!("L{layer}.");
    let name = node.name.strip_prefix(&prefix).unwrap_or(&node.name);
    let said = match name {
        "X_normed" if node.inputs.len() == 1 => {
            "The norm before attention: each row of the residual stream gets size 1. There are no gains."
        }
        "X_normed" => {
            "The norm before attention: each row of the residual stream gets mean 0 and size 1, or size 1 alone, times a gain."
        }
        "X_normed_MLP" => "The norm before the MLP, which reads the same stream as attention.",
        "QKV" => "One product gives the queries, keys and values of all heads.",
        "O" => "The output projection: W_O mixes the results of the heads.",
        "O_normed" => "The norm of the result of attention.",
        "X_mid" | "X_mid_sum" => "The result of attention is added to the residual stream.",
        "X_mid_normed" => "The norm before the MLP.",
        "MLP_up" | "MLP_gate_up" | "MLP_gate" | "MLP_hidden" | "MLP_active" => {
            "Inside the MLP, each token for itself: up to more features, and through a function."
        }
        "MLP" => "And down again to the width of the stream.",
        "MLP_normed" => "The norm of the result of the MLP.",
        "X_out_sum" => "The result of the MLP is added to the residual stream.",
        "X_final" if !has_mlp => "The result of attention is added: this is what the model's head reads.",
        _ if !has_mlp && name.ends_with(".X") => {
            "The result of attention is added: this is what the next layer reads."
        }
        "X_final" => "The result of the MLP is added: this is what the model's head reads.",
        _ if name.ends_with(".X") => "The result of the MLP is added: this is what the next layer reads.",
        _ if name.starts_with("O_removed") || name.starts_with("MLP_removed") => "This part is taken out.",
        _ => return told(node, 0, false).text,
    };
    said.to_string()
}

// The steps of attention in a layer, side by side for all of its heads.

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
    let step = |&(id, stage): &(NodeId, Stage)| HeadStep {
        stage,
        text: told(&graph[id], 0, false).of_any_head,
        nodes: Vec::new(),
    };
    let mut steps: Vec<HeadStep> = first.iter().map(step).collect();
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
    // Weights may be given.
    let is_weights = |node: &Node| node.step.is_some_and(|step| step.stage == Stage::Weights);
    let is_shown = |node: &Node| !node.op.is_given() || is_weights(node);
    let is_one = |node: &Node| is_shown(node) && shown.has(node) && shown.is_of_head(node);
    let nodes = graph.nodes().filter(|(_, node)| is_one(node) || is_mix(node));
    nodes.filter_map(|(id, node)| Some((id, node.step?.stage))).collect()
}
