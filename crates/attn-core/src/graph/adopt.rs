//! Nodes of another graph, with all that they were computed from.

use super::{Graph, Node, NodeId, Op, Origin, Value};
use crate::error::{Error, Result};

impl Graph {
    /// Records nodes of another graph in this one, with all that they were computed from and the numbers they have there. Each
    /// gets the suffix behind its name; the weights of a model keep their names, and are recorded once. Numbers that are in a
    /// file are read.
    ///
    /// # Errors
    /// If a name is taken, there is no room for the numbers, or they cannot be read.
    pub fn adopt(&mut self, other: &Graph, wanted: &[NodeId], suffix: &str) -> Result<Vec<NodeId>> {
        let is_needed = other.needed(wanted);
        let mut here: Vec<Option<NodeId>> = vec![None; other.nodes.len()];
        for (id, node) in other.nodes().filter(|(id, _)| is_needed[id.0]) {
            let inputs: Vec<NodeId> = node.inputs.iter().filter_map(|input| here[input.0]).collect();
            here[id.0] = Some(self.adopt_node(node, &inputs, suffix)?);
        }
        let place = |id: &NodeId| here[id.0].ok_or_else(|| Error::new("a node is missing"));
        wanted.iter().map(place).collect()
    }

    /// The nodes that some nodes are computed from, and these themselves.
    fn needed(&self, wanted: &[NodeId]) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        for id in wanted {
            needed[id.0] = true;
        }
        // Inputs come before what reads them.
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if needed[at] {
                node.inputs.iter().for_each(|input| needed[input.0] = true);
            }
        }
        needed
    }

    fn adopt_node(&mut self, node: &Node, inputs: &[NodeId], suffix: &str) -> Result<NodeId> {
        let is_weight = matches!(node.op, Op::Given(Origin::Weights(_)));
        if let Some(known) = self.find(&node.name).filter(|_| is_weight) {
            return Ok(known);
        }
        let name = if is_weight { node.name.clone() } else { format!("{}{suffix}", node.name) };
        let value = match &node.value {
            Value::Formed(tensor) => Value::Formed(tensor.clone().loaded()?),
            never => never.clone(),
        };
        self.room_for(node.shape().rows.saturating_mul(node.shape().cols))?;
        let id = self.push(&name, node.op.clone(), inputs, value)?;
        self.set_step(id, node.step);
        let here = &mut self.nodes[id.0];
        (here.label, here.collects) = (node.label.clone(), node.collects.clone());
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    #[test]
    fn what_is_needed_comes_along_and_weights_are_shared() {
        let mut other = Graph::new();
        let w = other.weights("W", Matrix::of([[2.0]]).into(), Origin::Weights("w".into())).unwrap();
        let x = other.given("X", Matrix::of([[3.0]]), Origin::Stated).unwrap();
        other.given("Y", Matrix::of([[5.0]]), Origin::Stated).unwrap();
        let product = other.add("Z", Op::Product, &[x, w]).unwrap();
        let mut graph = Graph::new();
        for suffix in ["_a", "_b"] {
            let ids = graph.adopt(&other, &[product], suffix).unwrap();
            assert_eq!(graph[ids[0]].name, format!("Z{suffix}"));
            assert_eq!(graph.matrix(ids[0]).unwrap()[(0, 0)], 6.0);
        }
        let names: Vec<&str> = graph.nodes().map(|(_, node)| node.name.as_str()).collect();
        assert_eq!(names, ["W", "X_a", "Z_a", "X_b", "Z_b"]);
        assert!(graph.adopt(&other, &[product], "_a").is_err());
    }
}
