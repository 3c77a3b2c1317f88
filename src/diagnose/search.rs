//! Which mistakes give these numbers: first every one alone, then every pair.

use crate::elementary;

use super::answer::Part;
use super::candidates::{Candidate, Candidates, standing_for};
use super::compare::{Allowed, distance, residual, spread};
use super::diagnosis::Named;
use super::{Task, Tolerance};

/// What was found.
pub(super) struct Searched {
    /// The mistakes that fit, the closest first.
    pub named: Vec<Named>,
    /// Whether some fitted that chance would have fitted as well.
    pub too_few_digits: bool,
    /// Whether pairs were looked at where no single mistake fits.
    pub pairs_tried: bool,
}

/// So likely may it be at most that numbers without any meaning fit one of all candidates.
const CHANCE: f64 = 0.01;
/// NaN and infinities hardly ever stand in one cell by chance and not in another.
const NOT_FINITE: f64 = 1e-4;
/// A mistake fits as well as the closest one if what remains is at most so many times as large.
const AS_WELL: f64 = 10.0;

/// Looks for the mistakes that give a part, and leave what was right before it as it was.
pub(super) fn search(
    task: &Task,
    candidates: &Candidates,
    tolerance: &Tolerance,
    part: &Part<'_>,
    earlier: &[Part<'_>],
) -> Searched {
    let mut fitting = Fitting { task, tolerance, part, earlier, found: Vec::new() };
    candidates.each_single(task, |candidate| fitting.consider(candidate));
    let singles = fitting.closest(candidates.count_singles());
    if !singles.named.is_empty() {
        return singles;
    }
    if !candidates.pairs_are_feasible(task) {
        return Searched { pairs_tried: false, ..singles };
    }
    fitting.found.clear();
    candidates.each_pair(task, |candidate| fitting.consider(candidate));
    let pairs = fitting.closest(candidates.count_pairs());
    Searched { too_few_digits: pairs.too_few_digits || singles.too_few_digits, ..pairs }
}

/// A candidate that fits.
struct Fit {
    named: Named,
    /// The natural logarithm of how likely meaningless numbers fit as well.
    log_chance: f64,
}

struct Fitting<'a> {
    task: &'a Task,
    tolerance: &'a Tolerance,
    part: &'a Part<'a>,
    earlier: &'a [Part<'a>],
    found: Vec<Fit>,
}

impl Fitting<'_> {
    fn consider(&mut self, candidate: &Candidate) {
        let Some((residual, log_chance)) = self.fit(candidate) else { return };
        if !self.earlier.iter().all(|part| self.leaves(candidate, part)) {
            return;
        }
        let named = Named { slips: candidate.slips.clone(), residual, graph: candidate.graph.clone() };
        self.found.push(Fit { named, log_chance });
    }

    /// The largest difference that remains, and how likely chance would do as well.
    fn fit(&self, candidate: &Candidate) -> Option<(f64, f64)> {
        let (mut largest, mut log_chance) = (0.0_f64, 0.0);
        for (node, yours) in &self.part.matrices {
            let mistaken = candidate.matrix(node)?;
            let allowed = Allowed::between(self.part.answer, &mistaken, self.tolerance);
            largest = largest.max(residual(yours, &mistaken, allowed)?);
            let right =
                standing_for(self.task.right(), node).filter(|right| right.shape() == mistaken.shape());
            let spread = spread(yours).max(right.map_or(0.0, spread));
            for i in 0..yours.rows() {
                for j in 0..yours.cols() {
                    let near = allowed.around(mistaken[(i, j)]);
                    // Only what tells the mistake from the right answer is evidence for it.
                    if right.is_some_and(|right| distance(mistaken[(i, j)], right[(i, j)]) <= near) {
                        continue;
                    }
                    let share = if yours[(i, j)].is_finite() { 2.0 * near / spread } else { NOT_FINITE };
                    log_chance += elementary::ln(share.clamp(1e-300, 1.0));
                }
            }
        }
        Some((largest, log_chance))
    }

    /// Whether the mistake leaves a part that was right as it is; it is looked for with its rows as rows.
    fn leaves(&self, candidate: &Candidate, part: &Part<'_>) -> bool {
        part.matrices.iter().all(|(node, yours)| {
            standing_for(&candidate.graph, node).is_some_and(|mistaken| {
                residual(yours, mistaken, Allowed::between(part.answer, mistaken, self.tolerance)).is_some()
            })
        })
    }

    /// Of what has been found, what fits as well as the closest, one way for each set of mistakes.
    fn closest(&mut self, tried: usize) -> Searched {
        let most = elementary::ln(CHANCE) - elementary::ln(tried.max(1) as f64);
        let (telling, by_chance): (Vec<Fit>, Vec<Fit>) =
            self.found.drain(..).partition(|fit| fit.log_chance <= most);
        let mut named: Vec<Named> = telling.into_iter().map(|fit| fit.named).collect();
        named.sort_by(|a, b| a.residual.total_cmp(&b.residual));
        let best = named.first().map_or(0.0, |named| named.residual);
        let limit = (AS_WELL * best).max(self.smallest_step());
        let mut kept: Vec<Named> = Vec::new();
        for candidate in named.into_iter().take_while(|named| named.residual <= limit) {
            if !kept.iter().any(|known| known.ids() == candidate.ids()) {
                kept.push(candidate);
            }
        }
        Searched { too_few_digits: kept.is_empty() && !by_chance.is_empty(), named: kept, pairs_tried: true }
    }

    /// What the student's numbers cannot tell apart.
    fn smallest_step(&self) -> f64 {
        let rounding = |(node, _): &(String, _)| {
            let expected = standing_for(self.task.right(), node)?;
            Some(Allowed::between(self.part.answer, expected, self.tolerance).rounding())
        };
        self.part.matrices.iter().filter_map(rounding).fold(1e-12, f64::max)
    }
}
