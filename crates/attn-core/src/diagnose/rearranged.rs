//! The right numbers rearranged: in another shape, in another order, or only some of them.

use crate::elementary;
use crate::graph::recipes::{Alter, Alteration, Site};
use crate::graph::{Graph, Origin};
use crate::matrix::{Matrix, Shape};

use super::Change;
use super::answer::Part;
use super::candidates::{Variant, standing_for};
use super::catalogue::fitted;
use super::compare::{distance, residual};
use super::fitting::{fit, slip};
use super::search::{Fit, Search};
use super::tolerance::CellTolerance;

/// The right numbers in another shape, read row by row or column by column.
pub(super) fn reshaped(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let [(node, yours)] = &part.matrices[..] else { return None };
    let right = standing_for(search.task.right(), node)?;
    if right.shape() == yours.shape() || right.rows() * right.cols() != yours.rows() * yours.cols() {
        return None;
    }
    let orders = [(right.clone(), "row by row"), (right.transposed(), "column by column")];
    orders.into_iter().find_map(|(source, order)| {
        let cells: Vec<f64> = source.cells().collect();
        let expected = Matrix::from_row_major(yours.rows(), yours.cols(), &cells).ok()?;
        let allowed = CellTolerance::between(part.answer, &expected, search.tolerance);
        let left = residual(yours, &expected, allowed)?;
        let said =
            format!("The numbers of {node} are right, read {order}, but {node} should be {}.", right.shape());
        let fix = format!("Reshape {node} to {} before you hand it in.", right.shape());
        let slip = slip(fitted::RESHAPED, Some(order.to_string()))?.saying(said, Some(fix));
        let reshape = Alter::Reshaped { rows: yours.rows(), cols: yours.cols() };
        let change = Change::Alteration(Alteration { stage: Site::Result, alter: reshape });
        let graph = if node == "O" { search.task.with([&change]) } else { search.task.right().clone() };
        // A right answer in another shape has the evidence of all its cells.
        let log_chance = -(cells.len() as f64) * elementary::ln(100.0);
        Some(Fit {
            variant: Variant::fitted(slip),
            graph: Some(graph),
            residual: left,
            reading: 0,
            log_chance,
        })
    })
}

/// The right rows, or columns, in another order.
pub(super) fn reordered(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let [(node, yours)] = &part.matrices[..] else { return None };
    let right = standing_for(search.task.right(), node)?;
    if node != "O" || right.shape() != yours.shape() {
        return None;
    }
    let allowed = CellTolerance::between(part.answer, right, search.tolerance);
    let orders = [
        (order(yours, right, allowed), "rows", fitted::ROW_ORDER),
        (order(&yours.transposed(), &right.transposed(), allowed), "columns", fitted::COLUMN_ORDER),
    ];
    orders.into_iter().find_map(|(order, what, id)| {
        let order = order?;
        let list: Vec<String> = order.iter().map(|at| (at + 1).to_string()).collect();
        let said = format!("The {what} of {node} are right, but in the order {}.", list.join(" "));
        let moved =
            |i: usize, j: usize| if what == "rows" { right[(order[i], j)] } else { right[(i, order[j])] };
        let graph = alone(node, Matrix::from_fn(yours.rows(), yours.cols(), moved))?;
        let mut found = fit(search, part, slip(id, Some(list.join(" ")))?.saying(said, None), graph, 0)?;
        // Equal rows: any order fits.
        found.log_chance += (1..=order.len()).map(|n| elementary::ln(n as f64)).sum::<f64>();
        Some(found)
    })
}

/// Which row of the right matrix each row is, if each of them is another one.
fn order(yours: &Matrix, right: &Matrix, allowed: CellTolerance) -> Option<Vec<usize>> {
    const MOST: usize = 64;
    let rows = yours.rows();
    let is = |i: usize, k: usize| {
        (0..yours.cols()).all(|j| distance(yours[(i, j)], right[(k, j)]) <= allowed.around(right[(k, j)]))
    };
    let mut taken = vec![false; rows];
    let mut order = Vec::new();
    for i in 0..rows {
        let k = (rows <= MOST).then(|| (0..rows).find(|&k| !taken[k] && is(i, k))).flatten()?;
        taken[k] = true;
        order.push(k);
    }
    Some(order)
}

/// Some rows, or some columns, of the right result, and nothing else.
pub(super) fn incomplete(search: &Search<'_>, part: &Part<'_>) -> Option<Fit> {
    let [(node, yours)] = &part.matrices[..] else { return None };
    let right = standing_for(search.task.right(), node)?;
    let (Shape { rows, cols }, whole) = (yours.shape(), right.shape());
    let fewer_rows = rows < whole.rows && cols == whole.cols;
    let fewer_cols = cols < whole.cols && rows == whole.rows;
    // One head alone is better called by its name.
    let is_another = search.task.right().nodes().filter_map(|(_, other)| other.matrix()).any(|other| {
        residual(yours, other, CellTolerance::between(part.answer, other, search.tolerance)).is_some()
    });
    if node != "O" || !(fewer_rows || fewer_cols) || rows * cols == 0 || is_another {
        return None;
    }
    let (what, from, count) =
        if fewer_rows { ("row", whole.rows - rows, rows) } else { ("column", whole.cols - cols, cols) };
    (0..=from).find_map(|start| {
        let cell =
            |i: usize, j: usize| if fewer_rows { right[(i + start, j)] } else { right[(i, j + start)] };
        let expected = Matrix::from_fn(rows, cols, cell);
        residual(yours, &expected, CellTolerance::between(part.answer, &expected, search.tolerance))?;
        let which = match count {
            1 => format!("{what} {}", start + 1),
            _ => format!("{what}s {} to {}", start + 1, start + count),
        };
        let said = format!("You handed in {which} of {node} alone; {node} should be {whole}.");
        let slip = slip(fitted::INCOMPLETE, Some(which))?.saying(said, None);
        fit(search, part, slip, alone(node, expected)?, 0)
    })
}

/// A graph with this node alone.
fn alone(node: &str, matrix: Matrix) -> Option<Graph> {
    let mut graph = Graph::new();
    graph.given(node, matrix, Origin::Stated).ok()?;
    Some(graph)
}
