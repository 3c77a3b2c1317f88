//! A plan: the steps of a graph, for all examples of a batch at once, in memory that is used again.
//!
//! The graph of one example is compiled once. A step of the plan is a step of the graph: the same op, in the same order, on the
//! rows of all examples. So a plan in `f64` gives each example the bits that its own graph has.
//!
//! What all examples share, weights and what is computed from them alone, is there once; what depends on neither the example nor
//! the weights is computed when the plan is made.

mod actions;

use std::collections::HashMap;

use crate::attention::{Axis, Base, Mask, MatrixRule, WeightLayout};
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, Op, Origin};
use crate::kernel::SimdLevel;
use crate::matrix::{Matrix, Shape};

use super::example::Batch;
use super::number::Number;
use actions::{Action, AlongLines, Arrange, CellByCell, Place, Reads, Working};

// A compiled graph, and its run on a batch.

/// A step of the plan.
#[derive(Debug)]
struct Instruction<T> {
    pub action: Action<T>,
    pub inputs: Vec<Place>,
    pub out: Place,
}

/// A compiled graph.
#[derive(Debug)]
pub struct Plan<T> {
    examples: usize,
    instructions: Vec<Instruction<T>>,
    slots: Vec<Vec<T>>,
    /// The weights, by name, in the order in which the graph has them.
    weights: Vec<(String, Place)>,
    /// The nodes that are kept.
    kept: Vec<(NodeId, Place)>,
    working: Working<T>,
}

impl<T: Number> Plan<T> {
    /// The weights that the plan reads: their names in the graph, and their shapes.
    pub fn weights(&self) -> impl Iterator<Item = (&str, Shape)> {
        self.weights.iter().map(|(name, place)| (name.as_str(), place.shape))
    }

    /// The numbers of a weight, row by row, to be changed between runs; the weight is one of [`Plan::weights`] by its place there.
    ///
    /// # Errors
    /// If there is no such weight.
    pub fn weight_mut(&mut self, at: usize) -> Result<&mut [T]> {
        let (_, place) = self.weights.get(at).ok_or_else(|| Error::new("the plan has no such weight"))?;
        Ok(&mut self.slots[place.slot])
    }

    /// Runs all steps on a batch: the tokens of all examples, and what each of them has to predict.
    ///
    /// # Errors
    /// If there are more or fewer than the plan is made for, or a token is outside of its table.
    pub fn run(&mut self, batch: &Batch) -> Result<()> {
        (0..self.instructions.len()).try_for_each(|at| self.step(at, batch))
    }

    /// Runs the steps up to `last` with other numbers in place of those that the step of `held` computes. Both are kept.
    ///
    /// # Errors
    /// Those of [`Plan::run`], and if the plan does not keep a step, or it has more or fewer numbers.
    pub fn run_holding(
        &mut self,
        batch: &Batch,
        (held, numbers): (NodeId, &[T]),
        last: NodeId,
    ) -> Result<()> {
        let (held, last) = (self.made_at(held)?, self.made_at(last)?);
        for at in 0..=last {
            let slot = self.instructions[at].out.slot;
            match at == held {
                true if numbers.len() == self.slots[slot].len() => self.slots[slot].copy_from_slice(numbers),
                true => return Err(Error::new("there are too many or too few numbers for this step")),
                false => self.step(at, batch)?,
            }
        }
        Ok(())
    }

    /// The instruction that makes a node that is kept: the last one that writes into its memory.
    fn made_at(&self, node: NodeId) -> Result<usize> {
        let slot = self.place(node)?.slot;
        let made = self.instructions.iter().rposition(|instruction| instruction.out.slot == slot);
        made.ok_or_else(|| Error::new("no step makes this node"))
    }

    fn step(&mut self, at: usize, batch: &Batch) -> Result<()> {
        let instruction = &self.instructions[at];
        let out = &instruction.out;
        let mut numbers = std::mem::take(&mut self.slots[out.slot]);
        let reads = Reads {
            slots: &self.slots,
            inputs: &instruction.inputs,
            shape: out.shape,
            examples: if out.per_example { self.examples } else { 1 },
            batch,
        };
        let done = instruction.action.run(reads, &mut self.working, &mut numbers);
        self.slots[out.slot] = numbers;
        done
    }

    /// The numbers of a node that is kept, row by row, example by example.
    ///
    /// # Errors
    /// If the plan does not keep it.
    pub fn numbers(&self, node: NodeId) -> Result<&[T]> {
        Ok(&self.slots[self.place(node)?.slot])
    }

    fn place(&self, node: NodeId) -> Result<Place> {
        let found = self.kept.iter().find(|(kept, _)| *kept == node);
        found.map(|(_, place)| *place).ok_or_else(|| Error::new("the plan does not keep this step"))
    }

    /// The number of examples of a batch.
    pub fn examples(&self) -> usize {
        self.examples
    }

    /// The number of steps, and of the numbers that are in memory at once.
    pub fn size(&self) -> (usize, usize) {
        (self.instructions.len(), self.slots.iter().map(Vec::len).sum())
    }
}

// From the graph of one example to a plan.

/// The nodes that each example has numbers of its own for, in the graph that is compiled.
#[derive(Clone, Copy, Debug)]
pub struct Leaves<'a> {
    /// The ids of the tokens: each look-up of these ids looks up those of an example.
    pub tokens: &'a [usize],
    /// 1 at the target of each row.
    pub one_hot: NodeId,
    /// The steps that divide by the number of rows with a target in the whole batch.
    pub by_counted: [NodeId; 2],
}

/// What a node depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum DependsOn {
    Nothing,
    /// Also the number of rows that count in a batch.
    Weights,
    Example,
}

impl<T: Number> Plan<T> {
    /// The plan of a graph for batches of this many examples. It keeps the nodes of `kept`; of those in `sums`, it keeps the sum over
    /// all examples.
    ///
    /// # Errors
    /// If a step that is needed has no action for a batch, or there is nothing to do.
    pub fn compile(
        graph: &Graph,
        leaves: Leaves<'_>,
        examples: usize,
        (kept, sums): (&[NodeId], &[NodeId]),
        simd: SimdLevel,
    ) -> Result<Plan<T>> {
        if examples == 0 {
            return Err(Error::new("a batch has at least one example"));
        }
        let compiler = Compiler::new(graph, leaves, examples, (kept, sums));
        compiler.compile((kept, sums), simd)
    }
}

struct Compiler<'g, T> {
    graph: &'g Graph,
    leaves: Leaves<'g>,
    examples: usize,
    depends: Vec<DependsOn>,
    /// The last step that reads each node; the number of nodes for those that are kept.
    last_use: Vec<usize>,
    places: HashMap<NodeId, Place>,
    slots: Vec<Vec<T>>,
    /// Memory that no later step reads, by its length.
    free: HashMap<usize, Vec<usize>>,
    weights: Vec<(String, Place)>,
    instructions: Vec<Instruction<T>>,
}

impl<'g, T: Number> Compiler<'g, T> {
    fn new(
        graph: &'g Graph,
        leaves: Leaves<'g>,
        examples: usize,
        (kept, sums): (&[NodeId], &[NodeId]),
    ) -> Self {
        let depends = dependencies(graph, leaves);
        let mut last_use = vec![0; depends.len()];
        for (at, wanted) in needed(graph, &depends, kept, sums).iter().enumerate() {
            let id = NodeId::at(at);
            if *wanted {
                graph[id].inputs.iter().for_each(|input| last_use[input.position()] = at);
            }
        }
        kept.iter().for_each(|id| last_use[id.position()] = usize::MAX);
        Compiler {
            graph,
            leaves,
            examples,
            depends,
            last_use,
            places: HashMap::new(),
            slots: Vec::new(),
            free: HashMap::new(),
            weights: Vec::new(),
            instructions: Vec::new(),
        }
    }

    fn compile(mut self, (kept, sums): (&[NodeId], &[NodeId]), simd: SimdLevel) -> Result<Plan<T>> {
        let mut summed = Vec::new();
        for (at, wanted) in needed(self.graph, &self.depends, kept, sums).iter().enumerate() {
            let id = NodeId::at(at);
            if !*wanted {
                continue;
            }
            self.node(id)?;
            if sums.contains(&id) {
                summed.push((id, self.sum(id)?));
            }
            self.release(at);
        }
        let mut all: Vec<(NodeId, Place)> = summed;
        all.extend(kept.iter().filter_map(|id| Some((*id, *self.places.get(id)?))));
        Ok(Plan {
            examples: self.examples,
            instructions: self.instructions,
            slots: self.slots,
            weights: self.weights,
            kept: all,
            working: Working::new(simd),
        })
    }

    fn node(&mut self, id: NodeId) -> Result<()> {
        let node = &self.graph[id];
        if let Op::Given(Origin::Weights(_)) = node.op {
            let place = self.filled(id)?;
            self.weights.push((node.name.clone(), place));
            return Ok(());
        }
        if self.depends[id.position()] == DependsOn::Nothing {
            self.filled(id)?;
            return Ok(());
        }
        let (action, read) = self.action(id)?;
        let inputs: Vec<Place> = read.iter().map(|input| self.place_of(*input)).collect::<Result<_>>()?;
        let per_example = self.depends[id.position()] == DependsOn::Example;
        let out = self.reserve(node.shape(), per_example);
        self.places.insert(id, out);
        self.instructions.push(Instruction { action, inputs, out });
        Ok(())
    }

    /// The sum over all examples of a node that has just been computed.
    fn sum(&mut self, id: NodeId) -> Result<Place> {
        let from = self.place_of(id)?;
        let out = self.reserve(from.shape, false);
        self.instructions.push(Instruction {
            action: Action::Lines(AlongLines::SumOfExamples),
            inputs: vec![from],
            out,
        });
        Ok(out)
    }

    fn place_of(&self, id: NodeId) -> Result<Place> {
        self.places
            .get(&id)
            .copied()
            .ok_or_else(|| Error::new(format!("{} is read before it is computed", self.graph[id].name)))
    }

    /// Memory of its own with the numbers that the graph has.
    fn filled(&mut self, id: NodeId) -> Result<Place> {
        let node = &self.graph[id];
        let tensor = node.tensor().ok_or_else(|| Error::new(format!("{} has no numbers", node.name)))?;
        let numbers = tensor.cells().map(T::from_f64).collect();
        let place = Place { slot: self.slots.len(), shape: node.shape(), per_example: false };
        self.slots.push(numbers);
        self.places.insert(id, place);
        self.last_use[id.position()] = usize::MAX;
        Ok(place)
    }

    /// Memory for a result: what is free, or new.
    fn reserve(&mut self, shape: Shape, per_example: bool) -> Place {
        let count = shape.rows * shape.cols * if per_example { self.examples } else { 1 };
        let slot = self.free.get_mut(&count).and_then(Vec::pop).unwrap_or_else(|| {
            self.slots.push(vec![T::ZERO; count]);
            self.slots.len() - 1
        });
        Place { slot, shape, per_example }
    }

    /// Frees what no step after this one reads.
    fn release(&mut self, at: usize) {
        let mut done: Vec<NodeId> = self.graph[NodeId::at(at)].inputs.clone();
        done.push(NodeId::at(at));
        done.sort();
        done.dedup();
        for id in done.into_iter().filter(|id| self.last_use[id.position()] <= at) {
            if let Some(place) = self.places.remove(&id) {
                self.free.entry(self.slots[place.slot].len()).or_default().push(place.slot);
            }
        }
    }

    /// What a step does, and the nodes that it reads.
    fn action(&self, id: NodeId) -> Result<(Action<T>, Vec<NodeId>)> {
        let node = &self.graph[id];
        let inputs = node.inputs.clone();
        let product = |a_transposed, b_transposed| Action::Product { a_transposed, b_transposed };
        let (arrange, cells, lines) = (Action::Arrange, Action::Cells, Action::Lines);
        let action = match &node.op {
            _ if id == self.leaves.one_hot => arrange(Arrange::OneHot),
            Op::Scale(_) if self.leaves.by_counted.contains(&id) => cells(CellByCell::ByCounted),
            Op::Product => product(false, false),
            Op::ProductTransposed => product(false, true),
            Op::TransposedProduct => product(true, false),
            Op::Linear(layout) if inputs.len() == 2 => product(false, *layout == WeightLayout::OutIn),
            Op::TokenRows(ids) if ids == self.leaves.tokens => arrange(Arrange::LookUp),
            Op::Rows { start, .. } => arrange(Arrange::Rows(*start)),
            Op::Columns { start, .. } => arrange(Arrange::Columns(*start)),
            Op::Concatenate => arrange(Arrange::Concatenate),
            Op::Stack(_) => arrange(Arrange::Stack),
            Op::Transpose => arrange(Arrange::Transpose),
            Op::Add => cells(CellByCell::Add),
            Op::Subtract => cells(CellByCell::Subtract),
            Op::Multiply => cells(CellByCell::Multiply),
            Op::Quotient => cells(CellByCell::Quotient),
            Op::Times => cells(CellByCell::Times),
            Op::Divide => cells(CellByCell::Divide),
            Op::Scale(factor) => cells(CellByCell::Scale(T::from_f64(factor.value()))),
            Op::Temperature(by) => cells(CellByCell::Temperature(T::from_f64(*by))),
            Op::OnePlus => cells(CellByCell::OnePlus),
            Op::Relu => cells(CellByCell::Relu),
            Op::Root => cells(CellByCell::Root),
            Op::Logarithm => cells(CellByCell::Logarithm),
            Op::Mask(mask) if mask.matrix.is_none() => cells(CellByCell::Hide(hidden(mask, node.shape()))),
            Op::MaskPattern(mask) if mask.matrix.is_some() => {
                cells(CellByCell::WhereZero(pattern_of_zeros(mask)?))
            }
            Op::Softmax(Axis::Rows, Base::E) => lines(AlongLines::Softmax),
            Op::NegativeLogSoftmax => lines(AlongLines::NegativeLogSoftmax),
            Op::Sums(Axis::Rows) => lines(AlongLines::SumOfRows),
            Op::Sums(Axis::Columns) => lines(AlongLines::SumOfColumns),
            Op::Sums(Axis::Whole) => lines(AlongLines::SumOfAll),
            Op::RepeatColumns(_) => lines(AlongLines::RepeatColumns),
            Op::RmsNorm(epsilon) if inputs.len() == 1 => lines(AlongLines::RmsNorm(T::from_f64(*epsilon))),
            other => {
                return Err(Error::new(format!(
                    "{} is made by `{}`, which is not computed for a batch",
                    node.name,
                    other.name()
                )));
            }
        };
        Ok((action, inputs))
    }
}

/// What each node depends on.
fn dependencies(graph: &Graph, leaves: Leaves<'_>) -> Vec<DependsOn> {
    let mut depends: Vec<DependsOn> = Vec::new();
    for (id, node) in graph.nodes() {
        let own = match &node.op {
            Op::Given(Origin::Weights(_)) => DependsOn::Weights,
            Op::TokenRows(_) => DependsOn::Example,
            _ if id == leaves.one_hot => DependsOn::Example,
            _ if leaves.by_counted.contains(&id) => DependsOn::Weights,
            _ => DependsOn::Nothing,
        };
        let inputs = node.inputs.iter().map(|input| depends[input.position()]);
        let all = inputs.fold(own, Ord::max);
        // The pattern of a rule depends on the shape alone.
        let is_pattern = matches!(&node.op, Op::MaskPattern(mask) if mask.matrix.is_none());
        depends.push(if is_pattern { DependsOn::Nothing } else { all });
    }
    depends
}

/// The nodes that some are computed from, and these themselves.
fn needed(graph: &Graph, depends: &[DependsOn], kept: &[NodeId], sums: &[NodeId]) -> Vec<bool> {
    let mut needed = vec![false; depends.len()];
    kept.iter().chain(sums).for_each(|id| needed[id.position()] = true);
    for at in (0..needed.len()).rev() {
        // What depends on nothing is known: its inputs are not needed.
        if needed[at] && depends[at] != DependsOn::Nothing {
            graph[NodeId::at(at)].inputs.iter().for_each(|input| needed[input.position()] = true);
        }
    }
    needed
}

/// The hidden cells of a rule, row by row.
fn hidden(mask: &Mask, shape: Shape) -> Vec<bool> {
    let pattern: Matrix = mask.pattern(shape.rows, shape.cols, None);
    pattern.cells().map(|cell| cell == 0.0).collect()
}

/// Whether a mask by a matrix lets through where that is 0.
fn pattern_of_zeros(mask: &Mask) -> Result<bool> {
    match *mask {
        Mask { matrix: Some(MatrixRule::Block), .. } => Ok(true),
        Mask { matrix: Some(MatrixRule::Allow), .. } => Ok(false),
        _ => Err(Error::new("a mask that is added is not computed for a batch")),
    }
}
