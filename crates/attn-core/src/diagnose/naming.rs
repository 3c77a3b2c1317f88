//! Naming the mistake in a wrong part: the order in which candidates are tried.

use crate::graph::Graph;
use crate::matrix::Matrix;

use super::answer::{Part, readings};
use super::cache::Probe;
use super::candidates::{CandidateList, Candidates, Row};
use super::catalogue::Likelihood;
use super::clues::clues;
use super::compare::{MOST_DECIMALS, half_unit, residual};
use super::diagnosis::{HALF_PRECISIONS, JudgedNode, NamedMistake, Resemblance, evidence};
use super::equivalent_forms::later_steps;
use super::fits::{fits, fits_by_row, fits_without_number};
use super::partial::{in_one_head, in_some_rows};
use super::search::{Fit, Search, SearchResult};
use super::solver;
use super::task::standing_for;
use super::walk::Walk;
use super::{Answer, Tolerance};

impl<'a> Walk<'a> {
    /// Searches the mistakes that give a part, and records the result.
    pub(super) fn name(&mut self, part: &Part<'a>, earlier: &[Part<'a>], judged: &mut JudgedNode) {
        if let Some(found) = self.as_one_matrix(part) {
            return self.take(part, found, judged);
        }
        let (right, candidates) = (self.task().right(), &self.examiner.candidates);
        let readings = readings(part, right);
        let search = self.search(candidates, &readings, earlier);
        let mut found = search.singles();
        if let Some(closest) = found.named.first().filter(|named| is_rough(part, named.residual)) {
            // A solved number comes closer than a tried mistake that is only near by coincidence.
            let fitted = search.fitted();
            if fitted.named.first().is_some_and(|named| named.residual * 1e3 < closest.residual) {
                found = fitted;
            }
        }
        if found.is_open() {
            let resembles = resemblance(&search, part);
            // Numbers of another node may also come from two mistakes in this one.
            let is_settled = !matches!(resembles, None | Some(Resemblance::Node(_)));
            if !is_settled && (found.named.is_empty() || resembles.is_some()) {
                found = found.or(|| search.fitted());
                if resembles.is_none() {
                    found = found.or(|| search.solved_for());
                }
                self.pairs_tried &= !found.is_open() || candidates.is_feasible(CandidateList::Pairs);
                found = found.or(|| search.pairs());
                if resembles.is_none() {
                    found = found.or(|| search.solved_for_in_pairs());
                }
                // A row of NaN beside right ones has many causes: none is named for that row alone.
                let is_free = resembles.is_none() && !are_nan_or_right(part, right);
                if is_free {
                    found = found.or(|| search.general());
                }
                if found.named.is_empty() && !found.too_few_digits {
                    found = found.or(|| self.with_other_digits(part));
                }
                if is_free {
                    found = found.or(|| search.partial());
                }
                found = found.or(|| search.fitted_by_row());
            }
            if resembles.is_some() && (is_settled || found.is_open()) {
                found = SearchResult::default();
                judged.resembles = resembles;
            }
        }
        let is_nan = |(_, matrix): &(String, &Matrix)| matrix.cells().all(f64::is_nan);
        if !found.named.is_empty() && part.matrices.iter().all(is_nan) {
            judged.resembles = Some(Resemblance::NotANumber);
            found.named.sort_by_key(usual_for_nan);
        }
        let mut taken = part;
        if found.reading > 0 && !found.named.is_empty() {
            taken = &readings[found.reading];
            judged.read_as = taken.step_name();
            self.reads_scores = true;
            judged.verdict = self.compared(taken, right, false);
        }
        judged.evidence = evidence(taken, right, found.named.first(), &self.examiner.tolerance);
        self.take(part, found, judged);
    }

    /// The mistakes that give a stack of matrices where one is expected, such as the heads one below the other.
    fn as_one_matrix(&self, part: &Part<'a>) -> Option<SearchResult> {
        let [(node, first), ..] = &part.matrices[..] else { return None };
        let (rows, cols) = (first.rows(), first.cols());
        let is_stack = part.expected == 1 && part.matrices.len() > 1 && rows > 0;
        if !is_stack || part.matrices.iter().any(|(_, matrix)| matrix.shape() != first.shape()) {
            return None;
        }
        let cell = |i: usize, j: usize| part.matrices[i / rows].1[(i % rows, j)];
        let stacked = Matrix::from_fn(rows * part.matrices.len(), cols, cell);
        let readings = [Part { matrices: vec![(node.clone(), &stacked)], ..part.clone() }];
        let found = self.search(&self.examiner.candidates, &readings, &[]).singles();
        (!found.named.is_empty()).then_some(found)
    }

    /// The mistakes that give a part whose numbers have fewer digits than they seem to: computed in half precision and stored or
    /// printed in another type, or cut off instead of rounded.
    fn with_other_digits(&self, part: &Part<'a>) -> SearchResult {
        /// Fewer decimals are what somebody rounded by hand.
        const LEAST_DECIMALS: usize = 3;
        let Answer { matrices, decimals, roundoff, .. } = part.answer;
        let cells = || matrices.iter().flat_map(|matrix| matrix.cells());
        let is_fraction = !cells().any(f64::is_nan) && cells().any(|x| x.is_finite() && x.fract() != 0.0);
        let is_half = *roundoff >= HALF_PRECISIONS[0].unit;
        if self.examiner.tolerance != Tolerance::default() || is_half || !is_fraction {
            return SearchResult::default();
        }
        let named = |answer: &Answer, is_sure: bool, how: &str| {
            let nodes = part.matrices.iter().map(|(node, _)| node.clone());
            let own = Part { answer, matrices: nodes.zip(&answer.matrices).collect(), ..part.clone() };
            let readings = readings(&own, self.task().right());
            let search = self.search(&self.examiner.candidates, &readings, &[]);
            let mut found = search.singles().or(|| search.pairs());
            for named in &mut found.named {
                named.is_sure &= is_sure;
                if let Some(slip) = named.slips.last_mut() {
                    slip.said = Some(format!("{} Your numbers are as if {how}.", slip.sentence()));
                }
            }
            found
        };
        let mut found = SearchResult::default();
        if let Some(decimals) =
            decimals.filter(|decimals| (LEAST_DECIMALS..=MOST_DECIMALS).contains(decimals))
        {
            let half = half_unit(decimals);
            let middle = |x: f64| if x == 0.0 { x } else { x + half.copysign(x) };
            let matrices = matrices.iter().map(|matrix| matrix.map(middle)).collect();
            found =
                found.or(|| named(&Answer { matrices, ..part.answer.clone() }, true, "cut off, not rounded"));
        }
        for half in &HALF_PRECISIONS {
            let has_all = matrices.iter().all(|matrix| half.has(matrix));
            // NumPy prints numbers of float16 with three or four decimals.
            let is_printed = half.name == "float16"
                && decimals.is_some_and(|decimals| (LEAST_DECIMALS..=5).contains(&decimals));
            if has_all || is_printed {
                found = found.or(|| {
                    named(
                        &Answer { roundoff: half.unit, ..part.answer.clone() },
                        has_all,
                        &format!("computed in {}", half.name),
                    )
                });
            }
        }
        found
    }

    pub(super) fn search<'s>(
        &self,
        candidates: &'s Candidates,
        readings: &'s [Part<'s>],
        earlier: &'s [Part<'s>],
    ) -> Search<'s>
    where
        'a: 's,
    {
        Search { candidates, tolerance: &self.examiner.tolerance, readings, earlier, near: false }
    }

    pub(super) fn take(&mut self, part: &Part<'a>, found: SearchResult, judged: &mut JudgedNode) {
        self.any_wrong = true;
        self.turned |= found.named.first().is_some_and(|named| named.ids().contains(&"column-convention"));
        let right = self.task().right();
        if found.named.is_empty() {
            let steps =
                |node: &String| std::iter::once(node.clone()).chain(later_steps(right, node)).collect();
            self.unread.extend(part.matrices.iter().map(|(node, _)| steps(node)));
            judged.clues = clues(self.task(), part, &self.examiner.tolerance);
        }
        judged.may_be_chance = found.named.first().is_some_and(|named| may_be_chance(named, part, right));
        self.mistaken.extend(found.named.iter().map(|named| named.computation.clone()));
        judged.mistakes = found.named;
        judged.too_few_digits = found.too_few_digits;
    }
}

/// The matrix that was handed in instead of a part, if it is a known one.
fn resemblance(search: &Search<'_>, part: &Part<'_>) -> Option<Resemblance> {
    let all = |is: fn(f64) -> bool| part.matrices.iter().all(|(_, matrix)| matrix.cells().all(is));
    if all(|x| x == 0.0) {
        return Some(Resemblance::Zeros);
    }
    if all(f64::is_nan) {
        return Some(Resemblance::NotANumber);
    }
    let fits = |yours: &Matrix, expected: &Matrix| {
        residual(yours, expected, search.allowed(part, expected)).is_some()
    };
    if let [(node, matrix)] = &part.matrices[..] {
        let mut others = search.task().right().nodes().filter(|(_, other)| other.name != *node);
        let same = others.find(|(_, other)| other.matrix().is_some_and(|other| fits(matrix, other)));
        if let Some((_, other)) = same {
            return Some(Resemblance::Node(other.name.clone()));
        }
    }
    let even = search.candidates.even();
    let is_even = |(node, matrix): &(String, &Matrix)| {
        standing_for(even, node).is_some_and(|expected| fits(matrix, expected))
    };
    part.matrices.iter().all(is_even).then_some(Resemblance::EvenWeights)
}

/// The place of a mistake among the usual causes of a result of nothing but NaN.
fn usual_for_nan(named: &NamedMistake) -> usize {
    const USUAL: [&str; 5] = [
        "empty-row-nan",
        "softmax-overflow",
        "mask-times-infinity",
        "hidden-weights-replaced",
        "log-softmax",
    ];
    let place = |id: &str| USUAL.iter().position(|usual| *usual == id).unwrap_or(USUAL.len());
    named.ids().into_iter().map(place).max().unwrap_or(USUAL.len())
}

/// Whether this residual is too large for submitted numbers of 64 bits.
fn is_rough(part: &Part<'_>, residual: f64) -> bool {
    let exact = part.answer.roundoff < 1e-15 && part.answer.decimals.is_none_or(|decimals| decimals > 9);
    exact && residual > 1e-10
}

/// Whether a handful of coarse numbers may fit a mistake, or two together, by chance; NaN alone is what several mistakes give.
fn may_be_chance(named: &NamedMistake, part: &Part<'_>, right: &Graph) -> bool {
    // At most this many numbers with at most this many decimals each are too few.
    let is_rare = named.slips.iter().all(|slip| slip.mistake.likelihood == Likelihood::Rare);
    let few: &[(usize, usize)] = match named.slips.len() {
        1 if !is_rare => &[(6, 2), (8, 1), (12, 0)],
        _ => &[(4, 4), (12, 2), (24, 0)],
    };
    let is_few =
        |decimals: usize| few.iter().any(|&(most, digits)| part.cells() <= most && decimals <= digits);
    !named.is_sure || are_nan_or_right(part, right) || part.answer.decimals.is_some_and(is_few)
}

/// [`is_nan_or_right`] of all matrices of a part.
fn are_nan_or_right(part: &Part<'_>, right: &Graph) -> bool {
    part.matrices.iter().all(|(node, matrix)| is_nan_or_right(matrix, standing_for(right, node)))
}

/// Whether most numbers are NaN, or some are and all others are near the right ones.
fn is_nan_or_right(yours: &Matrix, right: Option<&Matrix>) -> bool {
    let Some(right) = right.filter(|right| right.shape() == yours.shape()) else {
        return yours.cells().all(f64::is_nan);
    };
    let near =
        |(yours, right): (f64, f64)| yours.is_nan() || (yours - right).abs() <= 1e-6 * right.abs().max(1.0);
    let nan = yours.cells().filter(|x| x.is_nan()).count();
    2 * nan > yours.rows() * yours.cols() || nan > 0 && yours.cells().zip(right.cells()).all(near)
}

// The kinds of candidates, tried one after the other: single mistakes, mistakes with a number of their own, pairs.

impl Search<'_> {
    /// The mistakes that give the part by themselves, and leave what was right before it as it was.
    pub(super) fn singles(&self) -> SearchResult {
        let without_number = fits_without_number(self).into_iter().filter_map(|fit| self.left(fit));
        self.listed(CandidateList::Singles, without_number.collect())
    }

    /// The operators at any site that fit; none where trying them would take too long.
    pub(super) fn general(&self) -> SearchResult {
        self.near().listed(CandidateList::General, Vec::new())
    }

    /// The pairs of mistakes that do; none where trying them would take too long.
    fn pairs(&self) -> SearchResult {
        self.listed(CandidateList::Pairs, Vec::new())
    }

    /// The fits of a list that is feasible, and others.
    fn listed(&self, list: CandidateList, mut found: Vec<Fit>) -> SearchResult {
        if !self.candidates.is_feasible(list) {
            return SearchResult::default();
        }
        let probes: Vec<Probe<'_>> =
            self.readings.iter().filter_map(|part| Probe::in_any_row(part, self.tolerance)).collect();
        let visit = |row: &Row<'_>| found.extend(self.fit(row));
        self.candidates.each(list, &self.nodes(), Some(&probes), visit);
        self.closest(found, self.candidates.count(list))
    }

    /// The mistakes with a number of their own that do.
    fn fitted(&self) -> SearchResult {
        self.left_of(fits(self))
    }

    /// Those whose quantity, order or place is solved for.
    fn solved_for(&self) -> SearchResult {
        self.left_of(solver::fits(self))
    }

    /// The same with a classic mistake in the scores beside them.
    fn solved_for_in_pairs(&self) -> SearchResult {
        self.left_of(solver::fits_in_pairs(self))
    }

    /// Those that are made in some rows alone, or in one head alone.
    fn partial(&self) -> SearchResult {
        let search = self.near();
        self.left_of(in_some_rows(&search)).or(|| self.left_of(in_one_head(&search)))
    }

    /// Those with a number for each row.
    fn fitted_by_row(&self) -> SearchResult {
        self.left_of(fits_by_row(&self.near()))
    }

    fn left_of(&self, (found, tried): (Vec<Fit>, usize)) -> SearchResult {
        let found = found.into_iter().filter_map(|fit| self.left(fit)).collect();
        self.closest(found, tried)
    }
}
