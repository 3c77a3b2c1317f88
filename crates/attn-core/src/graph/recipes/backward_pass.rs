//! The backward pass after a pipeline of attention: it is added whenever the pipeline is computed.

use super::loss::cross_entropy;
use crate::error::Result;
use crate::graph::detours::Detour;
use crate::graph::{BackwardPass, BackwardSteps, Gradients, Graph, NodeId, Stage, Start};

impl BackwardPass {
    /// Adds the loss, where it is none of the steps, and the gradients of all given matrices.
    ///
    /// # Errors
    /// If the step is not there, the start or the targets do not fit, a step between has no gradient, or there is no room.
    pub fn add(&self, graph: &mut Graph) -> Result<()> {
        self.add_with(graph, &[]).map(|_| ())
    }

    /// The same with some steps done otherwise than they should be.
    ///
    /// # Errors
    /// Those of [`BackwardPass::add`], and if matrices do not fit a step that is done otherwise; what could be computed before is
    /// there.
    pub fn add_with(&self, graph: &mut Graph, detours: &[Detour]) -> Result<Gradients> {
        let of: Vec<NodeId> =
            graph.nodes().filter(|(_, node)| node.op.is_given()).map(|(id, _)| id).collect();
        let begun = graph.nodes().count();
        let (loss, start) = match self {
            BackwardPass::From(step, start) => (graph.require(step)?, Start::clone(start)),
            BackwardPass::CrossEntropy(targets) => {
                let logits = graph.require(Stage::Output.name())?;
                (cross_entropy(graph, logits, targets)?, Start::Ones)
            }
        };
        let steps = graph.nodes().map(|(id, _)| id).skip(begun).collect();
        let gradients = graph.gradients_with(loss, start, &of, detours)?;
        graph.ends_with(BackwardSteps { pass: self.clone(), loss: steps, gradients: gradients.clone(), of });
        Ok(gradients)
    }
}
