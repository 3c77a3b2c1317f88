//! What many computations give for a few nodes: kept for the next submission where there is room, else computed again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use crate::attention;
use crate::graph::Graph;
use crate::matrix::Matrix;

use super::candidates::standing_for;
use super::plans::{Plan, Ways};
use super::task::Task;

/// At most this many numbers of an exercise are kept.
const MOST_KEPT: usize = 8_000_000;
/// What a matrix takes besides its numbers, in numbers.
const EACH: usize = 16;

/// The numbers that one computation has for a node, and what every comparison asks of them.
#[derive(Debug)]
pub(super) struct Numbers {
    pub matrix: Matrix,
    /// The largest finite number by size.
    pub largest: f64,
    /// Whether −∞ stands somewhere in it.
    pub hides: bool,
}

impl Numbers {
    pub(super) fn of(matrix: Matrix) -> Numbers {
        let largest = attention::max(matrix.cells().filter(|x| x.is_finite()).map(f64::abs));
        let hides = matrix.cells().any(|x| x == f64::NEG_INFINITY);
        Numbers { matrix, largest: largest.max(0.0), hides }
    }

    /// A number that equal matrices have in common.
    fn bits(&self) -> u64 {
        let mix = |all: u64, bits: u64| (all ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        self.matrix.cells().map(f64::to_bits).fold(self.matrix.rows() as u64, mix)
    }
}

/// What each computation has for one node; nothing where it does not come so far. Computations that agree share their numbers.
type Column = Vec<Option<Arc<Numbers>>>;

/// All computations, and a column for each node that was asked for.
type Prepared = (Arc<Vec<Plan>>, Vec<Arc<Column>>);

/// One computation, and what it has for the nodes that were asked for.
pub(super) struct Row<'a> {
    pub plan: &'a Plan,
    nodes: &'a [String],
    columns: &'a [Arc<Column>],
    at: usize,
}

impl Row<'_> {
    /// The numbers that take a node's place.
    pub(super) fn numbers(&self, node: &str) -> Option<&Numbers> {
        let at = self.nodes.iter().position(|known| known == node)?;
        self.columns[at][self.at].as_deref()
    }
}

/// Computations by their plans, and what is known of them so far.
#[derive(Default)]
pub(super) struct Kept(Mutex<State>);

#[derive(Default)]
struct State {
    /// Every computation, once all of them have been made.
    plans: Option<Arc<Vec<Plan>>>,
    columns: BTreeMap<String, Arc<Column>>,
}

impl Kept {
    /// Visits all computations that the plans stand for, with their numbers for these nodes.
    pub(super) fn each(
        &self,
        (ways, task): (&Ways, &Task),
        nodes: &[String],
        plans: &dyn Fn() -> Vec<Plan>,
        mut visit: impl FnMut(&Row<'_>),
    ) {
        let Some((plans, columns)) = self.prepared((ways, task), nodes, plans) else {
            let all = plans().into_iter().flat_map(|plan| ways.made(task, &plan));
            return all.for_each(|(plan, graph)| {
                let one =
                    |node: &String| Arc::new(vec![ways.numbers(task, &plan, &graph, node).map(Arc::new)]);
                let columns: Vec<Arc<Column>> = nodes.iter().map(one).collect();
                visit(&Row { plan: &plan, nodes, columns: &columns, at: 0 });
            });
        };
        for (at, plan) in plans.iter().enumerate() {
            visit(&Row { plan, nodes, columns: &columns, at });
        }
    }

    /// All computations and their numbers for these nodes, made where they are not known yet; nothing where there is no room
    /// to keep them.
    pub(super) fn prepared(
        &self,
        (ways, task): (&Ways, &Task),
        nodes: &[String],
        plans: &dyn Fn() -> Vec<Plan>,
    ) -> Option<Prepared> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_missing = |node: &&String| !state.columns.contains_key(*node);
        if state.plans.is_none() || nodes.iter().any(|node| is_missing(&node)) {
            let size = |node: &String| {
                let right = standing_for(task.right(), node);
                EACH + right.map_or(0, |matrix| matrix.rows() * matrix.cols())
            };
            let least = nodes.iter().map(size).sum::<usize>().saturating_mul(plans().len());
            if !ways.are_kept() || least > MOST_KEPT {
                return None;
            }
            state.make((ways, task), nodes, plans);
        }
        let columns = nodes.iter().filter_map(|node| state.columns.get(node).cloned()).collect();
        Some((state.plans.clone()?, columns))
    }
}

/// One column on its way.
struct Growing {
    node: String,
    column: Column,
    /// The numbers in it, by their bits.
    known: HashMap<u64, Vec<Arc<Numbers>>>,
}

impl Growing {
    /// Keeps one more matrix; how many numbers that takes.
    fn push(&mut self, numbers: Option<Numbers>) -> usize {
        let Some(numbers) = numbers else {
            self.column.push(None);
            return 0;
        };
        let alike = self.known.entry(numbers.bits()).or_default();
        let known = alike.iter().find(|known| known.matrix.same_bits(&numbers.matrix)).cloned();
        let is_new = known.is_none();
        let one = known.unwrap_or_else(|| Arc::new(numbers));
        let size = if is_new { EACH + one.matrix.rows() * one.matrix.cols() } else { 0 };
        if is_new {
            alike.push(one.clone());
        }
        self.column.push(Some(one));
        size
    }
}

impl State {
    /// Computes everything once, and keeps what it gives: for these nodes, and for all others as far as there is room.
    fn make(&mut self, (ways, task): (&Ways, &Task), nodes: &[String], plans: &dyn Fn() -> Vec<Plan>) {
        let computed = task.right().nodes().filter(|(_, node)| !node.op.is_given());
        let all: BTreeSet<String> =
            computed.map(|(_, node)| node.name.clone()).chain(nodes.iter().cloned()).collect();
        let mut growing: Vec<Growing> =
            all.into_iter().map(|node| Growing { node, column: Vec::new(), known: HashMap::new() }).collect();
        // What was asked for before will be asked for again.
        let asked = |node: &String| nodes.contains(node) || self.columns.contains_key(node);
        let mut kept = 0;
        let mut keep = |plan: &Plan, graph: &Graph| {
            for one in &mut growing {
                kept += one.push(ways.numbers(task, plan, graph, &one.node));
            }
            if kept > MOST_KEPT {
                growing.retain(|one| asked(&one.node));
            }
        };
        match &self.plans {
            Some(plans) => plans.iter().for_each(|plan| keep(plan, &ways.computed(task, plan))),
            None => {
                let mut all = Vec::new();
                for (plan, graph) in plans().iter().flat_map(|plan| ways.made(task, plan)) {
                    keep(&plan, &graph);
                    all.push(plan);
                }
                self.plans = Some(Arc::new(all));
            }
        }
        self.columns = growing.into_iter().map(|one| (one.node, Arc::new(one.column))).collect();
    }
}
