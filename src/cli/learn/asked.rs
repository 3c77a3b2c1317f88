//! Options that need each other.

use super::LearnArgs;
use crate::cli::output::FormatArg;
use crate::error::{Error, Result};

impl LearnArgs {
    /// # Errors
    /// If options contradict each other.
    pub(super) fn agree(&self) -> Result<()> {
        let looks = self.nodes.explain.used().or((!self.nodes.only.is_empty()).then_some("--only"));
        match (self.at, looks) {
            (None, Some(option)) => Err(Error::new(format!("{option} needs the step that it looks into"))
                .help(format!("add --at 150: {option} then shows the numbers of step 150"))),
            (Some(_), None) => Err(Error::new("--at says which step, but not what is shown of it")
                .help("add --explain 'L1.dW_Q[2,1]' to see what changed this weight, or --only L1.dW_Q")),
            (None, None) if self.output.look.format == FormatArg::Numpy => {
                Err(Error::new("a training cannot be written as NumPy arrays")
                    .help("use --format csv or --format json"))
            }
            _ => Ok(()),
        }
    }
}
