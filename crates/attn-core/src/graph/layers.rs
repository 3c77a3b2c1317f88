//! The layers of a model: names and weights.

use std::sync::Arc;

use super::{Graph, NodeId, Op, Origin, Precision, Value};
use crate::error::Result;
use crate::matrix::Labels;
use crate::tensor::{MOST_LOOKED_AT, Tensor};

impl Graph {
    /// From now on, names and steps are those of this layer, counted from 1: `Q` is recorded as `L3.Q`, and found again as `Q`.
    /// Returns the layer before.
    pub fn enter_layer(&mut self, layer: Option<usize>) -> Option<usize> {
        std::mem::replace(&mut self.layer, layer)
    }

    /// This graph, with at most this many numbers recorded.
    pub fn with_limit(self, limit: usize) -> Graph {
        Graph { limit: Some(limit), ..self }
    }

    /// This graph, with room for this many nodes.
    pub fn with_room_for(mut self, nodes: usize) -> Graph {
        self.nodes.reserve(nodes);
        self.places.reserve(nodes);
        self
    }

    /// This graph, with its steps computed in these numbers.
    pub fn in_precision(self, precision: Precision) -> Graph {
        Graph { precision, ..self }
    }

    /// The numbers that its steps are computed in.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Records weights as they are: they stay in their type, and large ones in their file until they are asked for. They do not count as
    /// recorded.
    ///
    /// # Errors
    /// If the name is taken, or small weights cannot be read.
    pub fn weights(&mut self, name: &str, weights: Tensor, origin: Origin) -> Result<NodeId> {
        self.is_of_model = true;
        let shape = weights.shape();
        let is_small = shape.rows.saturating_mul(shape.cols) <= MOST_LOOKED_AT;
        let weights =
            if is_small { weights.loaded().map_err(|error| error.in_source(name))? } else { weights };
        self.push(name, Op::Given(origin), &[], Value::Formed(weights))
    }

    /// Says which labels are the tokens of the vocabulary, by their ids: a line that carries them is found as `token 464`, too.
    pub fn set_vocabulary(&mut self, names: Labels) {
        self.vocabulary = Some(names);
    }

    /// Returns true if labels are the tokens of the vocabulary.
    pub fn is_vocabulary(&self, labels: &Labels) -> bool {
        self.vocabulary.as_ref().is_some_and(|own| Arc::ptr_eq(own, labels))
    }

    /// Reads the numbers of a node that are still in a file.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn load(&mut self, id: NodeId) -> Result<()> {
        let node = &mut self.nodes[id.0];
        if let Value::Formed(tensor) = &node.value
            && tensor.is_stored()
        {
            node.value = Value::Formed(tensor.clone().loaded()?);
        }
        Ok(())
    }

    /// The number of nodes.
    pub(crate) fn recorded_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Forgets the numbers of the steps after the first `count` nodes that no later step reads: their shapes and ops stay, and there
    /// is room for others.
    pub(crate) fn forget_since(&mut self, count: usize, kept: &[NodeId]) {
        for (at, node) in self.nodes.iter_mut().enumerate().skip(count) {
            if let Value::Formed(tensor) = &node.value
                && !node.op.is_given()
                && !kept.contains(&NodeId(at))
            {
                let shape = tensor.shape();
                self.recorded = self.recorded.saturating_sub(shape.rows * shape.cols);
                node.value = Value::NeverFormed(shape);
            }
        }
    }

    /// A name in the layer that is recorded now.
    pub(super) fn in_layer(&self, name: &str) -> String {
        match self.layer {
            Some(layer) => format!("L{layer}.{name}"),
            None => name.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Stage;
    use crate::matrix::Matrix;

    #[test]
    fn layers_have_the_same_names_and_steps_each_for_itself() {
        let mut graph = Graph::new();
        for layer in 1..=2 {
            graph.enter_layer(Some(layer));
            let q = graph.given("Q", Matrix::filled(1, 1, layer as f64), Origin::Stated).unwrap();
            graph.mark(q, Stage::Scores);
            assert_eq!((graph.find("Q"), graph.at(Stage::Scores)), (Some(q), Some(q)));
            assert_eq!(graph[q].name, format!("L{layer}.Q"));
        }
        graph.enter_layer(None);
        assert_eq!(graph.find("Q"), None);
        let first = graph.find("L1.Q").unwrap();
        assert_eq!(graph.at(Stage::Scores.of_head(None).in_layer(Some(1))), Some(first));
    }
}
