//! What a training has shown: its steps, and how it ended.

use crate::error::{Error, Result};
use crate::graph::{Graph, Origin};
use crate::learn::{Learner, Pattern, Predicted, Settings, Step, Task, Trainer};
use crate::matrix::Matrix;

/// From this share of right predictions on, a task is learned.
pub(super) const LEARNED: f64 = 0.99;
/// The most heads that are each tried with other weights.
const MOST_TRIED: usize = 8;
/// The number of steps in a row that decide whether batches are right.
const IN_A_ROW: usize = 10;

/// The end of a training.
#[derive(Debug)]
pub(super) enum End {
    /// All steps are done.
    Done,
    /// A signal has come; the exit code.
    Stopped(u8),
    /// A step would have ruined the weights: what it said.
    Failed(Error),
}

/// A training.
#[derive(Debug)]
pub(super) struct History {
    pub task: Task,
    pub settings: Settings,
    pub steps: Vec<Step>,
    pub end: End,
    /// Whether the model is written in place of one that was in the folder.
    pub replaces: bool,
    /// The loss and the share of right predictions on what was held out, and the number of its examples.
    pub held_out: (f64, f64),
    pub held_out_examples: usize,
    /// The loss of a guess by the frequencies of the symbols there.
    pub loss_of_frequencies: f64,
    /// What it gets right there with other weights in one head; nothing of a model with many heads, or without right answers.
    pub substitutions: Vec<Substitution>,
    /// Examples that were held out, with what the model predicts.
    pub shown: Vec<Vec<Predicted>>,
    /// What the model writes, where it writes.
    pub written: Vec<String>,
}

impl History {
    /// What a trainer has found at its end.
    ///
    /// # Errors
    /// If there is no room for the numbers of what was held out.
    pub fn of<T: Learner>(trainer: &mut Trainer<T>, steps: Vec<Step>, end: End) -> Result<History> {
        let held_out = trainer.test()?;
        let is_tried = matches!(end, End::Done) && trainer.examples().task().has_answers();
        let substitutions = if is_tried { substitutions(trainer)? } else { Vec::new() };
        let (shown, written) = (trainer.predictions(3)?, trainer.written(10)?);
        Ok(History {
            task: trainer.examples().task().clone(),
            settings: trainer.settings().clone(),
            held_out_examples: trainer.examples().held_out().len(),
            loss_of_frequencies: trainer.examples().loss_of_frequencies(),
            steps,
            end,
            replaces: false,
            held_out,
            substitutions,
            shown,
            written,
        })
    }

    /// The weights that are tried in place of those of a head.
    pub fn substitutes(&self) -> Vec<&'static str> {
        let patterns = self.settings.patterns.iter().map(|pattern| pattern.name());
        std::iter::once("equal weights").chain(patterns).collect()
    }

    /// Whether the task is learned; none where it has no right answers.
    pub fn is_learned(&self) -> Option<bool> {
        self.task.has_answers().then_some(self.held_out.1 >= LEARNED)
    }

    /// The first step from which on ten batches in a row are right to 99 % together.
    pub fn right_from(&self) -> Option<usize> {
        let all: Vec<(usize, f64)> = self.steps.iter().map(|step| (step.number, step.accuracy)).collect();
        reaches(&all, LEARNED)
    }

    /// The scores of each head that had any, pattern by pattern.
    pub fn curves(&self) -> Vec<HeadCurve> {
        let Settings { size, patterns, .. } = &self.settings;
        let heads = (0..size.layers).flat_map(|layer| (0..size.heads).map(move |head| (layer, head)));
        let all = heads.flat_map(|(layer, head)| {
            patterns.iter().enumerate().map(move |(at, pattern)| {
                let score = |step: &Step| Some((step.number, step.heads[layer][head][at]?));
                let scores = self.steps.iter().filter_map(score).collect();
                let name = format!("{} {}", size.head_name(layer, head), pattern.name());
                HeadCurve { name, pattern: *pattern, scores }
            })
        });
        all.filter(|curve| !curve.scores.is_empty()).collect()
    }
}

/// What a model gets right with other weights in one of its heads.
#[derive(Clone, Debug)]
pub(super) struct Substitution {
    /// Its name.
    pub head: String,
    /// The share of right predictions for each of [`History::substitutes`].
    pub right: Vec<f64>,
}

/// The mean of what steps have.
fn mean(of: &[(usize, f64)]) -> f64 {
    of.iter().fold(0.0, |sum, (_, number)| sum + number) / of.len().max(1) as f64
}

/// The first step from which on ten in a row have at least this mean.
fn reaches(all: &[(usize, f64)], least: f64) -> Option<usize> {
    all.windows(IN_A_ROW).find(|steps| mean(steps) >= least).map(|steps| steps[0].0)
}

/// The scores of a head by one pattern.
#[derive(Clone, Debug)]
pub(super) struct HeadCurve {
    /// “L2.A_1 induction”; of a single head no number.
    pub name: String,
    pub pattern: Pattern,
    /// Steps and scores.
    pub scores: Vec<(usize, f64)>,
}

impl HeadCurve {
    /// The score of a step.
    pub fn at(&self, step: usize) -> Option<f64> {
        let found = self.scores.binary_search_by_key(&step, |(number, _)| *number);
        found.ok().map(|at| self.scores[at].1)
    }

    /// The mean of the last scores.
    pub fn last(&self) -> f64 {
        mean(&self.scores[self.scores.len().saturating_sub(IN_A_ROW)..])
    }

    /// The first step from which on ten scores in a row have at least this mean.
    pub fn reaches(&self, least: f64) -> Option<usize> {
        reaches(&self.scores, least)
    }
}

/// Each head with other weights: alike for all keys that a query sees, and at the place of each pattern.
fn substitutions<T: Learner>(trainer: &mut Trainer<T>) -> Result<Vec<Substitution>> {
    let Settings { size, patterns, .. } = trainer.settings().clone();
    if size.layers * size.heads > MOST_TRIED {
        return Ok(Vec::new());
    }
    let heads = (0..size.layers).flat_map(|layer| (0..size.heads).map(move |head| (layer, head)));
    let substitution = |(layer, head)| {
        let patterns = std::iter::once(None).chain(patterns.iter().copied().map(Some));
        let right = patterns.map(|pattern| trainer.right_with((layer, head), pattern));
        Ok(Substitution { head: size.head_name(layer, head), right: right.collect::<Result<_>>()? })
    };
    heads.map(substitution).collect()
}

// The numbers of a training as nodes, which the keys and the prose of lessons read.

/// From this score on, a head looks at its place more than at all others together.
pub(super) const HALF: f64 = 0.5;

/// `step` has a row for each step; `head` a row for each head and place, such as “L2.A induction”; `instead` has a row for
/// each head, with the share of right predictions if it had other weights; `training` has a single row, that of the task. A step that
/// never comes is infinite.
///
/// # Errors
/// If there is no room for the numbers.
pub(super) fn graph(history: &History) -> Result<Graph> {
    let curves = history.curves();
    let names: Vec<&str> = curves.iter().map(|curve| curve.name.as_str()).collect();
    let mut graph = Graph::new();
    let mut given = |name: &str, rows: &[Vec<f64>], (down, across): (&[&str], &[&str])| {
        let numbers = Matrix::from_rows(rows)?.rows_named(down).cols_named(across);
        graph.given(name, numbers, Origin::Stated)
    };
    let steps = history.steps.iter().map(|step| {
        let scores = curves.iter().map(|curve| curve.at(step.number).unwrap_or(f64::NAN));
        [step.loss, step.accuracy].into_iter().chain(scores).collect()
    });
    let numbers: Vec<String> = history.steps.iter().map(|step| step.number.to_string()).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    given("step", &steps.collect::<Vec<_>>(), (&numbers, &[&["loss", "accuracy"], &names[..]].concat()))?;
    let or_never = |step: Option<usize>| step.map_or(f64::INFINITY, |step| step as f64);
    if !curves.is_empty() {
        let ends = curves.iter().map(|curve| vec![curve.last(), or_never(curve.reaches(HALF))]);
        given("head", &ends.collect::<Vec<_>>(), (&names, &["last", "half_from"]))?;
    }
    if !history.substitutions.is_empty() {
        let all = history.substitutions.iter().map(|one| (one.head.as_str(), one.right.clone()));
        let (heads, right): (Vec<&str>, Vec<Vec<f64>>) = all.unzip();
        given("instead", &right, (&heads, &history.substitutes()))?;
    }
    let (loss, accuracy) = history.held_out;
    let parameters = history.settings.size.parameters() as f64;
    let whole = [parameters, loss, accuracy, or_never(history.right_from())];
    let columns = ["parameters", "heldout_loss", "heldout_accuracy", "right_from"];
    given("training", &[whole.to_vec()], (&[history.task.name()], &columns))?;
    Ok(graph)
}
