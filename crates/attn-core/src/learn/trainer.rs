//! A model that learns: batch by batch, step by step.

use std::collections::BTreeMap;

use crate::elementary;
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, Op};
use crate::kernel::SimdLevel;
use crate::model::Look;
use crate::random::LegacyStream;
use crate::tensor::Tensor;
use crate::text::typed;

use super::adam::{Adam, AdamChange, AdamSettings};
use super::evaluation::{HeadScores, HeldHead, Pattern, Plans, largest};
use super::example::{Batch, Example, ExampleGraph, ExampleModel};
use super::number::Number;
use super::size::{ModelSize, WeightsInMemory};
use super::task::{Examples, Task};

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
    pub heads: HeadScores,
    /// The length of the gradient, before it is clipped.
    pub gradient: f64,
}

impl Step {
    /// The scores of each head, with its layer and its number from 0.
    pub fn of_heads(&self) -> impl Iterator<Item = (usize, usize, &[Option<f64>])> {
        self.heads.iter().enumerate().flat_map(|(layer, heads)| {
            heads.iter().enumerate().map(move |(head, scores)| (layer, head, &scores[..]))
        })
    }
}

/// A model that learns.
#[derive(Debug)]
pub struct Trainer<T> {
    settings: Settings,
    examples: Examples,
    pub(super) model: ExampleModel,
    weights: Vec<Vec<T>>,
    /// The weights that the last loss was computed with, before the step changed them.
    before: Vec<Vec<T>>,
    adam: Adam<T>,
    stream: LegacyStream,
    pub(super) plans: Plans<T>,
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
    fn test(trainer: &mut Trainer<Self>, held: Option<HeldHead>) -> Result<(f64, f64)>;
    #[doc(hidden)]
    fn logits(trainer: &mut Trainer<Self>, tokens: &[usize]) -> Result<Vec<f64>>;
}

macro_rules! impl_learner {
    ($($number:ty),+) => {$(
        impl Learner for $number {
            fn step(trainer: &mut Trainer<$number>) -> Result<Step> {
                trainer.step_here()
            }

            fn test(trainer: &mut Trainer<$number>, held: Option<HeldHead>) -> Result<(f64, f64)> {
                trainer.test_here(held)
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
            let (tokens, positions) = (task.context(), settings.size.context);
            return Err(Error::new(format!(
                "an example has up to {tokens} tokens, but the model has positions for {positions}"
            ))
            .help("take a longer context or shorter examples"));
        }
        if settings.adam.steps == 0 || settings.batch == 0 {
            let error = Error::new("nothing is learned in 0 steps or from 0 examples");
            return Err(error.help("give a number above 0"));
        }
        let ids: Vec<usize> = (0..task.symbols().count()).collect();
        let model = ExampleModel::new(settings.size, task.symbols().labels(&ids))?;
        let mut stream = LegacyStream::seeded(settings.seed);
        let first = settings.size.first_weights(&mut stream).into_iter();
        let weights: Vec<Vec<T>> =
            first.map(|numbers| numbers.into_iter().map(T::from_f64).collect()).collect();
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
        let batch = Batch::of(&[example]);
        let compiled = self.plans.run(&self.model, &self.weights, &batch)?;
        Ok(compiled.logits()?.iter().map(|x| x.to_f64()).collect())
    }

    /// The examples.
    pub fn examples(&self) -> &Examples {
        &self.examples
    }

    /// The number of steps that are done.
    pub fn steps(&self) -> usize {
        self.step
    }

    /// The weights under their names.
    ///
    /// # Errors
    /// If there is no room for them.
    pub fn tensors(&self) -> Result<Vec<(String, Tensor)>> {
        self.settings.size.tensors(&self.weights)
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
        let accuracy = compiled.accuracy(&batch)?;
        let heads = compiled.scores(&batch, &self.settings.patterns, self.settings.size.causal)?;
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
        T::test(self, None)
    }

    /// The share of right predictions on what is held out if one head, by its layer and its number from 0, has other weights: alike
    /// over the keys of a pattern, or over all that a query sees.
    ///
    /// # Errors
    /// If there is no room for the numbers.
    pub fn right_with(&mut self, head: (usize, usize), instead: Option<Pattern>) -> Result<f64> {
        T::test(self, Some((head, instead))).map(|(_, right)| right)
    }

    fn test_here(&mut self, held: Option<HeldHead>) -> Result<(f64, f64)> {
        let (mut loss, mut right, mut counted) = (0.0, 0.0, 0);
        for batch in self.held_out() {
            let compiled = self.plans.with_weights(&self.model, &self.weights, &batch)?;
            match held {
                Some(held) => compiled.run_with(&batch, held, self.settings.size.causal)?,
                None => compiled.plan.run(&batch)?,
            }
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
        by_length.values().flat_map(|examples| examples.chunks(self.settings.batch)).map(Batch::of).collect()
    }

    /// The computation on one example of the next batch, with all steps forward and back.
    ///
    /// # Errors
    /// If there is no room for its numbers.
    pub fn graph_of(&self, example: &Example, counted: usize) -> Result<ExampleGraph> {
        let weights = WeightsInMemory::new(&self.settings.size, &self.weights)?;
        self.model.graph(weights, example, counted)
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

// One step of the training as a graph: what every example of its batch did to the weights.

/// The computation of a step.
#[derive(Clone, Debug)]
pub struct StepGraph {
    /// The graphs of all examples, each with `_e3` behind its names, and for each weight the sum of its gradients.
    pub graph: Graph,
    /// The gradient of each weight, the sum over all examples, in the order of [`super::ModelSize::weights`].
    pub gradients: Vec<NodeId>,
    /// The loss of the batch.
    pub loss: NodeId,
}

impl<T: Learner> Trainer<T> {
    /// The computation of the next step, of all its examples: `L1.dW_Q` is the sum of `L1.dW_Q_e1`, `L1.dW_Q_e2`, …, and each of them
    /// is computed from the steps of its example. Numbers are those of the exact path, in `f64`, from the weights as they are.
    ///
    /// # Errors
    /// If there is no room for the numbers of all examples.
    pub fn next_step(&self) -> Result<StepGraph> {
        let batch = self.next_batch();
        let mut graph = Graph::new();
        let mut of_weights: Vec<Vec<NodeId>> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for at in 0..batch.examples() {
            let one = self.graph_of(&batch.example(at), batch.counted())?;
            let wanted = [&one.weights[..], &[one.loss.loss]].concat();
            names = wanted.iter().map(|id| one.graph[*id].name.clone()).collect();
            of_weights.push(graph.adopt(&one.graph, &wanted, &format!("_e{}", at + 1))?);
        }
        let mut gradients = Vec::new();
        for (weight, name) in names.iter().enumerate() {
            let parts: Vec<NodeId> = of_weights.iter().map(|ids| ids[weight]).collect();
            gradients.push(graph.add(name, Op::Add, &parts)?);
        }
        let loss = gradients.pop().ok_or_else(|| Error::new("the batch has no example"))?;
        Ok(StepGraph { graph, gradients, loss })
    }
}

// What a task is learned with where nobody says otherwise.

/// The sizes and the settings that a task is learned with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Defaults {
    /// The number of layers.
    pub layers: usize,
    /// The number of heads of a layer.
    pub heads: usize,
    /// The width of the residual stream.
    pub width: usize,
    /// The width inside the MLP, where layers have one.
    pub mlp: Option<usize>,
    /// Whether there are RMS norms.
    pub normed: bool,
    /// The number of steps.
    pub steps: usize,
    /// The learning rate at its largest.
    pub rate: f64,
    /// The shortest and the longest length that is drawn, where a task has lengths.
    pub lengths: Option<(usize, usize)>,
    /// The number of positions, where it is larger than the longest example.
    pub context: usize,
    /// What the heads are scored by.
    pub patterns: &'static [Pattern],
}

/// The examples of a batch.
const BATCH: usize = 32;

impl Defaults {
    /// The size of the model for a task.
    pub fn size(&self, task: &Task) -> ModelSize {
        ModelSize {
            vocabulary: task.symbols().count(),
            context: task.context().max(self.context),
            width: self.width,
            layers: self.layers,
            heads: self.heads,
            mlp: self.mlp,
            normed: self.normed,
            causal: task.is_causal(),
        }
    }

    /// The settings for a task.
    pub fn settings(&self, task: &Task, seed: u32) -> Settings {
        Settings {
            size: self.size(task),
            adam: AdamSettings::new(self.steps, self.rate),
            batch: BATCH,
            seed,
            patterns: self.patterns.to_vec(),
        }
    }
}

const PREVIOUS: Pattern = Pattern::Look(Look::Previous);
const INDUCTION: Pattern = Pattern::Look(Look::Induction);
const ANSWERING: &[Pattern] = &[PREVIOUS, Pattern::Answer];

/// Attention alone, and nothing else but a residual stream.
const PLAIN: Defaults = Defaults {
    layers: 1,
    heads: 1,
    width: 8,
    mlp: None,
    normed: false,
    steps: 400,
    rate: 0.02,
    lengths: None,
    context: 0,
    patterns: &[PREVIOUS, INDUCTION],
};

/// Two layers of two heads.
const DEEPER: Defaults = Defaults { layers: 2, heads: 2, width: 32, steps: 1000, rate: 0.005, ..PLAIN };

/// The defaults of a task, by its name.
pub fn defaults(task: &str) -> Defaults {
    let digits = Some((6, 6));
    match task {
        "reverse" => Defaults { lengths: digits, patterns: &[Pattern::Mirror, Pattern::Answer], ..PLAIN },
        "sort" => Defaults { lengths: digits, patterns: &[Pattern::Answer, PREVIOUS], ..DEEPER },
        "induction" => Defaults { layers: 2, width: 32, rate: 0.01, lengths: Some((2, 4)), ..PLAIN },
        "addition" => Defaults { mlp: Some(64), steps: 1500, patterns: ANSWERING, ..DEEPER },
        "names" => {
            let (mlp, normed) = (Some(64), true);
            Defaults { heads: 4, width: 16, mlp, normed, steps: 1000, rate: 0.01, context: 16, ..PLAIN }
        }
        "text" => Defaults { heads: 4, mlp: Some(128), normed: true, lengths: Some((32, 32)), ..DEEPER },
        _ => Defaults { mlp: Some(64), normed: true, patterns: ANSWERING, ..DEEPER },
    }
}

// What a model predicts, and what it writes.

/// A token with what it has to predict, and what is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicted {
    /// The id of the token.
    pub token: usize,
    /// What it has to predict, where anything is asked.
    pub target: Option<usize>,
    /// The id with the largest logit.
    pub predicted: usize,
}

impl<T: Learner> Trainer<T> {
    /// Predictions on some of the examples that are held out.
    ///
    /// # Errors
    /// If there is no room for their numbers.
    pub fn predictions(&mut self, count: usize) -> Result<Vec<Vec<Predicted>>> {
        let examples: Vec<Example> = self.examples.held_out().iter().take(count).cloned().collect();
        examples.iter().map(|example| self.predicted(example)).collect()
    }

    fn predicted(&mut self, example: &Example) -> Result<Vec<Predicted>> {
        let logits = self.logits(&example.tokens)?;
        let cols = self.examples.task().symbols().count();
        let tokens = example.tokens.iter().zip(&example.targets);
        let rows = logits.chunks_exact(cols).zip(tokens);
        let of = |(row, (token, target)): (&[f64], (&usize, &Option<usize>))| Predicted {
            token: *token,
            target: *target,
            predicted: largest(row),
        };
        Ok(rows.map(of).collect())
    }

    /// What the model writes: some lines, or one piece of a text; nothing where it answers.
    ///
    /// Each symbol is drawn by its probability, from a stream with the seed of the training.
    ///
    /// # Errors
    /// If there is no room for the numbers.
    pub fn written(&mut self, lines: usize) -> Result<Vec<String>> {
        let Some((start, is_line)) = self.examples.task().starts_with() else { return Ok(Vec::new()) };
        let mut stream = LegacyStream::seeded(self.settings.seed);
        let count = if is_line { lines } else { 1 };
        (0..count).map(|_| self.one_written(&mut stream, start, is_line)).collect()
    }

    /// A line, from the mark of the end to the mark of the end; or a piece of text that begins with this symbol.
    fn one_written(&mut self, stream: &mut LegacyStream, start: usize, is_line: bool) -> Result<String> {
        let context = self.settings.size.context;
        let mut ids = vec![start];
        for _ in 0..if is_line { context } else { PIECE } {
            let next = self.next(stream, &ids[ids.len().saturating_sub(context)..])?;
            if is_line && next == start {
                break;
            }
            ids.push(next);
        }
        Ok(self.examples.task().symbols().text(&ids[usize::from(is_line)..]))
    }

    /// The next symbol, drawn by its probability.
    fn next(&mut self, stream: &mut LegacyStream, ids: &[usize]) -> Result<usize> {
        let context = self.settings.size.context;
        // One plan for all lengths: what comes after the last symbol is not seen.
        let mut tokens = ids.to_vec();
        tokens.resize(context, 0);
        let logits = self.logits(&tokens)?;
        let cols = self.examples.task().symbols().count();
        Ok(drawn(&logits[(ids.len() - 1) * cols..ids.len() * cols], stream.uniform()))
    }
}

/// The characters of a piece of text.
const PIECE: usize = 160;

/// The place where the sum of the probabilities passes `share`.
fn drawn(logits: &[f64], share: f64) -> usize {
    let max = logits[largest(logits)];
    let powers: Vec<f64> = logits.iter().map(|x| elementary::exp(x - max)).collect();
    let sum = powers.iter().fold(0.0, |sum, x| sum + x);
    let mut passed = 0.0;
    let found = powers.iter().position(|power| {
        passed += power / sum;
        share < passed
    });
    found.unwrap_or(logits.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_drawn_by_their_probability() {
        let ln = elementary::ln;
        let logits = [ln(1.0), ln(2.0), ln(1.0)];
        assert_eq!(
            [0.0, 0.24, 0.26, 0.74, 0.76, 0.999].map(|share| drawn(&logits, share)),
            [0, 0, 1, 1, 2, 2]
        );
        assert_eq!(largest(&[1.0, 3.0, 3.0]), 1);
    }
}
