//! Which mistakes give these numbers: first every one alone, then every pair.

use crate::elementary;
use crate::matrix::Matrix;

use super::answer::Part;
use super::candidates::{Candidate, Candidates, standing_for};
use super::compare::{Allowed, distance, residual, spread};
use super::diagnosis::Named;
use super::{Task, Tolerance};

/// What was found.
#[derive(Default)]
pub(super) struct Searched {
    /// The mistakes that fit, the closest first.
    pub named: Vec<Named>,
    /// The computations with these mistakes in them, in the same order.
    pub candidates: Vec<Candidate>,
    /// Which reading of what was handed in the closest of them fits.
    pub reading: usize,
    /// Whether some fitted that chance would have fitted as well.
    pub too_few_digits: bool,
}

impl Searched {
    /// This, or what was found further on where nothing was found here.
    pub(super) fn or(self, further: Searched) -> Searched {
        match self.named.is_empty() || only_whole_numbers(&self.named) && !further.named.is_empty() {
            true => Searched { too_few_digits: self.too_few_digits || further.too_few_digits, ..further },
            false => self,
        }
    }
}

/// So likely may it be at most that numbers without any meaning fit one of all candidates.
const CHANCE: f64 = 0.01;
/// A mistake fits as well as the closest one if what remains is at most so many times as large.
const AS_WELL: f64 = 10.0;
/// NaN and infinities hardly ever stand in one cell by chance and not in another.
const NOT_FINITE: f64 = 1e-4;

/// What is looked for: a part, read as the step that its name says or as a later one, and what was right before it.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub task: &'a Task,
    pub candidates: &'a Candidates,
    pub tolerance: &'a Tolerance,
    pub readings: &'a [Part<'a>],
    pub earlier: &'a [Part<'a>],
}

/// A candidate that fits.
struct Fit {
    candidate: Candidate,
    residual: f64,
    /// Which reading of the part it fits.
    reading: usize,
    /// The natural logarithm of how likely meaningless numbers fit as well.
    log_chance: f64,
}

impl Search<'_> {
    /// The mistakes that give the part by themselves, and leave what was right before it as it was.
    pub(super) fn singles(&self) -> Searched {
        let mut found = Vec::new();
        self.candidates.each_single(self.task, |candidate| found.extend(self.fit(candidate)));
        self.closest(found, self.candidates.count_singles())
    }

    /// The pairs of mistakes that do; `None` where trying them would take too long.
    pub(super) fn pairs(&self) -> Option<Searched> {
        if !self.candidates.pairs_are_feasible(self.task) {
            return None;
        }
        let mut found = Vec::new();
        self.candidates.each_pair(self.task, |candidate| found.extend(self.fit(candidate)));
        Some(self.closest(found, self.candidates.count_pairs()))
    }

    /// The candidate under the first reading that it fits.
    fn fit(&self, candidate: &Candidate) -> Option<Fit> {
        let fits = |(reading, part)| {
            let (residual, log_chance) = self.evidence(candidate, part)?;
            Some((residual, log_chance, reading))
        };
        let (residual, log_chance, reading) = self.readings.iter().enumerate().find_map(fits)?;
        let leaves = self.earlier.iter().all(|part| self.leaves(candidate, part));
        leaves.then(|| Fit { candidate: candidate.clone(), residual, reading, log_chance })
    }

    /// The largest difference that remains, and how likely chance would do as well. Equal numbers are one piece of evidence,
    /// however often they stand there.
    fn evidence(&self, candidate: &Candidate, part: &Part<'_>) -> Option<(f64, f64)> {
        let mut largest = 0.0_f64;
        let mut shares: Vec<(u64, f64)> = Vec::new();
        for (node, yours) in &part.matrices {
            let mistaken = candidate.matrix(node)?;
            let allowed = Allowed::between(part.answer, &mistaken, self.tolerance);
            largest = largest.max(residual(yours, &mistaken, allowed)?);
            let right =
                standing_for(self.task.right(), node).filter(|right| right.shape() == mistaken.shape());
            let range = range(yours, &mistaken, right);
            for i in 0..yours.rows() {
                for j in 0..yours.cols() {
                    let near = allowed.around(mistaken[(i, j)]);
                    // Only what tells the mistake from the right answer is evidence for it.
                    if right.is_some_and(|right| distance(mistaken[(i, j)], right[(i, j)]) <= near) {
                        continue;
                    }
                    let own = yours[(i, j)];
                    let share =
                        if own.is_finite() { (2.0 * near / range).clamp(1e-300, 1.0) } else { NOT_FINITE };
                    let kind = if own.is_nan() { f64::NAN.to_bits() } else { own.to_bits() };
                    shares.push((kind, share));
                }
            }
        }
        shares.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        shares.dedup_by_key(|(kind, _)| *kind);
        Some((largest, shares.iter().map(|(_, share)| elementary::ln(*share)).sum()))
    }

    /// Whether the mistake leaves a part that was right as it is; it is looked for with its rows as rows.
    fn leaves(&self, candidate: &Candidate, part: &Part<'_>) -> bool {
        part.matrices.iter().all(|(node, yours)| {
            candidate.upright(node).is_some_and(|mistaken| {
                residual(yours, mistaken, Allowed::between(part.answer, mistaken, self.tolerance)).is_some()
            })
        })
    }

    /// Of what has been found, what fits as well as the closest, one way for each set of mistakes.
    fn closest(&self, found: Vec<Fit>, tried: usize) -> Searched {
        let most = elementary::ln(CHANCE) - elementary::ln(tried.max(1) as f64);
        let (mut telling, by_chance): (Vec<Fit>, Vec<Fit>) =
            found.into_iter().partition(|fit| fit.log_chance <= most);
        telling.sort_by(|a, b| a.residual.total_cmp(&b.residual));
        let best = telling.first().map_or(0.0, |fit| fit.residual);
        let limit = (AS_WELL * best).max(self.smallest_step());
        let mut searched = Searched {
            reading: telling.first().map_or(0, |fit| fit.reading),
            too_few_digits: telling.is_empty() && !by_chance.is_empty(),
            ..Searched::default()
        };
        for Fit { candidate, residual, .. } in telling.into_iter().take_while(|fit| fit.residual <= limit) {
            let named = Named { slips: candidate.slips.clone(), residual, graph: candidate.graph.clone() };
            if !searched.named.iter().any(|known| known.ids() == named.ids()) {
                searched.named.push(named);
                searched.candidates.push(candidate);
            }
        }
        searched
    }

    /// What the student's numbers cannot tell apart.
    fn smallest_step(&self) -> f64 {
        let Some(part) = self.readings.first() else { return 0.0 };
        let rounding = |(node, _): &(String, _)| {
            let expected = standing_for(self.task.right(), node)?;
            Some(Allowed::between(part.answer, expected, self.tolerance).rounding())
        };
        part.matrices.iter().filter_map(rounding).fold(1e-12, f64::max)
    }
}

/// The range over which numbers might have fallen: their spread, or how far the mistake takes them.
fn range(yours: &Matrix, mistaken: &Matrix, right: Option<&Matrix>) -> f64 {
    let moved = right.map_or(0.0, |right| {
        let distances = mistaken.cells().zip(right.cells()).map(|(a, b)| distance(a, b));
        distances.filter(|distance| distance.is_finite()).fold(0.0, f64::max)
    });
    spread(yours).max(right.map_or(0.0, spread)).max(moved).max(f64::MIN_POSITIVE)
}

/// Whether all of these are rounding to whole numbers, which leaves so little of them that other explanations come first.
pub(super) fn only_whole_numbers(named: &[Named]) -> bool {
    let whole = |named: &Named| {
        named.slips.iter().any(|slip| slip.detail.as_deref() == Some(super::catalogue::TO_WHOLE_NUMBERS))
    };
    !named.is_empty() && named.iter().all(whole)
}
