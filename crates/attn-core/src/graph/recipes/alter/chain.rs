//! The chain of steps that alters a node.

use super::kinds::Alter;
use crate::attention::{Axis, Base, Pairing};
use crate::error::{Error, Result};
use crate::graph::{self, Factor, Graph, NodeId, Op};

/// A step that is not recorded yet: an op and its inputs.
pub(super) type Step = (Op, Vec<NodeId>);

/// A chain of steps that ends in a node with a given name.
pub(super) struct Chain<'a> {
    pub graph: &'a mut Graph,
    name: &'a str,
    parts: usize,
}

impl<'a> Chain<'a> {
    /// A chain whose last node has this name.
    pub fn new(graph: &'a mut Graph, name: &'a str) -> Chain<'a> {
        Chain { graph, name, parts: 0 }
    }

    /// The suffix of the name with the number of the head: `_2` in `A_2`; empty with one head.
    pub fn suffix(&self) -> String {
        let own = self.name.strip_suffix("_altered").unwrap_or(self.name);
        let head = graph::Step::parse(own).and_then(|step| step.head);
        head.map_or_else(String::new, |head| format!("_{head}"))
    }

    pub fn part(&mut self, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        self.parts += 1;
        self.graph.add(&format!("{}_part{}", self.name, self.parts), op, inputs)
    }

    /// Records a step.
    pub fn made(&mut self, (op, inputs): Step) -> Result<NodeId> {
        self.part(op, &inputs)
    }

    pub fn times(&mut self, number: f64, a: NodeId) -> Result<NodeId> {
        self.part(Op::Scale(Factor::Number(number)), &[a])
    }

    /// The same number in every cell.
    pub fn filled(&mut self, number: f64, like: NodeId) -> Result<NodeId> {
        let shape = self.graph[like].shape();
        self.filled_with(number, (shape.rows, shape.cols))
    }

    pub fn filled_with(&mut self, number: f64, (rows, cols): (usize, usize)) -> Result<NodeId> {
        let ones = self.part(Op::Ones { rows, cols }, &[])?;
        if number == 1.0 { Ok(ones) } else { self.times(number, ones) }
    }

    /// `|a|`.
    pub fn size(&mut self, a: NodeId) -> Result<Step> {
        let minus = self.times(-1.0, a)?;
        Ok((Op::Add, vec![self.part(Op::Relu, &[a])?, self.part(Op::Relu, &[minus])?]))
    }

    /// The part of each cell above a number: `max(0, a − number)`.
    fn above(&mut self, number: f64, a: NodeId) -> Result<NodeId> {
        let shift = self.filled(-number, a)?;
        let moved = self.part(Op::Add, &[a, shift])?;
        self.part(Op::Relu, &[moved])
    }

    /// The last step, after those before it.
    pub fn last(&mut self, alter: Alter, a: NodeId, first: usize) -> Result<Step> {
        Ok(match alter {
            Alter::Negated => (Op::Scale(Factor::Number(-1.0)), vec![a]),
            Alter::Times(number) => (Op::Scale(Factor::Number(number)), vec![a]),
            Alter::Plus(number) => (Op::Add, vec![a, self.filled(number, a)?]),
            Alter::From(number) => (Op::Subtract, vec![self.filled(number, a)?, a]),
            Alter::Relu => (Op::Relu, vec![a]),
            Alter::Silu => (Op::Silu, vec![a]),
            Alter::Gelu(form) => (Op::Gelu(form), vec![a]),
            Alter::Tanh => (Op::Tanh, vec![a]),
            Alter::Squared => (Op::Multiply, vec![a, a]),
            Alter::Cubed => (Op::Multiply, vec![self.part(Op::Multiply, &[a, a])?, a]),
            Alter::Exponential => (Op::Exponential(Base::E), vec![a]),
            Alter::Sigmoid => (Op::Sigmoid, vec![a]),
            Alter::Absolute => self.size(a)?,
            Alter::Inverse => (Op::Quotient, vec![self.filled(1.0, a)?, a]),
            Alter::Transposed => (Op::Transpose, vec![a]),
            Alter::Rounded(decimals) => (Op::Round(decimals), vec![a]),
            Alter::Truncated(decimals) => (Op::Truncate(decimals), vec![a]),
            Alter::Reshaped { rows, cols } => (Op::Reshape { rows, cols }, vec![a]),
            Alter::Normed(norm, axis) => self.normed(norm, axis, a)?,
            Alter::Moved(how, axis) => self.moved(how, axis, a)?,
            Alter::With(how, other) => self.with(how, other, a)?,
            Alter::Sorted(order, axis) => {
                self.along(axis, a, |_, rows| Ok((Op::SortRows(order), vec![rows])))?
            }
            Alter::TopK { count, divided } => self.top_k((count, divided), a)?,
            Alter::Slanted(side) => self.slanted(side, a)?,
            Alter::AttendedAgain => {
                return Err(Error::new("only the result goes through the whole attention again"));
            }
            Alter::LeakyRelu
            | Alter::Elu
            | Alter::EluAndOne
            | Alter::Softplus
            | Alter::RootOfSize
            | Alter::LogarithmOfSize
            | Alter::LogarithmOfOneAndSize
            | Alter::Sign
            | Alter::Clipped(..) => self.function(alter, a)?,
            Alter::ReadByColumn | Alter::ReshapedAndTransposed => self.scrambled(alter, a)?,
            Alter::Kept(_) | Alter::IdentityAdded | Alter::PaddingZeroed(_) => self.patterned(alter, a)?,
            Alter::Positions(_) | Alter::PositionsFromOne | Alter::PositionsInHalves => {
                self.positions(alter, a)?
            }
            Alter::RotaryHalves => self.rotary(Pairing::Halves, a, first)?,
            Alter::RotaryNeighbours => self.rotary(Pairing::Neighbours, a, first)?,
            Alter::Biased => {
                let bias = self.graph.find("b").ok_or_else(|| Error::new("there is no bias to add"))?;
                (Op::Add, vec![a, self.down(bias, a)?])
            }
        })
    }

    /// Functions of each cell that take several steps.
    fn function(&mut self, alter: Alter, a: NodeId) -> Result<Step> {
        Ok(match alter {
            Alter::LeakyRelu => {
                let minus = self.times(-0.01, a)?;
                // ReLU(−0.01 a) is −0.01 a for negative a, and 0 otherwise.
                (Op::Subtract, vec![self.part(Op::Relu, &[a])?, self.part(Op::Relu, &[minus])?])
            }
            Alter::Elu | Alter::EluAndOne => {
                let minus = self.times(-1.0, a)?;
                let size_below = self.part(Op::Relu, &[minus])?;
                let below = self.times(-1.0, size_below)?;
                let power = self.part(Op::Exponential(Base::E), &[below])?;
                let parts = vec![self.part(Op::Relu, &[a])?, power];
                if alter == Alter::EluAndOne {
                    return Ok((Op::Add, parts));
                }
                let sum = self.part(Op::Add, &parts)?;
                (Op::Subtract, vec![sum, self.filled(1.0, a)?])
            }
            Alter::Softplus => {
                let power = self.part(Op::Exponential(Base::E), &[a])?;
                let ones = self.filled(1.0, a)?;
                (Op::Logarithm, vec![self.part(Op::Add, &[ones, power])?])
            }
            Alter::RootOfSize => {
                let size = self.size(a)?;
                let size = self.made(size)?;
                let logarithm = self.part(Op::Logarithm, &[size])?;
                (Op::Exponential(Base::E), vec![self.times(0.5, logarithm)?])
            }
            Alter::LogarithmOfSize => {
                let size = self.size(a)?;
                (Op::Logarithm, vec![self.made(size)?])
            }
            Alter::LogarithmOfOneAndSize => {
                let size = self.size(a)?;
                let (size, ones) = (self.made(size)?, self.filled(1.0, a)?);
                (Op::Logarithm, vec![self.part(Op::Add, &[ones, size])?])
            }
            Alter::Clipped(low, high) => {
                let (above, beyond) = (self.above(low, a)?, self.above(high, a)?);
                let kept = self.part(Op::Subtract, &[above, beyond])?;
                (Op::Add, vec![kept, self.filled(low, a)?])
            }
            // tanh(1e12 a) is the sign of a.
            _ => (Op::Tanh, vec![self.times(1e12, a)?]),
        })
    }

    /// A row repeated in as many rows as `like` has.
    pub fn down(&mut self, row: NodeId, like: NodeId) -> Result<NodeId> {
        let rows = self.graph[like].shape().rows;
        let ones = self.part(Op::Ones { rows, cols: 1 }, &[])?;
        self.part(Op::Product, &[ones, row])
    }

    /// A column repeated in as many columns as `like` has.
    pub fn across(&mut self, column: NodeId, like: NodeId) -> Result<NodeId> {
        let cols = self.graph[like].shape().cols;
        let ones = self.part(Op::Ones { rows: 1, cols }, &[])?;
        self.part(Op::Product, &[column, ones])
    }

    /// Applies an operation on rows along another axis: to the transpose, or to all cells as one row.
    pub fn along(
        &mut self,
        axis: Axis,
        a: NodeId,
        rows: impl FnOnce(&mut Self, NodeId) -> Result<Step>,
    ) -> Result<Step> {
        let shape = self.graph[a].shape();
        match axis {
            Axis::Rows => rows(self, a),
            Axis::Columns => {
                let turned = self.part(Op::Transpose, &[a])?;
                let step = rows(self, turned)?;
                Ok((Op::Transpose, vec![self.made(step)?]))
            }
            Axis::Whole => {
                let line = self.part(Op::Reshape { rows: 1, cols: shape.rows * shape.cols }, &[a])?;
                let step = rows(self, line)?;
                Ok((Op::Reshape { rows: shape.rows, cols: shape.cols }, vec![self.made(step)?]))
            }
        }
    }
}
