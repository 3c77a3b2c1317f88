//! One matrix of a computation.

use serde::{Deserialize, Serialize};

use super::op::Op;
use super::origin::Origin;
use super::stage::Step;
use crate::matrix::{Labels, Matrix, Shape};
use crate::tensor::{MOST_LOOKED_AT, Tensor};

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
            return tensor.matrix().ok();
        }
        tensor.formed_matrix()
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
        match &self.value {
            Value::Formed(tensor) => (tensor.row_labels(), tensor.col_labels()),
            Value::NeverFormed(_) => (None, None),
        }
    }

    /// Rows times columns.
    pub fn shape(&self) -> Shape {
        match &self.value {
            Value::Formed(tensor) => tensor.shape(),
            Value::NeverFormed(shape) => *shape,
        }
    }
}
