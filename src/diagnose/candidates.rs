//! The exercise computed again with every mistake put in, and with pairs of the likeliest.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::graph::Graph;
use crate::graph::build::{Comparison, Hiding, Recipe, Role, Source};
use crate::matrix::Matrix;

use super::catalogue::{Likelihood, Mistake, Way, catalogue};
use super::task::empty_rows;
use super::{Change, Task};

/// A mistake, and the way in which it was made where there are several.
#[derive(Clone, Debug)]
pub struct Slip {
    /// The mistake.
    pub mistake: &'static Mistake,
    /// What tells this way from others: “to 2 decimals”.
    pub detail: Option<String>,
    /// What was done in this way, where the mistake's own sentence says less.
    slip: Option<String>,
    /// What to do about it, where the mistake's own fix says less.
    fix: Option<String>,
}

impl Slip {
    /// A mistake made in some way that only a detail tells.
    pub(super) fn detailed(mistake: &'static Mistake, detail: Option<String>) -> Slip {
        Slip { mistake, detail, slip: None, fix: None }
    }

    /// What was done, in one sentence: “The scores were rounded before the softmax (to 2 decimals).”
    pub fn sentence(&self) -> String {
        match (&self.slip, &self.detail) {
            (Some(slip), _) => slip.clone(),
            (None, Some(detail)) => format!("{} ({detail}).", self.mistake.slip.trim_end_matches('.')),
            (None, None) => self.mistake.slip.to_string(),
        }
    }

    /// The same with other sentences.
    pub(super) fn saying(self, slip: String, fix: Option<String>) -> Slip {
        Slip { slip: Some(slip), fix, ..self }
    }

    /// What to do about it, in one line.
    pub fn fix(&self) -> &str {
        self.fix.as_deref().unwrap_or(self.mistake.fix)
    }
}

/// The exercise with one mistake in it, or two.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// What was done.
    pub slips: Vec<Slip>,
    /// What was changed.
    changes: Vec<Change>,
    /// What it gives, as far as it goes.
    pub graph: Arc<Graph>,
    /// Whether its matrices are handed in with their rows as columns.
    pub transposed: bool,
    /// What is taken for what: keys for values.
    standing_in: Vec<(&'static str, &'static str)>,
}

impl Candidate {
    /// A computation that was found by solving for a number, not by trying.
    pub(super) fn fitted(slip: Slip, graph: Graph) -> Candidate {
        let graph = Arc::new(graph);
        Candidate {
            slips: vec![slip],
            changes: Vec::new(),
            graph,
            transposed: false,
            standing_in: Vec::new(),
        }
    }

    /// The numbers that take a node's place.
    pub(super) fn matrix(&self, node: &str) -> Option<Cow<'_, Matrix>> {
        let matrix = self.upright(node)?;
        Some(if self.transposed { Cow::Owned(matrix.transposed()) } else { Cow::Borrowed(matrix) })
    }

    /// The same with rows as rows.
    pub(super) fn upright(&self, node: &str) -> Option<&Matrix> {
        if self.standing_in.is_empty() {
            return standing_for(&self.graph, node);
        }
        let (step, head) = step_and_head(node);
        match self.standing_in.iter().find(|(taken, _)| *taken == step) {
            Some((_, other)) => standing_for(&self.graph, &format!("{other}{head}")),
            None => standing_for(&self.graph, node),
        }
    }

    /// A node as it was before something was done to it that attention does not do, or after it.
    pub(super) fn beside(&self, node: &str) -> Option<&Matrix> {
        let other = |suffix: &str| self.graph[self.graph.find(&format!("{node}{suffix}"))?].matrix();
        other("_before").or_else(|| other("_altered"))
    }

    /// Whether it changes all that another one changes, and something more.
    pub(super) fn goes_beyond(&self, other: &Candidate) -> bool {
        let less = !other.changes.is_empty() && other.changes.len() < self.changes.len();
        less && other.changes.iter().all(|change| self.changes.contains(change))
    }

    /// How likely the mistakes are, the likeliest first.
    pub(super) fn likelihood(&self) -> (usize, Likelihood) {
        let rarest = self.slips.iter().map(|slip| slip.mistake.likelihood).max();
        (self.slips.len(), rarest.unwrap_or(Likelihood::Rare))
    }
}

/// The matrix of a node, or of the step before it where the computation leaves the node out.
pub(super) fn standing_for<'a>(graph: &'a Graph, node: &str) -> Option<&'a Matrix> {
    const STEPS: [&str; 5] = ["S_masked", "S_tempered", "S_biased", "S_scaled", "S"];
    if node == "O" {
        return graph[graph.find(node)?].matrix();
    }
    let (step, head) = step_and_head(node);
    // Weights that are rounded before they mix are what a student takes for the weights.
    let rounded = (step == "A").then(|| graph.find(&format!("A_rounded{head}"))).flatten();
    let own = rounded.or_else(|| graph.find(node));
    let place = STEPS.iter().position(|known| *known == step);
    let earlier =
        || place.and_then(|at| STEPS[at + 1..].iter().find_map(|step| graph.find(&format!("{step}{head}"))));
    let result = || matches!(node, "C" | "P").then(|| graph.find("O")).flatten();
    graph[own.or_else(earlier).or_else(result)?].matrix()
}

/// `S_scaled` and `_2` for `S_scaled_2`.
pub(super) fn step_and_head(node: &str) -> (&str, &str) {
    let head_at = node.rfind('_').filter(|&at| node[at + 1..].bytes().all(|b| b.is_ascii_digit()));
    node.split_at(head_at.unwrap_or(node.len()))
}

/// Every mistake in an exercise, alone and in pairs. Where there is room for all of them they are kept for the next
/// submission, else computed for each anew.
pub(super) struct Candidates {
    ways: Vec<Made>,
    /// Which of the ways change anything by themselves, the likeliest first.
    alone: Vec<usize>,
    /// Which of them every class makes.
    classic: Vec<usize>,
    singles: OnceLock<Vec<Candidate>>,
    pairs: OnceLock<Vec<Candidate>>,
    temperatures: OnceLock<Vec<(f64, Graph)>>,
}

/// A way to make a mistake.
struct Made {
    slip: Slip,
    changes: Vec<Change>,
    /// Whether every class makes it.
    classic: bool,
}

/// Mistakes are only tried if that takes at most so many multiplications, some seconds' worth; but those that every class makes
/// are tried alone in any case.
const MOST_WORK: usize = 10_000_000_000;
/// Candidates are kept for the next submission if they are at most so many numbers.
const MOST_KEPT: usize = 40_000_000;

impl Candidates {
    pub(super) fn of(task: &Task) -> Candidates {
        let mut ways = Vec::new();
        let mut alone: Vec<usize> = Vec::new();
        for mistake in catalogue() {
            for way in (mistake.ways)(task.recipe(), task.facts()) {
                let Way { changes, detail, slip, fix, alone: is_alone, rare } = way;
                if is_alone {
                    alone.push(ways.len());
                }
                let classic = mistake.likelihood == Likelihood::Classic && !rare;
                ways.push(Made { slip: Slip { mistake, detail, slip, fix }, changes, classic });
            }
        }
        let likelihood = |way: usize| ways[way].slip.mistake.likelihood;
        alone.sort_by_key(|&way| likelihood(way));
        if alone.len().saturating_mul(task.work()) > MOST_WORK {
            alone.retain(|&way| likelihood(way) == Likelihood::Classic);
        }
        let classic = (0..ways.len()).filter(|&way| ways[way].classic).collect();
        Candidates {
            ways,
            alone,
            classic,
            singles: OnceLock::new(),
            pairs: OnceLock::new(),
            temperatures: OnceLock::new(),
        }
    }

    /// How many ways there are to make one mistake.
    pub(super) fn count_singles(&self) -> usize {
        self.alone.len()
    }

    /// How many pairs there are.
    pub(super) fn count_pairs(&self) -> usize {
        self.two_ways().count()
    }

    /// Whether so many runs are to be expected of anyone.
    pub(super) fn pairs_are_feasible(&self, task: &Task) -> bool {
        self.count_pairs().saturating_mul(task.work()) <= MOST_WORK
    }

    /// Visits the exercise with each mistake in it, in every way, the likeliest mistakes first.
    pub(super) fn each_single<'a>(&'a self, task: &'a Task, visit: impl FnMut(&Candidate)) {
        let all = || self.alone.iter().flat_map(|&way| made(task, &[&self.ways[way]]));
        each(&self.singles, self.count_singles(), all, task, visit);
    }

    /// Visits the exercise with each pair of mistakes in it that every class makes.
    pub(super) fn each_pair(&self, task: &Task, visit: impl FnMut(&Candidate)) {
        let all = || self.two_ways().flat_map(|pair| made(task, &pair));
        each(&self.pairs, self.count_pairs(), all, task, visit);
    }

    /// The exercise at temperatures from a thousandth to a thousand times the right one, twelve to a factor of 10; none where
    /// that would take too long.
    pub(super) fn temperatures(&self, task: &Task) -> Option<&[(f64, Graph)]> {
        const EACH_WAY: i32 = 36;
        let count = 2 * EACH_WAY as usize + 1;
        if count.saturating_mul(task.work()) > MOST_WORK / 10 {
            return None;
        }
        let all = || {
            let at = |step: i32| {
                let times = crate::elementary::pow(10.0, f64::from(step) / 12.0);
                let temperature = task.recipe().temperature * times;
                (temperature, task.with([&Change::Temperature(temperature)]))
            };
            (-EACH_WAY..=EACH_WAY).map(at).collect()
        };
        Some(self.temperatures.get_or_init(all))
    }

    /// Pairs of classic mistakes; and every mistake with a missing guard, where there is something to guard.
    fn two_ways(&self) -> impl Iterator<Item = [&Made; 2]> {
        let unguarded = self.ways.iter().filter(|way| way.changes == [Change::Unguarded]);
        let others = unguarded.flat_map(|unguarded| {
            let rare = self.alone.iter().map(|&way| &self.ways[way]).filter(|way| !way.classic);
            rare.map(move |way| [way, unguarded])
        });
        self.two_classic_ways().chain(others)
    }

    fn two_classic_ways(&self) -> impl Iterator<Item = [&Made; 2]> {
        self.classic.iter().enumerate().flat_map(|(i, &first)| {
            let first = &self.ways[first];
            let others = self.classic[i + 1..].iter().map(|&second| &self.ways[second]);
            others
                .filter(|second| {
                    first.slip.mistake.id != second.slip.mistake.id
                        && !share_a_field(&first.changes, &second.changes)
                })
                .map(move |second| [first, second])
        })
    }
}

fn share_a_field(a: &[Change], b: &[Change]) -> bool {
    a.iter().any(|a| b.iter().any(|b| a.same_field(b)))
}

/// Visits all candidates, from where they are kept, or as they are made.
fn each<All: Iterator<Item = Candidate>>(
    kept: &OnceLock<Vec<Candidate>>,
    count: usize,
    all: impl Fn() -> All,
    task: &Task,
    visit: impl FnMut(&Candidate),
) {
    let sizes = task.right().nodes().filter_map(|(_, node)| node.matrix()).map(|m| m.rows() * m.cols());
    if sizes.sum::<usize>().saturating_mul(count) > MOST_KEPT {
        let mut visit = visit;
        return all().for_each(|candidate| visit(&candidate));
    }
    kept.get_or_init(|| all().collect()).iter().for_each(visit);
}

/// The exercise with these mistakes in it; where they leave further rows with nothing to attend to, with the guard for them
/// and in the ways of those who have none.
fn made(task: &Task, ways: &[&Made]) -> Vec<Candidate> {
    let slips: Vec<Slip> = ways.iter().map(|way| way.slip.clone()).collect();
    let changes = || ways.iter().flat_map(|way| &way.changes);
    let transposed = changes().any(|change| *change == Change::Transposed);
    let standing_in = standing_in(task.recipe(), changes());
    let candidate = |graph| Candidate {
        slips: slips.clone(),
        changes: changes().copied().collect(),
        graph: Arc::new(graph),
        transposed,
        standing_in: standing_in.clone(),
    };
    let graph = task.with(changes());
    let mut all = Vec::new();
    if empty_rows(&graph) > task.facts().empty_rows {
        // Without a guard such a row is NaN; where −1e9 stands for −∞, all its keys weigh the same.
        for other in [Change::Unguarded, Change::Hiding(Hiding::Replaced(-1e9))] {
            if !changes().any(|change| change.same_field(&other)) {
                let with_other: Vec<Change> = changes().copied().chain([other]).collect();
                all.push(candidate(task.with(&with_other)));
            }
        }
    }
    all.insert(0, candidate(graph));
    all
}

/// What is taken for what with these changes.
fn standing_in<'a>(
    recipe: &Recipe,
    changes: impl Iterator<Item = &'a Change> + Clone,
) -> Vec<(&'static str, &'static str)> {
    let mut recipe = *recipe;
    changes.for_each(|change| change.put_into(&mut recipe));
    let name = |role: Role| match role {
        Role::Query => "Q",
        Role::Key => "K",
        Role::Value => "V",
    };
    let mut pairs = Vec::new();
    for role in [Role::Query, Role::Key, Role::Value] {
        match recipe.roles.of(role) {
            Source::Of(other) => pairs.push((name(role), name(other))),
            Source::Tokens => pairs.push((name(role), "X")),
            Source::Own | Source::Transposed => {}
        }
    }
    if pairs.is_empty() && recipe.comparison == Comparison::KeysWithQueries {
        pairs = vec![("Q", "K"), ("K", "Q")];
    }
    pairs
}
