//! What a task is learned with where nobody says otherwise.

use super::adam::AdamSettings;
use super::score::Pattern;
use super::size::ModelSize;
use super::task::Task;
use super::trainer::Settings;
use crate::model::Look;

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

/// The defaults of a task, by its name.
pub fn defaults(task: &str) -> Defaults {
    match task {
        "reverse" => {
            Defaults { lengths: Some((6, 6)), patterns: &[Pattern::Mirror, Pattern::Answer], ..PLAIN }
        }
        "sort" => Defaults {
            layers: 2,
            heads: 2,
            width: 32,
            steps: 1000,
            rate: 0.005,
            lengths: Some((6, 6)),
            patterns: &[Pattern::Answer, PREVIOUS],
            ..PLAIN
        },
        "induction" => Defaults { layers: 2, width: 32, rate: 0.01, lengths: Some((2, 4)), ..PLAIN },
        "addition" => Defaults {
            layers: 2,
            heads: 2,
            width: 32,
            mlp: Some(64),
            steps: 1500,
            rate: 0.005,
            patterns: &[PREVIOUS, Pattern::Answer],
            ..PLAIN
        },
        "names" => Defaults {
            heads: 4,
            width: 16,
            mlp: Some(64),
            normed: true,
            steps: 1000,
            rate: 0.01,
            context: 16,
            ..PLAIN
        },
        "text" => Defaults {
            layers: 2,
            heads: 4,
            width: 32,
            mlp: Some(128),
            normed: true,
            steps: 1000,
            rate: 0.005,
            lengths: Some((32, 32)),
            ..PLAIN
        },
        _ => Defaults {
            layers: 2,
            heads: 2,
            width: 32,
            mlp: Some(64),
            normed: true,
            steps: 1000,
            rate: 0.005,
            patterns: &[PREVIOUS, Pattern::Answer],
            ..PLAIN
        },
    }
}
