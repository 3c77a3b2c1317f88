//! A plan: the steps of a graph, for all examples of a batch at once, in memory that is used again.
//!
//! The graph of one example is compiled once. A step of the plan is a step of the graph: the same op, in the same order, on the
//! rows of all examples. So a plan in `f64` gives each example the bits that its own graph has.
//!
//! What all examples share, weights and what is computed from them alone, is there once; what depends on neither the example nor
//! the weights is computed when the plan is made.

mod actions;

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, Op, Origin};
use crate::kernel::SimdLevel;
use crate::matrix::Shape;

use super::example::Batch;
use super::number::{Number, Working};
use actions::{Action, Place, Reads};

// A compiled graph, and its run on a batch.

/// A step of the plan.
#[derive(Debug)]
struct Instruction {
    action: Action,
    inputs: Vec<Place>,
    out: Place,
}

/// A compiled graph.
#[derive(Debug)]
pub struct Plan<T> {
    examples: usize,
    instructions: Vec<Instruction>,
    slots: Vec<Vec<T>>,
    /// The weights, in the order in which the graph has them.
    weights: Vec<Place>,
    /// The nodes that are kept.
    kept: Vec<(NodeId, Place)>,
    working: Working<T>,
}

impl<T: Number> Plan<T> {
    /// The numbers of a weight, row by row, to be changed between runs; the weight is said by its place among those of the graph.
    ///
    /// # Errors
    /// If there is no such weight.
    pub fn weight_mut(&mut self, at: usize) -> Result<&mut [T]> {
        let place = self.weights.get(at).ok_or_else(|| Error::new("the plan has no such weight"))?;
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

    /// The number of steps, and of the numbers that are in memory at once.
    #[cfg(test)]
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
    /// If a step looks up other tokens than those of an example, or a batch has none.
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
        let depends = dependencies(graph, leaves);
        let needed = needed(graph, &depends, kept, sums);
        let mut last_use = vec![0; depends.len()];
        for id in &needed {
            graph[*id].inputs.iter().for_each(|input| last_use[input.position()] = id.position());
        }
        kept.iter().for_each(|id| last_use[id.position()] = usize::MAX);
        let plan = Plan {
            examples,
            instructions: Vec::new(),
            slots: Vec::new(),
            weights: Vec::new(),
            kept: Vec::new(),
            working: Working { simd, packed: Vec::new() },
        };
        let (places, free) = (HashMap::new(), HashMap::new());
        let mut compiler = Compiler { graph, leaves, depends, last_use, places, free, plan };
        for id in needed {
            compiler.node(id)?;
            if sums.contains(&id) {
                let sum = compiler.sum(id)?;
                compiler.plan.kept.push((id, sum));
            }
            compiler.release(id);
        }
        let Compiler { places, mut plan, .. } = compiler;
        plan.kept.extend(kept.iter().filter_map(|id| Some((*id, *places.get(id)?))));
        Ok(plan)
    }
}

struct Compiler<'g, T> {
    graph: &'g Graph,
    leaves: Leaves<'g>,
    depends: Vec<DependsOn>,
    /// The last step that reads each node; the number of nodes for those that are kept.
    last_use: Vec<usize>,
    places: HashMap<NodeId, Place>,
    /// Memory that no later step reads, by its length.
    free: HashMap<usize, Vec<usize>>,
    plan: Plan<T>,
}

impl<T: Number> Compiler<'_, T> {
    fn node(&mut self, id: NodeId) -> Result<()> {
        let (node, depends) = (&self.graph[id], self.depends[id.position()]);
        let is_weight = matches!(node.op, Op::Given(Origin::Weights(_)));
        if is_weight || depends == DependsOn::Nothing {
            // Memory of its own with the numbers that the graph has.
            let tensor = node.tensor().ok_or_else(|| Error::new(format!("{} has no numbers", node.name)))?;
            let place = Place { slot: self.plan.slots.len(), shape: node.shape(), per_example: false };
            self.plan.slots.push(tensor.cells().map(T::from_f64).collect());
            self.places.insert(id, place);
            self.last_use[id.position()] = usize::MAX;
            self.plan.weights.extend(is_weight.then_some(place));
            return Ok(());
        }
        let action = match &node.op {
            _ if id == self.leaves.one_hot => Action::OneHot,
            Op::Scale(_) if self.leaves.by_counted.contains(&id) => Action::ByCounted,
            Op::TokenRows(ids) if ids != self.leaves.tokens => {
                return Err(Error::new(format!(
                    "{} looks up other tokens than those of an example",
                    node.name
                )));
            }
            op => Action::Op(op.clone()),
        };
        let inputs = node.inputs.iter().map(|input| self.place_of(*input)).collect::<Result<_>>()?;
        let out = self.reserve(node.shape(), depends == DependsOn::Example);
        self.places.insert(id, out);
        self.plan.instructions.push(Instruction { action, inputs, out });
        Ok(())
    }

    /// The sum over all examples of a node that has just been computed.
    fn sum(&mut self, id: NodeId) -> Result<Place> {
        let from = self.place_of(id)?;
        let out = self.reserve(from.shape, false);
        let action = Action::SumOfExamples;
        self.plan.instructions.push(Instruction { action, inputs: vec![from], out });
        Ok(out)
    }

    fn place_of(&self, id: NodeId) -> Result<Place> {
        let place = self.places.get(&id).copied();
        place.ok_or_else(|| Error::new(format!("{} is read before it is computed", self.graph[id].name)))
    }

    /// Memory for a result: what is free, or new.
    fn reserve(&mut self, shape: Shape, per_example: bool) -> Place {
        let count = shape.rows * shape.cols * if per_example { self.plan.examples } else { 1 };
        let slots = &mut self.plan.slots;
        let slot = self.free.get_mut(&count).and_then(Vec::pop).unwrap_or_else(|| {
            slots.push(vec![T::ZERO; count]);
            slots.len() - 1
        });
        Place { slot, shape, per_example }
    }

    /// Frees what no step after this one reads.
    fn release(&mut self, step: NodeId) {
        let mut done: Vec<NodeId> = self.graph[step].inputs.clone();
        done.push(step);
        done.sort();
        done.dedup();
        for id in done.into_iter().filter(|id| self.last_use[id.position()] <= step.position()) {
            if let Some(place) = self.places.remove(&id) {
                self.free.entry(self.plan.slots[place.slot].len()).or_default().push(place.slot);
            }
        }
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

/// The nodes that some are computed from, and these themselves, in their order.
fn needed(graph: &Graph, depends: &[DependsOn], kept: &[NodeId], sums: &[NodeId]) -> Vec<NodeId> {
    let mut needed = vec![false; depends.len()];
    kept.iter().chain(sums).for_each(|id| needed[id.position()] = true);
    for at in (0..needed.len()).rev() {
        // What depends on nothing is known: its inputs are not needed.
        if needed[at] && depends[at] != DependsOn::Nothing {
            graph[NodeId::at(at)].inputs.iter().for_each(|input| needed[input.position()] = true);
        }
    }
    (0..needed.len()).filter(|at| needed[*at]).map(NodeId::at).collect()
}
