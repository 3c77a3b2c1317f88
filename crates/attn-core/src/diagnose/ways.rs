//! Every way to make a mistake in an exercise, and the computation with it.

use std::sync::Arc;

use crate::graph::Graph;
use crate::graph::recipes::Hiding;

use super::candidates::{Candidate, NodePlaces, Variant};
use super::task::empty_rows;
use super::{Change, Slip, Task};

/// The plan of a computation: its mistakes, and a further change that goes with them.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub ways: [Option<usize>; 2],
    pub further: Option<Change>,
}

impl Plan {
    pub(super) fn of(ways: [Option<usize>; 2]) -> Plan {
        Plan { ways, further: None }
    }
}

/// A way to make a mistake.
pub(super) struct MistakeWay {
    pub slip: Slip,
    pub changes: Vec<Change>,
    /// Whether every class makes it.
    pub classic: bool,
}

/// Every way to make a mistake in an exercise.
pub(super) struct Ways {
    pub all: Vec<MistakeWay>,
    /// Whether their results are kept for the next submission.
    pub kept: bool,
}

impl Variant {
    /// Computes the variant.
    pub(super) fn computed(self, task: &Task) -> Candidate {
        let graph = Arc::new(task.with(self.changes()));
        Candidate { variant: self, graph }
    }
}

impl Ways {
    /// All changes of a plan.
    pub(super) fn changes(&self, plan: &Plan) -> Vec<Change> {
        let ways = plan.ways.iter().flatten().flat_map(|&way| &self.all[way].changes);
        ways.chain(&plan.further).copied().collect()
    }

    /// The computation of a plan.
    pub(super) fn computed(&self, task: &Task, plan: &Plan) -> Graph {
        task.with(&self.changes(plan))
    }

    /// The computation of a plan. If its mistakes make further rows fully masked, also the computations without a guard for such
    /// rows, and with −1e9 in place of −∞ or added to the scores.
    pub(super) fn made(&self, task: &Task, plan: &Plan) -> Vec<(Plan, Graph)> {
        let changes = self.changes(plan);
        let graph = task.with(&changes);
        let is_emptied = empty_rows(&graph) > task.facts().empty_rows;
        let mut all = vec![(plan.clone(), graph)];
        if is_emptied {
            // Without a guard such a row is NaN; where −1e9 stands for −∞, all its keys weigh the same; where it is added to every
            // score of the row, the softmax cancels it.
            let hidings = [Hiding::Replaced(-1e9), Hiding::Added(-1e9)].map(Change::Hiding);
            for other in [Change::Unguarded].into_iter().chain(hidings) {
                if !changes.iter().any(|change| change.same_field(&other)) {
                    let with_other = Plan { further: Some(other), ..plan.clone() };
                    let graph = self.computed(task, &with_other);
                    all.push((with_other, graph));
                }
            }
        }
        all
    }

    /// The nodes of a plan's computation that a student takes for those of the exercise.
    pub(super) fn places(&self, task: &Task, plan: &Plan) -> NodePlaces {
        NodePlaces::of(task.recipe(), &self.changes(plan))
    }
}
