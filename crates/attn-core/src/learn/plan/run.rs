//! A compiled graph, and its run on a batch.

use super::action::Action;
use super::read::{Place, Reads, Working};
use crate::error::{Error, Result};
use crate::graph::NodeId;
use crate::learn::batch::Batch;
use crate::learn::number::Number;
use crate::matrix::Shape;

/// A step of the plan.
#[derive(Debug)]
pub(super) struct Instruction<T> {
    pub action: Action<T>,
    pub inputs: Vec<Place>,
    pub out: Place,
}

/// A compiled graph.
#[derive(Debug)]
pub struct Plan<T> {
    pub(super) examples: usize,
    pub(super) instructions: Vec<Instruction<T>>,
    pub(super) slots: Vec<Vec<T>>,
    /// The weights, by name, in the order in which the graph has them.
    pub(super) weights: Vec<(String, Place)>,
    /// The nodes that are kept.
    pub(super) kept: Vec<(NodeId, Place)>,
    pub(super) working: Working<T>,
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
