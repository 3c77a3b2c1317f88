//! The numbers of a layer's heads as the script of the page reads them: each matrix once, as base64, with the rules for operands.

use serde_json::{Value, json};

use super::base64::{encoded, encoded_length, is_single, numbers};
use super::heat::Heat;
use super::html_operands::{Operand, operands};
use crate::attention::key_value_head;
use crate::error::Result;
use crate::foreign::visible;
use crate::graph::{Convention, Graph, NodeId, Stage, equation};
use crate::model::HeadMeasures;
use crate::story::{HeadStep, head_in_words, head_letter, head_steps};

/// A page with more bytes of numbers leaves some out.
const MOST_BYTES: usize = 30_000_000;

/// What a page has of the numbers of heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// All steps of each head.
    Steps,
    /// The weights alone.
    Weights,
    /// Nothing: even the weights would be too much.
    Nothing,
}

/// A layer with its heads, as the graph of the layer has it.
pub struct LayerHeads<'a> {
    pub graph: &'a Graph,
    /// Its number, from 1.
    pub layer: usize,
    /// The numbers of query heads and of key/value heads.
    pub heads: [usize; 2],
    pub measures: &'a [HeadMeasures],
    pub heat: Heat,
}

impl Detail {
    /// The most that fits for a model with this number of layers, each with these steps.
    pub fn fitting(graph: &Graph, steps: &[HeadStep], layers: usize) -> Detail {
        let bytes = |is_in: &dyn Fn(&HeadStep) -> bool| -> usize {
            let nodes = steps.iter().filter(|step| is_in(step)).flat_map(|step| unique(&step.nodes));
            nodes.map(|node| size(graph, node)).fold(0, usize::saturating_add)
        };
        Detail::within(
            MOST_BYTES,
            [bytes(&|_| true), bytes(&is_weights)].map(|layer| layer.saturating_mul(layers)),
        )
    }

    fn within(most: usize, [steps, weights]: [usize; 2]) -> Detail {
        if steps <= most {
            Detail::Steps
        } else if weights <= most {
            Detail::Weights
        } else {
            Detail::Nothing
        }
    }

    /// The most tokens of a text whose weights fit, for a model with this many heads.
    pub fn most_tokens(graph: &Graph, steps: &[HeadStep], heads: usize) -> usize {
        let weights = steps.iter().find(|step| is_weights(step)).map(|step| step.nodes[0]);
        let is_short = weights.and_then(|node| graph[node].tensor()).is_some_and(is_single);
        let fits = |tokens: &usize| {
            encoded_length(tokens * tokens * if is_short { 4 } else { 8 }) * heads <= MOST_BYTES
        };
        (1..).take_while(fits).last().unwrap_or(1)
    }

    fn has(self, step: &HeadStep) -> bool {
        match self {
            Detail::Steps => true,
            Detail::Weights => is_weights(step),
            Detail::Nothing => false,
        }
    }
}

fn is_weights(step: &HeadStep) -> bool {
    step.stage == Stage::Weights
}

/// The bytes of a node's numbers in the page.
fn size(graph: &Graph, node: NodeId) -> usize {
    let shape = graph[node].shape();
    let one = graph[node].tensor().map_or(8, |tensor| if is_single(tensor) { 4 } else { 8 });
    encoded_length(shape.rows * shape.cols * one)
}

/// Each node once, in its order.
fn unique(nodes: &[NodeId]) -> Vec<NodeId> {
    let mut once: Vec<NodeId> = Vec::new();
    for &node in nodes {
        if !once.contains(&node) {
            once.push(node);
        }
    }
    once
}

impl LayerHeads<'_> {
    /// The steps of its heads.
    ///
    /// # Errors
    /// Those of [`head_steps`].
    pub fn steps(&self) -> Result<Vec<HeadStep>> {
        head_steps(self.graph, self.layer, self.heads)
    }

    /// The layer as JSON.
    pub fn value(&self, steps: &[HeadStep], detail: Detail) -> Value {
        let shown: Vec<&HeadStep> = steps.iter().filter(|step| detail.has(step)).collect();
        let of_first: Vec<NodeId> = shown.iter().map(|step| step.nodes[0]).collect();
        let step = |step: &&HeadStep| self.step(step, &of_first);
        json!({
            "layer": self.layer,
            "steps": shown.iter().map(step).collect::<Vec<_>>(),
            "heads": (0..self.heads[0]).map(|head| self.head(head, &shown)).collect::<Vec<_>>(),
            "hidden": self.hidden(steps),
        })
    }

    /// A step of all heads: what it does, which cells a number of it is made of, and its matrices.
    fn step(&self, step: &HeadStep, of_first: &[NodeId]) -> Value {
        let graph = self.graph;
        let first = step.nodes[0];
        let shape = graph[first].shape();
        let rules = operands(graph, first, of_first).unwrap_or_default();
        let shade = match step.stage {
            _ if self.heat == Heat::Never => "",
            Stage::Weights => "weights",
            stage if stage.is_scores() => "scores",
            _ => "",
        };
        json!({
            "stage": step.stage.name(),
            "text": step.text,
            "op": graph[first].op.name(),
            "rows": shape.rows,
            "cols": shape.cols,
            "has_tokens": [graph[first].labels().0.is_some(), graph[first].labels().1.is_some()],
            "shade": shade,
            "type": if graph[first].tensor().is_some_and(is_single) { "f32" } else { "f64" },
            "from": rules.iter().map(Operand::value).collect::<Vec<_>>(),
            "nodes": unique(&step.nodes).into_iter().map(|node| self.node(node)).collect::<Vec<_>>(),
        })
    }

    fn node(&self, node: NodeId) -> Value {
        let written = equation(self.graph, node, Convention::Rows, true);
        json!({
            "name": visible(&self.graph[node].name),
            "is": visible(&written.right),
            "numbers": self.graph[node].tensor().map_or_else(String::new, numbers),
        })
    }

    /// A head, counted from 0: its matrix in each step, what it attends to, and the key/value head that it reads.
    fn head(&self, head: usize, shown: &[&HeadStep]) -> Value {
        let place = |step: &&HeadStep| unique(&step.nodes).iter().position(|node| *node == step.nodes[head]);
        let nodes: Vec<Option<usize>> = shown.iter().map(place).collect();
        let [heads, groups] = self.heads;
        let group = (heads != groups).then(|| key_value_head(head, heads, groups) + 1);
        let measures = self.measures.get(head);
        json!({
            "nodes": nodes,
            "letter": measures.map(head_letter),
            "attends_to": measures.and_then(head_in_words),
            "entropy": measures.map(|measures| measures.entropy),
            "key_head": group,
            "is_removed": self.is_removed(head),
        })
    }

    /// Returns true if the result of a head is taken out.
    fn is_removed(&self, head: usize) -> bool {
        let of_head = match self.heads[0] {
            1 => "C_whole".to_string(),
            _ => format!("O_removed_{}", head + 1),
        };
        [of_head.as_str(), "O_removed"]
            .iter()
            .any(|name| self.graph.find(&format!("L{}.{name}", self.layer)).is_some())
    }

    /// The cells that the mask hides, a bit for each, the lowest first; empty without a mask. It is the same for all heads.
    fn hidden(&self, steps: &[HeadStep]) -> String {
        let masked = steps.iter().find(|step| step.stage == Stage::Masked);
        let tensor = masked.and_then(|step| self.graph[step.nodes[0]].tensor());
        let Some(tensor) = tensor else { return String::new() };
        let shape = tensor.shape();
        let mut bytes = vec![0_u8; (shape.rows * shape.cols).div_ceil(8)];
        for (at, x) in tensor.cells().enumerate() {
            if x == f64::NEG_INFINITY {
                bytes[at / 8] |= 1 << (at % 8);
            }
        }
        encoded(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_left_out() {
        assert_eq!(Detail::within(10, [10, 4]), Detail::Steps);
        assert_eq!(Detail::within(10, [11, 10]), Detail::Weights);
        assert_eq!(Detail::within(10, [30, 11]), Detail::Nothing);
    }
}
