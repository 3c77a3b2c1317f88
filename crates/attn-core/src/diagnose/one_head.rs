//! A mistake in one head alone: the others are right.

use std::ops::Range;

use crate::graph::Graph;
use crate::graph::recipes::{Merge, Projection, Site};
use crate::matrix::Matrix;

use super::answer::Part;
use super::cache::Row;
use super::candidates::standing_for;
use super::catalogue::partial::HEAD;
use super::compare::distance;
use super::numbers::NodeNumbers;
use super::partial::{count, fit, is_from_scores_on, lists, with_nodes};
use super::reach::may_move;
use super::search::{Fit, Search};
use super::tolerance::CellTolerance;
use super::{Change, MechanismChange, Task};

/// The mistakes in one head alone that fit, and the number of tried possibilities; none with a single head.
pub(super) fn in_one_head(search: &Search<'_>) -> (Vec<Fit>, usize) {
    let (Some(part), heads) = (search.readings.first(), search.task.recipe().heads) else {
        return (Vec::new(), 1);
    };
    let [(node, yours)] = &part.matrices[..] else { return (Vec::new(), 1) };
    let right = standing_for(search.task.right(), node);
    let Some(right) = right.filter(|right| heads > 1 && right.shape() == yours.shape()) else {
        return (Vec::new(), 1);
    };
    let recipe = search.task.recipe();
    let is_plain = recipe.merge == Merge::SideBySide && recipe.output.projection == Projection::Once;
    if !is_plain || !matches!(&**node, "C" | "P" | "O") {
        return (Vec::new(), 1);
    }
    let mixes: Vec<String> = (1..=heads).map(|head| format!("O_{head}")).collect();
    let owns: Vec<Option<&Matrix>> = mixes.iter().map(|mix| standing_for(search.task.right(), mix)).collect();
    let projection = standing_for(search.task.right(), "W_O").filter(|_| node != "C");
    let allowed = CellTolerance::between(part.answer, yours, search.tolerance);
    let slack = yours.cells().map(|x| allowed.around(x)).fold(0.0, f64::max);
    let is_possible: Vec<bool> = owns
        .iter()
        .enumerate()
        .map(|(head, own)| {
            own.is_some_and(|own| may_move((yours, right), (head, own.cols()), projection, slack))
        })
        .collect();
    if !is_possible.contains(&true) {
        return (Vec::new(), 1);
    }
    let lists = lists(search);
    let tried = count(search, &lists).saturating_mul(heads);
    let mut found: Vec<Fit> = Vec::new();
    let mut has_chance_fit = false;
    let mut visit = |row: &Row<'_>| {
        for (head, (mix, own)) in mixes.iter().zip(&owns).enumerate() {
            let (Some(mistaken), Some(own), true) = (row.numbers(mix), *own, is_possible[head]) else {
                continue;
            };
            if mistaken.matrix.shape() != own.shape() {
                continue;
            }
            let block = Block { head, own, mistaken: &mistaken.matrix, projection };
            let fits = |i: usize, j: usize| {
                let expected = right[(i, j)] + block.moves(i, j);
                distance(yours[(i, j)], expected) <= 2.0 * allowed.around(expected)
            };
            if !(0..yours.rows()).all(|i| (0..yours.cols()).all(|j| fits(i, j))) {
                continue;
            }
            // A graph is computed only of what fits; and of what fits by chance one is enough to know that something does.
            let expected = NodeNumbers::of(block.moved(right));
            let is_known = || has_chance_fit && leaves_to_chance(search, part, &expected, tried);
            if is_too_far(search, part, &expected) || is_known() {
                continue;
            }
            let variant = search.candidates.variant(search.task, row.plan);
            if variant.changes().iter().all(is_in_a_head)
                && !variant.changes().iter().any(Change::is_rounding)
            {
                let which = format!("head {}", head + 1);
                let splice = |task: &Task, mistaken: &Graph| with_head(task, mistaken, head);
                let fit = fit(search, part, &variant, (HEAD, &which), &splice);
                let is_by_chance = |fit: &Fit| Search::is_by_chance(fit.log_chance, tried);
                has_chance_fit |= search.earlier.is_empty() && fit.as_ref().is_some_and(is_by_chance);
                found.extend(fit);
            }
        }
    };
    for &list in &lists {
        search.candidates.each(list, search.task, &mixes, &mut visit);
    }
    (found, tried)
}

/// The contribution of one head to the result, right and mistaken.
struct Block<'a> {
    head: usize,
    own: &'a Matrix,
    mistaken: &'a Matrix,
    projection: Option<&'a Matrix>,
}

/// Whether a part is further than allowed from these numbers, which are those of a spliced computation but for their last bits.
fn is_too_far(search: &Search<'_>, part: &Part<'_>, expected: &NodeNumbers) -> bool {
    let allowed = CellTolerance::to(part.answer, expected, search.tolerance);
    let is_far = |(yours, expected): (f64, f64)| distance(yours, expected) > 1.001 * allowed.around(expected);
    part.matrices.iter().any(|(_, yours)| yours.cells().zip(expected.matrix.cells()).any(is_far))
}

/// Whether a fit to these numbers is certainly left to chance.
fn leaves_to_chance(search: &Search<'_>, part: &Part<'_>, expected: &NodeNumbers, tried: usize) -> bool {
    /// More than the last bits may change in the logarithm of a chance.
    const MARGIN: f64 = 0.01;
    let evidence = search.evidence(&|_: &str| Some(expected), part);
    evidence.is_some_and(|(_, log_chance)| Search::is_by_chance(log_chance - MARGIN, tried))
}

impl Block<'_> {
    /// The result where this head is mistaken.
    fn moved(&self, right: &Matrix) -> Matrix {
        Matrix::from_fn(right.rows(), right.cols(), |i, j| right[(i, j)] + self.moves(i, j))
    }

    /// The distance that a cell of the result moves where this head is mistaken.
    fn moves(&self, i: usize, j: usize) -> f64 {
        let width = self.own.cols();
        let columns: Range<usize> = self.head * width..(self.head + 1) * width;
        let moved = |column: usize| self.mistaken[(i, column)] - self.own[(i, column)];
        match self.projection {
            None if columns.contains(&j) => moved(j - columns.start),
            None => 0.0,
            Some(w_o) => (0..width).map(|column| moved(column) * w_o[(columns.start + column, j)]).sum(),
        }
    }
}

/// Whether a change stays within a head.
fn is_in_a_head(change: &Change) -> bool {
    match change {
        Change::Split(..)
        | Change::Heads(..)
        | Change::Groups(_)
        | Change::Common(_)
        | Change::Merge(_)
        | Change::Projection(_)
        | Change::Projected(_)
        | Change::Residual(_)
        | Change::Addition(_)
        | Change::Mechanism(MechanismChange::Gate(_))
        | Change::Transposed => false,
        Change::Alteration(alteration) => matches!(
            alteration.stage,
            Site::Queries
                | Site::Keys
                | Site::Values
                | Site::QueriesAndKeys
                | Site::KeysAndValues
                | Site::Roles
                | Site::Scores
                | Site::Scaled
                | Site::Masked
                | Site::Weights
                | Site::Mixes
        ),
        _ => true,
    }
}

/// The exercise in which every step of a head is that of another computation.
fn with_head(task: &Task, mistaken: &Graph, head: usize) -> Graph {
    with_nodes(
        task,
        mistaken,
        |step| step.head == Some(head + 1) && is_from_scores_on(step),
        |_, mistaken| mistaken.clone(),
    )
}
