//! The exercise computed again with every mistake put in, and with pairs of the likeliest.

use std::sync::{Arc, OnceLock};

use crate::graph::Graph;
use crate::graph::recipes::{Hiding, Scale};

use super::candidates::{Candidate, Places, Planned};
use super::catalogue::{Likelihood, Mistake, Way, catalogue};
use super::kept::{Kept, Numbers, Row};
use super::task::empty_rows;
use super::{Change, Slip, Task};

/// A computation: which mistakes are in it, and what else goes with them.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    ways: [Option<usize>; 2],
    further: Option<Change>,
}

impl Plan {
    fn of(ways: [Option<usize>; 2]) -> Plan {
        Plan { ways, further: None }
    }
}

/// A way to make a mistake.
struct Made {
    slip: Slip,
    changes: Vec<Change>,
    /// Whether every class makes it.
    classic: bool,
}

/// Every way to make a mistake in an exercise.
pub(super) struct Ways {
    all: Vec<Made>,
    /// Whether what they give is kept for the next submission.
    kept: bool,
}

/// Every mistake in an exercise, alone and in pairs.
pub(super) struct Candidates {
    ways: Ways,
    /// Which of the ways change anything by themselves, the likeliest first.
    alone: Vec<usize>,
    /// Which of them every class makes.
    classic: Vec<usize>,
    /// Every operator at every stage, where no mistake has a name of its own for it.
    general: Vec<usize>,
    singles: Kept,
    generals: Kept,
    pairs: Kept,
    temperatures: Kept,
    even: OnceLock<Graph>,
    pair_count: OnceLock<usize>,
}

/// Mistakes are only tried if that takes at most this many multiplications, some seconds' worth; but those that every class
/// makes are tried alone in any case.
const MOST_WORK: usize = 10_000_000_000;

impl Candidates {
    pub(super) fn of(task: &Task) -> Candidates {
        let mut ways = Vec::new();
        let (mut alone, mut general): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for mistake in catalogue() {
            for way in (mistake.ways)(task.recipe(), task.facts()) {
                let Way { changes, detail, slip, fix, alone: is_alone, rare, general: is_general } = way;
                if is_general {
                    general.push(ways.len());
                } else if is_alone {
                    alone.push(ways.len());
                }
                let classic = mistake.likelihood == Likelihood::Classic && !rare && !is_general;
                ways.push(Made { slip: Slip { mistake, detail, slip, fix }, changes, classic });
            }
        }
        general.retain(|&way| !alone.iter().any(|&known| ways[known].changes == ways[way].changes));
        let likelihood = |way: usize| ways[way].slip.mistake.likelihood;
        alone.sort_by_key(|&way| likelihood(way));
        if alone.len().saturating_mul(task.work()) > MOST_WORK {
            alone.retain(|&way| likelihood(way) == Likelihood::Classic);
        }
        let classic = (0..ways.len()).filter(|&way| ways[way].classic).collect();
        Candidates {
            ways: Ways { all: ways, kept: true },
            alone,
            classic,
            general,
            singles: Kept::default(),
            generals: Kept::default(),
            pairs: Kept::default(),
            temperatures: Kept::default(),
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

    /// How many ways there are to make one mistake.
    pub(super) fn count_singles(&self) -> usize {
        self.alone.len()
    }

    /// How many ways there are to do anything at any stage that have no name of their own.
    pub(super) fn count_general(&self) -> usize {
        self.general.len()
    }

    /// Whether trying all of these stays within the work of a second.
    pub(super) fn general_is_feasible(&self, task: &Task) -> bool {
        self.general.len().saturating_mul(task.work()) <= MOST_WORK / 4
    }

    /// How many pairs there are.
    pub(super) fn count_pairs(&self) -> usize {
        *self.pair_count.get_or_init(|| self.two_ways().count())
    }

    /// Whether trying all pairs stays within the work of some seconds.
    pub(super) fn pairs_are_feasible(&self, task: &Task) -> bool {
        self.count_pairs().saturating_mul(task.work()) <= MOST_WORK
    }

    /// Computes what the nodes are in every single mistake, as far as that can be kept.
    pub(super) fn prepare(&self, task: &Task, nodes: &[String]) {
        self.singles.prepared((&self.ways, task), nodes, &|| self.single_plans());
    }

    /// Visits the exercise with each mistake in it, in every way, the likeliest mistakes first.
    pub(super) fn each_single(&self, task: &Task, nodes: &[String], visit: impl FnMut(&Row<'_>)) {
        self.singles.each((&self.ways, task), nodes, &|| self.single_plans(), visit);
    }

    /// Visits the exercise with each operator at each stage.
    pub(super) fn each_general(&self, task: &Task, nodes: &[String], visit: impl FnMut(&Row<'_>)) {
        let plans = || self.general.iter().map(|&way| Plan::of([Some(way), None])).collect();
        self.generals.each((&self.ways, task), nodes, &plans, visit);
    }

    /// Visits the exercise with each pair of mistakes in it that every class makes.
    pub(super) fn each_pair(&self, task: &Task, nodes: &[String], visit: impl FnMut(&Row<'_>)) {
        let plans = || self.two_ways().map(|[a, b]| Plan::of([Some(a), Some(b)])).collect();
        self.pairs.each((&self.ways, task), nodes, &plans, visit);
    }

    /// Visits the exercise at temperatures from a thousandth to a thousand times the right one, twelve to a factor of 10; not
    /// where that would take too long.
    pub(super) fn each_temperature(
        &self,
        task: &Task,
        nodes: &[String],
        mut visit: impl FnMut(f64, &Row<'_>),
    ) {
        const EACH_WAY: i32 = 36;
        let count = 2 * EACH_WAY as usize + 1;
        if count.saturating_mul(task.work()) > MOST_WORK / 10 {
            return;
        }
        let plans = || {
            let at = |step: i32| {
                let times = crate::elementary::pow(10.0, f64::from(step) / 12.0);
                let further = Some(Change::Temperature(task.recipe().temperature * times));
                Plan { ways: [None; 2], further }
            };
            (-EACH_WAY..=EACH_WAY).map(at).collect()
        };
        self.temperatures.each((&self.ways, task), nodes, &plans, |row| {
            if let Some(Change::Temperature(temperature)) = row.plan.further {
                visit(temperature, row);
            }
        });
    }

    /// The exercise with equal weights for all visible keys.
    pub(super) fn even(&self, task: &Task) -> &Graph {
        self.even.get_or_init(|| task.with([&Change::Scale(Scale::Number(0.0))]))
    }

    /// The mistake in a plan, if it is one.
    pub(super) fn mistake(&self, plan: &Plan) -> Option<&'static Mistake> {
        plan.ways[0].map(|way| self.ways.all[way].slip.mistake)
    }

    /// What a plan stands for.
    pub(super) fn planned(&self, task: &Task, plan: &Plan) -> Planned {
        let slips = plan.ways.iter().flatten().map(|&way| self.ways.all[way].slip.clone()).collect();
        Planned::new(task.recipe(), slips, self.ways.changes(plan))
    }

    fn single_plans(&self) -> Vec<Plan> {
        self.alone.iter().map(|&way| Plan::of([Some(way), None])).collect()
    }

    /// Pairs of classic mistakes; and every mistake with a missing guard, where there is something to guard.
    fn two_ways(&self) -> impl Iterator<Item = [usize; 2]> {
        let ways = &self.ways.all;
        let unguarded = (0..ways.len()).filter(|&way| ways[way].changes == [Change::Unguarded]);
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
                first.slip.mistake.id != second.slip.mistake.id
                    && !share_a_field(&first.changes, &second.changes)
            };
            others.filter(can_meet).map(move |second| [first, second])
        })
    }
}

impl Planned {
    /// The computation itself.
    pub(super) fn computed(self, task: &Task) -> Candidate {
        let graph = Arc::new(task.with(self.changes()));
        Candidate { planned: self, graph }
    }
}

impl Ways {
    /// Whether what they give is kept for the next submission.
    pub(super) fn are_kept(&self) -> bool {
        self.kept
    }

    /// All changes of a plan.
    fn changes(&self, plan: &Plan) -> Vec<Change> {
        let ways = plan.ways.iter().flatten().flat_map(|&way| &self.all[way].changes);
        ways.chain(&plan.further).copied().collect()
    }

    /// The computation of a plan.
    pub(super) fn computed(&self, task: &Task, plan: &Plan) -> Graph {
        task.with(&self.changes(plan))
    }

    /// The computation of a plan; where its mistakes leave further rows with nothing to attend to, with the guard for them and
    /// in the ways of those who have none.
    pub(super) fn made(&self, task: &Task, plan: &Plan) -> Vec<(Plan, Graph)> {
        let changes = self.changes(plan);
        let graph = task.with(&changes);
        let is_emptied = empty_rows(&graph) > task.facts().empty_rows;
        let mut all = vec![(plan.clone(), graph)];
        if is_emptied {
            // Without a guard such a row is NaN; where −1e9 stands for −∞, all its keys weigh the same.
            for other in [Change::Unguarded, Change::Hiding(Hiding::Replaced(-1e9))] {
                if !changes.iter().any(|change| change.same_field(&other)) {
                    let with_other = Plan { further: Some(other), ..plan.clone() };
                    let graph = self.computed(task, &with_other);
                    all.push((with_other, graph));
                }
            }
        }
        all
    }

    /// The numbers that a plan's computation has for a node.
    pub(super) fn numbers(&self, task: &Task, plan: &Plan, graph: &Graph, node: &str) -> Option<Numbers> {
        let places = Places::of(task.recipe(), &self.changes(plan));
        Some(Numbers::of(places.matrix(graph, node)?.into_owned()))
    }
}

fn share_a_field(a: &[Change], b: &[Change]) -> bool {
    a.iter().any(|a| b.iter().any(|b| a.same_field(b)))
}
