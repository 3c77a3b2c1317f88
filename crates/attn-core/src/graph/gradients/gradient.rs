//! What a backward pass starts from, and what it has found.

use crate::graph::{Given, NodeId};

/// What the gradient of the loss itself is: the numbers that the walk starts from.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// 1 in every cell: the loss is the sum of all cells.
    Ones,
    /// 1 in this cell, counted from 0, and 0 elsewhere: the loss is this cell.
    Cell(usize, usize),
    /// These numbers, one for each cell.
    Given(Given),
    /// The numbers of this node.
    Node(NodeId),
}

/// The gradient of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// The node.
    pub of: NodeId,
    /// Its gradient, of the same shape.
    pub id: NodeId,
    /// The nodes that were added for it, in the order of computing; its gradient is the last of them.
    pub steps: Vec<NodeId>,
}

/// The gradients of a computation, from the loss back to what it was computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradients {
    /// The node that is the loss, or whose cells make it.
    pub loss: NodeId,
    /// The start: the gradient of that node.
    pub start: NodeId,
    /// The gradient of every node between the loss and the nodes that were asked for, these included.
    pub all: Vec<Gradient>,
}

/// What a backward pass after a pipeline of attention starts from.
#[derive(Clone, Debug, PartialEq)]
pub enum BackwardPass {
    /// A step, by the name of its node, and its gradient.
    From(String, Box<Start>),
    /// The mean cross-entropy of the rows of O and these targets, which is computed first; see [`cross_entropy`](crate::graph::recipes::cross_entropy).
    CrossEntropy(Vec<Option<usize>>),
}

/// The end of a graph: a loss, where it is none of the steps before, and the backward pass.
#[derive(Clone, Debug, PartialEq)]
pub struct BackwardSteps {
    /// What it starts from.
    pub pass: BackwardPass,
    /// The steps from O to the loss; none where a step of the graph is the loss.
    pub loss: Vec<NodeId>,
    /// The gradients of everything that was given.
    pub gradients: Gradients,
    /// The given matrices.
    pub of: Vec<NodeId>,
}

impl BackwardSteps {
    /// The first node that it has added.
    pub fn first(&self) -> NodeId {
        self.loss.first().copied().unwrap_or(self.gradients.start)
    }
}

impl Gradients {
    /// The gradient of a node; none where the loss does not depend on it.
    pub fn of(&self, node: NodeId) -> Option<NodeId> {
        if node == self.loss {
            return Some(self.start);
        }
        self.all.iter().find(|gradient| gradient.of == node).map(|gradient| gradient.id)
    }
}
