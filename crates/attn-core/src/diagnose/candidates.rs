//! The exercise computed again with every mistake put in, and with every pair of them.

use std::cell::OnceCell;
use std::sync::Arc;

use crate::graph::Graph;
use crate::graph::build::{Comparison, Hiding, Values};
use crate::matrix::Matrix;

use super::catalogue::{Mistake, catalogue};
use super::task::empty_rows;
use super::{Change, Task};

/// A mistake, and the way in which it was made where there are several.
#[derive(Clone, Debug)]
pub struct Slip {
    /// The mistake.
    pub mistake: &'static Mistake,
    /// What tells this way from others: “to 2 decimals”.
    pub detail: Option<String>,
}

/// The exercise with one mistake in it, or two.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// What was done.
    pub slips: Vec<Slip>,
    /// What it gives, as far as it goes.
    pub graph: Arc<Graph>,
    /// Whether its matrices are handed in with their rows as columns.
    pub transposed: bool,
    /// What is taken for what: keys for values.
    standing_in: &'static [(&'static str, &'static str)],
}

impl Candidate {
    /// The numbers that take a node's place.
    pub(super) fn matrix(&self, node: &str) -> Option<Matrix> {
        let matrix = self.upright(node)?;
        Some(if self.transposed { matrix.transposed() } else { matrix.clone() })
    }

    /// The same with rows as rows.
    pub(super) fn upright(&self, node: &str) -> Option<&Matrix> {
        let (step, head) = step_and_head(node);
        match self.standing_in.iter().find(|(taken, _)| *taken == step) {
            Some((_, other)) => standing_for(&self.graph, &format!("{other}{head}")),
            None => standing_for(&self.graph, node),
        }
    }
}

/// The matrix of a node, or of the step before it where the computation leaves the node out.
pub(super) fn standing_for<'a>(graph: &'a Graph, node: &str) -> Option<&'a Matrix> {
    const STEPS: [&str; 5] = ["S_masked", "S_tempered", "S_biased", "S_scaled", "S"];
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
    ways: Vec<(Slip, Vec<Change>)>,
    /// Which of the ways change anything by themselves.
    alone: Vec<usize>,
    singles: OnceCell<Vec<Candidate>>,
    pairs: OnceCell<Vec<Candidate>>,
}

/// Pairs are only tried if that takes at most so many multiplications, some seconds' worth.
const MOST_WORK: usize = 10_000_000_000;
/// Candidates are kept for the next submission if they are at most so many numbers.
const MOST_KEPT: usize = 40_000_000;

impl Candidates {
    pub(super) fn of(task: &Task) -> Candidates {
        let (mut ways, mut alone) = (Vec::new(), Vec::new());
        for mistake in catalogue() {
            for way in (mistake.ways)(task.recipe(), task.facts()) {
                if way.alone {
                    alone.push(ways.len());
                }
                ways.push((Slip { mistake, detail: way.detail }, way.changes));
            }
        }
        Candidates { ways, alone, singles: OnceCell::new(), pairs: OnceCell::new() }
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

    /// Visits the exercise with each mistake in it, in every way.
    pub(super) fn each_single(&self, task: &Task, visit: impl FnMut(&Candidate)) {
        let all = || self.alone.iter().flat_map(|&way| made(task, &[&self.ways[way]]));
        each(&self.singles, self.count_singles(), all, task, visit);
    }

    /// Visits the exercise with each pair of mistakes in it.
    pub(super) fn each_pair(&self, task: &Task, visit: impl FnMut(&Candidate)) {
        let all = || self.two_ways().flat_map(|pair| made(task, &pair));
        each(&self.pairs, self.count_pairs(), all, task, visit);
    }

    fn two_ways(&self) -> impl Iterator<Item = [&(Slip, Vec<Change>); 2]> {
        self.ways.iter().enumerate().flat_map(|(i, first)| {
            let others = self.ways[i + 1..].iter();
            others.filter(|second| !share_a_field(&first.1, &second.1)).map(move |second| [first, second])
        })
    }
}

fn share_a_field(a: &[Change], b: &[Change]) -> bool {
    a.iter().any(|a| b.iter().any(|b| a.same_field(b)))
}

/// Visits all candidates, from where they are kept, or as they are made.
fn each<All: Iterator<Item = Candidate>>(
    kept: &OnceCell<Vec<Candidate>>,
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
fn made(task: &Task, ways: &[&(Slip, Vec<Change>)]) -> Vec<Candidate> {
    let slips: Vec<Slip> = ways.iter().map(|(slip, _)| slip.clone()).collect();
    let changes = || ways.iter().flat_map(|(_, changes)| changes);
    let made = |change: Change| changes().any(|known| *known == change);
    let standing_in = match () {
        _ if made(Change::Values(Values::Keys)) => &[("V", "K")][..],
        _ if made(Change::Values(Values::Tokens)) => &[("V", "X")],
        _ if made(Change::Comparison(Comparison::KeysWithQueries)) => &[("Q", "K"), ("K", "Q")],
        _ => &[],
    };
    let candidate = |graph| Candidate {
        slips: slips.clone(),
        graph: Arc::new(graph),
        transposed: made(Change::Transposed),
        standing_in,
    };
    let graph = task.with(changes());
    let mut all = Vec::new();
    if empty_rows(&graph) > task.facts().empty_rows {
        // Without a guard such a row is NaN; where −1e9 stands for −∞, all its keys weigh the same.
        for other in [Change::Unguarded, Change::Hiding(Hiding::MinusBillion)] {
            if !changes().any(|change| change.same_field(&other)) {
                let with_other: Vec<Change> = changes().copied().chain([other]).collect();
                all.push(candidate(task.with(&with_other)));
            }
        }
    }
    all.insert(0, candidate(graph));
    all
}
