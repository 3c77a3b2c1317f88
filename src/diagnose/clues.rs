//! What stands out in numbers that no mistake explains.

use crate::matrix::Matrix;

use super::answer::Part;
use super::candidates::{standing_for, step_and_head};
use super::compare::Allowed;
use super::fits::DROPOUT;
use super::{Task, Tolerance};

/// Something that stands out.
#[derive(Clone, Debug, PartialEq)]
pub enum Clue {
    /// Weights whose rows do not sum to 1.
    RowSums {
        /// The node.
        node: String,
        /// The smallest of these sums and the largest.
        between: (f64, f64),
        /// The rows (from 0) that do not sum to 1; all of them where none is listed.
        rows: Vec<usize>,
    },
    /// The columns of the weights sum to 1, and not the rows.
    ColumnSums(String),
    /// Some weights are negative: the node, and the smallest.
    Negative(String, f64),
    /// Some weights are above 1: the node, and the largest.
    AboveOne(String, f64),
    /// NaN in some cells: the node, and the rows (from 0) that are nothing else.
    NotANumber {
        /// The node.
        node: String,
        /// How many cells.
        cells: usize,
        /// The rows that are NaN throughout.
        rows: Vec<usize>,
    },
    /// Infinite numbers in so many cells.
    Infinite(String, usize),
    /// All rows are equal.
    EqualRows(String),
    /// Two rows (from 0) are equal that should not be.
    TwinRows(String, usize, usize),
    /// The matrix equals its own transpose, and should not.
    Symmetric(String),
    /// The rows are the right ones in another order; for each row (from 0) the one that it is.
    RowOrder(String, Vec<usize>),
    /// So many rows are right: the first wrong one (from 0), and how many are wrong.
    SomeRows(String, usize, usize),
    /// So many columns are right: the first wrong one (from 0), and how many are wrong.
    SomeColumns(String, usize, usize),
    /// Signs are the other way round in most cells.
    Signs(String),
    /// What the numbers could come from without any proof of it: “a bias of the keys”.
    ConsistentWith(&'static str),
}

impl Clue {
    /// One sentence.
    pub fn sentence(&self) -> String {
        let number = |x: &f64| crate::graph::number_text(format!("{x:.3e}").parse().unwrap_or(*x));
        match self {
            Clue::RowSums { node, between: (low, high), rows } => {
                let sums = match low == high {
                    true => format!("to {}", number(low)),
                    false => format!("to numbers from {} to {}", number(low), number(high)),
                };
                match rows.len() {
                    0 => format!("The rows of {node} sum {sums}, not to 1."),
                    1 => format!("Row {} of {node} sums {sums}, not to 1.", rows[0] + 1),
                    _ => format!("{} of {node} sum {sums}, not to 1.", capital(&listed("row", rows))),
                }
            }
            Clue::ColumnSums(node) => format!("The columns of {node} sum to 1, but its rows should."),
            Clue::Negative(node, least) => {
                format!("{node} has negative weights, down to {}; no weight is below 0.", number(least))
            }
            Clue::AboveOne(node, most) => {
                format!("{node} has weights above 1, up to {}; no weight is above 1.", number(most))
            }
            Clue::NotANumber { node, cells, rows } => match rows[..] {
                [] => format!("{node} has NaN in {cells} cells."),
                _ => format!("{node} is NaN in {}.", listed("row", rows)),
            },
            Clue::Infinite(node, cells) => format!("{node} has infinite numbers in {cells} cells."),
            Clue::EqualRows(node) => format!("All rows of {node} are equal: the queries make no difference."),
            Clue::TwinRows(node, a, b) => format!("Rows {} and {} of {node} are equal.", a + 1, b + 1),
            Clue::Symmetric(node) => {
                format!("{node} equals its own transpose, as if queries and keys were the same.")
            }
            Clue::RowOrder(node, order) => {
                let order: Vec<String> = order.iter().map(|row| (row + 1).to_string()).collect();
                format!("The rows of {node} are right, but in the order {}.", order.join(" "))
            }
            Clue::SomeRows(node, first, 1) => {
                format!("Only row {} of {node} is wrong; the others are right.", first + 1)
            }
            Clue::SomeRows(node, first, wrong) => format!(
                "Only {wrong} rows of {node} are wrong, the first of them row {}; the others are right.",
                first + 1
            ),
            Clue::SomeColumns(node, first, 1) => {
                format!("Only column {} of {node} is wrong; the others are right.", first + 1)
            }
            Clue::SomeColumns(node, first, wrong) => format!(
                "Only {wrong} columns of {node} are wrong, the first of them column {}; the others are right.",
                first + 1
            ),
            Clue::Signs(node) => format!("Most numbers of {node} have the wrong sign."),
            Clue::ConsistentWith(what) => format!("The numbers are consistent with {what}."),
        }
    }
}

fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(text.len().min(1));
    format!("{}{rest}", first.to_uppercase())
}

fn listed(what: &str, places: &[usize]) -> String {
    let numbers: Vec<String> = places.iter().take(6).map(|place| (place + 1).to_string()).collect();
    let more = if places.len() > 6 { " …" } else { "" };
    let plural = if places.len() == 1 { "" } else { "s" };
    format!("{what}{plural} {}{more}", numbers.join(", "))
}

/// What stands out in a part, the most telling first.
pub(super) fn clues(task: &Task, part: &Part<'_>, tolerance: &Tolerance) -> Vec<Clue> {
    const MOST: usize = 3;
    let mut all = Vec::new();
    for (node, yours) in &part.matrices {
        let right = standing_for(task.right(), node);
        let allowed = Allowed::between(part.answer, right.unwrap_or(yours), tolerance);
        let one = One { node, yours, right, allowed };
        one.not_finite(&mut all);
        if step_and_head(node).0 == "A" {
            one.weights(&mut all);
        }
        if let Some(right) = right.filter(|right| right.shape() == yours.shape()) {
            one.beside(right, &mut all);
        }
        one.rows(&mut all);
        if all.len() >= MOST {
            break;
        }
    }
    all.truncate(MOST);
    all
}

/// One matrix that was handed in.
struct One<'a> {
    node: &'a str,
    yours: &'a Matrix,
    right: Option<&'a Matrix>,
    allowed: Allowed,
}

impl One<'_> {
    fn name(&self) -> String {
        self.node.to_string()
    }

    fn same(&self, a: f64, b: f64) -> bool {
        super::compare::distance(a, b) <= self.allowed.around(b)
    }

    fn not_finite(&self, all: &mut Vec<Clue>) {
        let cells = |is: fn(f64) -> bool| self.yours.cells().filter(|x| is(*x)).count();
        let (nan, infinite) = (cells(f64::is_nan), cells(f64::is_infinite));
        if nan > 0 {
            let rows = (0..self.yours.rows()).filter(|&i| self.yours.row(i).all(f64::is_nan)).collect();
            all.push(Clue::NotANumber { node: self.name(), cells: nan, rows });
        }
        if infinite > 0 && self.right.is_none_or(|right| right.cells().all(f64::is_finite)) {
            all.push(Clue::Infinite(self.name(), infinite));
        }
    }

    fn weights(&self, all: &mut Vec<Clue>) {
        let sum = |cells: &mut dyn Iterator<Item = f64>| cells.fold(0.0, |sum, x| sum + x);
        let rows: Vec<f64> = (0..self.yours.rows()).map(|i| sum(&mut self.yours.row(i))).collect();
        let columns: Vec<f64> = (0..self.yours.cols()).map(|j| sum(&mut self.yours.col(j))).collect();
        let near = 1e-6 + self.allowed.rounding() * self.yours.cols().max(self.yours.rows()) as f64;
        let are_one = |sums: &[f64]| sums.iter().all(|sum| (sum - 1.0).abs() <= near || *sum == 0.0);
        let ends = |sums: &mut dyn Iterator<Item = f64>| {
            sums.filter(|x| x.is_finite())
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
        };
        if !are_one(&rows) && are_one(&columns) {
            all.push(Clue::ColumnSums(self.name()));
        } else if !are_one(&rows) {
            let is_wrong = |row: &usize| !are_one(&rows[*row..=*row]);
            let wrong_rows: Vec<usize> = (0..rows.len()).filter(is_wrong).collect();
            let (low, high) = ends(&mut wrong_rows.iter().map(|&row| rows[row]));
            if low <= high {
                let high = if high - low <= near { low } else { high };
                let wrong = wrong_rows.len() < rows.len();
                let rows = if wrong { wrong_rows } else { Vec::new() };
                all.push(Clue::RowSums { node: self.name(), between: (low, high), rows });
            }
        }
        let (low, high) = ends(&mut self.yours.cells());
        if low < -near {
            all.push(Clue::Negative(self.name(), low));
        }
        if high > 1.0 + near {
            all.push(Clue::AboveOne(self.name(), high));
        }
    }

    /// What stands out next to the right numbers.
    fn beside(&self, right: &Matrix, all: &mut Vec<Clue>) {
        let (rows, cols) = (self.yours.rows(), self.yours.cols());
        let row_is = |i: usize, k: usize| (0..cols).all(|j| self.same(self.yours[(i, j)], right[(k, j)]));
        let column_is = |j: usize| (0..rows).all(|i| self.same(self.yours[(i, j)], right[(i, j)]));
        let wrong: Vec<usize> = (0..rows).filter(|&i| !row_is(i, i)).collect();
        let order: Option<Vec<usize>> = (0..rows).map(|i| (0..rows).find(|&k| row_is(i, k))).collect();
        match order {
            Some(order) if cols > 0 => all.push(Clue::RowOrder(self.name(), order)),
            _ if wrong.len() < rows => all.push(Clue::SomeRows(self.name(), wrong[0], wrong.len())),
            _ => {
                let wrong: Vec<usize> = (0..cols).filter(|&j| !column_is(j)).collect();
                if wrong.len() < cols {
                    all.push(Clue::SomeColumns(self.name(), wrong[0], wrong.len()));
                }
            }
        }
        self.dropped(right, all);
        let opposite = self.yours.cells().zip(right.cells()).filter(|(a, b)| a * b < 0.0).count();
        if opposite * 10 > rows * cols * 8 {
            all.push(Clue::Signs(self.name()));
        }
        if step_and_head(self.node).0.starts_with('S') {
            self.shifted(right, all);
        }
    }

    /// Zeros among numbers that are a little too large, all by the same factor.
    fn dropped(&self, right: &Matrix, all: &mut Vec<Clue>) {
        let cells = || self.yours.cells().zip(right.cells());
        let is_dropout =
            |p: &f64| cells().all(|(yours, right)| yours == 0.0 || self.same(yours * (1.0 - p), right));
        if cells().any(|(yours, _)| yours != 0.0) && DROPOUT.iter().any(is_dropout) {
            all.push(Clue::ConsistentWith(
                "dropout, which sets some numbers to 0 and makes the others larger",
            ));
        }
    }

    /// Scores that differ by one number down each column: a bias of the queries gives that, among other things.
    fn shifted(&self, right: &Matrix, all: &mut Vec<Clue>) {
        let moved = |i: usize, j: usize| self.yours[(i, j)] - right[(i, j)];
        let near = |i: usize, j: usize| self.allowed.around(right[(i, j)]);
        let (rows, cols) = (self.yours.rows(), self.yours.cols());
        let columns =
            (0..cols).all(|j| (0..rows).all(|i| (moved(i, j) - moved(0, j)).abs() <= 2.0 * near(i, j)));
        if rows > 1 && columns {
            all.push(Clue::ConsistentWith(
                "a bias of the queries, which adds a number to each column of the scores",
            ));
        }
    }

    fn rows(&self, all: &mut Vec<Clue>) {
        let (rows, cols) = (self.yours.rows(), self.yours.cols());
        let equal = |a: usize, b: usize| self.yours.row(a).eq(self.yours.row(b));
        let right_equal = |a: usize, b: usize| {
            self.right.is_some_and(|right| right.rows() == rows && right.row(a).eq(right.row(b)))
        };
        if rows > 1 && (1..rows).all(|i| equal(0, i)) && !(1..rows).all(|i| right_equal(0, i)) {
            all.push(Clue::EqualRows(self.name()));
        } else if rows <= 64 {
            let mut pairs = (0..rows).flat_map(|a| (a + 1..rows).map(move |b| (a, b)));
            let twins = pairs.find(|&(a, b)| cols > 0 && equal(a, b) && !right_equal(a, b));
            all.extend(twins.map(|(a, b)| Clue::TwinRows(self.name(), a, b)));
        }
        let mirrors = |of: &Matrix| {
            (of.rows(), of.cols()) == (rows, rows)
                && (0..rows).all(|i| (0..i).all(|j| self.same(of[(i, j)], of[(j, i)])))
        };
        let symmetric = rows > 1 && mirrors(self.yours) && !self.right.is_some_and(mirrors);
        if symmetric && step_and_head(self.node).0.starts_with(['S', 'A']) {
            all.push(Clue::Symmetric(self.name()));
        }
    }
}
