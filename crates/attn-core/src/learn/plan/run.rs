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
        for instruction in &self.instructions {
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
            done?;
        }
        Ok(())
    }

    /// The numbers of a node that is kept, row by row, example by example.
    ///
    /// # Errors
    /// If the plan does not keep it.
    pub fn numbers(&self, node: NodeId) -> Result<&[T]> {
        let (_, place) = self
            .kept
            .iter()
            .find(|(kept, _)| *kept == node)
            .ok_or_else(|| Error::new("the plan does not keep this step"))?;
        Ok(&self.slots[place.slot])
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
