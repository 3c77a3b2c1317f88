//! The exercise computed again with every mistake put in, and with pairs of the likeliest.

use std::sync::OnceLock;

use crate::elementary;
use crate::graph::Graph;
use crate::graph::recipes::{Alter, Alteration, Change, Hiding, Scale, Site};

use super::answer::Part;
use super::cache::{Cache, Probe, Row};
use super::candidates::{MistakeWay, Plan, Variant, Ways, standing_for};
use super::catalogue::{Likelihood, Mistake, Way, catalogue};
use super::{Slip, Task};

/// Every mistake in an exercise, alone and in pairs.
pub(super) struct Candidates {
    ways: Ways,
    /// The ways that change something by themselves, the likeliest first.
    alone: Vec<usize>,
    /// Those of them that every class makes.
    classic: Vec<usize>,
    /// Every operator at every stage, where no mistake has a name of its own for it.
    general: Vec<usize>,
    /// The computations of each list.
    lists: [Cache; 4],
    numbers: [Cache; 3],
    even: OnceLock<Graph>,
    pair_count: OnceLock<usize>,
}

/// The candidates of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CandidateList {
    /// Every mistake by itself, in every way, the likeliest first.
    Singles,
    /// Of these the mistakes that every class makes.
    Classic,
    /// Every operator at every stage that is no way of these.
    General,
    /// Pairs of the mistakes that every class makes.
    Pairs,
}

/// Mistakes are only tried if that takes at most this many multiplications, some seconds' worth; but those that every class
/// makes are tried alone in any case.
const MOST_WORK: u64 = 10_000_000_000;

impl Candidates {
    pub(super) fn of(task: &Task) -> Candidates {
        let mut ways = Vec::new();
        let (mut alone, mut general): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for mistake in catalogue() {
            // A fault in the data is found by tests: a mistake that cannot be read is not looked for.
            for way in mistake.ways(task).unwrap_or_default() {
                let way = way.with_coincidence(mistake.slip, task.recipe(), task.facts());
                let Way { changes, detail, slip, fix, alone: is_alone, rare, general: is_general } = way;
                if is_general {
                    general.push(ways.len());
                } else if is_alone {
                    alone.push(ways.len());
                }
                let classic = mistake.likelihood == Likelihood::Classic && !rare && !is_general;
                ways.push(MistakeWay { slip: Slip { mistake, detail, slip, fix }, changes, classic });
            }
        }
        let is_alteration = |way: &usize| matches!(ways[*way].changes[..], [Change::Alteration(_)]);
        let named: Vec<usize> = alone.iter().copied().filter(is_alteration).collect();
        general.retain(|&way| !named.iter().any(|&known| ways[known].changes == ways[way].changes));
        let likelihood = |way: usize| ways[way].slip.mistake.likelihood;
        alone.sort_by_key(|&way| likelihood(way));
        if alone.len().saturating_mul(task.work()) as u64 > MOST_WORK {
            alone.retain(|&way| likelihood(way) == Likelihood::Classic);
        }
        let classic = (0..ways.len()).filter(|&way| ways[way].classic).collect();
        Candidates {
            ways: Ways { all: ways, kept: true },
            alone,
            classic,
            general,
            lists: Default::default(),
            numbers: Default::default(),
            even: OnceLock::new(),
            pair_count: OnceLock::new(),
        }
    }

    /// The same for an exercise that is judged once: nothing is kept.
    pub(super) fn once(task: &Task) -> Candidates {
        let mut candidates = Candidates::of(task);
        candidates.ways.kept = false;
        candidates
    }

    /// The same for one part of a submission: of the operators at every stage, only those at a stage that reaches the part.
    pub(super) fn once_for(task: &Task, part: &Part<'_>) -> Candidates {
        let mut candidates = Candidates::once(task);
        let (ways, mut known): (&[MistakeWay], Vec<(Site, bool)>) = (&candidates.ways.all, Vec::new());
        candidates.general.retain(|&way| {
            let [Change::Alteration(Alteration { stage, .. })] = ways[way].changes[..] else { return true };
            if let Some((_, is_reached)) = known.iter().find(|(other, _)| *other == stage) {
                return *is_reached;
            }
            known.push((stage, reaches(task, stage, part)));
            known.last().is_some_and(|(_, is_reached)| *is_reached)
        });
        candidates
    }

    /// Visits the computations of a list with a number near one of the probes, and perhaps others, in order.
    pub(super) fn each_near(
        &self,
        list: CandidateList,
        task: &Task,
        (nodes, probes): (&[String], &[Probe<'_>]),
        visit: impl FnMut(&Row<'_>),
    ) {
        self.lists[list as usize].each_near((&self.ways, task), (nodes, probes), &|| self.plans(list), visit);
    }

    /// The number of ways, or pairs of ways, in a list.
    pub(super) fn count(&self, list: CandidateList) -> usize {
        match list {
            CandidateList::Singles => self.alone.len(),
            CandidateList::Classic => self.classic_alone().count(),
            CandidateList::General => self.general.len(),
            CandidateList::Pairs => *self.pair_count.get_or_init(|| self.two_ways().count()),
        }
    }

    /// Whether trying all of a list stays within the work of some seconds.
    pub(super) fn is_feasible(&self, list: CandidateList, task: &Task) -> bool {
        let work = self.count(list).saturating_mul(task.work()) as u64;
        match list {
            CandidateList::Singles | CandidateList::Classic => true,
            CandidateList::General => work <= MOST_WORK / 4,
            CandidateList::Pairs => work <= MOST_WORK,
        }
    }

    /// Visits all computations of a list.
    pub(super) fn each(
        &self,
        list: CandidateList,
        task: &Task,
        nodes: &[String],
        visit: impl FnMut(&Row<'_>),
    ) {
        self.lists[list as usize].each((&self.ways, task), nodes, &|| self.plans(list), visit);
    }

    /// Visits the exercise with the usual values of one number, in order; not where that would take too long.
    pub(super) fn each_number(
        &self,
        of: Number,
        task: &Task,
        nodes: &[String],
        mut visit: impl FnMut(f64, &Row<'_>),
    ) {
        let grid = of.grid(task);
        if grid.len().saturating_mul(task.work()) as u64 > MOST_WORK / 10 {
            return;
        }
        let plans = || {
            let plan = |&value: &f64| Plan { ways: [None; 2], further: Some(of.change(value)) };
            grid.iter().map(plan).collect()
        };
        self.numbers[of as usize].each((&self.ways, task), nodes, &plans, |row| {
            let value = grid.iter().find(|value| row.plan.further == Some(of.change(**value)));
            if let Some(value) = value {
                visit(*value, row);
            }
        });
    }

    /// The exercise with equal weights for all visible keys.
    pub(super) fn even(&self, task: &Task) -> &Graph {
        self.even.get_or_init(|| task.with([&Change::setting("scale", Scale::Number(0.0))]))
    }

    /// The mistake in a plan, if it is one.
    pub(super) fn mistake(&self, plan: &Plan) -> Option<&'static Mistake> {
        plan.ways[0].map(|way| self.ways.all[way].slip.mistake)
    }

    /// The variant of a plan.
    pub(super) fn variant(&self, task: &Task, plan: &Plan) -> Variant {
        let slips = plan.ways.iter().flatten().map(|&way| self.ways.all[way].slip.clone()).collect();
        Variant::new(task.recipe(), slips, self.ways.changes(plan))
    }

    fn plans(&self, list: CandidateList) -> Vec<Plan> {
        let single = |&way: &usize| Plan::of([Some(way), None]);
        match list {
            CandidateList::Singles => self.alone.iter().map(single).collect(),
            CandidateList::Classic => self.classic_alone().map(single).collect(),
            CandidateList::General => self.general.iter().map(single).collect(),
            CandidateList::Pairs => self.two_ways().map(|[a, b]| Plan::of([Some(a), Some(b)])).collect(),
        }
    }

    /// The ways to make a mistake by itself that every class makes.
    fn classic_alone(&self) -> impl Iterator<Item = &usize> {
        let ways = &self.ways.all;
        self.alone.iter().filter(|way| ways[**way].slip.mistake.likelihood == Likelihood::Classic)
    }

    /// Pairs of classic mistakes; and every mistake with a missing guard, where there is something to guard.
    fn two_ways(&self) -> impl Iterator<Item = [usize; 2]> {
        let ways = &self.ways.all;
        let missing = [Change::setting("guarded", false)];
        let unguarded = (0..ways.len()).filter(move |&way| ways[way].changes == missing);
        let others = unguarded.flat_map(move |unguarded| {
            let rare = self.alone.iter().copied().filter(move |&way| !ways[way].classic);
            rare.map(move |way| [way, unguarded])
        });
        self.two_classic_ways().chain(others)
    }

    fn two_classic_ways(&self) -> impl Iterator<Item = [usize; 2]> {
        let ways = &self.ways.all;
        self.classic.iter().enumerate().flat_map(move |(i, &first)| {
            let others = self.classic[i + 1..].iter().copied();
            let can_meet = move |&second: &usize| {
                let (first, second) = (&ways[first], &ways[second]);
                // Who is wrong forward and backward is told of the first alone.
                first.slip.mistake.id != second.slip.mistake.id
                    && is_backward(&first.changes) == is_backward(&second.changes)
                    && !share_a_field(&first.changes, &second.changes)
            };
            others.filter(can_meet).map(move |second| [first, second])
        })
    }
}

/// Whether these changes are in the backward pass.
fn is_backward(changes: &[Change]) -> bool {
    changes.iter().any(Change::is_backward)
}

/// Whether an alteration at this site changes the numbers of a part.
fn reaches(task: &Task, stage: Site, part: &Part<'_>) -> bool {
    let altered = task.with([&Change::Alteration(Alteration { stage, alter: Alter::Times(3.0) })]);
    let is_changed = |node: &str| match (standing_for(&altered, node), standing_for(task.right(), node)) {
        (Some(altered), Some(right)) => !altered.same_bits(right),
        _ => true,
    };
    part.matrices.iter().any(|(node, _)| is_changed(node))
}

fn share_a_field(a: &[Change], b: &[Change]) -> bool {
    a.iter().any(|a| b.iter().any(|b| a.same_field(b)))
}

// A number of the exercise that a result may have otherwise, and the values that are tried for it.

/// A choice of the exercise that is one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// The temperature; it is looked for by its logarithm.
    Temperature,
    /// What is written into the hidden scores.
    Written,
    /// What is added to them.
    Added,
}

impl Number {
    /// The values to try, in order: temperatures from a thousandth to a thousand times the right one, twelve to a factor of 10;
    /// numbers from 3 down to what hides as well as −∞.
    pub(super) fn grid(self, task: &Task) -> Vec<f64> {
        const EACH_WAY: i32 = 36;
        let down_to = |hides: f64| {
            let hides = if hides.is_finite() { hides.clamp(-60.0, 3.0) } else { 3.0 };
            (0..).map(|step| 3.0 - f64::from(step)).take_while(|number| *number > hides - 1.0).collect()
        };
        match self {
            Number::Temperature => {
                let step = elementary::ln(10.0) / 12.0;
                let right = elementary::ln(task.recipe().temperature);
                (-EACH_WAY..=EACH_WAY).map(|count| right + f64::from(count) * step).collect()
            }
            Number::Written => down_to(task.facts().hides_written),
            Number::Added => down_to(task.facts().hides_added),
        }
    }

    /// The exercise with this value.
    pub(super) fn change(self, value: f64) -> Change {
        match self {
            Number::Temperature => Change::setting("temperature", elementary::exp(value)),
            Number::Written => Change::setting("hiding", Hiding::Replaced(value)),
            Number::Added => Change::setting("hiding", Hiding::Added(value)),
        }
    }
}
