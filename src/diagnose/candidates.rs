//! The exercise computed again with every mistake put in, and with every pair of them.

use std::cell::OnceCell;
use std::sync::Arc;

use crate::graph::Graph;
use crate::matrix::Matrix;

use super::catalogue::{Mistake, Way, catalogue};
use super::task::empty_rows;
use super::{Change, Task};

/// A mistake, and the way in which it was made where there are several.
#[derive(Clone, Debug)]
pub struct Slip {
    /// The mistake.
    pub mistake: &'static Mistake,
    /// What tells this way from others: «to 2 decimals».
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
}

impl Candidate {
    /// The numbers that take a node's place.
    pub(super) fn matrix(&self, node: &str) -> Option<Matrix> {
        let matrix = standing_for(&self.graph, node)?;
        Some(if self.transposed { matrix.transposed() } else { matrix.clone() })
    }
}

/// The matrix of a node, or of the step before it where the computation leaves the node out.
pub(super) fn standing_for<'a>(graph: &'a Graph, node: &str) -> Option<&'a Matrix> {
    const STEPS: [&str; 5] = ["S_masked", "S_tempered", "S_biased", "S_scaled", "S"];
    let head_at = node.rfind('_').filter(|&at| node[at + 1..].bytes().all(|b| b.is_ascii_digit()));
    let (step, head) = node.split_at(head_at.unwrap_or(node.len()));
    // Weights that are rounded before they mix are what a student takes for the weights.
    let rounded = (step == "A").then(|| graph.find(&format!("A_rounded{head}"))).flatten();
    let own = rounded.or_else(|| graph.find(node));
    let place = STEPS.iter().position(|known| *known == step);
    let earlier =
        || place.and_then(|at| STEPS[at + 1..].iter().find_map(|step| graph.find(&format!("{step}{head}"))));
    let result = || matches!(node, "C" | "P").then(|| graph.find("O")).flatten();
    graph[own.or_else(earlier).or_else(result)?].matrix()
}

/// Every mistake in an exercise, alone and in pairs; the pairs are made when they are first asked for.
pub(super) struct Candidates {
    ways: Vec<(Slip, Change)>,
    singles: Vec<Candidate>,
    pairs: OnceCell<Vec<Candidate>>,
}

/// Pairs are only tried if that takes at most so many multiplications, some seconds' worth.
const MOST_WORK: usize = 10_000_000_000;
/// Pairs are kept for the next submission if they are at most so many numbers.
const MOST_KEPT: usize = 40_000_000;

impl Candidates {
    pub(super) fn of(task: &Task) -> Candidates {
        let (mut ways, mut singles) = (Vec::new(), Vec::new());
        for mistake in catalogue() {
            for Way { change, detail, alone } in (mistake.ways)(task.recipe(), task.facts()) {
                let way = (Slip { mistake, detail }, change);
                if alone {
                    singles.extend(made(task, &[&way]));
                }
                ways.push(way);
            }
        }
        Candidates { ways, singles, pairs: OnceCell::new() }
    }

    /// The exercise with each mistake in it, in every way.
    pub(super) fn singles(&self) -> &[Candidate] {
        &self.singles
    }

    /// How many pairs there are.
    pub(super) fn count_pairs(&self) -> usize {
        self.two_ways().count()
    }

    /// Whether so many runs are to be expected of anyone.
    pub(super) fn pairs_are_feasible(&self, task: &Task) -> bool {
        self.count_pairs().saturating_mul(task.work()) <= MOST_WORK
    }

    /// Visits the exercise with each pair of mistakes in it.
    pub(super) fn each_pair(&self, task: &Task, mut visit: impl FnMut(&Candidate)) {
        let numbers: usize =
            task.right().nodes().filter_map(|(_, node)| node.matrix()).map(|m| m.rows() * m.cols()).sum();
        if numbers.saturating_mul(self.count_pairs()) > MOST_KEPT {
            self.two_ways().flat_map(|pair| made(task, &pair)).for_each(|candidate| visit(&candidate));
            return;
        }
        let pairs = self.pairs.get_or_init(|| self.two_ways().flat_map(|pair| made(task, &pair)).collect());
        pairs.iter().for_each(visit);
    }

    fn two_ways(&self) -> impl Iterator<Item = [&(Slip, Change); 2]> {
        self.ways.iter().enumerate().flat_map(|(i, first)| {
            let others = self.ways[i + 1..].iter();
            others.filter(|second| !first.1.same_field(&second.1)).map(move |second| [first, second])
        })
    }
}

/// The exercise with these mistakes in it; where they leave further rows with nothing to attend to, with the guard for them
/// and without, as NumPy and PyTorch compute it.
fn made(task: &Task, ways: &[&(Slip, Change)]) -> Vec<Candidate> {
    let slips: Vec<Slip> = ways.iter().map(|(slip, _)| slip.clone()).collect();
    let transposed = ways.iter().any(|(_, change)| *change == Change::Transposed);
    let changes = || ways.iter().map(|(_, change)| change);
    let candidate = |graph| Candidate { slips: slips.clone(), graph: Arc::new(graph), transposed };
    let graph = task.with(changes());
    let unguarded = empty_rows(&graph) > task.facts().empty_rows;
    let unguarded = unguarded.then(|| candidate(task.with(changes().chain([&Change::Unguarded]))));
    [Some(candidate(graph)), unguarded].into_iter().flatten().collect()
}
