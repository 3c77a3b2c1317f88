//! One step of the training as a graph: what every example of its batch did to the weights.

use super::trainer::{Learner, Trainer};
use crate::error::Result;
use crate::graph::{Graph, NodeId, Op};

/// The computation of a step.
#[derive(Clone, Debug)]
pub struct StepGraph {
    /// The graphs of all examples, each with `_e3` behind its names, and for each weight the sum of its gradients.
    pub graph: Graph,
    /// The gradient of each weight, the sum over all examples, in the order of [`super::ModelSize::weights`].
    pub gradients: Vec<NodeId>,
    /// The loss of the batch.
    pub loss: NodeId,
}

impl<T: Learner> Trainer<T> {
    /// The computation of the next step, of all its examples: `L1.dW_Q` is the sum of `L1.dW_Q_e1`, `L1.dW_Q_e2`, …, and each of them
    /// is computed from the steps of its example. Numbers are those of the exact path, in `f64`, from the weights as they are.
    ///
    /// # Errors
    /// If there is no room for the numbers of all examples.
    pub fn next_step(&self) -> Result<StepGraph> {
        let batch = self.next_batch();
        let mut graph = Graph::new();
        let mut of_weights: Vec<Vec<NodeId>> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for at in 0..batch.examples() {
            let one = self.graph_of(&batch.example(at), batch.counted())?;
            let mut wanted = one.weights.clone();
            wanted.push(one.loss.loss);
            names = wanted.iter().map(|id| one.graph[*id].name.clone()).collect();
            of_weights.push(graph.adopt(&one.graph, &wanted, &format!("_e{}", at + 1))?);
        }
        let mut sums = Vec::new();
        for (weight, name) in names.iter().enumerate() {
            let parts: Vec<NodeId> = of_weights.iter().map(|ids| ids[weight]).collect();
            sums.push(graph.add(name, Op::Add, &parts)?);
        }
        let loss = sums.pop().ok_or_else(|| crate::error::Error::new("the batch has no example"))?;
        Ok(StepGraph { graph, gradients: sums, loss })
    }
}
