//! The truth of a condition: its quantities are read from a graph and compared.

use super::condition::{Condition, Quantity, Relation};
use crate::graph::{Cells, Graph, Op, Origin, resolve};
use crate::matrix::Matrix;

impl Condition {
    /// Returns true if the condition is true of a graph whose random matrices come from `seed` where they are the demo's own.
    pub fn holds(&self, graph: &Graph, seed: u32) -> bool {
        self.truth(graph, seed) == Some(true)
    }

    /// The truth value; `None` if it names a missing node or cell, or would compare NaN.
    fn truth(&self, graph: &Graph, seed: u32) -> Option<bool> {
        match self {
            Condition::Compare(a, relation, b) => compare(a.value(graph)?, *relation, b.value(graph)?),
            Condition::TopOfRow(cell) => {
                let Cells::Cell(cell) = resolve(graph, cell).ok()? else { return None };
                let row: Vec<f64> = graph.matrix(cell.node).ok()?.row(cell.row).collect();
                (!row.iter().any(|x| x.is_nan())).then_some(())?;
                let is_below = |(j, x): (usize, &f64)| j == cell.col || *x < row[cell.col];
                Some(row.iter().enumerate().all(is_below))
            }
            Condition::Same(a, b) => {
                let (a, b) = (matrix(graph, a)?, matrix(graph, b)?);
                Some(a.shape() == b.shape() && a.cells().zip(b.cells()).all(|(a, b)| a == b))
            }
            Condition::Identity(node) => {
                let m = matrix(graph, node)?;
                let is_one = |i, j| m[(i, j)] == if i == j { 1.0 } else { 0.0 };
                Some(m.rows() == m.cols() && everywhere(m, is_one))
            }
            Condition::ZerosAboveDiagonal(node) => {
                let m = matrix(graph, node)?;
                Some(everywhere(m, |i, j| j <= i || m[(i, j)] == 0.0))
            }
            Condition::Symmetric(node) => {
                let m = matrix(graph, node)?;
                Some(m.rows() == m.cols() && everywhere(m, |i, j| m[(i, j)] == m[(j, i)]))
            }
            Condition::Whole(node) => Some(matrix(graph, node)?.cells().all(|x| x.fract() == 0.0)),
            Condition::NotANumber(address) => Some(cells(graph, address)?.iter().any(|x| x.is_nan())),
            Condition::Own(names) => is_own(graph, names, seed),
            Condition::All(conditions) => conditions
                .iter()
                .try_fold(true, |so_far, condition| Some(so_far & condition.truth(graph, seed)?)),
            Condition::Any(conditions) => conditions
                .iter()
                .try_fold(false, |so_far, condition| Some(so_far | condition.truth(graph, seed)?)),
            Condition::Not(condition) => Some(!condition.truth(graph, seed)?),
        }
    }
}

impl Quantity {
    /// The value; `None` if it names a missing node or cell.
    fn value(&self, graph: &Graph) -> Option<f64> {
        let fold = |address: &str, start: f64, next: fn(f64, f64) -> f64| {
            let cells = cells(graph, address)?;
            let step = |so_far: f64, x: f64| if x.is_nan() { f64::NAN } else { next(so_far, x) };
            Some(
                cells
                    .into_iter()
                    .fold(start, |so_far, x| if so_far.is_nan() { so_far } else { step(so_far, x) }),
            )
        };
        match self {
            Quantity::Number(number) => Some(*number),
            Quantity::Cell(address) => match cells(graph, address)?[..] {
                [cell] => Some(cell),
                _ => None,
            },
            Quantity::Max(address) => fold(address, f64::NEG_INFINITY, f64::max),
            Quantity::Min(address) => fold(address, f64::INFINITY, f64::min),
            Quantity::MaxSize(address) => fold(address, 0.0, |so_far, x| so_far.max(x.abs())),
            Quantity::Sum(address) => fold(address, 0.0, |so_far, x| so_far + x),
            Quantity::Rows(node) => Some(matrix(graph, node)?.rows() as f64),
            Quantity::Columns(node) => Some(matrix(graph, node)?.cols() as f64),
            Quantity::Plus(a, b) => Some(a.value(graph)? + b.value(graph)?),
            Quantity::Times(a, b) => Some(a.value(graph)? * b.value(graph)?),
        }
    }
}

fn compare(a: f64, relation: Relation, b: f64) -> Option<bool> {
    match relation {
        _ if a.is_nan() || b.is_nan() => None,
        Relation::Less => Some(a < b),
        Relation::AtMost => Some(a <= b),
        Relation::Equal => Some(a == b),
        Relation::Within(tolerance) => Some(a == b || (a - b).abs() <= tolerance),
    }
}

fn everywhere(matrix: &Matrix, is_right: impl Fn(usize, usize) -> bool) -> bool {
    (0..matrix.rows()).all(|i| (0..matrix.cols()).all(|j| is_right(i, j)))
}

fn matrix<'a>(graph: &'a Graph, node: &str) -> Option<&'a Matrix> {
    graph.find(node).and_then(|id| graph[id].matrix())
}

/// The numbers at an address, row by row.
fn cells(graph: &Graph, address: &str) -> Option<Vec<f64>> {
    if let Some((node, column)) = address.split_once("[*,") {
        let Cells::Cell(cell) = resolve(graph, &format!("{node}[1,{column}")).ok()? else { return None };
        return Some(graph.matrix(cell.node).ok()?.col(cell.col).collect());
    }
    match resolve(graph, address).ok()? {
        Cells::Node(node) => Some(graph.matrix(node).ok()?.cells().collect()),
        Cells::Row(node, row) => Some(graph.matrix(node).ok()?.row(row).collect()),
        Cells::Cell(cell) => Some(vec![graph.matrix(cell.node).ok()?[(cell.row, cell.col)]]),
    }
}

/// Returns true if given nodes hold the demo's own numbers; `None` if one of them is computed or missing.
fn is_own(graph: &Graph, names: &[String], seed: u32) -> Option<bool> {
    let is_stated = |op: &Op| match op {
        Op::Given(Origin::Stated | Origin::Identity) => Some(true),
        Op::Given(Origin::Drawn(of)) => Some(*of == seed),
        Op::Given(Origin::Fitted | Origin::User(_)) => Some(false),
        _ => None,
    };
    match names {
        [] => Some(graph.nodes().filter_map(|(_, node)| is_stated(&node.op)).all(|own| own)),
        names => names
            .iter()
            .try_fold(true, |so_far, name| Some(so_far & is_stated(&graph[graph.find(name)?].op)?)),
    }
}
