//! The numbers of many computations at a few nodes: kept for the next submission where there is room, else computed again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use crate::graph::{Graph, Node, Stage};
use crate::matrix::Shape;

use super::answer::Part;
use super::candidates::{Plan, Ways, standing_for};
use super::compare::{AnswerTolerance, NodeNumbers, Tolerance};
use super::task::Task;

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

// The numbers of many computations at one node, stored for a fast comparison of one number with all of them.

/// The overhead of a matrix besides its numbers, counted in numbers.
pub(super) const EACH: usize = 16;

/// The numbers of each computation at one node.
#[derive(Default)]
pub(super) struct Column {
    /// For each computation the index of its numbers in `distinct`; `None` if it stops before this node.
    places: Vec<Option<usize>>,
    /// The numbers without repetitions: computations with equal numbers share an entry.
    distinct: Vec<Distinct>,
    /// The distinct numbers of each shape.
    blocks: Vec<Block>,
}

/// A column to which computations are appended.
#[derive(Default)]
pub(super) struct GrowingColumn {
    column: Column,
    /// The places of the distinct numbers by their bits.
    by_bits: HashMap<u64, Vec<usize>>,
}

/// Numbers, and the computations that have them, in their order.
struct Distinct {
    numbers: NodeNumbers,
    computations: Vec<usize>,
}

/// The first-compared numbers of all matrices of one shape.
struct Block {
    shape: Shape,
    /// Their places among the distinct ones.
    places: Vec<usize>,
    /// The max size of the finite numbers of each matrix.
    max_sizes: Vec<f64>,
    /// For each row the last number of it in each matrix.
    last_of_rows: Vec<Vec<f64>>,
}

/// One number of a submission. All computations are compared with it before any is compared with all numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe<'a> {
    /// The node that it is for.
    pub node: &'a str,
    /// The shape of the submission.
    pub shape: Shape,
    /// The number is the last one of this row.
    pub row: usize,
    pub number: f64,
    pub allowance: AnswerTolerance,
}

impl<'a> Probe<'a> {
    /// The last number in a row of the first matrix of a part; `None` where it has no matrix.
    pub(super) fn of(part: &'a Part<'_>, row: usize, tolerance: &Tolerance) -> Option<Probe<'a>> {
        let (node, matrix) = part.matrices.first()?;
        let last = (row < matrix.rows()).then(|| matrix.row(row).last()).flatten();
        let number = last.unwrap_or(f64::NAN);
        let allowance = AnswerTolerance::of(part.answer, tolerance);
        Some(Probe { node, shape: matrix.shape(), row, number, allowance })
    }

    /// The same in the last row in which that number is not NaN, or in the first row.
    pub(super) fn in_any_row(part: &'a Part<'_>, tolerance: &Tolerance) -> Option<Probe<'a>> {
        let (_, matrix) = part.matrices.first()?;
        let is_number = |row: &usize| matrix.row(*row).last().is_some_and(|x| !x.is_nan());
        let row = (0..matrix.rows()).rev().find(is_number).unwrap_or(0);
        Probe::of(part, row, tolerance)
    }
}

impl GrowingColumn {
    /// The column of all computations appended so far.
    pub(super) fn finished(self) -> Column {
        self.column
    }

    /// Appends the numbers of one more computation; returns the room that they take, in numbers.
    pub(super) fn push(&mut self, numbers: Option<NodeNumbers>) -> usize {
        let Column { places, distinct, blocks } = &mut self.column;
        let computation = places.len();
        let Some(numbers) = numbers else {
            places.push(None);
            return 0;
        };
        let alike = self.by_bits.entry(numbers.bits()).or_default();
        let same = |place: &&usize| distinct[**place].numbers.same_bits(&numbers);
        if let Some(&place) = alike.iter().find(same) {
            distinct[place].computations.push(computation);
            places.push(Some(place));
            return 0;
        }
        let place = distinct.len();
        let Shape { rows, cols } = numbers.matrix.shape();
        alike.push(place);
        places.push(Some(place));
        Block::of_shape(blocks, numbers.matrix.shape()).push(place, &numbers);
        distinct.push(Distinct { numbers, computations: vec![computation] });
        EACH + rows * (cols + 1)
    }
}

impl Column {
    /// The column of a single computation.
    pub(super) fn of_one(numbers: Option<NodeNumbers>) -> Column {
        let mut column = GrowingColumn::default();
        column.push(numbers);
        column.finished()
    }

    /// The numbers of a computation.
    pub(super) fn numbers(&self, computation: usize) -> Option<&NodeNumbers> {
        Some(&self.distinct[self.places[computation]?].numbers)
    }

    /// The computations of the shape of a probe that have a number near it; in no order.
    pub(super) fn near<'c>(&'c self, probe: &'c Probe<'_>) -> impl Iterator<Item = usize> + 'c {
        let blocks = self.blocks.iter().filter(|block| block.shape == probe.shape);
        let places = blocks.flat_map(|block| block.near(probe));
        places.flat_map(|place| self.distinct[place].computations.iter().copied())
    }
}

impl Block {
    fn of_shape(blocks: &mut Vec<Block>, shape: Shape) -> &mut Block {
        let known = blocks.iter().position(|block| block.shape == shape);
        let at = known.unwrap_or(blocks.len());
        if known.is_none() {
            let rows = if shape.cols == 0 { 0 } else { shape.rows };
            let last_of_rows = vec![Vec::new(); rows];
            blocks.push(Block { shape, places: Vec::new(), max_sizes: Vec::new(), last_of_rows });
        }
        &mut blocks[at]
    }

    fn push(&mut self, place: usize, numbers: &NodeNumbers) {
        self.places.push(place);
        self.max_sizes.push(numbers.max_size);
        for (row, cells) in self.last_of_rows.iter_mut().enumerate() {
            cells.push(numbers.matrix[(row, self.shape.cols - 1)]);
        }
    }

    /// The places of the matrices that have a number near a probe; all where a matrix has no cells.
    fn near<'c>(&'c self, probe: &'c Probe<'_>) -> impl Iterator<Item = usize> + 'c {
        let Probe { number, allowance, .. } = *probe;
        let cells = self.last_of_rows.get(probe.row);
        let is_near = move |at: usize| {
            let Some(&expected) = cells.and_then(|cells| cells.get(at)) else { return true };
            let distance = (number - expected).abs();
            // NaN is near NaN alone; a very negative number may stand for −∞.
            let is_other = if distance.is_nan() {
                number.is_nan() != expected.is_nan()
            } else {
                distance > allowance.at_most(self.max_sizes[at], expected)
            };
            !is_other || expected == f64::NEG_INFINITY
        };
        self.places.iter().enumerate().filter(move |&(at, _)| is_near(at)).map(|(_, &place)| place)
    }
}
