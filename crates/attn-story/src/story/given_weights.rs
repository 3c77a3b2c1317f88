//! The story of attention weights that were computed elsewhere.

use super::look_at::look_at;
use super::model::{Step, StepItem, Story};
use crate::graph::recipes::GivenWeights;
use crate::graph::{Graph, Node};

/// What of the weights is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShownWeights {
    /// The layer, counted from 1; all of them where there is none.
    pub layer: Option<usize>,
    /// The head, counted from 1; all of them where there is none.
    pub head: Option<usize>,
    /// The rollout alone.
    pub rollout: bool,
    /// The means over heads alone.
    pub mean: bool,
}

/// The steps of the weights, with sentences that are true of any numbers. Of a rollout the last matrix is shown, and the others are
/// folded.
pub fn given_weights(title: &str, graph: Graph, shown: ShownWeights) -> Story {
    let last = graph.nodes().map(|(id, _)| id).last().filter(|_| shown.rollout);
    let mut steps: Vec<Step> = Vec::new();
    for (id, node) in graph.nodes().filter(|(_, node)| shown.has(node)) {
        let text = if Some(id) == last { END_OF_ROLLOUT } else { told(node) };
        let at = steps.iter().position(|step| step.text == text && (shown.rollout || step.text == WEIGHTS));
        let at = at.unwrap_or_else(|| {
            steps.push(Step::new(text.to_string(), Vec::new()));
            steps.len() - 1
        });
        match steps[at].shown.last_mut() {
            Some(StepItem::Folded(ids)) => ids.push(id),
            _ if shown.rollout && Some(id) != last => steps[at].shown.push(StepItem::Folded(vec![id])),
            _ => steps[at].shown.push(StepItem::Node(id)),
        }
    }
    for step in steps.iter_mut().filter(|step| step.text == WEIGHTS) {
        step.notice = look_at(&graph, step);
    }
    Story::of_steps(title, graph, steps)
}

const WEIGHTS: &str = "The weights as they were given: a row for each query, a column for each key.";
const END_OF_ROLLOUT: &str = "The rollout: row i says how much of each token at the bottom reaches token i above the last layer, if \
                              information flows as the weights say. It knows nothing of values and MLPs. Look at the last row.";

impl ShownWeights {
    fn has(self, node: &Node) -> bool {
        let (layer, name) = parts(node);
        if self.rollout {
            return GivenWeights::is_of_rollout(name);
        }
        if self.mean {
            let is_mean = ["A_mean", "A"].contains(&name);
            return is_mean && self.layer.is_none_or(|own| layer == Some(own));
        }
        let head = name.rsplit_once('_').and_then(|(_, head)| head.parse().ok());
        self.layer.is_none_or(|own| layer == Some(own))
            && (self.head.is_none() || head.is_none() || head == self.head)
            && !GivenWeights::is_of_rollout(name)
            && (!name.starts_with('V') || name.starts_with("V_lengths"))
    }
}

/// The layer of a node, and its name there.
fn parts(node: &Node) -> (Option<usize>, &str) {
    let inside = node.name.strip_prefix('L').and_then(|rest| rest.split_once('.'));
    match inside.map(|(layer, name)| (layer.parse().ok(), name)) {
        Some((Some(layer), name)) => (Some(layer), name),
        _ => (None, &node.name),
    }
}

fn told(node: &Node) -> &'static str {
    match parts(node).1 {
        "A_sum" | "A_mean" => "The mean over the heads of a layer.",
        "A_and_I" | "A_half" => "Half goes through attention, and half past it along the residual stream.",
        "R" => "Up one layer: what reaches a token here came through the tokens below.",
        "chosen" => "The queries that are added have a 1.",
        name if name.starts_with("A_summed") => "Added: what these queries attend to together.",
        name if name.starts_with("A_by_length") => {
            "Each weight times the length of its value, which stands on the diagonal: a key with a short value gives little, whatever its weight."
        }
        name if name.starts_with("V_lengths") => "The length of each value, ‖V[j]‖.",
        _ => WEIGHTS,
    }
}
