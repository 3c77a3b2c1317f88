//! Conditions over a graph: a sentence about its numbers is shown only if its condition is true.

use crate::graph::{Cells, Graph, Op, Origin, resolve};
use crate::matrix::{Matrix, Shape};

/// A number that is read from a graph. An address is `A`, a row `A[bat]`, a column `A[*,cave]`, or a cell `A[bat,cave]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// This number.
    Number(f64),
    /// One cell.
    Cell(String),
    /// The max of the numbers at an address.
    Max(String),
    /// The min of the numbers at an address.
    Min(String),
    /// The max of the absolute values at an address.
    MaxSize(String),
    /// The sum of the numbers at an address.
    Sum(String),
    /// The sum of two quantities.
    Plus(Box<Quantity>, Box<Quantity>),
    /// The product of two quantities.
    Times(Box<Quantity>, Box<Quantity>),
}

/// A relation between two quantities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Relation {
    /// The first is smaller.
    Less,
    /// The first is smaller, or they are equal.
    AtMost,
    /// They are equal, to the last bit but for the sign of 0.
    Equal,
    /// They differ by no more than this.
    Within(f64),
}

/// A condition on the numbers of a graph. A closed set, and data: a test evaluates it on its own.
///
/// A condition that names a missing node or cell, or that would compare NaN, is neither true nor false; a condition that
/// contains it does not hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Two quantities in a relation.
    Compare(Quantity, Relation, Quantity),
    /// The cell is larger than every other cell of its row.
    TopOfRow(String),
    /// Two nodes, rows or columns have the same shape, and numbers that differ by no more than this.
    Same(String, String, f64),
    /// A square node with ones on the diagonal and zeros elsewhere.
    Identity(String),
    /// Every number above the diagonal is 0.
    ZerosAboveDiagonal(String),
    /// A square node that equals its transpose.
    Symmetric(String),
    /// Every number of a node is whole.
    Whole(String),
    /// A node holds NaN at the address.
    NotANumber(String),
    /// These given nodes have the demo's own numbers, and random ones its own seed. No names: all given nodes.
    Own(Vec<String>),
    /// Every one of these.
    All(Vec<Condition>),
    /// At least one of these.
    Any(Vec<Condition>),
    /// The opposite.
    Not(Box<Condition>),
}

/// A sentence, and the condition under which it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The step that it belongs to, from 0.
    pub step: usize,
    /// The condition under which it is shown.
    pub condition: Condition,
    /// The sentence; cells are written `{A[1,2]:2}`, and those that it names have to exist.
    pub text: String,
    /// True if it replaces the step's heading instead of standing below it.
    pub is_heading: bool,
    /// True if it is shown.
    pub shown: bool,
}

/// The max of the numbers at an address.
pub fn max_of(address: &str) -> Quantity {
    Quantity::Max(address.to_string())
}

/// The min of the numbers at an address.
pub fn min_of(address: &str) -> Quantity {
    Quantity::Min(address.to_string())
}

/// The sum of two quantities.
pub fn plus(a: Quantity, b: Quantity) -> Quantity {
    Quantity::Plus(Box::new(a), Box::new(b))
}

/// The product of two quantities.
pub fn times(a: Quantity, b: Quantity) -> Quantity {
    Quantity::Times(Box::new(a), Box::new(b))
}

/// These given nodes have the demo's own numbers; without names: all of them.
pub fn own(nodes: &[&str]) -> Condition {
    Condition::Own(nodes.iter().map(|node| node.to_string()).collect())
}

/// Every one of these.
pub fn all<const N: usize>(conditions: [Condition; N]) -> Condition {
    Condition::All(conditions.into())
}

/// At least one of these.
pub fn any<const N: usize>(conditions: [Condition; N]) -> Condition {
    Condition::Any(conditions.into())
}

/// The opposite.
pub fn not(condition: Condition) -> Condition {
    Condition::Not(Box::new(condition))
}

// The truth of a condition: its quantities are read from a graph and compared.

impl Condition {
    /// The first address that it reads and that does not exist, if there is one.
    pub fn missing(&self, graph: &Graph) -> Option<String> {
        let checked = |address: &String| cells(graph, address).is_none().then(|| address.clone());
        match self {
            Condition::Compare(a, _, b) => a.missing(graph).or_else(|| b.missing(graph)),
            Condition::Same(a, b, _) => checked(a).or_else(|| checked(b)),
            Condition::TopOfRow(a)
            | Condition::Identity(a)
            | Condition::ZerosAboveDiagonal(a)
            | Condition::Symmetric(a)
            | Condition::Whole(a)
            | Condition::NotANumber(a) => checked(a),
            Condition::Own(_) => None,
            Condition::All(all) | Condition::Any(all) => all.iter().find_map(|one| one.missing(graph)),
            Condition::Not(of) => of.missing(graph),
        }
    }

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
            Condition::Same(a, b, within) => {
                let is_near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= *within;
                let shapes = (shape(graph, a)?, shape(graph, b)?);
                let (a, b) = (numbers(cells(graph, a)?)?, numbers(cells(graph, b)?)?);
                Some(shapes.0 == shapes.1 && a.iter().zip(&b).all(is_near))
            }
            Condition::Identity(node) => {
                let m = matrix_of_numbers(graph, node)?;
                let is_one = |i, j| m[(i, j)] == if i == j { 1.0 } else { 0.0 };
                Some(m.rows() == m.cols() && everywhere(m, is_one))
            }
            Condition::ZerosAboveDiagonal(node) => {
                let m = matrix_of_numbers(graph, node)?;
                Some(everywhere(m, |i, j| j <= i || m[(i, j)] == 0.0))
            }
            Condition::Symmetric(node) => {
                let m = matrix_of_numbers(graph, node)?;
                Some(m.rows() == m.cols() && everywhere(m, |i, j| m[(i, j)] == m[(j, i)]))
            }
            Condition::Whole(node) => Some(matrix_of_numbers(graph, node)?.cells().all(|x| x.fract() == 0.0)),
            Condition::NotANumber(address) => Some(cells(graph, address)?.iter().any(|x| x.is_nan())),
            Condition::Own(names) => is_own(graph, names, seed),
            Condition::All(of) => of.iter().try_fold(true, |all, one| Some(all & one.truth(graph, seed)?)),
            Condition::Any(of) => of.iter().try_fold(false, |any, one| Some(any | one.truth(graph, seed)?)),
            Condition::Not(condition) => Some(!condition.truth(graph, seed)?),
        }
    }
}

impl Quantity {
    fn missing(&self, graph: &Graph) -> Option<String> {
        match self {
            Quantity::Number(_) => None,
            Quantity::Cell(a)
            | Quantity::Max(a)
            | Quantity::Min(a)
            | Quantity::MaxSize(a)
            | Quantity::Sum(a) => cells(graph, a).is_none().then(|| a.clone()),
            Quantity::Plus(a, b) | Quantity::Times(a, b) => a.missing(graph).or_else(|| b.missing(graph)),
        }
    }

    /// The value; `None` if it names a missing node or cell.
    fn value(&self, graph: &Graph) -> Option<f64> {
        let fold = |address: &str, start: f64, next: fn(f64, f64) -> f64| {
            let step = |so_far: f64, x: f64| match (so_far.is_nan(), x.is_nan()) {
                (true, _) => so_far,
                (_, true) => f64::NAN,
                _ => next(so_far, x),
            };
            Some(cells(graph, address)?.into_iter().fold(start, step))
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

/// The same, if none of its cells is NaN.
fn matrix_of_numbers<'a>(graph: &'a Graph, node: &str) -> Option<&'a Matrix> {
    matrix(graph, node).filter(|matrix| !matrix.cells().any(f64::is_nan))
}

/// These cells, if none is NaN.
fn numbers(cells: Vec<f64>) -> Option<Vec<f64>> {
    (!cells.iter().any(|x| x.is_nan())).then_some(cells)
}

/// The shape of what is at an address: a row has one row, a column one column.
fn shape(graph: &Graph, address: &str) -> Option<Shape> {
    let count = cells(graph, address)?.len();
    if address.contains("[*,") {
        return Some(Shape { rows: count, cols: 1 });
    }
    Some(match resolve(graph, address).ok()? {
        Cells::Node(node) => graph[node].shape(),
        Cells::Row(..) | Cells::Cell(_) => Shape { rows: 1, cols: count },
    })
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
        names => {
            names.iter().try_fold(true, |all, name| Some(all & is_stated(&graph[graph.find(name)?].op)?))
        }
    }
}
