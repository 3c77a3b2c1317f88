//! Which step of attention a node is, and the node of a step.

use super::{Graph, Node, NodeId, Step, gradients};

impl Graph {
    /// Says which step of attention a node is.
    pub fn mark(&mut self, id: NodeId, step: impl Into<Step>) {
        let step: Step = step.into();
        self.set_step(id, Some(step.in_layer(step.layer.or(self.layer))));
    }

    /// Sets the step that a node is, or takes it away.
    pub(super) fn set_step(&mut self, id: NodeId, step: Option<Step>) {
        let before = std::mem::replace(&mut self.nodes[id.0].step, step);
        if before == step {
            return;
        }
        if let Some(before) = before.filter(|before| self.steps.get(before) == Some(&id.0)) {
            self.steps.remove(&before);
            let next = self.nodes.iter().position(|node| node.step == Some(before));
            self.steps.extend(next.map(|next| (before, next)));
        }
        if let Some(step) = step {
            let first = self.steps.entry(step).or_insert(id.0);
            *first = id.0.min(*first);
        }
    }

    /// The node that is this step and is called like another one, but for the numbers of its head and its layer; otherwise the first
    /// one that is this step: several steps have many nodes, as the backward pass has.
    pub fn like(&self, other: NodeId, step: Step) -> Option<NodeId> {
        let stem = gradients::stem(&self[other].name);
        let same = |node: &Node| node.step == Some(step) && gradients::stem(&node.name) == stem;
        self.nodes().find(|(_, node)| same(node)).map(|(id, _)| id).or_else(|| self.at(step))
    }

    /// The first node that is this step, in the layer that is recorded now.
    pub fn at(&self, step: impl Into<Step>) -> Option<NodeId> {
        let step: Step = step.into();
        self.steps.get(&step.in_layer(step.layer.or(self.layer))).copied().map(NodeId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Origin, Role, Stage};
    use crate::matrix::Matrix;

    #[test]
    fn a_step_is_found_at_the_first_node_that_is_marked_as_it() {
        let mut graph = Graph::new();
        let ids: Vec<NodeId> = ["a", "b", "c"]
            .into_iter()
            .map(|name| graph.given(name, Matrix::identity(1), Origin::Stated).unwrap())
            .collect();
        graph.mark(ids[2], Role::Q);
        graph.mark(ids[1], Role::Q);
        assert_eq!(graph.at(Role::Q), Some(ids[1]));
        graph.mark(ids[1], Role::K);
        assert_eq!((graph.at(Role::Q), graph.at(Role::K)), (Some(ids[2]), Some(ids[1])));
        graph.mark(ids[2], Stage::Output);
        assert_eq!((graph.at(Role::Q), graph.at(Stage::Output)), (None, Some(ids[2])));
    }
}
