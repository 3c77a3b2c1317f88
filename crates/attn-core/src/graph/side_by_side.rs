//! Two graphs side by side in one graph: equal nodes are stored once, different ones twice, with their change.

use std::collections::BTreeMap;

use super::{CellId, Graph, Node, NodeId, Op, Value};
use crate::error::Result;
use crate::matrix::{Matrix, same_number};

/// The suffix of the name of a node that holds a change.
const CHANGE: &str = "_change";

/// Two graphs in one.
#[derive(Clone, Debug)]
pub struct GraphPair {
    /// All nodes of the base, under their own ids; then those of the other that are not the same, with the suffix behind
    /// a name that the base has too; and `A_change` where the cells of `A` have moved.
    pub graph: Graph,
    /// The nodes of the base whose numbers the other has too.
    pub same: Vec<NodeId>,
    /// The differences, in the order of computing.
    pub differences: Vec<Difference>,
}

/// A step that is not the same in both.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The name that the step has in its own graph.
    pub name: String,
    /// The step of the base, if the base has it.
    pub base: Option<NodeId>,
    /// The step of the other, if the other has it.
    pub other: Option<NodeId>,
    /// The other minus the base, if both have one shape and cells have moved.
    pub change: Option<NodeId>,
}

/// The movement of the cells of a node: how many have changed, and by how much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Movement {
    /// The number of cells that have moved.
    pub moved: usize,
    /// The number of all cells.
    pub cells: usize,
    /// The cell of the base that has moved furthest; a finite way counts before one to or from ∞ or NaN.
    pub furthest: CellId,
    /// Its number in the base.
    pub from: f64,
    /// Its number in the other.
    pub to: f64,
    /// `to − from`.
    pub change: f64,
}

/// Puts `other` beside `base`. A node is the same in both if name, op and all bits are the same (of two leaves, name and
/// bits: the same numbers from another source are no difference). It is held once, as the base computes it. Every other node
/// of `other` is added with its value as it is, the suffix behind its name if the base has a node of that name.
///
/// # Errors
/// If a name with its suffix is taken, or both together have more than [`super::MAX_CELLS`] numbers.
pub fn side_by_side(base: Graph, other: Graph, suffix: &str) -> Result<GraphPair> {
    let order = order(&base, &other);
    let mut both = PairBuilder { of_base: base.nodes.len(), graph: base, pairs: BTreeMap::new() };
    let warnings = other.warnings;
    let mut ids: Vec<NodeId> = Vec::new();
    for node in other.nodes {
        let inputs: Vec<NodeId> = node.inputs.iter().map(|input| ids[input.0]).collect();
        ids.push(both.add(Node { inputs, ..node }, suffix)?);
    }
    both.warn(warnings, suffix);
    both.finished(order)
}

impl GraphPair {
    /// The movement of a step; `None` if no cell has moved, or if the cells cannot be compared one by one.
    pub fn movement(&self, difference: &Difference) -> Option<Movement> {
        let Difference { base: Some(base), other: Some(other), change: Some(change), .. } = difference else {
            return None;
        };
        let [from, to, change] = [base, other, change].map(|&id| self.graph[id].matrix());
        let (from, to, change) = (from?, to?, change?);
        let at = |(row, col): (usize, usize)| Movement {
            moved: change.cells().filter(|x| *x != 0.0).count(),
            cells: change.rows() * change.cols(),
            furthest: CellId { node: *base, row, col },
            from: from[(row, col)],
            to: to[(row, col)],
            change: change[(row, col)],
        };
        furthest(change).map(at)
    }
}

/// The cell that has moved furthest, the first of equals.
fn furthest(change: &Matrix) -> Option<(usize, usize)> {
    let mut found: Option<((usize, usize), f64)> = None;
    for (i, j) in (0..change.rows()).flat_map(|i| (0..change.cols()).map(move |j| (i, j))) {
        let way = change[(i, j)].abs();
        let further = match found {
            None => way != 0.0,
            Some((_, before)) if before.is_finite() => way.is_finite() && way > before,
            Some(_) => way.is_finite() && way != 0.0,
        };
        if further {
            found = Some(((i, j), way));
        }
    }
    found.map(|(at, _)| at)
}

/// The names of both graphs in the order of computing: between two steps that both have, those of the base alone come first.
fn order(base: &Graph, other: &Graph) -> Vec<String> {
    let of_base_alone = |from: usize, to: usize| {
        let alone = base.nodes[from..to].iter().filter(|node| other.find(&node.name).is_none());
        alone.map(|node| node.name.clone())
    };
    let (mut names, mut of_other_alone) = (Vec::new(), Vec::new());
    let mut passed = 0;
    for node in &other.nodes {
        let Some(NodeId(at)) = base.find(&node.name) else {
            of_other_alone.push(node.name.clone());
            continue;
        };
        if at >= passed {
            names.extend(of_base_alone(passed, at));
            passed = at + 1;
        }
        names.append(&mut of_other_alone);
        names.push(node.name.clone());
    }
    names.extend(of_base_alone(passed, base.nodes.len()));
    names.append(&mut of_other_alone);
    names
}

/// The relation of a node of the second graph to the base.
enum NodePair {
    Same(NodeId),
    Different { base: Option<NodeId>, other: NodeId, change: Option<NodeId> },
}

/// Both graphs on their way into one.
struct PairBuilder {
    graph: Graph,
    /// The number of nodes that belong to the base.
    of_base: usize,
    /// By the name in the other's own graph.
    pairs: BTreeMap<String, NodePair>,
}

impl PairBuilder {
    /// Takes a node of the other, and returns where it is held.
    fn add(&mut self, node: Node, suffix: &str) -> Result<NodeId> {
        let base = self.graph.find(&node.name).filter(|id| id.0 < self.of_base);
        if let Some(base) = base
            && self.is_same(&self.graph[base], &node)
        {
            self.pairs.insert(node.name, NodePair::Same(base));
            return Ok(base);
        }
        let name = format!("{}{}", node.name, if base.is_some() { suffix } else { "" });
        let moved = base.filter(|&base| has_moved(&self.graph[base], &node));
        // Only the sign of a zero can still differ; the steps after it may depend on that sign.
        let alike = base.filter(|&base| moved.is_none() && is_alike(&self.graph[base], &node));
        if let Value::Formed(tensor) = &node.value
            && tensor.is_exact()
        {
            let cells = tensor.shape().rows * tensor.shape().cols;
            self.graph.room_for(cells).map_err(|error| error.in_source(&*name))?;
        }
        let other = self.graph.push(&name, node.op, &node.inputs, node.value)?;
        let added = &mut self.graph.nodes[other.0];
        (added.label, added.collects, added.step) = (node.label, node.collects, node.step);
        let mut change_name = format!("{}{CHANGE}", node.name);
        // `last_change` may be a step of the computation itself.
        while self.graph.find(&change_name).is_some() {
            change_name += CHANGE;
        }
        let change =
            moved.map(|base| self.graph.add(&change_name, Op::Change, &[base, other])).transpose()?;
        let pair = alike.map_or(NodePair::Different { base, other, change }, NodePair::Same);
        self.pairs.insert(node.name, pair);
        Ok(other)
    }

    /// Returns true if a node of the base and one of the other graph are the same; their inputs are already among the nodes of
    /// both. Nodes that are never formed are compared by op and inputs alone.
    fn is_same(&self, a: &Node, b: &Node) -> bool {
        let same_value = match (&a.value, &b.value) {
            (Value::NeverFormed(of_a), Value::NeverFormed(of_b)) => of_a == of_b && a.inputs == b.inputs,
            (Value::Formed(a), Value::Formed(b)) if !a.is_exact() && !b.is_exact() => a.same_bits(b),
            _ => a.matrix().zip(b.matrix()).is_some_and(|(a, b)| a.same_bits(b)),
        };
        same_op(&a.op, &b.op) && same_value
    }

    /// Takes the warnings that the other alone has, under the names that its nodes have here.
    fn warn(&mut self, warnings: Vec<String>, suffix: &str) {
        for warning in warnings {
            if self.graph.warnings.contains(&warning) {
                continue;
            }
            let end = warning.find([':', ' ']).unwrap_or(warning.len());
            let renamed = format!("{}{suffix}", &warning[..end]);
            let warning = match self.graph.find(&renamed) {
                Some(_) => format!("{renamed}{}", &warning[end..]),
                None => warning,
            };
            self.graph.warnings.push(warning);
        }
    }

    fn finished(mut self, order: Vec<String>) -> Result<GraphPair> {
        let (mut same, mut differences) = (Vec::new(), Vec::new());
        for name in order {
            match self.pairs.remove(&name) {
                Some(NodePair::Same(id)) => same.push(id),
                Some(NodePair::Different { base, other, change }) => {
                    differences.push(Difference { name, base, other: Some(other), change });
                }
                None => {
                    let base = Some(self.graph.require(&name)?);
                    differences.push(Difference { name, base, other: None, change: None });
                }
            }
        }
        Ok(GraphPair { graph: self.graph, same, differences })
    }
}

/// Returns true if both nodes have the same op; the origin of a leaf's numbers does not matter.
fn same_op(a: &Op, b: &Op) -> bool {
    a == b || (a.is_given() && b.is_given())
}

/// Returns true if both have one shape and a number differs.
fn has_moved(a: &Node, b: &Node) -> bool {
    let (Some(a), Some(b)) = (a.matrix(), b.matrix()) else { return false };
    a.shape() == b.shape() && a.cells().zip(b.cells()).any(|(a, b)| !same_number(a, b))
}

/// Returns true if two nodes of one shape that have not moved have the same op.
fn is_alike(a: &Node, b: &Node) -> bool {
    same_op(&a.op, &b.op) && a.matrix().is_some() && b.matrix().is_some() && a.shape() == b.shape()
}
