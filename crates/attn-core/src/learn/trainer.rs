//! A model that learns: batch by batch, step by step.

use std::collections::BTreeMap;

use super::adam::{Adam, AdamChange, AdamSettings};
use super::batch::{Batch, Example};
use super::compiled::Plans;
use super::example::{ExampleGraph, ExampleModel};
use super::number::Number;
use super::score::{Pattern, weights_instead};
use super::size::ModelSize;
use super::task::Examples;
use super::weights::WeightsInMemory;
use crate::error::{Error, Result};
use crate::kernel::SimdLevel;
use crate::random::LegacyStream;
use crate::text::typed;

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

/// A model that learns.
#[derive(Debug)]
pub struct Trainer<T> {
    settings: Settings,
    examples: Examples,
    model: ExampleModel,
    weights: Vec<Vec<T>>,
    /// The weights that the last loss was computed with, before the step changed them.
    before: Vec<Vec<T>>,
    adam: Adam<T>,
    stream: LegacyStream,
    plans: Plans<T>,
    step: usize,
    /// The loss of the first step.
    first_loss: Option<f64>,
}

/// A number type that a model learns in: `f32` or `f64`.
///
/// What takes time is written for each of them here, so that this crate has the code, with its optimisation, and not each program that
/// trains.
pub trait Learner: Number {
    #[doc(hidden)]
    fn step(trainer: &mut Trainer<Self>) -> Result<Step>;
    #[doc(hidden)]
    fn test(trainer: &mut Trainer<Self>) -> Result<(f64, f64)>;
    #[doc(hidden)]
    fn right_with(trainer: &mut Trainer<Self>, head: (usize, usize), instead: Option<Pattern>)
    -> Result<f64>;
    #[doc(hidden)]
    fn logits(trainer: &mut Trainer<Self>, tokens: &[usize]) -> Result<Vec<f64>>;
}

macro_rules! impl_learner {
    ($($number:ty),+) => {$(
        impl Learner for $number {
            fn step(trainer: &mut Trainer<$number>) -> Result<Step> {
                trainer.step_here()
            }

            fn test(trainer: &mut Trainer<$number>) -> Result<(f64, f64)> {
                trainer.test_here()
            }

            fn right_with(
                trainer: &mut Trainer<$number>,
                head: (usize, usize),
                instead: Option<Pattern>,
            ) -> Result<f64> {
                trainer.right_with_here(head, instead)
            }

            fn logits(trainer: &mut Trainer<$number>, tokens: &[usize]) -> Result<Vec<f64>> {
                trainer.logits_here(tokens)
            }
        }
    )+};
}

impl_learner!(f32, f64);

/// A loss this many times the first one stops the training.
pub const MOST_LOSS: f64 = 100.0;

impl<T: Learner> Trainer<T> {
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
        let plans = Plans::new(SimdLevel::detect());
        let before = weights.clone();
        let (step, first_loss) = (0, None);
        Ok(Trainer { settings, examples, model, weights, before, adam, stream, plans, step, first_loss })
    }

    /// The same trainer in the registers of this level, which changes no number.
    pub fn on(mut self, simd: SimdLevel) -> Trainer<T> {
        self.plans.simd = simd;
        self
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The model without its weights.
    pub fn model(&self) -> &ExampleModel {
        &self.model
    }

    /// The logits of each of some tokens, row by row.
    ///
    /// # Errors
    /// If they do not fit the model.
    pub fn logits(&mut self, tokens: &[usize]) -> Result<Vec<f64>> {
        T::logits(self, tokens)
    }

    fn logits_here(&mut self, tokens: &[usize]) -> Result<Vec<f64>> {
        // What has to be predicted changes no logits.
        let example = Example { tokens: tokens.to_vec(), targets: vec![Some(0); tokens.len()] };
        let batch = Batch::of(&[example], self.examples.task().filler());
        let compiled = self.plans.run(&self.model, &self.weights, &batch)?;
        Ok(compiled.logits()?.iter().map(|x| x.to_f64()).collect())
    }

    /// The number of steps of each plan that has been made, and of the numbers that it keeps in memory.
    pub fn plan_sizes(&self) -> Vec<(usize, usize)> {
        self.plans.sizes()
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

    /// How the last step changed one number of a weight of [`ModelSize::weights`], by their places; none where there is no such number.
    pub fn change_of(&self, weight: usize, place: usize) -> Option<AdamChange> {
        self.adam.change_of(weight, place)
    }

    /// The next batch, which the next step will learn from.
    pub fn next_batch(&self) -> Batch {
        self.examples.batch(&mut self.stream.clone(), self.settings.batch)
    }

    /// One step.
    ///
    /// # Errors
    /// If the loss or a gradient is not finite, or the loss is far above the first one. The weights then are those of the last loss
    /// that was good: the step that ruined them is taken back.
    pub fn step(&mut self) -> Result<Step> {
        T::step(self)
    }

    fn step_here(&mut self) -> Result<Step> {
        let mut stream = self.stream.clone();
        let batch = self.examples.batch(&mut stream, self.settings.batch);
        let number = self.step + 1;
        let compiled = self.plans.run(&self.model, &self.weights, &batch)?;
        let loss = compiled.loss()?;
        let gradients: Vec<&[T]> =
            compiled.gradients.iter().map(|id| compiled.plan.numbers(*id)).collect::<Result<_>>()?;
        let is_finite = gradients.iter().all(|numbers| numbers.iter().all(|x| x.to_f64().is_finite()));
        if let Err(error) = stays_small(number, (loss, self.first_loss), is_finite, &self.settings) {
            self.weights.clone_from(&self.before);
            return Err(error);
        }
        let (accuracy, heads) = (
            compiled.accuracy(&batch)?,
            compiled.scores(&batch, &self.settings.patterns, self.settings.size.causal)?,
        );
        self.before.clone_from(&self.weights);
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
        T::test(self)
    }

    fn test_here(&mut self) -> Result<(f64, f64)> {
        let (mut loss, mut right, mut counted) = (0.0, 0.0, 0);
        for batch in self.held_out() {
            let compiled = self.plans.run(&self.model, &self.weights, &batch)?;
            let of_batch = batch.counted() as f64;
            loss += compiled.loss()? * of_batch;
            right += compiled.accuracy(&batch)? * of_batch;
            counted += batch.counted();
        }
        Ok((loss / counted as f64, right / counted as f64))
    }

    /// What is held out, in batches of one length.
    fn held_out(&self) -> Vec<Batch> {
        let mut by_length: BTreeMap<usize, Vec<Example>> = BTreeMap::new();
        for example in self.examples.held_out() {
            by_length.entry(example.tokens.len()).or_default().push(example.clone());
        }
        let parts = by_length.values().flat_map(|examples| examples.chunks(self.settings.batch));
        parts.map(|part| Batch::of(part, self.examples.task().filler())).collect()
    }

    /// The share of right predictions on what is held out if one head, by its layer and its number from 0, has other weights: alike
    /// over the keys of a pattern, or over all that a query sees.
    ///
    /// # Errors
    /// If there is no room for the numbers.
    pub fn right_with(&mut self, head: (usize, usize), instead: Option<Pattern>) -> Result<f64> {
        T::right_with(self, head, instead)
    }

    fn right_with_here(&mut self, head: (usize, usize), instead: Option<Pattern>) -> Result<f64> {
        let (mut right, mut counted) = (0.0, 0);
        for batch in self.held_out() {
            let examples = batch.tokens.chunks(batch.length).zip(batch.targets.chunks(batch.length));
            let causal = self.settings.size.causal;
            let weights: Vec<T> = examples
                .flat_map(|(tokens, targets)| weights_instead(instead, tokens, targets, causal))
                .collect();
            let compiled = self.plans.with_weights(&self.model, &self.weights, &batch)?;
            right += compiled.accuracy_with(&batch, head, &weights)? * batch.counted() as f64;
            counted += batch.counted();
        }
        Ok(right / counted as f64)
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
            let [loss, first] =
                [loss, first].map(|loss| if loss < 1e9 { format!("{loss:.4}") } else { typed(loss) });
            format!("the loss is {loss}, more than {MOST_LOSS} times the first one, {first}")
        }
        _ => return Ok(()),
    };
    let rate = typed(settings.adam.rate_at(number));
    let error = Error::new(format!(
        "training stops at step {number}: {what}; the learning rate of this step is {rate}"
    ));
    Err(match first {
        Some(_) => error.help(format!("take a smaller learning rate than {}", typed(settings.adam.rate))),
        // No step has been taken yet: the numbers grow from layer to layer.
        None => error.help("take fewer layers, since the model fails with its first weights"),
    })
}
