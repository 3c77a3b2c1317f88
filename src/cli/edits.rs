//! `--set` and `--without`: numbers and heads that are changed after everything else is known.

use clap::Args;

use crate::error::{Error, Result};
use crate::explore::State;

/// The heads that are taken out.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct WithoutArgs {
    /// Set the output of heads to 0: A, A_2, L1.A_3
    #[arg(long, value_name = "HEADS")]
    without: Option<String>,
}

impl WithoutArgs {
    /// The heads, as they were typed.
    pub(super) fn heads(&self) -> Vec<String> {
        let heads = self.without.iter().flat_map(|heads| heads.split(',')).map(str::trim);
        heads.map(str::to_string).collect()
    }
}

/// Numbers and heads that are changed.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Attention")]
pub(super) struct EditArgs {
    /// Set a given number: X[1,2]=6, X[cave,animals]=6
    #[arg(long, value_name = "CELL=NUMBER")]
    set: Vec<String>,
    #[command(flatten)]
    without: WithoutArgs,
}

impl EditArgs {
    /// Whether nothing is changed.
    pub(super) fn is_nothing(&self) -> bool {
        self.set.is_empty() && self.without.heads().is_empty()
    }

    /// The heads.
    pub(super) fn heads(&self) -> Vec<String> {
        self.without.heads()
    }

    /// The numbers of a command that has options of its own for the settings.
    ///
    /// # Errors
    /// If one sets no cell.
    pub(super) fn cells(&self) -> Result<&[String]> {
        match self.set.iter().find(|text| !text.contains('[')) {
            None => Ok(&self.set),
            Some(text) => Err(Error::new(format!("`--set {text}` sets no cell")).help(
                "write --set 'X[1,2]=6'; a matrix goes in --x or --wq, a setting in --temperature, --scale, --causal or --window",
            )),
        }
    }
}

/// The changes of steps that have no options for their settings.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Explore")]
pub(super) struct StepEditArgs {
    /// Set a given number, or a setting: X[1,2]=6, mask=none
    ///
    /// Settings are temperature=0.5, scale=none or a number, and mask=none, causal or the width of a causal window.
    #[arg(long, value_name = "CELL=NUMBER")]
    set: Vec<String>,
    #[command(flatten)]
    without: WithoutArgs,
}

impl StepEditArgs {
    /// A state with these changes.
    ///
    /// # Errors
    /// If one cannot be made.
    pub(super) fn changed(&self, state: State) -> Result<State> {
        state.with_assignments(&self.set, &self.without.heads())
    }
}
