//! The backward pass of an exercise.

use crate::error::Result;
use crate::graph::detours::Detour;
use crate::graph::{Gradients, Graph, NodeId, Start};

/// Where the backward pass of an exercise starts: it goes back to every given matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct BackwardPass {
    /// The name of the step that is the loss, or whose cells make it.
    pub loss: String,
    /// The gradient of that step.
    pub start: Start,
}

impl BackwardPass {
    /// Adds the gradients to a computation, with some steps done otherwise.
    ///
    /// # Errors
    /// As [`Graph::gradients_with`]; what could be computed before is there.
    pub(super) fn added_to(&self, graph: &mut Graph, detours: &[Detour]) -> Result<Gradients> {
        let loss = graph.require(&self.loss)?;
        let of: Vec<NodeId> =
            graph.nodes().filter(|(_, node)| node.op.is_given()).map(|(id, _)| id).collect();
        graph.gradients_with(loss, self.start.clone(), &of, detours)
    }
}
