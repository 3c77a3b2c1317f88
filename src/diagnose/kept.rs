//! What many computations give for a few nodes: kept for the next submission where there is room, else computed again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::attention;
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
}

impl Numbers {
    pub(super) fn of(matrix: Matrix) -> Numbers {
        let largest = attention::largest(matrix.cells().filter(|x| x.is_finite()).map(f64::abs));
        Numbers { matrix, largest: largest.max(0.0) }
    }
}

/// What each computation has for one node; nothing where it does not come so far.
type Column = Vec<Option<Numbers>>;

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
        self.columns[at][self.at].as_ref()
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
                let one = |node: &String| Arc::new(vec![ways.numbers(task, &plan, &graph, node)]);
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
    ) -> Option<(Arc<Vec<Plan>>, Vec<Arc<Column>>)> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let missing: Vec<&String> = nodes.iter().filter(|node| !state.columns.contains_key(*node)).collect();
        if !missing.is_empty() || state.plans.is_none() {
            let size = |node: &String| {
                let right = standing_for(task.right(), node);
                EACH + right.map_or(0, |matrix| matrix.rows() * matrix.cols())
            };
            let count = plans().len();
            let room_for = |nodes: &mut dyn Iterator<Item = &String>| {
                nodes.map(size).sum::<usize>().saturating_mul(count) <= MOST_KEPT
            };
            if !room_for(&mut nodes.iter()) {
                return None;
            }
            if !room_for(&mut state.columns.keys().chain(missing.iter().copied())) {
                state.columns.retain(|known, _| nodes.contains(known));
            }
            state.make((ways, task), &missing, plans);
        }
        let columns = nodes.iter().filter_map(|node| state.columns.get(node).cloned()).collect();
        Some((state.plans.clone()?, columns))
    }
}

impl State {
    /// Computes everything once, and keeps what it gives for these nodes.
    fn make(
        &mut self,
        (ways, task): (&Ways, &Task),
        nodes: &[&String],
        plans: &dyn Fn() -> Vec<Plan>,
    ) {
        let mut columns: Vec<Column> = nodes.iter().map(|_| Vec::new()).collect();
        let mut keep = |plan: &Plan, graph: &crate::graph::Graph| {
            for (column, node) in columns.iter_mut().zip(nodes) {
                column.push(ways.numbers(task, plan, graph, node));
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
        for (node, column) in nodes.iter().zip(columns) {
            self.columns.insert((*node).clone(), Arc::new(column));
        }
    }
}
