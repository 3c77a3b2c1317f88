//! The way back through an op: whether its gradient is handed on to an input, and what the ways back of all ops are made of.

use crate::attention::{Axis, Mask, MatrixRule};
use crate::error::Result;
use crate::graph::stage::name_beside;
use crate::graph::{Factor, Graph, NodeId, Op, Stage};
use crate::matrix::Shape;

/// The way from an op back to one of its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WayBack {
    /// The gradient is handed on.
    Through,
    /// The gradient ends here, for this reason: the input says which numbers are taken, or is chosen and not learned.
    Ends(&'static str),
    /// The op has no gradient that would be of any use, for this reason.
    Refused(&'static str),
}

/// A multiple of every cell.
pub const fn scale(number: f64) -> Op {
    Op::Scale(Factor::Number(number))
}

// One step of the walk: what a rule reads, and how it names what it adds.

/// A step whose gradient is known, on the way back to one of its inputs.
pub struct Backward<'g> {
    graph: &'g mut Graph,
    step: NodeId,
    /// The step, or what takes its place in a mistaken backward pass.
    pub y: NodeId,
    /// Its gradient.
    pub dy: NodeId,
    /// The name of what is handed on.
    name: String,
}

impl<'g> Backward<'g> {
    pub fn new(graph: &'g mut Graph, y: NodeId, dy: NodeId, name: String) -> Backward<'g> {
        Backward { graph, step: y, y, dy, name }
    }

    /// The graph so far.
    pub fn graph(&self) -> &Graph {
        self.graph
    }

    /// Whether the step makes the weights of attention.
    pub fn is_weights(&self) -> bool {
        self.graph[self.step].step.is_some_and(|step| step.stage == Stage::Weights)
    }

    /// An input of the step.
    pub fn input(&self, at: usize) -> NodeId {
        self.graph[self.y].inputs[at]
    }

    /// The op of the step.
    pub fn op(&self) -> Op {
        self.graph[self.y].op.clone()
    }

    /// The number of inputs of the step.
    pub fn inputs(&self) -> usize {
        self.graph[self.y].inputs.len()
    }

    pub fn shape(&self, id: NodeId) -> Shape {
        self.graph[id].shape()
    }

    /// Adds what is handed on.
    pub fn finish(&mut self, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        self.graph.add(&self.name, op, inputs)
    }

    /// Hands the gradient on as it is.
    pub fn same(&mut self) -> Result<NodeId> {
        let dy = self.dy;
        self.finish(Op::Add, &[dy])
    }

    /// Hands on the gradient times the slope of each cell.
    pub fn sloped(&mut self, slope: NodeId) -> Result<NodeId> {
        let dy = self.dy;
        self.finish(Op::Multiply, &[dy, slope])
    }

    /// Adds a node that belongs to the gradient of the step: `dA_mean`.
    pub fn part(&mut self, what: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let name = name_beside(&self.graph[self.dy].name, what);
        self.once(&name, op, inputs)
    }

    /// Adds a node that belongs to the step and not to its gradient: `S_capped_slope`.
    pub fn of_step(&mut self, what: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let name = name_beside(&self.graph[self.y].name, what);
        self.once(&name, op, inputs)
    }

    /// The node that already has these numbers, whatever its name; otherwise one that belongs to the step is added.
    pub fn made(&mut self, what: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let there = self.graph.nodes().find(|(_, node)| node.op == op && node.inputs == inputs);
        match there.map(|(id, _)| id) {
            Some(id) => Ok(id),
            None => self.of_step(what, op, inputs),
        }
    }

    /// Adds a node, unless it is there already. A name that another node has is followed by a mark.
    pub fn once(&mut self, name: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let mut name = name.to_string();
        while let Some(there) = self.graph.find(&name) {
            if self.graph[there].op == op && self.graph[there].inputs == inputs {
                return Ok(there);
            }
            name = name_beside(&name, "again");
        }
        self.graph.add(&name, op, inputs)
    }

    /// 1 in every cell.
    pub fn ones(&mut self, rows: usize, cols: usize) -> Result<NodeId> {
        self.once(&format!("ones_{rows}x{cols}"), Op::Ones { rows, cols }, &[])
    }

    /// 1 in every cell, in the shape of a node.
    pub fn ones_like(&mut self, id: NodeId) -> Result<NodeId> {
        let Shape { rows, cols } = self.shape(id);
        self.ones(rows, cols)
    }

    /// The identity of this size: put through a step that only chooses and repeats, it says where each line of the input goes.
    pub fn identity(&mut self, size: usize) -> Result<NodeId> {
        let ones = self.ones(1, size)?;
        self.once(&format!("identity_{size}x{size}"), Op::Diagonal, &[ones])
    }

    /// A number for each row (or column, or for all cells), in every cell that it belongs to, in the shape of `like`.
    pub fn spread(&mut self, what: &str, axis: Axis, numbers: NodeId, like: NodeId) -> Result<NodeId> {
        let (op, inputs) = self.repeated(axis, numbers, like)?;
        let id = self.part(what, op, &inputs)?;
        self.graph.name_lines_as(id, like);
        Ok(id)
    }

    /// The step that does so.
    pub fn repeated(&mut self, axis: Axis, numbers: NodeId, like: NodeId) -> Result<(Op, Vec<NodeId>)> {
        let Shape { rows, cols } = self.shape(like);
        Ok(match axis {
            Axis::Rows => (Op::RepeatColumns(cols), vec![numbers]),
            Axis::Columns => (Op::Product, vec![self.ones(rows, 1)?, numbers]),
            Axis::Whole => (Op::Times, vec![self.ones(rows, cols)?, numbers]),
        })
    }

    /// 1 where a number of `numbers` is 0 (or is not 0), and 0 elsewhere.
    pub fn where_zero(&mut self, what: &str, is_zero: bool, numbers: NodeId) -> Result<NodeId> {
        let rule = if is_zero { MatrixRule::Block } else { MatrixRule::Allow };
        let mask = Mask { matrix: Some(rule), ..Mask::default() };
        self.of_step(what, Op::MaskPattern(mask), &[numbers, numbers])
    }
}
