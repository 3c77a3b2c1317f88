//! Warnings: rows of weights that are 0, and numbers that have left the range.

use std::collections::HashSet;

use super::{Fusion, Graph, Node, NodeId, Op};
use crate::attention::Visibility;
use crate::matrix::{Labels, Matrix};
use crate::tensor::{Dtype, Tensor};

/// A row of weights that are all 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroRow {
    /// Every key is hidden from it.
    FullyMasked(usize),
    /// It has scores, but all of them are below the range of the numbers.
    Overflowed(usize),
}

impl Graph {
    /// The warning about weights: rows of the scores `read` that are nothing but −∞.
    pub(super) fn warning_of_weights(&self, name: &str, id: NodeId, read: &Matrix) -> Option<String> {
        let is_zero = |i: &usize| read.cols() > 0 && read.row(*i).all(|x| x == f64::NEG_INFINITY);
        let rows = (0..read.rows()).filter(is_zero).map(|i| {
            if (0..read.cols()).all(|j| self.is_hidden(id, (i, j))) {
                ZeroRow::FullyMasked(i)
            } else {
                ZeroRow::Overflowed(i)
            }
        });
        warning_of_rows(name, read.row_labels(), rows.collect(), Dtype::F64)
    }

    /// Returns true if the −∞ in a cell was given or comes from a mask, and not from numbers that have left the range. Each node is
    /// looked at once, however many steps read it.
    fn is_hidden(&self, id: NodeId, at: (usize, usize)) -> bool {
        let value = |id: &NodeId| self[*id].matrix().map(|matrix| matrix[at]);
        let (mut seen, mut left) = (HashSet::from([id]), vec![id]);
        while let Some(id) = left.pop() {
            let node = &self[id];
            let read = match (&node.op, &node.inputs[..]) {
                (Op::Mask(rule), [scores, others @ ..]) => {
                    let size = (node.shape().rows, node.shape().cols);
                    let cell = others.first().and_then(value);
                    if rule.visibility(at, size, cell) != Visibility::Visible {
                        return true;
                    }
                    std::slice::from_ref(scores)
                }
                (Op::Add | Op::Temperature(_) | Op::Scale(_), inputs) => inputs,
                (Op::Product | Op::ProductTransposed | Op::Cosine | Op::Euclidean, _) => &[],
                _ => return true,
            };
            let hidden = read.iter().filter(|id| value(id) == Some(f64::NEG_INFINITY));
            left.extend(hidden.filter(|id| seen.insert(**id)));
        }
        false
    }

    /// Adds warnings about the first node that holds NaN, and about the first result that is infinite though nothing before it
    /// is: a number has left the range.
    pub fn warn_of_range(&mut self) {
        let warnings = [self.warning_of_infinity(), self.warning_of_nan()];
        self.warnings.extend(warnings.into_iter().flatten());
    }

    /// Scores may overflow: if that matters, the weights are NaN or a row of zeros, and the warning names those.
    fn warning_of_infinity(&self) -> Option<String> {
        let scores = self.scores();
        let is_infinite = |node: &Node| node.tensor().is_some_and(Tensor::any_infinite);
        let node = self.nodes().find(|(id, node)| {
            let is_result =
                !matches!(node.op, Op::Given(_) | Op::Fused(Fusion::LogSumExp)) && !scores.contains(id);
            // An input of a fused step may be a mask, which hides with −∞.
            let reads = |id: &NodeId| !matches!(node.op, Op::Fused(_)) && is_infinite(&self[*id]);
            is_result && is_infinite(node) && !node.inputs.iter().any(reads)
        });
        let (_, node) = node?;
        let name = &node.name;
        Some(match node.typed().map(Tensor::dtype) {
            Some(Dtype::F32) => format!(
                "{name} holds inf: a number is too large for a 32-bit float; --dtype f64 has a wider range"
            ),
            _ => format!("{name} has inf: a number is too large for a 64-bit float"),
        })
    }

    /// The inputs of softmax nodes, and the scores that these are computed from.
    fn scores(&self) -> HashSet<NodeId> {
        let mut scores = HashSet::new();
        for (_, node) in self.nodes() {
            let reads_scores = matches!(
                node.op,
                Op::Softmax(..) | Op::UnguardedSoftmax(..) | Op::SoftmaxWithSink { .. } | Op::MinusMax(_)
            );
            let mut next = node.inputs.first().copied().filter(|_| reads_scores);
            while let Some(id) = next.filter(|id| scores.insert(*id)) {
                let is_step = matches!(
                    self[id].op,
                    Op::Mask(_) | Op::SoftCap(_) | Op::Add | Op::Temperature(_) | Op::Scale(_)
                );
                next = self[id].inputs.first().copied().filter(|_| is_step);
            }
            if reads_scores && matches!(node.op, Op::MinusMax(_)) {
                scores.insert(self.find(&node.name).unwrap_or(NodeId(usize::MAX)));
            }
        }
        scores
    }

    /// The warning about the first node that holds NaN, if there is one: a number on the way has left the range.
    fn warning_of_nan(&self) -> Option<String> {
        let is_nan = |node: &&Node| node.tensor().is_some_and(Tensor::any_nan);
        let mut nodes = self.nodes.iter().filter(is_nan);
        let node = nodes.next()?;
        let name = &node.name;
        Some(match node.typed().map(Tensor::dtype) {
            // The kernel computes all its outputs at once, not from each other.
            Some(Dtype::F32) => {
                let others: Vec<&str> = nodes.map(|node| node.name.as_str()).collect();
                let others = match others.len() {
                    0 => String::new(),
                    1 => format!(", and so does {}", others.concat()),
                    _ => format!(", and so do {}", others.join(", ")),
                };
                format!(
                    "{name} holds NaN{others}: an intermediate number is too large for a 32-bit float; --dtype f64 has a \
                     wider range"
                )
            }
            _ => format!("{name} has NaN: an intermediate number is too large for a 64-bit float"),
        })
    }
}

/// The warning about such rows of weights.
pub(super) fn warning_of_rows(
    name: &str,
    labels: Option<&Labels>,
    rows: Vec<ZeroRow>,
    dtype: Dtype,
) -> Option<String> {
    let [mut masked, mut overflowed] = [const { Vec::new() }; 2];
    for row in rows {
        match row {
            ZeroRow::FullyMasked(i) => masked.push(i),
            ZeroRow::Overflowed(i) => overflowed.push(i),
        }
    }
    let [its, their] = ["its weights and its result", "their weights and their results"];
    let nothing = [its, their].map(|whose| format!("may attend to nothing; {whose} are 0"));
    let masked = said(name, labels, masked, nothing.each_ref().map(String::as_str));
    let range = match dtype {
        Dtype::F32 => "a 32-bit float (--dtype f64 has a wider range)".to_string(),
        _ => "a 64-bit float".to_string(),
    };
    let below = [("has", its), ("have", their)]
        .map(|(has, whose)| format!("{has} only scores below the range of {range}; {whose} come out as 0"));
    let overflowed = said(name, labels, overflowed, below.each_ref().map(String::as_str));
    match (masked, overflowed) {
        (Some(masked), Some(overflowed)) => Some(format!("{masked}\n{overflowed}")),
        (masked, overflowed) => masked.or(overflowed),
    }
}

impl Op {
    /// The warning for the op on these inputs, if there is one.
    pub(super) fn warning(&self, name: &str, inputs: &[&Matrix]) -> Option<String> {
        let [a, ..] = inputs else { return None };
        let (a, rows, words) = match self {
            Op::Cosine => {
                let a = inputs.iter().max_by_key(|a| zero_rows(a).len())?;
                let one = "is all zeros and has no direction; its cosines are set to 0";
                (a, zero_rows(a), [one, "are all zeros and have no direction; their cosines are set to 0"])
            }
            Op::RmsNorm(_) => {
                let one =
                    "has numbers whose squares are too large for a 64-bit float; its result comes out as 0";
                let many = "have numbers whose squares are too large for a 64-bit float; their results come out as 0";
                (a, overflowing_rows(a), [one, many])
            }
            Op::UnitRows => {
                let one = "is all zeros and has no direction; it stays as it is";
                (a, zero_rows(a), [one, "are all zeros and have no direction; they stay as they are"])
            }
            _ => return None,
        };
        said(name, a.row_labels(), rows, words)
    }
}

/// The rows of numbers whose squares have no sum in the range.
fn overflowing_rows(a: &Matrix) -> Vec<usize> {
    let overflows = |&i: &usize| {
        a.row(i).all(f64::is_finite) && a.row(i).fold(0.0, |sum, x| sum + x * x) == f64::INFINITY
    };
    (0..a.rows()).filter(overflows).collect()
}

/// The rows without a direction.
fn zero_rows(a: &Matrix) -> Vec<usize> {
    (0..a.rows()).filter(|&i| a.row(i).all(|x| x == 0.0)).collect()
}

/// A warning about some rows of a matrix with these labels; the sentence for one row, and for several.
fn said(name: &str, labels: Option<&Labels>, rows: Vec<usize>, [one, many]: [&str; 2]) -> Option<String> {
    const NAMED: usize = 5;
    let label = |i: &usize| match labels {
        Some(labels) => format!("{} ({})", i + 1, labels[*i]),
        None => format!("{}", i + 1),
    };
    let named = rows.iter().take(NAMED).map(label).collect::<Vec<_>>().join(", ");
    let more = if rows.len() > NAMED { format!(" and {} more", rows.len() - NAMED) } else { String::new() };
    match rows.len() {
        0 => None,
        1 => Some(format!("{name}: row {named} {one}")),
        _ => Some(format!("{name}: rows {named}{more} {many}")),
    }
}
