//! The numbers of many computations at a few nodes: kept for the next submission where there is room, else computed again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::graph::{Graph, Node, Stage};

use super::candidates::standing_for;
use super::column::{Column, EACH, GrowingColumn, Probe};
use super::numbers::NodeNumbers;
use super::task::Task;
use super::ways::{Plan, Ways};

/// At most this many numbers of an exercise are kept.
const MOST_KEPT: usize = 8_000_000;

/// All computations, and a column for each node that was asked for.
type PlansAndColumns = (Arc<Vec<Plan>>, Vec<Arc<Column>>);

/// One computation, and its numbers at the requested nodes.
pub(super) struct Row<'a> {
    pub plan: &'a Plan,
    nodes: &'a [String],
    columns: &'a [Arc<Column>],
    at: usize,
}

impl Row<'_> {
    /// The numbers that take a node's place.
    pub(super) fn numbers(&self, node: &str) -> Option<&NodeNumbers> {
        let at = self.nodes.iter().position(|known| known == node)?;
        self.columns[at].numbers(self.at)
    }
}

/// Computations by their plans, and their known numbers.
#[derive(Default)]
pub(super) struct Cache(Mutex<State>);

#[derive(Default)]
struct State {
    /// All computations, once they have been made.
    plans: Option<Arc<Vec<Plan>>>,
    columns: BTreeMap<String, Arc<Column>>,
}

impl Cache {
    /// Calls `visit` with each computation of the plans and its numbers at these nodes.
    pub(super) fn each(
        &self,
        (ways, task): (&Ways, &Task),
        nodes: &[String],
        plans: &dyn Fn() -> Vec<Plan>,
        mut visit: impl FnMut(&Row<'_>),
    ) {
        let Some((plans, columns)) = self.prepared((ways, task), nodes, plans) else {
            return each_computed((ways, task), nodes, plans(), visit);
        };
        for (at, plan) in plans.iter().enumerate() {
            visit(&Row { plan, nodes, columns: &columns, at });
        }
    }

    /// Calls `visit` with each computation that has a number near one of the probes, and possibly with others.
    pub(super) fn each_near(
        &self,
        (ways, task): (&Ways, &Task),
        (nodes, probes): (&[String], &[Probe<'_>]),
        plans: &dyn Fn() -> Vec<Plan>,
        mut visit: impl FnMut(&Row<'_>),
    ) {
        let Some((plans, columns)) = self.prepared((ways, task), nodes, plans) else {
            return each_computed((ways, task), nodes, plans(), visit);
        };
        let column = |probe: &Probe<'_>| columns.get(nodes.iter().position(|node| node == probe.node)?);
        let near: BTreeSet<usize> = probes
            .iter()
            .filter_map(|probe| Some(column(probe)?.near(probe).collect::<Vec<usize>>()))
            .flatten()
            .collect();
        for at in near {
            visit(&Row { plan: &plans[at], nodes, columns: &columns, at });
        }
    }

    /// All computations and their numbers at these nodes, computed if they are not in the cache; `None` if they do not fit
    /// into it.
    pub(super) fn prepared(
        &self,
        (ways, task): (&Ways, &Task),
        nodes: &[String],
        plans: &dyn Fn() -> Vec<Plan>,
    ) -> Option<PlansAndColumns> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_missing = |node: &&String| !state.columns.contains_key(*node);
        if state.plans.is_none() || nodes.iter().any(|node| is_missing(&node)) {
            let size = |node: &String| {
                let right = standing_for(task.right(), node);
                EACH + right.map_or(0, |matrix| matrix.rows() * matrix.cols())
            };
            let least = nodes.iter().map(size).sum::<usize>().saturating_mul(plans().len());
            if !ways.kept || least > MOST_KEPT {
                return None;
            }
            state.make((ways, task), nodes, plans);
        }
        let columns = nodes.iter().filter_map(|node| state.columns.get(node).cloned()).collect();
        Some((state.plans.clone()?, columns))
    }
}

/// Visits all computations that plans stand for, one after the other.
fn each_computed(
    (ways, task): (&Ways, &Task),
    nodes: &[String],
    plans: Vec<Plan>,
    mut visit: impl FnMut(&Row<'_>),
) {
    for (plan, graph) in plans.iter().flat_map(|plan| ways.made(task, plan)) {
        let places = ways.places(task, &plan);
        let one = |node: &String| Arc::new(Column::of_one(NodeNumbers::at(&places, &graph, node)));
        let columns: Vec<Arc<Column>> = nodes.iter().map(one).collect();
        visit(&Row { plan: &plan, nodes, columns: &columns, at: 0 });
    }
}

impl State {
    /// Computes everything, and keeps what it gives: for these nodes and, unless they are results alone that are asked for the first
    /// time, for all others as far as there is room.
    fn make(&mut self, (ways, task): (&Ways, &Task), nodes: &[String], plans: &dyn Fn() -> Vec<Plan>) {
        // Where the first submission is a result alone, most are. What the heads mix is asked for later on.
        let is_result = |node: &String| node == Stage::Output.name();
        let only_results = self.plans.is_none() && nodes.iter().all(is_result);
        let is_mix = |node: &Node| node.step.is_some_and(|step| step.stage == Stage::Mixed);
        let computed = task.right().nodes().map(|(_, node)| node).filter(|node| !node.op.is_given());
        let further = computed.filter(|node| !only_results || is_mix(node)).map(|node| node.name.clone());
        let all: BTreeSet<String> = further.chain(nodes.iter().cloned()).collect();
        let mut growing: Vec<(String, GrowingColumn)> =
            all.into_iter().map(|node| (node, GrowingColumn::default())).collect();
        // What was asked for before will be asked for again.
        let asked = |node: &String| nodes.contains(node) || self.columns.contains_key(node);
        let mut kept = 0;
        let mut keep = |plan: &Plan, graph: &Graph| {
            let places = ways.places(task, plan);
            for (node, column) in &mut growing {
                kept += column.push(NodeNumbers::at(&places, graph, node));
            }
            if kept > MOST_KEPT {
                growing.retain(|(node, _)| asked(node));
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
        self.columns =
            growing.into_iter().map(|(node, column)| (node, Arc::new(column.finished()))).collect();
    }
}
