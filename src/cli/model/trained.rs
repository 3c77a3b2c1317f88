//! `--at`: the weights that a training kept after one of its steps.

use clap::Args;

/// The step of a training whose weights are opened.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "What is computed")]
pub(super) struct StepOfTrainingArgs {
    /// Open the weights kept after this step of the training
    ///
    /// They are in the folder, as checkpoints/step-150.safetensors. An error says which steps were kept. Two of them are compared with
    /// --at 150 --versus '--at 600'.
    #[arg(long, value_name = "STEP")]
    pub at: Option<usize>,
}
