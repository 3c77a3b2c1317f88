//! Which cells of a head's other matrices a number was made of, as one rule for all cells of a matrix: the rule is read from the
//! graph's own terms.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::explore::sources;
use crate::graph::{CellId, Graph, NodeId};

/// Rows or columns of an operand, for the cell in row i and column j.
#[derive(Clone, Debug, PartialEq)]
pub enum Lines {
    /// Line i.
    OfRow,
    /// Line j.
    OfColumn,
    /// All lines.
    All,
    /// These, for each j.
    Listed(Vec<Vec<usize>>),
}

/// The cells of an operand that a number was made of: these rows, and of them these columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// The place of the operand among the steps of the head.
    pub step: usize,
    pub rows: Lines,
    pub cols: Lines,
}

impl Lines {
    /// The lines for a cell, of `count`.
    fn of(&self, (i, j): (usize, usize), count: usize) -> Vec<usize> {
        match self {
            Lines::OfRow => vec![i],
            Lines::OfColumn => vec![j],
            Lines::All => (0..count).collect(),
            Lines::Listed(lists) => lists.get(j).cloned().unwrap_or_default(),
        }
    }

    fn value(&self) -> Value {
        match self {
            Lines::OfRow => json!("i"),
            Lines::OfColumn => json!("j"),
            Lines::All => json!("*"),
            Lines::Listed(lists) => json!(lists),
        }
    }
}

impl Operand {
    /// The rule as the script of the page reads it.
    pub fn value(&self) -> Value {
        json!([self.step, self.rows.value(), self.cols.value()])
    }
}

/// The cells that some sampled cells were made of, for each operand.
type Samples = Vec<((usize, usize), BTreeMap<NodeId, Vec<(usize, usize)>>)>;

/// The operands of a node among the nodes of its head, as rules; `None` where no rule gives the cells in the terms.
pub fn operands(graph: &Graph, node: NodeId, of_head: &[NodeId]) -> Option<Vec<Operand>> {
    let shape = graph[node].shape();
    let mut order: Vec<NodeId> = Vec::new();
    let mut samples: Samples = Vec::new();
    let mut rows = vec![0, shape.rows / 2, shape.rows.saturating_sub(1)];
    rows.dedup();
    for row in rows.into_iter().filter(|row| *row < shape.rows) {
        for col in 0..shape.cols {
            let found = sources(graph, CellId { node, row, col }).cells;
            // A fully masked row is made of nothing.
            if found.is_empty() {
                continue;
            }
            for (operand, _) in &found {
                if !order.contains(operand) {
                    order.push(*operand);
                }
            }
            samples.push(((row, col), found.into_iter().collect()));
        }
    }
    let shown = order.into_iter().filter_map(|operand| Some((operand, position(of_head, operand)?)));
    shown.map(|(operand, step)| rule(graph, operand, step, &samples)).collect()
}

fn position(of_head: &[NodeId], node: NodeId) -> Option<usize> {
    of_head.iter().position(|&other| other == node)
}

/// The rule that gives the cells of an operand in all samples.
fn rule(graph: &Graph, operand: NodeId, step: usize, samples: &Samples) -> Option<Operand> {
    let shape = graph[operand].shape();
    let none = Vec::new();
    let is_right = |rows: &Lines, cols: &Lines| {
        samples.iter().all(|(at, found)| {
            let rows = rows.of(*at, shape.rows);
            let cols = cols.of(*at, shape.cols);
            let cells = rows.iter().flat_map(|&row| cols.iter().map(move |&col| (row, col)));
            cells.eq(found.get(&operand).unwrap_or(&none).iter().copied())
        })
    };
    let listed = listed(operand, samples);
    for rows in [Lines::OfRow, Lines::OfColumn, Lines::All] {
        for cols in [Lines::OfColumn, Lines::OfRow, Lines::All, listed.clone()] {
            if is_right(&rows, &cols) {
                return Some(Operand { step, rows, cols });
            }
        }
    }
    None
}

/// The columns of an operand that each column reads, where they do not depend on the row.
fn listed(operand: NodeId, samples: &Samples) -> Lines {
    let mut lists: Vec<Vec<usize>> = Vec::new();
    for ((_, col), found) in samples {
        if lists.len() <= *col {
            lists.resize(col + 1, Vec::new());
        }
        if let Some(places) = found.get(&operand) {
            lists[*col] = places.iter().map(|place| place.1).collect();
            lists[*col].dedup();
        }
    }
    Lines::Listed(lists)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::{Axis, Base, Pairing, Rotation};
    use crate::graph::{Op, Origin};
    use crate::matrix::Matrix;

    #[test]
    fn each_step_has_a_rule_for_its_operands() {
        let mut graph = Graph::new();
        let q = graph.given("Q", Matrix::filled(3, 4, 1.0), Origin::Stated).unwrap();
        let f = graph.given("F", Matrix::filled(1, 2, 1.0), Origin::Stated).unwrap();
        let turn = Rotation { first: 0, pairing: Pairing::Halves, magnitude: 1.0 };
        let r = graph.add("Q_rotated", Op::Rotary(turn), &[q, f]).unwrap();
        let s = graph.add("S", Op::ProductTransposed, &[r, q]).unwrap();
        let a = graph.add("A", Op::Softmax(Axis::Rows, Base::E), &[s]).unwrap();
        let o = graph.add("O", Op::Product, &[a, q]).unwrap();
        let of_head = [q, f, r, s, a, o];
        let rules = |node: NodeId| {
            let operands = operands(&graph, node, &of_head).unwrap();
            Value::from(operands.iter().map(Operand::value).collect::<Vec<_>>())
        };
        let pairs = json!([[0, 2], [1, 3], [0, 2], [1, 3]]);
        assert_eq!(rules(r), json!([[0, "i", pairs], [1, "*", [[0], [1], [0], [1]]]]));
        assert_eq!(rules(s), json!([[2, "i", "*"], [0, "j", "*"]]));
        assert_eq!(rules(a), json!([[3, "i", "*"]]));
        assert_eq!(rules(o), json!([[4, "i", "*"], [0, "*", "j"]]));
        assert_eq!(rules(q), json!([]));
    }
}
