//! Mistakes in a part of the computation: some rows, or one head.

use std::collections::BTreeMap;

use crate::graph::recipes::{Change, Merge, Projection, Site};
use crate::graph::{Given, Graph, Stage, Step};
use crate::matrix::Matrix;
use crate::text::uncapitalised;

use super::Task;
use super::answer::Part;
use super::cache::Probe;
use super::candidates::{CandidateList, Explanation, Row};
use super::catalogue::Slip;
use super::compare::{CellTolerance, NodeNumbers, distance};
use super::fits::numbered;
use super::linear::{contribution, norm, orthonormal, rest};
use super::search::{Fit, Handed, Search};
use super::task::standing_for;

/// The candidates that are tried in a part alone, mistakes with a name of their own first, and their number.
fn lists(search: &Search<'_>) -> (Vec<CandidateList>, usize) {
    let mut lists = vec![CandidateList::Singles, CandidateList::General];
    lists.retain(|list| search.candidates.is_feasible(*list));
    let count = lists.iter().map(|list| search.candidates.count(*list)).sum();
    (lists, count)
}

/// The part of a computation in which a mistake is made.
struct Splice<'s> {
    /// The steps of the part, from the scores on.
    is_mistaken: &'s dyn Fn(Step) -> bool,
    /// Their numbers, from the right and the mistaken ones.
    numbers: &'s dyn Fn(&Matrix, &Matrix) -> Matrix,
}

/// A mistake that is made in a part of the computation alone, under the name of such mistakes.
fn fit(
    search: &Search<'_>,
    part: &Part<'_>,
    Explanation { slips, changes }: &Explanation,
    (id, which): (&str, &str),
    splice: &Splice<'_>,
) -> Option<Fit> {
    let mistaken = search.task().with(changes);
    let graph = spliced(search.task(), &mistaken, splice);
    let inner = slips.first()?;
    let slip = Slip::solved(id, format!("{which}: {}", inner.mistake.id))
        .saying(format!("In {which} alone: {}", uncapitalised(&inner.sentence())))
        .with_fix(inner.fix());
    search.solved(part, slip, graph, 0)
}

/// The exercise with some nodes from the scores on spliced with those of another computation.
fn spliced(task: &Task, mistaken: &Graph, splice: &Splice<'_>) -> Graph {
    let mut instead: BTreeMap<String, Given> = BTreeMap::new();
    for (_, node) in task.right().nodes() {
        let step = Step::parse(&node.name).filter(|step| !matches!(step.stage, Stage::Role(_)));
        let pair = (node.matrix(), standing_for(mistaken, &node.name));
        if let (true, (Some(right), Some(other))) = (step.is_some_and(splice.is_mistaken), pair)
            && right.shape() == other.shape()
        {
            instead.insert(node.name.clone(), (splice.numbers)(right, other).into());
        }
    }
    task.given_instead(instead).right().clone()
}

// A mistake in one head alone: the others are right.

/// The mistakes in one head alone that fit, and the number of tried possibilities; none with a single head.
pub(super) fn in_one_head(search: &Search<'_>) -> (Vec<Fit>, usize) {
    let (heads, recipe) = (search.task().recipe().heads, search.task().recipe());
    let is_plain = recipe.merge == Merge::SideBySide && recipe.output.projection == Projection::Once;
    let is_joined = |handed: &Handed<'_>| handed.has_right_shape() && matches!(handed.node, "C" | "P" | "O");
    let handed = Handed::of(search).filter(|handed| heads > 1 && is_plain && is_joined(handed));
    let Some(handed) = handed else { return (Vec::new(), 1) };
    let Handed { part, yours, right, .. } = handed;
    let mixes: Vec<String> = (1..=heads).map(|head| format!("O_{head}")).collect();
    let projection = standing_for(search.task().right(), "W_O").filter(|_| handed.node != "C");
    let allowed = handed.allowed_beside(yours);
    let slack = yours.cells().map(|x| allowed.around(x)).fold(0.0, f64::max);
    let head = |head| {
        let head = Head { head, own: standing_for(search.task().right(), &mixes[head])?, projection };
        head.may_move(yours, right, slack).then_some(head)
    };
    let possible: Vec<Head<'_>> = (0..heads).filter_map(head).collect();
    if possible.is_empty() {
        return (Vec::new(), 1);
    }
    let (lists, count) = lists(search);
    let tried = count.saturating_mul(heads);
    let mut found: Vec<Fit> = Vec::new();
    let mut has_chance_fit = false;
    let mut visit = |row: &Row<'_>| {
        for head in &possible {
            let Some(mistaken) = row.numbers(&mixes[head.head]).map(|numbers| &numbers.matrix) else {
                continue;
            };
            let moved = |i, j| right[(i, j)] + head.moves(mistaken, i, j);
            let fits = |(i, j)| {
                let expected = moved(i, j);
                distance(yours[(i, j)], expected) <= 2.0 * allowed.around(expected)
            };
            if mistaken.shape() != head.own.shape() || !yours.shape().places().all(fits) {
                continue;
            }
            // A graph is computed only of what fits; and of what fits by chance one is enough to know that something does.
            let expected = NodeNumbers::of(Matrix::from_fn(right.rows(), right.cols(), moved));
            let is_known = || has_chance_fit && leaves_to_chance(search, part, &expected, tried);
            if is_too_far(search, part, &expected) || is_known() {
                continue;
            }
            let explanation = search.candidates.explanation(row.candidate);
            if explanation.changes.iter().all(is_in_a_head) && !explanation.has_rounding() {
                let which = format!("head {}", head.head + 1);
                let is_mistaken = &|step: Step| step.head == Some(head.head + 1);
                let splice = Splice { is_mistaken, numbers: &|_, mistaken| mistaken.clone() };
                let fit = fit(search, part, &explanation, ("only-one-head", &which), &splice);
                let is_by_chance = |fit: &Fit| Search::is_by_chance(fit.log_chance, tried);
                has_chance_fit |= search.earlier.is_empty() && fit.as_ref().is_some_and(is_by_chance);
                found.extend(fit);
            }
        }
    };
    for &list in &lists {
        search.candidates.each(list, &mixes, None, &mut visit);
    }
    (found, tried)
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
    let evidence = search.evidence(&[expected], part);
    evidence.is_some_and(|(_, log_chance)| Search::is_by_chance(log_chance - MARGIN, tried))
}

/// A head, and what it mixes in the right answer.
struct Head<'a> {
    /// Its number, from 0.
    head: usize,
    own: &'a Matrix,
    projection: Option<&'a Matrix>,
}

impl Head<'_> {
    /// Its columns of the joined heads.
    fn columns(&self) -> std::ops::Range<usize> {
        let width = self.own.cols();
        self.head * width..(self.head + 1) * width
    }

    /// How much a cell of the result moves where this head is mistaken.
    fn moves(&self, mistaken: &Matrix, i: usize, j: usize) -> f64 {
        let moved = |column: usize| mistaken[(i, column)] - self.own[(i, column)];
        contribution(moved, &self.columns(), self.projection, j)
    }

    /// Whether it can by itself move the right result to the student's: it reaches its own columns alone, or what its rows of W_O
    /// span. Numbers that are not finite say nothing of that.
    fn may_move(&self, yours: &Matrix, right: &Matrix, slack: f64) -> bool {
        let reached: Vec<Vec<f64>> = match self.projection {
            Some(w_o) => orthonormal(self.columns().map(|row| w_o.row(row).collect())),
            None => {
                let unit = |column| (0..yours.cols()).map(|j| if j == column { 1.0 } else { 0.0 }).collect();
                self.columns().map(unit).collect()
            }
        };
        (0..yours.rows()).all(|i| {
            let moved: Vec<f64> =
                yours.row(i).zip(right.row(i)).map(|(yours, right)| yours - right).collect();
            let (length, width) = (norm(&moved), moved.len() as f64);
            let is_finite = moved.iter().all(|x| x.is_finite());
            !is_finite || norm(&rest(&reached, moved)) <= 4.0 * slack * width.sqrt() + 1e-6 * length
        })
    }
}

/// The settings of more than one head.
const BETWEEN_HEADS: [&str; 7] = ["split", "heads", "groups", "common", "merge", "output", "gate"];

/// Whether a change stays within a head.
fn is_in_a_head(change: &Change) -> bool {
    match change {
        Change::Transposed => false,
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
        _ => !BETWEEN_HEADS.iter().any(|setting| change.is_of(setting)),
    }
}

// A mistake in some rows alone: the others are right.

/// The mistakes in some rows alone that fit, and the number of tried possibilities; none where no row is right.
pub(super) fn in_some_rows(search: &Search<'_>) -> (Vec<Fit>, usize) {
    let Some(part) = search.readings.first() else { return (Vec::new(), 1) };
    let right = |(node, yours): &(String, &Matrix)| {
        standing_for(search.task().right(), node).filter(|right| right.shape() == yours.shape())
    };
    let rights: Option<Vec<&Matrix>> = part.matrices.iter().map(right).collect();
    let Some(rights) = rights.filter(|rights| !rights.is_empty()) else { return (Vec::new(), 1) };
    let is_wrong = |i: &usize| {
        let mut pairs = part.matrices.iter().zip(&rights);
        pairs.any(|((_, yours), right)| !same_row(search.allowed(part, right), yours, right, *i))
    };
    let rows = rights[0].rows();
    let wrong: Vec<usize> = (0..rows).filter(is_wrong).collect();
    if wrong.is_empty() || wrong.len() == rows {
        return (Vec::new(), 1);
    }
    let mut found = Vec::new();
    let mut visit = |row: &Row<'_>| {
        let Some(numbers) = row.of_part(part) else { return };
        let fits = part.matrices.iter().zip(&numbers).all(|((_, yours), mistaken)| {
            let allowed = CellTolerance::to(part.answer, mistaken, search.tolerance);
            mistaken.matrix.shape() == yours.shape()
                && wrong.iter().all(|&i| same_row(allowed, yours, &mistaken.matrix, i))
        });
        if !fits {
            return;
        }
        let explanation = search.candidates.explanation(row.candidate);
        // A difference of one unit of the last digit in one row is noise.
        if !explanation.has_rounding() {
            let which = numbered("row", wrong.iter().copied());
            let numbers = &|right: &Matrix, mistaken: &Matrix| {
                let cell = |i, j| if wrong.contains(&i) { mistaken[(i, j)] } else { right[(i, j)] };
                Matrix::from_fn(right.rows(), right.cols(), cell)
            };
            let splice = Splice { is_mistaken: &|_| true, numbers };
            found.extend(fit(search, part, &explanation, ("only-some-rows", &which), &splice));
        }
    };
    let probes: Vec<Probe<'_>> = Probe::of(part, wrong[0], search.tolerance).into_iter().collect();
    let (lists, count) = lists(search);
    for &list in &lists {
        search.candidates.each(list, &search.nodes(), Some(&probes), &mut visit);
    }
    (found, count)
}

/// Whether a row of the student's has the numbers of another matrix.
fn same_row(allowed: CellTolerance, yours: &Matrix, expected: &Matrix, i: usize) -> bool {
    (0..yours.cols()).all(|j| allowed.allows(yours[(i, j)], expected[(i, j)]))
}
