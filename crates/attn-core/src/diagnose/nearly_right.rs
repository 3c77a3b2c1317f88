//! The right numbers but for a part that says what happened: rows that stayed 0, one wrong number, a header among the numbers.

use std::collections::BTreeSet;

use crate::elementary;
use crate::graph::{CellId, Graph, Origin, address_of};
use crate::matrix::{Matrix, Shape};
use crate::text::all_of;

use super::Slip;
use super::answer::Part;
use super::candidates::{Variant, standing_for};
use super::catalogue::fitted;
use super::compare::{distance, residual};
use super::fitting::slip;
use super::search::{Fit, Search};
use super::tolerance::CellTolerance;

/// A result with fewer numbers is too small for one wrong number to stand out.
const LEAST_CELLS: usize = 6;
/// A wrong number, or two exchanged ones, are told from noise where they are off by more than this many times what is allowed around it.
const LEAST_DISTANCE: f64 = 100.0;

/// Rows, or columns, of the result that are 0 while all others are right.
pub(super) fn zeroed(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let whole = WholeResult::of(search, part)?;
    let Shape { rows, cols } = whole.right.shape();
    let cells = || (0..rows).flat_map(move |i| (0..cols).map(move |j| (i, j)));
    let wrong: Vec<(usize, usize)> = cells().filter(|&(i, j)| !whole.is_right(i, j)).collect();
    if wrong.len() < 2 {
        return None;
    }
    let wrong_rows: BTreeSet<usize> = wrong.iter().map(|&(i, _)| i).collect();
    let wrong_columns: BTreeSet<usize> = wrong.iter().map(|&(_, j)| j).collect();
    let are_rows =
        wrong_rows.len() < rows && wrong_rows.iter().all(|&i| whole.yours.row(i).all(|x| x == 0.0));
    let are_columns =
        wrong_columns.len() < cols && wrong_columns.iter().all(|&j| whole.yours.col(j).all(|x| x == 0.0));
    let (noun, lines, fix) = if are_rows {
        ("row", &wrong_rows, rows_fix(&wrong_rows, rows))
    } else if are_columns {
        let has_heads = search.task.recipe().heads > 1;
        ("column", &wrong_columns, columns_fix(has_heads))
    } else {
        return None;
    };
    let is_zero = |i: usize, j: usize| lines.contains(if are_rows { &i } else { &j });
    let expected = Matrix::from_fn(rows, cols, |i, j| if is_zero(i, j) { 0.0 } else { whole.right[(i, j)] });
    let names = numbered(noun, lines);
    let verb = if lines.len() == 1 { "is" } else { "are" };
    let said = format!("{} of O {verb} 0, and should not be.", capital(&names));
    let slip = slip(fitted::ZEROED, Some(names))?.saying(said, Some(fix.to_string()));
    whole.fit(slip, expected, wrong.len())
}

/// What to do where these rows of the result were left at 0.
fn rows_fix(zeros: &BTreeSet<usize>, rows: usize) -> &'static str {
    let is_end = zeros.iter().all(|row| *row >= rows - zeros.len());
    if is_end {
        "Fill every row: the loop over the queries runs to the last one, and `return` stands after the loop."
    } else if zeros.contains(&0) {
        "Fill every row: the loop over the queries begins at the first one, which has the index 0."
    } else {
        "Fill every row: each query has a result."
    }
}

fn columns_fix(has_heads: bool) -> &'static str {
    if has_heads {
        "Fill every column: each head writes its own columns."
    } else {
        "Fill every column: the loop over the columns of V runs to the last one."
    }
}

/// One number of the result that is wrong while all others are right.
pub(super) fn one_cell(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let whole = WholeResult::of(search, part)?;
    let Shape { rows, cols } = whole.right.shape();
    let mut wrong =
        (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))).filter(|&(i, j)| !whole.is_right(i, j));
    let at = wrong.next()?;
    let off = distance(whole.yours[at], whole.right[at]);
    let is_noise = off <= LEAST_DISTANCE * whole.allowed.around(whole.right[at]);
    if wrong.next().is_some() || rows * cols < LEAST_CELLS || is_noise {
        return None;
    }
    let graph = search.task.right();
    let cell = address_of(graph, CellId { node: graph.find("O")?, row: at.0, col: at.1 });
    let has_other_sign = distance(-whole.yours[at], whole.right[at]) <= whole.allowed.around(whole.right[at]);
    let said = if has_other_sign {
        format!("Only one number is wrong: {cell} has the wrong sign.")
    } else {
        format!("Only one number is wrong: {cell}.")
    };
    let detail = if has_other_sign { format!("the sign of {cell}") } else { cell };
    let cell = |i: usize, j: usize| if (i, j) == at { whole.yours[at] } else { whole.right[(i, j)] };
    let expected = Matrix::from_fn(rows, cols, cell);
    whole.fit(slip(fitted::ONE_CELL, Some(detail))?.saying(said, None), expected, rows * cols - 1)
}

/// Two numbers of the result that stand in each other's place while all others are right.
pub(super) fn exchanged(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let whole = WholeResult::of(search, part)?;
    let Shape { rows, cols } = whole.right.shape();
    let cells = (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j)));
    let wrong: Vec<(usize, usize)> = cells.filter(|&(i, j)| !whole.is_right(i, j)).take(3).collect();
    let [a, b] = wrong[..] else { return None };
    let is = |at: (usize, usize), from: (usize, usize)| {
        distance(whole.yours[at], whole.right[from]) <= whole.allowed.around(whole.right[from])
    };
    let apart = distance(whole.right[a], whole.right[b]);
    let is_noise = apart <= LEAST_DISTANCE * whole.allowed.around(whole.right[a]);
    if rows * cols < LEAST_CELLS || is_noise || !is(a, b) || !is(b, a) {
        return None;
    }
    let graph = search.task.right();
    let node = graph.find("O")?;
    let [first, second] = [a, b].map(|(row, col)| address_of(graph, CellId { node, row, col }));
    let said =
        format!("Two numbers stand in each other's place: {first} and {second}. All others are right.");
    let cell = |i: usize, j: usize| match (i, j) {
        at if at == a => whole.right[b],
        at if at == b => whole.right[a],
        at => whole.right[at],
    };
    let expected = Matrix::from_fn(rows, cols, cell);
    let detail = Some(format!("{first} and {second}"));
    whole.fit(slip(fitted::EXCHANGED, detail)?.saying(said, None), expected, rows * cols)
}

/// The right result with a row before it, or a column, that is not part of it: a header or an index among the numbers.
pub(super) fn surplus(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let [(node, yours)] = &part.matrices[..] else { return None };
    let right = standing_for(search.task.right(), node)?;
    let (Shape { rows, cols }, whole) = (yours.shape(), right.shape());
    let is_row = rows == whole.rows + 1 && cols == whole.cols;
    let is_column = cols == whole.cols + 1 && rows == whole.rows;
    if node != "O" || !(is_row || is_column) || whole.rows * whole.cols < LEAST_CELLS {
        return None;
    }
    let allowed = CellTolerance::between(part.answer, right, search.tolerance);
    let (down, along) = (usize::from(is_row), usize::from(is_column));
    let is_right = |i: usize, j: usize| {
        distance(yours[(i + down, j + along)], right[(i, j)]) <= allowed.around(right[(i, j)])
    };
    if !(0..whole.rows).all(|i| (0..whole.cols).all(|j| is_right(i, j))) {
        return None;
    }
    let noun = if is_row { "row" } else { "column" };
    let said = format!("Your first {noun} is not part of O; everything else is right.");
    let fix = if is_row {
        "Write the numbers alone: a header of column numbers was read as a row (`to_csv(…, header=False, index=False)`)."
    } else {
        "Write the numbers alone: an index was read as a column (`to_csv(…, index=False)`)."
    };
    let slip = slip(fitted::SURPLUS, Some(format!("a {noun}")))?.saying(said, Some(fix.to_string()));
    let is_more = |i: usize, j: usize| i < down || j < along;
    let cell = |i: usize, j: usize| if is_more(i, j) { yours[(i, j)] } else { right[(i - down, j - along)] };
    let expected = Matrix::from_fn(rows, cols, cell);
    let left = residual(yours, &expected, CellTolerance::between(part.answer, &expected, search.tolerance))?;
    found(slip, expected, left, whole.rows * whole.cols)
}

/// A whole result of the right shape, next to the right one.
struct WholeResult<'a> {
    yours: &'a Matrix,
    right: &'a Matrix,
    allowed: CellTolerance,
}

impl<'a> WholeResult<'a> {
    fn of(search: &Search<'a>, part: &Part<'a>) -> Option<WholeResult<'a>> {
        let [(node, yours)] = &part.matrices[..] else { return None };
        let right = standing_for(search.task.right(), node)?;
        let allowed = CellTolerance::between(part.answer, right, search.tolerance);
        (node == "O" && right.shape() == yours.shape()).then_some(WholeResult { yours, right, allowed })
    }

    fn is_right(&self, i: usize, j: usize) -> bool {
        distance(self.yours[(i, j)], self.right[(i, j)]) <= self.allowed.around(self.right[(i, j)])
    }

    fn fit(&self, slip: Slip, expected: Matrix, telling: usize) -> Option<Fit> {
        let left = residual(self.yours, &expected, self.allowed)?;
        found(slip, expected, left, telling)
    }
}

/// A fit by numbers that stand where they should, or are exactly 0: each of them is hardly ever there by chance.
fn found(slip: Slip, expected: Matrix, residual: f64, telling: usize) -> Option<Fit> {
    let mut graph = Graph::new();
    graph.given("O", expected, Origin::Stated).ok()?;
    let log_chance = -(telling as f64) * elementary::ln(100.0);
    Some(Fit { variant: Variant::fitted(slip), graph: Some(graph), residual, reading: 0, log_chance })
}

/// “row 3”, “rows 1, 2 and 5”: the places from 0.
fn numbered(noun: &str, places: &BTreeSet<usize>) -> String {
    let numbers: Vec<String> = places.iter().map(|place| (place + 1).to_string()).collect();
    let plural = if places.len() == 1 { "" } else { "s" };
    format!("{noun}{plural} {}", all_of(&numbers))
}

fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(text.len().min(1));
    format!("{}{rest}", first.to_uppercase())
}
