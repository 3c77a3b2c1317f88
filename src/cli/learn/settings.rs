//! How a model learns: its size, the steps, the seed.

use clap::Args;

use crate::cli::options::{DtypeArg, positive};
use crate::error::Result;
use crate::learn::{AdamSettings, Defaults, ModelSize, Settings, Task};
use crate::tensor::Dtype;

/// The most steps and the most examples of a batch.
pub(super) const MOST_STEPS: u64 = 1_000_000;
const MOST_EXAMPLES: u64 = 4096;

/// The size of the model, and how it learns.
#[derive(Args, Clone, Debug)]
pub(super) struct SettingsArgs {
    /// Layers
    #[arg(long, value_name = "N", help_heading = "The model")]
    layers: Option<usize>,
    /// Heads of a layer
    #[arg(long, value_name = "N", help_heading = "The model")]
    heads: Option<usize>,
    /// Width of a token's vector
    #[arg(id = "model_width", long = "width", value_name = "N", help_heading = "The model")]
    width: Option<usize>,
    /// Width inside the MLP; 0 leaves it out
    #[arg(long, value_name = "N", help_heading = "The model")]
    mlp: Option<usize>,
    /// Steps
    #[arg(long, value_name = "N", help_heading = "How it learns", value_parser = clap::value_parser!(u64).range(1..=MOST_STEPS))]
    steps: Option<u64>,
    /// Learning rate
    #[arg(long, value_name = "RATE", help_heading = "How it learns")]
    lr: Option<String>,
    /// Examples of a step [default: 32]
    #[arg(long, value_name = "N", help_heading = "How it learns", value_parser = clap::value_parser!(u64).range(1..=MOST_EXAMPLES))]
    batch: Option<u64>,
    /// Seed of the first weights and of the examples
    #[arg(long, value_name = "N", help_heading = "How it learns", default_value_t = 1)]
    seed: u32,
    /// Number type: f32 (fast) or f64 (exact)
    #[arg(long, value_enum, default_value = "f32", help_heading = "How it learns")]
    dtype: DtypeArg,
}

impl SettingsArgs {
    /// The type of the numbers.
    pub(super) fn dtype(&self) -> Dtype {
        self.dtype.into()
    }

    /// The settings for a task.
    ///
    /// # Errors
    /// If a size is 0 or does not fit another, or the learning rate is not a positive number.
    pub(super) fn settings(&self, task: &Task, defaults: &Defaults) -> Result<Settings> {
        let usual = defaults.settings(task, self.seed);
        let size = ModelSize {
            width: self.width.unwrap_or(usual.size.width),
            layers: self.layers.unwrap_or(usual.size.layers),
            heads: self.heads.unwrap_or(usual.size.heads),
            mlp: self.mlp.map_or(usual.size.mlp, |width| (width > 0).then_some(width)),
            ..usual.size
        };
        size.check()?;
        let rate = match &self.lr {
            Some(text) => positive("--lr", text)?,
            None => defaults.rate,
        };
        let steps = self.steps.map_or(defaults.steps, |steps| steps as usize);
        let batch = self.batch.map_or(usual.batch, |batch| batch as usize);
        Ok(Settings { size, adam: AdamSettings::new(steps, rate), batch, ..usual })
    }
}
