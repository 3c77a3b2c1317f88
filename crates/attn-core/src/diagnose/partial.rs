//! Shared code for mistakes in a part of the computation: some rows, or one head.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::graph;
use crate::graph::recipes::{Change, Merge, Projection, Site};
use crate::graph::{Given, Graph, Step};
use crate::matrix::Matrix;

use super::answer::Part;
use super::cache::{Probe, Row};
use super::candidates::{Variant, standing_for};
use super::catalogue::fitted::{ONE_HEAD, SOME_ROWS};
use super::compare::{CellTolerance, NodeNumbers, distance};
use super::plans::CandidateList;
use super::search::{Fit, Search};
use super::{Slip, Task, catalogue};

/// The candidates that are tried in a part alone: mistakes with a name of their own first.
pub(super) fn lists(search: &Search<'_>) -> Vec<CandidateList> {
    let general =
        search.candidates.is_feasible(CandidateList::General, search.task).then_some(CandidateList::General);
    std::iter::once(CandidateList::Singles).chain(general).collect()
}

/// The number of candidates in some lists.
pub(super) fn count(search: &Search<'_>, lists: &[CandidateList]) -> usize {
    lists.iter().map(|list| search.candidates.count(*list)).sum()
}

/// A mistake that is made in a part of the computation alone, under the name of such mistakes.
pub(super) fn fit(
    search: &Search<'_>,
    part: &Part<'_>,
    variant: &Variant,
    (id, which): (&str, &str),
    splice: &dyn Fn(&Task, &Graph) -> Graph,
) -> Option<Fit> {
    let graph = splice(search.task, &search.task.with(variant.changes()));
    let (residual, log_chance) = search.evidence_of(&graph, part)?;
    let inner = variant.slips.first()?;
    let said = format!("In {which} alone: {}", uncapitalised(&inner.sentence()));
    let slip = Slip::detailed(catalogue::find(id).ok()?, Some(format!("{which}: {}", inner.mistake.id)))
        .saying(said, Some(inner.fix().to_string()));
    Some(Fit { variant: Variant::fitted(slip), graph: Some(graph), residual, reading: 0, log_chance })
}

/// A sentence that goes on after a colon; symbols such as `K` keep their letters.
fn uncapitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            let rest = &sentence[first.len_utf8()..];
            first.to_lowercase().chain(rest.chars()).collect()
        }
        _ => sentence.to_string(),
    }
}

/// Whether a step comes after queries, keys and values.
pub(super) fn is_from_scores_on(step: Step) -> bool {
    !matches!(step.stage, graph::Stage::Role(_))
}

/// The exercise with some nodes taken from another computation.
pub(super) fn with_nodes(
    task: &Task,
    mistaken: &Graph,
    is_taken: impl Fn(Step) -> bool,
    splice: impl Fn(&Matrix, &Matrix) -> Matrix,
) -> Graph {
    let mut instead: BTreeMap<String, Given> = BTreeMap::new();
    for (_, node) in task.right().nodes() {
        let Some(step) = Step::parse(&node.name) else { continue };
        let pair = (node.matrix(), standing_for(mistaken, &node.name));
        if let (true, (Some(right), Some(other))) = (is_taken(step), pair)
            && right.shape() == other.shape()
        {
            instead.insert(node.name.clone(), splice(right, other).into());
        }
    }
    task.given_instead(instead).right().clone()
}

// A mistake in one head alone: the others are right.

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
                let fit = fit(search, part, &variant, (ONE_HEAD, &which), &splice);
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

/// The exercise in which every step of a head is that of another computation.
fn with_head(task: &Task, mistaken: &Graph, head: usize) -> Graph {
    with_nodes(
        task,
        mistaken,
        |step| step.head == Some(head + 1) && is_from_scores_on(step),
        |_, mistaken| mistaken.clone(),
    )
}

// The changes of the result that one head alone can make.

/// Whether a head of this width can by itself move the right result to the student's: it reaches its own columns alone, or what
/// its rows of W_O span. Numbers that are not finite say nothing of that.
pub(super) fn may_move(
    (yours, right): (&Matrix, &Matrix),
    (head, width): (usize, usize),
    projection: Option<&Matrix>,
    slack: f64,
) -> bool {
    let own = head * width..(head + 1) * width;
    let span = projection.map(|w_o| orthonormal(own.clone().map(|row| w_o.row(row).collect())));
    let is_reached = |i: usize| {
        let mut moved: Vec<f64> =
            yours.row(i).zip(right.row(i)).map(|(yours, right)| yours - right).collect();
        if moved.iter().any(|x| !x.is_finite()) {
            return true;
        }
        let length = moved.iter().map(|x| x * x).sum::<f64>().sqrt();
        match &span {
            None => own.clone().for_each(|column| moved[column] = 0.0),
            Some(span) => span.iter().for_each(|direction| remove(&mut moved, direction)),
        }
        let left = moved.iter().map(|x| x * x).sum::<f64>().sqrt();
        left <= 4.0 * slack * (moved.len() as f64).sqrt() + 1e-6 * length
    };
    (0..yours.rows()).all(is_reached)
}

/// An orthonormal basis of the span of these vectors (Gram and Schmidt).
fn orthonormal(vectors: impl Iterator<Item = Vec<f64>>) -> Vec<Vec<f64>> {
    let mut span: Vec<Vec<f64>> = Vec::new();
    for mut vector in vectors {
        let before = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        span.iter().for_each(|direction| remove(&mut vector, direction));
        let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 1e-12 * before {
            span.push(vector.into_iter().map(|x| x / length).collect());
        }
    }
    span
}

/// Subtracts the projection of a vector onto a direction of length 1.
fn remove(vector: &mut [f64], direction: &[f64]) {
    let along: f64 = vector.iter().zip(direction).map(|(a, b)| a * b).sum();
    vector.iter_mut().zip(direction).for_each(|(x, b)| *x -= along * b);
}

// A mistake in some rows alone: the others are right.

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
        found.extend(fit(search, part, &variant, (SOME_ROWS, &which), &splice));
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
