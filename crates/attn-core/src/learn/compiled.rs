//! Plans for batches, made when the first batch of a shape comes, and what they find.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::error::Result;
use crate::graph::NodeId;
use crate::kernel::SimdLevel;

use super::example::{Batch, Example, ExampleGraph, ExampleModel};
use super::number::Number;
use super::plan::{Leaves, Plan};
use super::score::Pattern;
use super::size::WeightsInMemory;

/// A plan for batches of one shape.
#[derive(Debug)]
pub(super) struct Compiled<T> {
    pub(super) plan: Plan<T>,
    pub(super) loss: NodeId,
    logits: NodeId,
    pub(super) gradients: Vec<NodeId>,
    heads: Vec<Vec<NodeId>>,
}

/// The plans that have been made.
#[derive(Debug)]
pub(super) struct Plans<T> {
    /// The registers that they compute in.
    pub(super) simd: SimdLevel,
    /// By the number of tokens and of examples.
    made: BTreeMap<(usize, usize), Compiled<T>>,
}

impl<T: Number> Plans<T> {
    /// None yet.
    pub(super) fn new(simd: SimdLevel) -> Plans<T> {
        Plans { simd, made: BTreeMap::new() }
    }

    /// The computation of a batch, forward and back, with these weights.
    ///
    /// # Errors
    /// If the batch does not fit the model, or there is no room for its numbers.
    pub(super) fn run(
        &mut self,
        model: &ExampleModel,
        weights: &[Vec<T>],
        batch: &Batch,
    ) -> Result<&Compiled<T>> {
        let compiled = self.with_weights(model, weights, batch)?;
        compiled.plan.run(batch)?;
        Ok(compiled)
    }

    /// The plan for a batch, with these weights, before it runs.
    ///
    /// # Errors
    /// If the batch does not fit the model, or there is no room for its numbers.
    pub(super) fn with_weights(
        &mut self,
        model: &ExampleModel,
        weights: &[Vec<T>],
        batch: &Batch,
    ) -> Result<&mut Compiled<T>> {
        let compiled = match self.made.entry((batch.length, batch.examples())) {
            Entry::Occupied(made) => made.into_mut(),
            Entry::Vacant(place) => place.insert(Compiled::new(model, weights, batch, self.simd)?),
        };
        for (at, numbers) in weights.iter().enumerate() {
            compiled.plan.weight_mut(at)?.copy_from_slice(numbers);
        }
        Ok(compiled)
    }

    /// The number of steps of each plan, and of the numbers that it keeps in memory.
    pub(super) fn sizes(&self) -> Vec<(usize, usize)> {
        self.made.values().map(|compiled| compiled.plan.size()).collect()
    }
}

impl<T: Number> Compiled<T> {
    /// The plan of the graph of any example of this length.
    fn new(model: &ExampleModel, weights: &[Vec<T>], batch: &Batch, simd: SimdLevel) -> Result<Compiled<T>> {
        let example = Example { tokens: vec![0; batch.length], targets: vec![Some(0); batch.length] };
        let weights = WeightsInMemory::new(model.size(), weights)?;
        let ExampleGraph { graph, logits, loss, weights: gradients, of_sum, heads } =
            model.graph(&weights, &example, batch.length)?;
        let leaves =
            Leaves { tokens: &example.tokens, one_hot: loss.one_hot, by_counted: [loss.loss, of_sum] };
        let mut kept = vec![logits];
        kept.extend(heads.iter().flatten());
        let mut summed = gradients.clone();
        summed.push(loss.loss);
        let plan = Plan::compile(&graph, leaves, batch.examples(), (&kept, &summed), simd)?;
        Ok(Compiled { plan, loss: loss.loss, logits, gradients, heads })
    }

    /// The share of targets that are predicted if a head, by its layer and its number from 0, has other weights.
    pub(super) fn accuracy_with(
        &mut self,
        batch: &Batch,
        (layer, head): (usize, usize),
        instead: &[T],
    ) -> Result<f64> {
        self.plan.run_holding(batch, (self.heads[layer][head], instead), self.logits)?;
        self.accuracy(batch)
    }

    /// The logits of all tokens.
    pub(super) fn logits(&self) -> Result<&[T]> {
        self.plan.numbers(self.logits)
    }

    /// The mean loss of the batch.
    pub(super) fn loss(&self) -> Result<f64> {
        Ok(self.plan.numbers(self.loss)?.iter().fold(0.0, |sum, x| sum + x.to_f64()))
    }

    /// The share of targets that have the largest logit of their row; of equal ones the first counts.
    pub(super) fn accuracy(&self, batch: &Batch) -> Result<f64> {
        let logits = self.logits()?;
        let cols = logits.len() / batch.tokens.len().max(1);
        let (mut right, mut counted) = (0, 0);
        for (row, target) in logits.chunks_exact(cols.max(1)).zip(&batch.targets) {
            let Some(target) = *target else { continue };
            counted += 1;
            right += usize::from(largest(row) == target);
        }
        Ok(right as f64 / f64::from(counted.max(1)))
    }

    /// The scores of the heads over all examples of the batch.
    pub(super) fn scores(
        &self,
        batch: &Batch,
        patterns: &[Pattern],
        causal: bool,
    ) -> Result<Vec<Vec<Vec<Option<f64>>>>> {
        let of_head = |id: &NodeId| -> Result<Vec<Option<f64>>> {
            let weights = self.plan.numbers(*id)?;
            Ok(patterns.iter().map(|pattern| mean_score(*pattern, weights, batch, causal)).collect())
        };
        self.heads.iter().map(|layer| layer.iter().map(of_head).collect()).collect()
    }
}

/// The place of the largest number, of equals the first.
pub(super) fn largest<N: PartialOrd>(row: &[N]) -> usize {
    let mut best = 0;
    for (at, x) in row.iter().enumerate() {
        if *x > row[best] {
            best = at;
        }
    }
    best
}

fn mean_score<T: Number>(pattern: Pattern, weights: &[T], batch: &Batch, causal: bool) -> Option<f64> {
    let (length, square) = (batch.length, batch.length * batch.length);
    let (mut sum, mut queries) = (0.0, 0);
    for (example, weights) in weights.chunks_exact(square.max(1)).enumerate() {
        let range = example * length..(example + 1) * length;
        let (tokens, targets) = (&batch.tokens[range.clone()], &batch.targets[range]);
        if let Some((more, count)) = pattern.score(weights, tokens, targets, causal) {
            sum += more;
            queries += count;
        }
    }
    (queries > 0).then(|| sum / queries as f64)
}
