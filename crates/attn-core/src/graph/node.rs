//! What a graph is made of: its nodes, the backward pass at its end, and the watch of another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::matrix::{Labels, Matrix, Shape};
use crate::tensor::{MOST_LOOKED_AT, Tensor};

use super::op::{Op, Origin};
use super::stage::Step;

/// Numbers that a computation starts from, and where they came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The numbers.
    pub tensor: Tensor,
    /// The origin of the numbers.
    pub origin: Origin,
}

impl From<Matrix> for Given {
    /// A matrix that is stated in code.
    fn from(matrix: Matrix) -> Given {
        Given::new(matrix, Origin::Stated)
    }
}

impl From<Tensor> for Given {
    /// Numbers that are stated in code.
    fn from(tensor: Tensor) -> Given {
        Given::new(tensor, Origin::Stated)
    }
}

impl Given {
    /// Numbers with where they came from.
    pub fn new(numbers: impl Into<Tensor>, origin: Origin) -> Given {
        Given { tensor: numbers.into(), origin }
    }

    /// Rows times columns; of a stack of heads, the heads side by side.
    pub fn shape(&self) -> Shape {
        self.tensor.shape()
    }
}

/// A node's place in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub(super) usize);

impl NodeId {
    /// Its position among the nodes, from 0.
    pub fn position(self) -> usize {
        self.0
    }

    /// The node at this position, from 0.
    pub fn at(position: usize) -> NodeId {
        NodeId(position)
    }
}

/// The value of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The numbers, recorded: a matrix of the exact path, or numbers of the fast path in their own type.
    Formed(Tensor),
    /// A matrix that the computation never forms; only its shape is known.
    NeverFormed(Shape),
}

impl Value {
    /// Rows times columns.
    pub(super) fn shape(&self) -> Shape {
        match self {
            Value::Formed(tensor) => tensor.shape(),
            Value::NeverFormed(shape) => *shape,
        }
    }

    /// The same with its numbers in memory.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(super) fn loaded(self) -> Result<Value> {
        Ok(match self {
            Value::Formed(tensor) => Value::Formed(tensor.loaded()?),
            never => never,
        })
    }
}

/// One matrix of a computation, and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name, unique in the graph: `Q`, `S_scaled`, `A_1`.
    pub name: String,
    /// The op that computes it from its inputs.
    pub op: Op,
    /// The nodes it reads, all of which come before it.
    pub inputs: Vec<NodeId>,
    /// Its value.
    pub value: Value,
    /// The step of attention that it is, if a recipe has made it as one.
    pub step: Option<Step>,
    /// The name for people, where the node's name is made for addresses: “gap, causal mask, two layers”.
    pub label: Option<String>,
    /// The plural for its inputs, if it only collects them: “runs”. Its equation then says “collected from the six runs”, or
    /// “the four heads side by side”.
    pub collects: Option<String>,
}

impl Node {
    /// The name for people: its label, or its name.
    pub fn called(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }

    /// The recorded matrix, if there is one: not where the numbers are too many to be looked at, nor where they are never
    /// formed.
    pub fn matrix(&self) -> Option<&Matrix> {
        let tensor = self.tensor()?;
        let Shape { rows, cols } = tensor.shape();
        if rows.saturating_mul(cols) <= MOST_LOOKED_AT {
            tensor.matrix().ok()
        } else {
            tensor.formed_matrix()
        }
    }

    /// The numbers, unless they are never formed.
    pub fn tensor(&self) -> Option<&Tensor> {
        match &self.value {
            Value::Formed(tensor) => Some(tensor),
            Value::NeverFormed(_) => None,
        }
    }

    /// The numbers of the fast path, in their own type, if they are some.
    pub fn typed(&self) -> Option<&Tensor> {
        self.tensor().filter(|tensor| !tensor.is_exact())
    }

    /// Returns true if the computation never forms it.
    pub fn is_never_formed(&self) -> bool {
        matches!(self.value, Value::NeverFormed(_))
    }

    /// The names of its rows and of its columns, where it has any.
    pub fn labels(&self) -> (Option<&Labels>, Option<&Labels>) {
        (self.tensor().and_then(Tensor::row_labels), self.tensor().and_then(Tensor::col_labels))
    }

    /// Rows times columns.
    pub fn shape(&self) -> Shape {
        self.value.shape()
    }
}

// How far a computation is, and whether it is to stop: for another thread that waits for it.

/// Watches a computation from another thread. Clones watch the same one.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<Watched>);

#[derive(Debug, Default)]
struct Watched {
    is_stopped: AtomicBool,
    steps: AtomicUsize,
}

/// Who watches is no part of what is computed.
impl PartialEq for Watch {
    fn eq(&self, _: &Watch) -> bool {
        true
    }
}

impl Watch {
    /// Asks the computation to stop. It does so before its next step.
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped.load(Ordering::Relaxed)
    }

    /// The number of steps that are complete.
    pub fn steps(&self) -> usize {
        self.0.steps.load(Ordering::Relaxed)
    }

    /// Notes that this many steps are complete.
    ///
    /// # Errors
    /// If the computation is to stop.
    pub(super) fn reached(&self, steps: usize) -> Result<()> {
        self.0.steps.store(steps, Ordering::Relaxed);
        if self.is_stopped() { Err(Error::new("the computation was stopped")) } else { Ok(()) }
    }
}

// What a backward pass starts from, and what it has found.

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
