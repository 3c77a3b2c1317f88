//! `attn learn`: a small model learns a task while you watch.

mod curves;
mod history;
mod report;
mod step;
mod task;
mod training;

use std::path::PathBuf;

use clap::Args;

use crate::error::Result;
use crate::input::Files;
use crate::tensor::Dtype;

use super::options::path;
use super::output::OutputArgs;
use super::selection::NodeArgs;
use super::{Env, Outcome, Streams};
use task::{MOST_STEPS, SettingsArgs, TaskArgs};

/// Train a small model in a second, and see what its heads learn
///
/// The gradients are those of `attn attend --gradient`, and a step is that of Adam. The same command gives the same numbers on every
/// machine. With --at and --explain, a step shows which examples and which terms changed a weight.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct LearnArgs {
    #[command(flatten)]
    task: TaskArgs,
    #[command(flatten)]
    settings: SettingsArgs,
    /// Write the model into this folder
    ///
    /// `attn model FOLDER` opens it, and so does transformers.
    #[arg(long, value_name = "FOLDER", help_heading = "Output", value_parser = path, conflicts_with = "at")]
    save: Option<PathBuf>,
    /// With --save: keep the weights of every N-th step, too
    #[arg(long, value_name = "N", help_heading = "Output", requires = "save", value_parser = clap::value_parser!(u64).range(1..=MOST_STEPS))]
    every: Option<u64>,
    /// Write the curves as a picture: curves.svg
    #[arg(long, value_name = "FILE", help_heading = "Output", value_parser = path, conflicts_with = "at")]
    plot: Option<PathBuf>,
    /// Look into this step, with --explain or --only
    #[arg(long, value_name = "STEP", help_heading = "Where a number comes from", value_parser = clap::value_parser!(u64).range(1..=MOST_STEPS))]
    at: Option<u64>,
    #[command(flatten)]
    nodes: NodeArgs,
    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  attn learn reverse                  one head finds the mirrored place
  attn learn induction                watch the second head appear
  attn learn induction --layers 1     one layer alone
  attn learn names --steps 300        letter by letter
  attn learn induction --explain 'L1.dW_Q[2,1]' --at 70";

impl LearnArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        self.agree()?;
        let mut files = Files::new(streams.input).within(env.reading.clone());
        let (task, defaults) = self.task.task(&mut files)?;
        let settings = self.settings.settings(&task, &defaults)?;
        match (self.at, self.settings.dtype()) {
            (Some(at), Dtype::F64) => self.look_into::<f64>((task, settings), at as usize, env, streams),
            (Some(at), _) => self.look_into::<f32>((task, settings), at as usize, env, streams),
            (None, Dtype::F64) => self.train::<f64>((task, settings), env, streams),
            (None, _) => self.train::<f32>((task, settings), env, streams),
        }
    }
}
