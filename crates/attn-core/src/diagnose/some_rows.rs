//! A mistake in some rows alone: the others are right.

use crate::graph::Graph;
use crate::matrix::Matrix;

use super::cache::Row;
use super::candidates::standing_for;
use super::catalogue::partial::ROWS;
use super::column::Probe;
use super::compare::distance;
use super::numbers::NodeNumbers;
use super::partial::{count, fit, is_from_scores_on, lists, with_nodes};
use super::search::{Fit, Search};
use super::tolerance::CellTolerance;
use super::{Change, Task};

/// The mistakes in some rows alone that fit, and the number of tried possibilities; none where no row is right.
pub(super) fn in_some_rows(search: &Search<'_>) -> (Vec<Fit>, usize) {
    let Some(part) = search.readings.first() else { return (Vec::new(), 1) };
    let rights: Option<Vec<&Matrix>> =
        part.matrices.iter().map(|(node, _)| standing_for(search.task.right(), node)).collect();
    let Some(rights) = rights.filter(|rights| !rights.is_empty()) else { return (Vec::new(), 1) };
    let shapes_fit =
        part.matrices.iter().zip(&rights).all(|((_, yours), right)| yours.shape() == right.shape());
    let rows = rights[0].rows();
    let is_wrong = |i: usize| {
        part.matrices.iter().zip(&rights).any(|((_, yours), right)| {
            !same_row(CellTolerance::between(part.answer, right, search.tolerance), yours, right, i)
        })
    };
    let wrong: Vec<usize> =
        if shapes_fit { (0..rows).filter(|&i| is_wrong(i)).collect() } else { Vec::new() };
    if wrong.is_empty() || wrong.len() == rows {
        return (Vec::new(), 1);
    }
    let nodes = search.nodes();
    let mut found = Vec::new();
    let mut visit = |row: &Row<'_>| {
        let numbers: Option<Vec<&NodeNumbers>> =
            part.matrices.iter().map(|(node, _)| row.numbers(node)).collect();
        let Some(numbers) = numbers else { return };
        let fits = part.matrices.iter().zip(&numbers).all(|((_, yours), mistaken)| {
            let allowed = CellTolerance::to(part.answer, mistaken, search.tolerance);
            mistaken.matrix.shape() == yours.shape()
                && wrong.iter().all(|&i| same_row(allowed, yours, &mistaken.matrix, i))
        });
        if !fits {
            return;
        }
        let variant = search.candidates.variant(search.task, row.plan);
        // A difference of one unit of the last digit in one row is noise.
        if variant.changes().iter().any(Change::is_rounding) {
            return;
        }
        let which = rows_in_words(&wrong);
        let splice = |task: &Task, mistaken: &Graph| with_rows(task, mistaken, &wrong);
        found.extend(fit(search, part, &variant, (ROWS, &which), &splice));
    };
    let probes: Vec<Probe<'_>> = Probe::of(part, wrong[0], search.tolerance).into_iter().collect();
    let lists = lists(search);
    for &list in &lists {
        search.candidates.each_near(list, search.task, (&nodes, &probes), &mut visit);
    }
    (found, count(search, &lists))
}

/// Whether a row of the student's has the numbers of another matrix.
fn same_row(allowed: CellTolerance, yours: &Matrix, expected: &Matrix, i: usize) -> bool {
    (0..yours.cols()).all(|j| distance(yours[(i, j)], expected[(i, j)]) <= allowed.around(expected[(i, j)]))
}

/// “row 3”, “rows 1, 2 and 5”.
fn rows_in_words(rows: &[usize]) -> String {
    let numbers: Vec<String> = rows.iter().map(|row| (row + 1).to_string()).collect();
    match numbers.split_last() {
        None => String::new(),
        Some((only, [])) => format!("row {only}"),
        Some((last, others)) => format!("rows {} and {last}", others.join(", ")),
    }
}

/// The exercise in which these rows of every step from the scores on are those of another computation.
fn with_rows(task: &Task, mistaken: &Graph, rows: &[usize]) -> Graph {
    let splice = |right: &Matrix, mistaken: &Matrix| {
        Matrix::from_fn(right.rows(), right.cols(), |i, j| {
            if rows.contains(&i) { mistaken[(i, j)] } else { right[(i, j)] }
        })
    };
    with_nodes(task, mistaken, is_from_scores_on, splice)
}
