//! One matrix of a computation.

use super::numbers::Numbers;
use super::op::Op;
use super::stage::Step;
use crate::matrix::{Labels, Matrix, Shape};

/// A node's place in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) usize);

impl NodeId {
    /// Its position among the nodes, from 0.
    pub fn position(self) -> usize {
        self.0
    }
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The matrix, recorded.
    Formed(Matrix),
    /// Numbers of the fast path, in their own type; with a matrix beside them where they are few.
    Typed(Numbers),
    /// A matrix that the computation never forms; only its shape is known.
    NeverFormed(Shape),
}

/// One matrix of a computation, and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name, unique in the graph: `Q`, `S_scaled`, `A_1`.
    pub name: String,
    /// How it is made from its inputs.
    pub op: Op,
    /// The nodes it reads, all of which stand before it.
    pub inputs: Vec<NodeId>,
    /// Its value.
    pub value: Value,
    /// Which step of attention it is, where a recipe has made it as one.
    pub step: Option<Step>,
    /// What people call it, where the name is made for addresses: “gap, causal mask, two layers”.
    pub label: Option<String>,
    /// What its inputs are, where it only collects them: “runs”. Its equation then says “collected from the six runs”,
    /// or “the four heads side by side”.
    pub collects: Option<String>,
}

impl Node {
    /// What people call it: its label, or its name.
    pub fn called(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }

    /// The recorded matrix, if there is one: not where the numbers are too many to be looked at, nor where they are never
    /// formed.
    pub fn matrix(&self) -> Option<&Matrix> {
        match &self.value {
            Value::Formed(matrix) => Some(matrix),
            Value::Typed(numbers) => numbers.matrix(),
            Value::NeverFormed(_) => None,
        }
    }

    /// The numbers of the fast path, if they are some.
    pub fn numbers(&self) -> Option<&Numbers> {
        match &self.value {
            Value::Typed(numbers) => Some(numbers),
            Value::Formed(_) | Value::NeverFormed(_) => None,
        }
    }

    /// Whether the computation never forms it.
    pub fn is_never_formed(&self) -> bool {
        matches!(self.value, Value::NeverFormed(_))
    }

    /// The names of its rows and of its columns, where it has any.
    pub fn labels(&self) -> (Option<&Labels>, Option<&Labels>) {
        match &self.value {
            Value::Formed(matrix) => (matrix.row_labels(), matrix.col_labels()),
            Value::Typed(numbers) => (numbers.row_labels(), numbers.col_labels()),
            Value::NeverFormed(_) => (None, None),
        }
    }

    /// Rows times columns.
    pub fn shape(&self) -> Shape {
        match &self.value {
            Value::Formed(matrix) => matrix.shape(),
            Value::Typed(numbers) => numbers.shape(),
            Value::NeverFormed(shape) => *shape,
        }
    }
}
