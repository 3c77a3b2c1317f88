//! One step of the walk: what a rule reads, and how it names what it adds.

use super::naming;
use crate::attention::{Axis, Mask, MatrixRule};
use crate::error::Result;
use crate::graph::{Graph, NodeId, Op, Stage};
use crate::matrix::Shape;

/// A step whose gradient is known, on the way back to one of its inputs.
pub struct Backward<'g> {
    graph: &'g mut Graph,
    step: NodeId,
    /// The step, or what takes its place in a mistaken backward pass.
    pub(super) y: NodeId,
    /// Its gradient.
    pub(super) dy: NodeId,
    /// The name of what is handed on.
    name: String,
}

impl<'g> Backward<'g> {
    pub(super) fn new(graph: &'g mut Graph, y: NodeId, dy: NodeId, name: String) -> Backward<'g> {
        Backward { graph, step: y, y, dy, name }
    }

    /// The graph so far.
    pub(super) fn graph(&self) -> &Graph {
        self.graph
    }

    /// Whether the step makes the weights of attention.
    pub(super) fn is_weights(&self) -> bool {
        self.graph[self.step].step.is_some_and(|step| step.stage == Stage::Weights)
    }

    /// An input of the step.
    pub(super) fn input(&self, at: usize) -> NodeId {
        self.graph[self.y].inputs[at]
    }

    /// The op of the step.
    pub(super) fn op(&self) -> Op {
        self.graph[self.y].op.clone()
    }

    /// The number of inputs of the step.
    pub(super) fn inputs(&self) -> usize {
        self.graph[self.y].inputs.len()
    }

    pub(super) fn shape(&self, id: NodeId) -> Shape {
        self.graph[id].shape()
    }

    /// Adds what is handed on.
    pub(super) fn finish(&mut self, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        self.graph.add(&self.name, op, inputs)
    }

    /// Hands the gradient on as it is.
    pub(super) fn same(&mut self) -> Result<NodeId> {
        let dy = self.dy;
        self.finish(Op::Add, &[dy])
    }

    /// Hands on the gradient times the slope of each cell.
    pub(super) fn sloped(&mut self, slope: NodeId) -> Result<NodeId> {
        let dy = self.dy;
        self.finish(Op::Multiply, &[dy, slope])
    }

    /// Adds a node that belongs to the gradient of the step: `dA_mean`.
    pub(super) fn part(&mut self, what: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let name = naming::beside(&self.graph[self.dy].name, what);
        self.once(&name, op, inputs)
    }

    /// Adds a node that belongs to the step and not to its gradient: `S_capped_slope`.
    pub(super) fn of_step(&mut self, what: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let name = naming::beside(&self.graph[self.y].name, what);
        self.once(&name, op, inputs)
    }

    /// The node that already has these numbers, whatever its name; otherwise one that belongs to the step is added.
    pub(super) fn made(&mut self, what: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let there = self.graph.nodes().find(|(_, node)| node.op == op && node.inputs == inputs);
        match there.map(|(id, _)| id) {
            Some(id) => Ok(id),
            None => self.of_step(what, op, inputs),
        }
    }

    /// Adds a node, unless it is there already. A name that another node has is followed by a mark.
    fn once(&mut self, name: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let mut name = name.to_string();
        while let Some(there) = self.graph.find(&name) {
            if self.graph[there].op == op && self.graph[there].inputs == inputs {
                return Ok(there);
            }
            name = naming::beside(&name, "again");
        }
        self.graph.add(&name, op, inputs)
    }

    /// 1 in every cell.
    pub(super) fn ones(&mut self, rows: usize, cols: usize) -> Result<NodeId> {
        self.once(&format!("ones_{rows}x{cols}"), Op::Ones { rows, cols }, &[])
    }

    /// 1 in every cell, in the shape of a node.
    pub(super) fn ones_like(&mut self, id: NodeId) -> Result<NodeId> {
        let Shape { rows, cols } = self.shape(id);
        self.ones(rows, cols)
    }

    /// The identity of this size: put through a step that only chooses and repeats, it says where each line of the input goes.
    pub(super) fn identity(&mut self, size: usize) -> Result<NodeId> {
        let ones = self.ones(1, size)?;
        self.once(&format!("identity_{size}x{size}"), Op::Diagonal, &[ones])
    }

    /// A number for each row (or column, or for all cells), in every cell that it belongs to, in the shape of `like`.
    pub(super) fn spread(&mut self, what: &str, axis: Axis, numbers: NodeId, like: NodeId) -> Result<NodeId> {
        let Shape { rows, cols } = self.shape(like);
        let id = match axis {
            Axis::Rows => self.part(what, Op::RepeatColumns(cols), &[numbers])?,
            Axis::Columns => {
                let ones = self.ones(rows, 1)?;
                self.part(what, Op::Product, &[ones, numbers])?
            }
            Axis::Whole => {
                let ones = self.ones(rows, cols)?;
                self.part(what, Op::Times, &[ones, numbers])?
            }
        };
        naming::as_of(self.graph, id, like);
        Ok(id)
    }

    /// 1 where a number of `numbers` is 0 (or is not 0), and 0 elsewhere.
    pub(super) fn where_zero(&mut self, what: &str, is_zero: bool, numbers: NodeId) -> Result<NodeId> {
        let rule = if is_zero { MatrixRule::Block } else { MatrixRule::Allow };
        let mask = Mask { matrix: Some(rule), ..Mask::default() };
        self.of_step(what, Op::MaskPattern(mask), &[numbers, numbers])
    }
}
