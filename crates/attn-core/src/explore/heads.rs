//! The heads of a graph, and a graph without some of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::error::{Error, Result};
use crate::graph::{Factor, Given, Graph, NodeId, Op, Origin, Stage, Step};
use crate::matrix::Matrix;
use crate::text::clip;

/// A head, counted from 1; the only one is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeadPlace {
    /// The layer of a model, from 1; none outside a model.
    pub layer: Option<usize>,
    /// The head.
    pub head: usize,
}

impl HeadPlace {
    /// The head of a step. `None` for one that belongs to no head.
    fn of(step: Step) -> Option<HeadPlace> {
        let is_of_the_only_one =
            step.stage.is_scores() || matches!(step.stage, Stage::Weights | Stage::Mixed);
        let head = step.head.or(is_of_the_only_one.then_some(1))?;
        Some(HeadPlace { layer: step.layer, head })
    }
}

impl HeadPlace {
    /// The head that a text names by its weights: `A_2`, `A` for the only one, `L1.A_3` in a layer.
    ///
    /// # Errors
    /// If it names none.
    pub fn parse(text: &str) -> Result<HeadPlace> {
        let wrong = || {
            Error::new(format!("`{}` names no head", clip(text)))
                .help("write A_2 for the second head, A for the only one, L1.A_3 in layer 1")
        };
        let counted = |digits: &str| digits.parse().ok().filter(|count: &usize| *count > 0).ok_or_else(wrong);
        let (layer, weights) = match text.trim().strip_prefix('L').and_then(|rest| rest.split_once('.')) {
            Some((layer, weights)) => (Some(counted(layer)?), weights),
            None => (None, text.trim()),
        };
        let head = match weights.strip_prefix('A').ok_or_else(wrong)? {
            "" => 1,
            number => counted(number.strip_prefix('_').ok_or_else(wrong)?)?,
        };
        Ok(HeadPlace { layer, head })
    }
}

impl fmt::Display for HeadPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.layer {
            Some(layer) => write!(f, "L{layer}.A_{}", self.head),
            None => write!(f, "A_{}", self.head),
        }
    }
}

/// The head that a node belongs to; `None` for a node that belongs to no head.
pub(super) fn head_of(graph: &Graph, id: NodeId) -> Option<HeadPlace> {
    HeadPlace::of(graph[id].step?)
}

/// The outputs of the heads that are taken out, as zeros that are recorded instead of being computed, by their names.
pub(super) fn zeros_instead(graph: &Graph, removed: &BTreeSet<HeadPlace>) -> BTreeMap<String, Given> {
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

/// The outputs of a head: the nodes that mix values by its weights.
pub(super) fn outputs(graph: &Graph, head: HeadPlace) -> Vec<NodeId> {
    let is_of_head = |step: Step| HeadPlace::of(step) == Some(head);
    let is_output = |id: NodeId| {
        let node = &graph[id];
        let is_marked = |step: Step| step.stage == Stage::Mixed && is_of_head(step);
        let weights = node.inputs.first().and_then(|&input| graph[input].step);
        let mixes = weights.is_some_and(|step| step.stage == Stage::Weights && is_of_head(step));
        node.step.is_some_and(is_marked) || mixes && node.op == Op::Product
    };
    graph.nodes().map(|(id, _)| id).filter(|&id| is_output(id) && !is_scaled_away(graph, id)).collect()
}

/// Whether a node is a head that a model has taken out already.
fn is_scaled_away(graph: &Graph, id: NodeId) -> bool {
    graph[id].op == Op::Scale(Factor::Number(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_named_by_its_weights_and_read_back() {
        for place in [HeadPlace { layer: None, head: 2 }, HeadPlace { layer: Some(1), head: 3 }] {
            assert_eq!(HeadPlace::parse(&place.to_string()).unwrap(), place);
        }
        assert_eq!(HeadPlace::parse("A").unwrap(), HeadPlace { layer: None, head: 1 });
        for wrong in ["", "2", "A_0", "L.A_1", "A_x", "S_2", "L0.A_1"] {
            assert!(HeadPlace::parse(wrong).is_err(), "{wrong}");
        }
    }
}
