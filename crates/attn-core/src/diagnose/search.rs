//! The search for mistakes that fit a part, and the choice of those that are named.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::elementary;
use crate::graph::recipes::{Change, Hiding};
use crate::graph::{Graph, Origin, Stage, Step};
use crate::matrix::Matrix;

use super::answer::Part;
use super::cache::Row;
use super::candidates::{Candidate, Variant, standing_for};
use super::compare::{CellTolerance, NodeNumbers, Tolerance, distance, residual, residual_of, spread};
use super::diagnosis::NamedMistake;
use super::plans::Candidates;
use super::{Slip, Task, catalogue};

/// The result of a search.
#[derive(Default)]
pub(super) struct SearchResult {
    /// The mistakes that fit, the closest first.
    pub named: Vec<NamedMistake>,
    /// The computations with these mistakes in them, in the same order.
    pub candidates: Vec<Candidate>,
    /// The index of the reading that the closest of them fits.
    pub reading: usize,
    /// Whether some candidates fitted only as well as chance would.
    pub too_few_digits: bool,
}

impl SearchResult {
    /// This result, or a later one where this one is empty.
    pub(super) fn or(self, further: SearchResult) -> SearchResult {
        if self.named.is_empty() || only_whole_numbers(&self.named) && !further.named.is_empty() {
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
    pub task: &'a Task,
    pub candidates: &'a Candidates,
    pub tolerance: &'a Tolerance,
    pub readings: &'a [Part<'a>],
    pub earlier: &'a [Part<'a>],
    /// Whether numbers near the right ones count as noise: for what is tried where nothing else fits.
    pub near: bool,
}

/// A candidate that fits.
pub(super) struct Fit {
    pub variant: Variant,
    /// Its computation, where that is known; else it is repeated if the candidate is named.
    pub graph: Option<Graph>,
    pub residual: f64,
    /// The index of the reading that it fits.
    pub reading: usize,
    /// The natural logarithm of the probability that meaningless numbers fit as well.
    pub log_chance: f64,
}

impl Search<'_> {
    /// Every node that a reading names.
    pub(super) fn nodes(&self) -> Vec<String> {
        let all = self.readings.iter().flat_map(|part| part.matrices.iter().map(|(node, _)| node.clone()));
        all.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The candidate under the first reading that it fits.
    pub(super) fn fit(&self, row: &Row<'_>) -> Option<Fit> {
        let fits = |(reading, part)| {
            let (residual, log_chance) = self.evidence(&|node: &str| row.numbers(node), part)?;
            Some((residual, log_chance, reading))
        };
        let (residual, log_chance, reading) = self.readings.iter().enumerate().find_map(fits)?;
        let variant = self.candidates.variant(self.task, row.plan);
        let mut log_chance = log_chance;
        if !self.near && variant.changes().iter().any(Change::is_rounding) {
            // Changes by rounding are as small as noise.
            let search = Search { near: true, ..*self };
            log_chance = search.evidence(&|node: &str| row.numbers(node), &self.readings[reading])?.1;
        }
        if self.earlier.is_empty() {
            return Some(Fit { variant, graph: None, residual, reading, log_chance });
        }
        let candidate = variant.computed(self.task);
        self.leaves_all(&candidate).then(|| Fit {
            variant: candidate.variant,
            graph: Arc::into_inner(candidate.graph),
            residual,
            reading,
            log_chance,
        })
    }

    /// A fit, if its computation leaves the earlier right parts unchanged.
    pub(super) fn left(&self, fit: Fit) -> Option<Fit> {
        let Fit { variant, graph, .. } = fit;
        let candidate = Candidate { variant, graph: Arc::new(graph?) };
        let leaves = self.leaves_all(&candidate);
        let Candidate { variant, graph } = candidate;
        leaves.then(|| Fit { variant, graph: Arc::into_inner(graph), ..fit })
    }

    fn leaves_all(&self, candidate: &Candidate) -> bool {
        let mut compared = self.earlier.iter().filter(|part| part.matrices.len() == part.expected);
        compared.all(|part| self.leaves(candidate, part))
    }

    /// The max difference that remains, and the log probability that chance fits as well. Equal numbers count as one piece of
    /// evidence.
    pub(super) fn evidence<'n>(
        &self,
        numbers: &dyn Fn(&str) -> Option<&'n NodeNumbers>,
        part: &Part<'_>,
    ) -> Option<(f64, f64)> {
        let mut max = 0.0_f64;
        for (node, yours) in &part.matrices {
            let mistaken = numbers(node)?;
            if mistaken.matrix.shape() != yours.shape() {
                return None;
            }
            let allowed = CellTolerance::to(part.answer, mistaken, self.tolerance);
            max = max.max(residual_of(yours, mistaken, allowed)?);
        }
        Some((max, self.log_chance(numbers, part, max)?))
    }

    /// Whether the mistake leaves a part that was right as it is; it is looked for with its rows as rows.
    fn leaves(&self, candidate: &Candidate, part: &Part<'_>) -> bool {
        part.matrices.iter().all(|(node, yours)| {
            let fits = |mistaken: &Matrix| {
                residual(yours, mistaken, CellTolerance::between(part.answer, mistaken, self.tolerance))
                    .is_some()
            };
            candidate.upright(node).is_some_and(fits) || candidate.beside(node).is_some_and(fits)
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
        fitting.sort_by_key(|fit| fit.variant.order());
        // What a mistake on the way back explains is not put down to a forward one that is seldom made.
        if fitting.iter().any(|fit| fit.variant.is_backward()) {
            fitting.retain(|fit| fit.variant.is_backward() || fit.variant.is_classic());
        }
        // What has a part that explains as much by itself says no more than that part.
        let simplest: Vec<bool> = fitting
            .iter()
            .map(|fit| !fitting.iter().any(|other| fit.variant.goes_beyond(&other.variant)))
            .collect();
        let mut keep = simplest.iter();
        fitting.retain(|_| keep.next() == Some(&true));
        let mut known: Vec<Vec<&str>> = Vec::new();
        for Fit { variant, graph, residual, log_chance, .. } in fitting {
            let ids = variant.ids();
            if known.contains(&ids) {
                continue;
            }
            known.push(ids);
            let chance = elementary::exp(log_chance + elementary::ln(tried.max(1) as f64)).min(1.0);
            let candidate = match graph {
                Some(graph) => Candidate { variant, graph: Arc::new(graph) },
                None => variant.computed(self.task),
            };
            let (slips, graph) = (candidate.variant.slips.clone(), candidate.graph.clone());
            result.named.push(NamedMistake { slips, residual, chance, graph });
            result.candidates.push(candidate);
        }
        result
    }

    /// What rounding makes of a fit's own numbers: a score plus 1e9 has only seven decimals left. Fits that differ by no more are
    /// the same computation.
    fn noise(&self, fit: &Fit) -> f64 {
        let mut recipe = *self.task.recipe();
        Change::put_all(fit.variant.changes(), &mut recipe);
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
            let expected = standing_for(self.task.right(), node)?;
            Some(CellTolerance::between(part.answer, expected, self.tolerance).rounding())
        };
        part.matrices.iter().filter_map(rounding).fold(1e-12, f64::max)
    }
}

/// Whether all of these are rounding to whole numbers, which leaves so little of them that other explanations come first.
pub(super) fn only_whole_numbers(named: &[NamedMistake]) -> bool {
    let whole = |named: &NamedMistake| {
        named.slips.iter().any(|slip| slip.detail.as_deref() == Some(super::catalogue::TO_WHOLE_NUMBERS))
    };
    !named.is_empty() && named.iter().all(whole)
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
    /// The residual of a computation beside a part, and its chance, if it fits.
    pub(super) fn evidence_of(&self, graph: &Graph, part: &Part<'_>) -> Option<(f64, f64)> {
        let of_node = |(node, _): &(String, _)| Some(NodeNumbers::of(standing_for(graph, node)?.clone()));
        let numbers: Vec<NodeNumbers> = part.matrices.iter().map(of_node).collect::<Option<_>>()?;
        let of = |node: &str| numbers.get(part.matrices.iter().position(|(known, _)| known == node)?);
        self.evidence(&of, part)
    }

    /// The natural logarithm of the probability that meaningless numbers fit a candidate as well as this part does.
    pub(super) fn log_chance<'n>(
        &self,
        numbers: &dyn Fn(&str) -> Option<&'n NodeNumbers>,
        part: &Part<'_>,
        residual: f64,
    ) -> Option<f64> {
        const EXACT: f64 = 1e-9;
        let mut shares: Vec<(Piece, f64)> = Vec::new();
        for (node, yours) in &part.matrices {
            let NodeNumbers { matrix: mistaken, max_size, .. } = numbers(node)?;
            let (mistaken, max_size) = (mistaken, *max_size);
            let allowed = CellTolerance::between(part.answer, mistaken, self.tolerance);
            let right =
                standing_for(self.task.right(), node).filter(|right| right.shape() == mistaken.shape());
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
        Some(shares.iter().map(|(_, share)| elementary::ln(*share)).sum())
    }

    /// The number of independent cells of a row: a mixture by N weights has N − 1 for each head, at any width.
    fn free_cells(&self, node: &str) -> usize {
        let by_weights = self.task.facts().keys.saturating_sub(1).max(1);
        let heads = self.task.recipe().heads;
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

// Shared code for mistakes with a number of their own: the fit of a computation, and the number in words.

/// Usual dropout rates.
pub(super) const DROPOUT: [f64; 5] = [0.05, 0.1, 0.2, 0.25, 0.5];

/// The slip of a mistake of the catalogue.
pub(super) fn slip(id: &str, detail: Option<String>) -> Option<Slip> {
    Some(Slip::detailed(catalogue::find(id).ok()?, detail))
}

/// A graph with this node alone.
pub(super) fn alone(node: &str, matrix: Matrix) -> Option<Graph> {
    let mut graph = Graph::new();
    graph.given(node, matrix, Origin::Stated).ok()?;
    Some(graph)
}

/// A fit with `solved` numbers solved for: the strongest evidence of that many cells does not count.
pub(super) fn fit(
    search: &Search<'_>,
    part: &Part<'_>,
    slip: Slip,
    graph: Graph,
    solved: usize,
) -> Option<Fit> {
    let (residual, log_chance) = search.evidence_of(&graph, part)?;
    let cells: usize = part.matrices.iter().map(|(_, matrix)| matrix.rows() * matrix.cols()).sum();
    let left = cells.saturating_sub(solved) as f64 / cells.max(1) as f64;
    let log_chance = log_chance * left;
    Some(Fit { variant: Variant::fitted(slip), graph: Some(graph), residual, reading: 0, log_chance })
}
