//! A model that learns: batch by batch, step by step.

use std::collections::BTreeMap;

use super::adam::{Adam, AdamSettings};
use super::batch::{Batch, Example};
use super::example::{ExampleGraph, ExampleModel};
use super::number::Number;
use super::plan::{Leaves, Plan};
use super::score::Pattern;
use super::size::ModelSize;
use super::task::Examples;
use super::weights::WeightsInMemory;
use super::writing::largest;
use crate::error::{Error, Result};
use crate::graph::NodeId;
use crate::random::LegacyStream;

/// How a model learns.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The size of the model.
    pub size: ModelSize,
    /// Adam, with the number of steps.
    pub adam: AdamSettings,
    /// The number of examples of a batch.
    pub batch: usize,
    /// The seed of the weights and of the batches.
    pub seed: u32,
    /// What the heads are scored by.
    pub patterns: Vec<Pattern>,
}

/// What a step has found, before it changed the weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its number, from 1.
    pub number: usize,
    /// The mean loss of the batch.
    pub loss: f64,
    /// The share of the targets that are predicted.
    pub accuracy: f64,
    /// The scores of the heads, by layer and head, one for each pattern; none where no query could look there.
    pub heads: Vec<Vec<Vec<Option<f64>>>>,
    /// The length of the gradient, before it is clipped.
    pub gradient: f64,
}

/// A plan for batches of one shape.
#[derive(Debug)]
pub(super) struct Compiled<T> {
    pub(super) plan: Plan<T>,
    pub(super) loss: NodeId,
    logits: NodeId,
    pub(super) gradients: Vec<NodeId>,
    heads: Vec<Vec<NodeId>>,
}

/// Plans, by the number of tokens and of examples.
pub(super) type Plans<T> = BTreeMap<(usize, usize), Compiled<T>>;

/// A model that learns.
#[derive(Debug)]
pub struct Trainer<T> {
    settings: Settings,
    examples: Examples,
    model: ExampleModel,
    weights: Vec<Vec<T>>,
    adam: Adam<T>,
    stream: LegacyStream,
    plans: Plans<T>,
    step: usize,
    /// The loss of the first step.
    first_loss: Option<f64>,
}

/// What takes the time of a training.
type Work<T> = (fn(&mut Trainer<T>) -> Result<Step>, fn(&mut Trainer<T>) -> Result<(f64, f64)>);

/// The compiler makes the code for `f32` and for `f64` in this crate because of this, and not in one that calls it. Tests optimise
/// this crate, but not the program, and train twenty times as fast.
#[doc(hidden)]
pub static COMPILED_HERE: (Work<f32>, Work<f64>) =
    ((Trainer::step, Trainer::test), (Trainer::step, Trainer::test));

/// A loss this many times the first one stops the training.
pub const MOST_LOSS: f64 = 100.0;

impl<T: Number> Trainer<T> {
    /// A model before its first step.
    ///
    /// # Errors
    /// If a size does not fit another, or the task.
    pub fn new(settings: Settings, examples: Examples) -> Result<Trainer<T>> {
        let task = examples.task();
        if task.context() > settings.size.context {
            return Err(Error::new(format!(
                "an example has up to {} tokens, but the model has positions for {}",
                task.context(),
                settings.size.context
            ))
            .help("take a longer context or shorter examples"));
        }
        if settings.adam.steps == 0 || settings.batch == 0 {
            return Err(
                Error::new("nothing is learned in 0 steps or from 0 examples").help("give a number above 0")
            );
        }
        let ids: Vec<usize> = (0..task.symbols().count()).collect();
        let model = ExampleModel::new(settings.size, task.symbols().labels(&ids))?;
        let mut stream = LegacyStream::seeded(settings.seed);
        let first = settings.size.first_weights(&mut stream);
        let weights: Vec<Vec<T>> =
            first.iter().map(|numbers| numbers.iter().map(|x| T::from_f64(*x)).collect()).collect();
        let adam = Adam::new(settings.adam, weights.iter().map(Vec::len));
        let plans = BTreeMap::new();
        Ok(Trainer { settings, examples, model, weights, adam, stream, plans, step: 0, first_loss: None })
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The model without its weights.
    pub fn model(&self) -> &ExampleModel {
        &self.model
    }

    /// The plans that have been made, and the model that more are made of.
    pub(super) fn plans(&mut self) -> (&mut Plans<T>, &ExampleModel) {
        (&mut self.plans, &self.model)
    }

    /// The number of steps of each plan that has been made, and of the numbers that it keeps in memory.
    pub fn plan_sizes(&self) -> Vec<(usize, usize)> {
        self.plans.values().map(|compiled| compiled.plan.size()).collect()
    }

    /// The examples.
    pub fn examples(&self) -> &Examples {
        &self.examples
    }

    /// The number of steps that are done.
    pub fn steps(&self) -> usize {
        self.step
    }

    /// The weights, in the order of [`ModelSize::weights`].
    pub fn weights(&self) -> &[Vec<T>] {
        &self.weights
    }

    /// The next batch, which the next step will learn from.
    pub fn next_batch(&self) -> Batch {
        self.examples.batch(&mut self.stream.clone(), self.settings.batch)
    }

    /// One step.
    ///
    /// # Errors
    /// If the loss or a gradient is not finite, or the loss is far above the first one; the weights stay as they were.
    pub fn step(&mut self) -> Result<Step> {
        let mut stream = self.stream.clone();
        let batch = self.examples.batch(&mut stream, self.settings.batch);
        let number = self.step + 1;
        let compiled = compiled(&mut self.plans, &self.model, &self.weights, &batch)?;
        compiled.run(&self.weights, &batch)?;
        let loss = compiled.loss()?;
        let gradients: Vec<&[T]> =
            compiled.gradients.iter().map(|id| compiled.plan.numbers(*id)).collect::<Result<_>>()?;
        let is_finite = gradients.iter().all(|numbers| numbers.iter().all(|x| x.to_f64().is_finite()));
        stays_small(number, (loss, self.first_loss), is_finite, &self.settings)?;
        let (accuracy, heads) = (
            compiled.accuracy(&batch)?,
            compiled.scores(&batch, &self.settings.patterns, self.settings.size.causal)?,
        );
        let gradient = self.adam.step(&mut self.weights, &gradients);
        self.first_loss.get_or_insert(loss);
        (self.stream, self.step) = (stream, number);
        Ok(Step { number, loss, accuracy, heads, gradient })
    }

    /// The loss and the share of right predictions on the examples that are held out.
    ///
    /// # Errors
    /// If there is no room for their numbers.
    pub fn test(&mut self) -> Result<(f64, f64)> {
        let mut by_length: BTreeMap<usize, Vec<Example>> = BTreeMap::new();
        for example in self.examples.held_out() {
            by_length.entry(example.tokens.len()).or_default().push(example.clone());
        }
        let (mut loss, mut right, mut counted) = (0.0, 0.0, 0);
        for examples in by_length.values() {
            for part in examples.chunks(self.settings.batch) {
                let batch = Batch::of(part, self.examples.task().filler());
                let compiled = compiled(&mut self.plans, &self.model, &self.weights, &batch)?;
                compiled.run(&self.weights, &batch)?;
                let of_batch = batch.counted() as f64;
                loss += compiled.loss()? * of_batch;
                right += compiled.accuracy(&batch)? * of_batch;
                counted += batch.counted();
            }
        }
        Ok((loss / counted as f64, right / counted as f64))
    }

    /// The computation on one example of the next batch, with all steps forward and back.
    ///
    /// # Errors
    /// If there is no room for its numbers.
    pub fn graph_of(&self, example: &Example, counted: usize) -> Result<ExampleGraph> {
        let weights = WeightsInMemory::new(&self.settings.size, &self.weights)?;
        self.model.graph(&weights, example, counted)
    }
}

/// Refuses a step that would ruin the weights.
fn stays_small(
    number: usize,
    (loss, first): (f64, Option<f64>),
    is_finite: bool,
    settings: &Settings,
) -> Result<()> {
    let what = match first {
        _ if !loss.is_finite() => format!("the loss is {loss}"),
        _ if !is_finite => "a gradient is not finite".to_string(),
        Some(first) if loss > MOST_LOSS * first => {
            format!("the loss is {loss:.4}, more than {MOST_LOSS} times the first one, {first:.4}")
        }
        _ => return Ok(()),
    };
    let rate = settings.adam.rate_at(number);
    Err(Error::new(format!("training stops at step {number}: {what}; the learning rate is {rate}"))
        .help(format!("take a smaller learning rate than {}", settings.adam.rate)))
}

/// The plan for batches of this shape, compiled when the first of them comes.
pub(super) fn compiled<'p, T: Number>(
    plans: &'p mut Plans<T>,
    model: &ExampleModel,
    weights: &[Vec<T>],
    batch: &Batch,
) -> Result<&'p mut Compiled<T>> {
    let shape = (batch.length, batch.examples());
    if !plans.contains_key(&shape) {
        plans.insert(shape, Compiled::new(model, weights, batch)?);
    }
    plans.get_mut(&shape).ok_or_else(|| Error::new("a plan is missing"))
}

impl<T: Number> Compiled<T> {
    /// The plan of the graph of any example of this length.
    fn new(model: &ExampleModel, weights: &[Vec<T>], batch: &Batch) -> Result<Compiled<T>> {
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
        let plan = Plan::compile(&graph, leaves, batch.examples(), (&kept, &summed))?;
        Ok(Compiled { plan, loss: loss.loss, logits, gradients, heads })
    }

    /// Computes everything for a batch.
    pub(super) fn run(&mut self, weights: &[Vec<T>], batch: &Batch) -> Result<()> {
        for (at, numbers) in weights.iter().enumerate() {
            self.plan.weight_mut(at)?.copy_from_slice(numbers);
        }
        self.plan.run(batch)
    }

    /// The logits of all tokens.
    pub(super) fn logits(&self) -> Result<&[T]> {
        self.plan.numbers(self.logits)
    }

    fn loss(&self) -> Result<f64> {
        Ok(self.plan.numbers(self.loss)?.iter().fold(0.0, |sum, x| sum + x.to_f64()))
    }

    /// The share of targets that have the largest logit of their row; of equal ones the first counts.
    fn accuracy(&self, batch: &Batch) -> Result<f64> {
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
    fn scores(
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
