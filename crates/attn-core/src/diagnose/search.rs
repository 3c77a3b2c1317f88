//! The search for mistakes that fit a part, and the choice of those that are named.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::elementary;
use crate::graph::recipes::{Change, Hiding};
use crate::graph::{CellId, Graph, Origin, Stage, Step, address_of};
use crate::matrix::Matrix;

use super::Task;
use super::answer::Part;
use super::candidates::{Candidates, Computation, Explanation, Row};
use super::catalogue::{Slip, TO_WHOLE_NUMBERS};
use super::compare::{CellTolerance, NodeNumbers, Tolerance, distance, residual, residual_of, spread};
use super::diagnosis::NamedMistake;
use super::task::standing_for;

/// What was solved for is certain only if at least this many independent cells are left that fit it, too.
const LEAST_LEFT: usize = 4;
/// A cell tells something if a number by chance fits it at most this often.
const TELLING: f64 = 0.1;

/// The result of a search.
#[derive(Default)]
pub(super) struct SearchResult {
    /// The mistakes that fit, the closest first.
    pub named: Vec<NamedMistake>,
    /// The index of the reading that the closest of them fits.
    pub reading: usize,
    /// Whether some candidates fitted only as well as chance would.
    pub too_few_digits: bool,
}

impl SearchResult {
    /// Whether nothing is named, or nothing but rounding to whole numbers, which leaves so little of them that other explanations
    /// come first.
    pub(super) fn is_open(&self) -> bool {
        let whole = |named: &NamedMistake| {
            named.slips.iter().any(|slip| slip.detail.as_deref() == Some(TO_WHOLE_NUMBERS))
        };
        self.named.iter().all(whole)
    }

    /// This result, or that of a further search where this one is open.
    pub(super) fn or(self, further: impl FnOnce() -> SearchResult) -> SearchResult {
        if !self.is_open() {
            return self;
        }
        let further = further();
        if self.named.is_empty() || !further.named.is_empty() {
            SearchResult { too_few_digits: self.too_few_digits || further.too_few_digits, ..further }
        } else {
            self
        }
    }
}

/// A mistake is named only if the probability that numbers without any meaning fit one of all candidates is at most this.
const CHANCE: f64 = 0.01;
/// A mistake fits as well as the closest one if its residual is at most this many times as large.
const AS_WELL: f64 = 10.0;

/// A search: for a part, read as the step of its name or as a later one, after parts that are right.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub candidates: &'a Candidates,
    pub tolerance: &'a Tolerance,
    pub readings: &'a [Part<'a>],
    pub earlier: &'a [Part<'a>],
    /// Whether numbers near the right ones count as noise: for what is tried where nothing else fits.
    pub near: bool,
}

/// A candidate that fits.
pub(super) struct Fit {
    pub explanation: Explanation,
    /// Its computation, where that is known; else it is repeated if the candidate is named.
    pub computation: Option<Computation>,
    pub residual: f64,
    /// The index of the reading that it fits.
    pub reading: usize,
    /// The natural logarithm of the probability that meaningless numbers fit as well.
    pub log_chance: f64,
    /// Whether what was solved for leaves no doubt: enough cells beyond it, and a quantity of the exercise.
    pub is_sure: bool,
}

impl Fit {
    /// Mistakes that were solved for, and their computation.
    pub(super) fn solved(slip: Slip, graph: Graph, (residual, log_chance): (f64, f64)) -> Fit {
        let explanation = Explanation { slips: vec![slip], changes: Vec::new() };
        let computation = Some(Computation::plain(graph));
        Fit { explanation, computation, residual, reading: 0, log_chance, is_sure: true }
    }
}

impl<'a> Search<'a> {
    /// The exercise.
    pub(super) fn task(&self) -> &'a Task {
        &self.candidates.task
    }

    /// The same where numbers near the right ones count as noise.
    pub(super) fn near(&self) -> Search<'a> {
        Search { near: true, ..*self }
    }

    /// The tolerance of a part beside these numbers.
    pub(super) fn allowed(&self, part: &Part<'_>, expected: &Matrix) -> CellTolerance {
        CellTolerance::between(part.answer, expected, self.tolerance)
    }

    /// Every node that a reading names.
    pub(super) fn nodes(&self) -> Vec<String> {
        let all = self.readings.iter().flat_map(|part| part.matrices.iter().map(|(node, _)| node.clone()));
        all.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The candidate under the first reading that it fits.
    pub(super) fn fit(&self, row: &Row<'_>) -> Option<Fit> {
        let fits = |(reading, part): (usize, &Part<'_>)| {
            let numbers = row.of_part(part)?;
            let (residual, log_chance) = self.evidence(&numbers, part)?;
            Some((reading, numbers, residual, log_chance))
        };
        let (reading, numbers, residual, mut log_chance) = self.readings.iter().enumerate().find_map(fits)?;
        let explanation = self.candidates.explanation(row.candidate);
        if !self.near && explanation.has_rounding() {
            // Changes by rounding are as small as noise.
            log_chance = self.near().evidence(&numbers, &self.readings[reading])?.1;
        }
        self.left(Fit { explanation, computation: None, residual, reading, log_chance, is_sure: true })
    }

    /// A fit, if its computation leaves the earlier right parts unchanged.
    pub(super) fn left(&self, fit: Fit) -> Option<Fit> {
        if self.earlier.is_empty() {
            return Some(fit);
        }
        let Fit { explanation, computation, .. } = fit;
        let computation = computation.unwrap_or_else(|| Computation::of(self.task(), &explanation.changes));
        let mut compared = self.earlier.iter().filter(|part| part.matrices.len() == part.expected);
        let leaves = compared.all(|part| self.leaves(&computation, part));
        leaves.then_some(Fit { explanation, computation: Some(computation), ..fit })
    }

    /// The max difference that remains beside the numbers of each matrix of a part, and the log probability that chance fits as well.
    /// Equal numbers count as one piece of evidence.
    pub(super) fn evidence(&self, numbers: &[&NodeNumbers], part: &Part<'_>) -> Option<(f64, f64)> {
        let mut max = 0.0_f64;
        for ((_, yours), mistaken) in part.matrices.iter().zip(numbers) {
            if mistaken.matrix.shape() != yours.shape() {
                return None;
            }
            let allowed = CellTolerance::to(part.answer, mistaken, self.tolerance);
            max = max.max(residual_of(yours, mistaken, allowed)?);
        }
        Some((max, self.log_chance(numbers, part, max)))
    }

    /// The evidence of a graph, in which `solved` numbers were solved for: the strongest evidence of that many cells does not count.
    pub(super) fn solved(&self, part: &Part<'_>, slip: Slip, graph: Graph, solved: usize) -> Option<Fit> {
        let of_node = |(node, _): &(String, _)| Some(NodeNumbers::of(standing_for(&graph, node)?.clone()));
        let numbers: Vec<NodeNumbers> = part.matrices.iter().map(of_node).collect::<Option<_>>()?;
        let (residual, log_chance) = self.evidence(&numbers.iter().collect::<Vec<_>>(), part)?;
        let left = part.cells().saturating_sub(solved) as f64 / part.cells().max(1) as f64;
        let telling = self.telling(&numbers.iter().collect::<Vec<_>>(), part, residual);
        let is_sure = solved == 0 || telling >= solved + LEAST_LEFT;
        Some(Fit { is_sure, ..Fit::solved(slip, graph, (residual, log_chance * left)) })
    }

    /// Whether the mistake leaves a part that was right as it is; it is looked for with its rows as rows.
    fn leaves(&self, computation: &Computation, part: &Part<'_>) -> bool {
        part.matrices.iter().all(|(node, yours)| {
            let fits = |mistaken: &Matrix| residual(yours, mistaken, self.allowed(part, mistaken)).is_some();
            computation.upright(node).is_some_and(fits) || computation.beside(node).is_some_and(fits)
        })
    }

    /// Returns true if a fit may be a coincidence: its probability, given as a logarithm, times the number of tried possibilities
    /// exceeds `CHANCE`.
    pub(super) fn is_by_chance(log_chance: f64, tried: usize) -> bool {
        log_chance > elementary::ln(CHANCE) - elementary::ln(tried.max(1) as f64)
    }

    /// The fits as close as the closest one, one for each set of mistakes.
    pub(super) fn closest(&self, found: Vec<Fit>, tried: usize) -> SearchResult {
        let (by_chance, mut telling): (Vec<Fit>, Vec<Fit>) =
            found.into_iter().partition(|fit| Search::is_by_chance(fit.log_chance, tried));
        telling.sort_by(|a, b| a.residual.total_cmp(&b.residual));
        let best = telling.first().map_or(0.0, |fit| fit.residual);
        let noise = telling.first().map_or(0.0, |fit| self.noise(fit));
        let limit = (AS_WELL * best).max(self.smallest_step()).max(noise);
        let mut result = SearchResult {
            reading: telling.first().map_or(0, |fit| fit.reading),
            too_few_digits: telling.is_empty() && !by_chance.is_empty(),
            ..SearchResult::default()
        };
        let mut fitting: Vec<Fit> =
            telling.into_iter().filter(|fit| fit.residual <= limit.max(self.noise(fit))).collect();
        fitting.sort_by_key(|fit| fit.explanation.order());
        // What a mistake on the way back explains is not put down to a forward one that is seldom made.
        if fitting.iter().any(|fit| fit.explanation.is_backward()) {
            fitting.retain(|fit| fit.explanation.is_backward() || fit.explanation.is_classic());
        }
        // What has a part that explains as much by itself says no more than that part.
        let simplest: Vec<bool> = fitting
            .iter()
            .map(|fit| !fitting.iter().any(|other| fit.explanation.goes_beyond(&other.explanation)))
            .collect();
        let mut keep = simplest.iter();
        fitting.retain(|_| keep.next() == Some(&true));
        for fit in fitting {
            let Fit {
                explanation: Explanation { slips, changes },
                computation,
                residual,
                log_chance,
                is_sure,
                ..
            } = fit;
            let ids: Vec<&str> = slips.iter().map(|slip| &*slip.mistake.id).collect();
            if result.named.iter().any(|known| known.ids() == ids) {
                continue;
            }
            let chance = elementary::exp(log_chance + elementary::ln(tried.max(1) as f64)).min(1.0);
            let computation = computation.unwrap_or_else(|| Computation::of(self.task(), &changes));
            let computation = Arc::new(computation);
            result.named.push(NamedMistake { slips, residual, chance, is_sure, computation });
        }
        result
    }

    /// What rounding makes of a fit's own numbers: a score plus 1e9 has only seven decimals left. Fits that differ by no more are
    /// the same computation.
    fn noise(&self, fit: &Fit) -> f64 {
        let mut recipe = *self.task().recipe();
        Change::put_all(&fit.explanation.changes, &mut recipe);
        let added = match recipe.hiding {
            Hiding::Added(number) if number.is_finite() => number.abs(),
            _ => 0.0,
        };
        let size = |part: &Part<'_>| {
            let cells = part.matrices.iter().flat_map(|(_, matrix)| matrix.cells());
            cells.filter(|x| x.is_finite()).fold(0.0, |max: f64, x| max.max(x.abs()))
        };
        4.0 * f64::EPSILON * added * self.readings.first().map_or(0.0, size)
    }

    /// The residual up to which the student's numbers cannot tell fits apart.
    fn smallest_step(&self) -> f64 {
        let Some(part) = self.readings.first() else { return 0.0 };
        let rounding = |(node, _): &(String, _)| {
            Some(self.allowed(part, standing_for(self.task().right(), node)?).rounding())
        };
        part.matrices.iter().filter_map(rounding).fold(1e-12, f64::max)
    }
}

// The probability that meaningless numbers fit a mistake by chance.

/// NaN, infinities and rows of zeros hardly ever stand in one place by chance and not in another.
const HARDLY_EVER: f64 = 1e-6;

/// The identity of a piece of evidence: cells with the same key are one piece.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Piece {
    /// A number, by its bits.
    Number(u64),
    Nan,
    /// A row of zeros, by its place: one is not there because another is.
    ZeroRow(usize),
}

impl Search<'_> {
    /// The natural logarithm of the probability that meaningless numbers fit a candidate as well as this part does.
    fn log_chance(&self, numbers: &[&NodeNumbers], part: &Part<'_>, residual: f64) -> f64 {
        self.shares(numbers, part, residual).iter().map(|share| elementary::ln(*share)).sum()
    }

    /// The number of independent cells that tell something.
    fn telling(&self, numbers: &[&NodeNumbers], part: &Part<'_>, residual: f64) -> usize {
        self.shares(numbers, part, residual).iter().filter(|share| **share <= TELLING).count()
    }

    /// For each independent cell that a mistake changes, how often a number by chance fits it.
    fn shares(&self, numbers: &[&NodeNumbers], part: &Part<'_>, residual: f64) -> Vec<f64> {
        const EXACT: f64 = 1e-9;
        let mut shares: Vec<(Piece, f64)> = Vec::new();
        for ((node, yours), NodeNumbers { matrix: mistaken, max_size, .. }) in
            part.matrices.iter().zip(numbers)
        {
            let max_size = *max_size;
            let allowed = self.allowed(part, mistaken);
            let right =
                standing_for(self.task().right(), node).filter(|right| right.shape() == mistaken.shape());
            let range = match right.map(|right| furthest(yours, right)) {
                // A small difference may be noise, and noise falls near the right numbers.
                Some(moved) if self.near && moved > 0.0 => 2.0 * moved,
                _ => range(yours, mistaken, right),
            };
            let free = self.free_cells(node);
            // Numbers that come nearer than they must tell more than those that just fit.
            let nearest = (10.0 * residual).max(allowed.rounding()).max(EXACT * max_size);
            for i in 0..yours.rows() {
                let mut row: Vec<(Piece, f64)> = Vec::new();
                let is_zero_row = yours.row(i).chain(mistaken.row(i)).all(|x| x == 0.0);
                for j in 0..yours.cols() {
                    let near = allowed.around(mistaken[(i, j)]).min(nearest);
                    // Only cells in which the mistake differs from the right answer are evidence for it.
                    let as_right = |right: &Matrix| {
                        distance(mistaken[(i, j)], right[(i, j)]) <= allowed.around(mistaken[(i, j)])
                    };
                    // Nothing but zeros is no evidence at all.
                    if right.is_some_and(as_right) || (max_size == 0.0 && mistaken[(i, j)] == 0.0) {
                        continue;
                    }
                    let own = yours[(i, j)];
                    let share = if own.is_finite() && !is_zero_row {
                        (2.0 * near / range).clamp(1e-300, 1.0)
                    } else {
                        HARDLY_EVER
                    };
                    let piece = if own.is_nan() {
                        Piece::Nan
                    } else if is_zero_row {
                        Piece::ZeroRow(i)
                    } else {
                        Piece::Number(own.to_bits())
                    };
                    row.push((piece, share));
                }
                row.sort_by(|a, b| a.1.total_cmp(&b.1));
                row.truncate(free);
                shares.extend(row);
            }
        }
        shares.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        shares.dedup_by_key(|(piece, _)| *piece);
        shares.into_iter().map(|(_, share)| share).collect()
    }

    /// The number of independent cells of a row: a mixture by N weights has N − 1 for each head, at any width.
    fn free_cells(&self, node: &str) -> usize {
        let by_weights = self.task().facts().keys.saturating_sub(1).max(1);
        let heads = self.task().recipe().heads;
        match Step::parse(node).map(|step| step.stage) {
            Some(Stage::Weights | Stage::Mixed) => by_weights,
            Some(Stage::Joined | Stage::Projected | Stage::Output) => by_weights.saturating_mul(heads),
            _ => usize::MAX,
        }
    }
}

/// The range of numbers by chance: their spread, or the distance between mistaken and right numbers.
fn range(yours: &Matrix, mistaken: &Matrix, right: Option<&Matrix>) -> f64 {
    let moved = right.map_or(0.0, |right| furthest(mistaken, right));
    spread(yours).max(right.map_or(0.0, spread)).max(moved).max(f64::MIN_POSITIVE)
}

/// The max finite distance between two matrices of one shape.
fn furthest(a: &Matrix, b: &Matrix) -> f64 {
    let distances = a.cells().zip(b.cells()).map(|(a, b)| distance(a, b));
    distances.filter(|distance| distance.is_finite()).fold(0.0, f64::max)
}

// Shared code for what is solved for in one matrix.

/// Usual dropout rates.
pub(super) const DROPOUT: [f64; 5] = [0.05, 0.1, 0.2, 0.25, 0.5];

/// The only matrix of a part, beside the right one.
pub(super) struct Handed<'a> {
    pub search: &'a Search<'a>,
    pub part: &'a Part<'a>,
    pub node: &'a str,
    pub yours: &'a Matrix,
    pub right: &'a Matrix,
    /// What is allowed beside the right matrix.
    pub allowed: CellTolerance,
}

impl<'a> Handed<'a> {
    /// The first reading of a part, if it is one matrix of a node that the right answer has.
    pub(super) fn of(search: &'a Search<'a>) -> Option<Handed<'a>> {
        let part = search.readings.first()?;
        let [(node, yours)] = &part.matrices[..] else { return None };
        let right = standing_for(search.task().right(), node)?;
        Some(Handed { search, part, node, yours, right, allowed: search.allowed(part, right) })
    }

    /// Of the matrices of the first reading the only one that is not right.
    pub(super) fn only_wrong(search: &'a Search<'a>) -> Option<Handed<'a>> {
        let part = search.readings.first().filter(|part| part.matrices.len() == part.expected)?;
        let mut wrong = part.matrices.iter().filter_map(|(node, yours)| {
            let right = standing_for(search.task().right(), node)?;
            let allowed = search.allowed(part, right);
            let is_right = residual(yours, right, allowed).is_some();
            (!is_right).then_some(Handed { search, part, node, yours, right, allowed })
        });
        wrong.next().filter(|_| wrong.next().is_none())
    }

    /// Whether it is a result of the right shape.
    pub(super) fn is_result(&self) -> bool {
        self.node == "O" && self.has_right_shape()
    }

    /// Whether it has the right shape.
    pub(super) fn has_right_shape(&self) -> bool {
        self.yours.shape() == self.right.shape()
    }

    /// What is allowed beside other numbers.
    pub(super) fn allowed_beside(&self, expected: &Matrix) -> CellTolerance {
        self.search.allowed(self.part, expected)
    }

    /// Whether a number that was handed in is the right one of a place.
    pub(super) fn is_right(&self, yours: f64, at: (usize, usize)) -> bool {
        self.allowed.allows(yours, self.right[at])
    }

    /// The places of the numbers that are wrong.
    pub(super) fn wrong(&self) -> impl Iterator<Item = (usize, usize)> {
        self.right.shape().places().filter(|&at| !self.is_right(self.yours[at], at))
    }

    /// A fit by numbers that stand where they should, or are exactly 0: each of them is hardly ever there by chance.
    pub(super) fn in_place(&self, slip: Slip, expected: Matrix, telling: usize) -> Option<Fit> {
        let allowed = if self.has_right_shape() { self.allowed } else { self.allowed_beside(&expected) };
        let left = residual(self.yours, &expected, allowed)?;
        let mut graph = alone(self.node, expected)?;
        for (node, _) in self.part.matrices.iter().filter(|(node, _)| *node != self.node) {
            let right = standing_for(self.search.task().right(), node)?.clone();
            graph.given(node, right, Origin::Stated).ok()?;
        }
        Some(Fit::solved(slip, graph, (left, by_place(telling))))
    }

    /// The name of a cell of the result.
    pub(super) fn address(&self, (row, col): (usize, usize)) -> Option<String> {
        let graph = self.search.task().right();
        Some(address_of(graph, CellId { node: graph.find(self.node)?, row, col }))
    }
}

/// A graph with this node alone.
pub(super) fn alone(node: &str, matrix: Matrix) -> Option<Graph> {
    let mut graph = Graph::new();
    graph.given(node, matrix, Origin::Stated).ok()?;
    Some(graph)
}

/// The logarithm of the chance that this many numbers stand where they should.
pub(super) fn by_place(telling: usize) -> f64 {
    -(telling as f64) * elementary::ln(100.0)
}
