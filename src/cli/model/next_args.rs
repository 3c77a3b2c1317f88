//! `--next`, `--seed`, `--temperature`: how a text goes on.

use clap::Args;

use crate::cli::options::positive;
use crate::error::Result;

/// How the text goes on.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What is computed")]
pub(super) struct NextArgs {
    /// Let the model write this many tokens
    ///
    /// Each time the most probable token, unless --seed or --temperature is given. It stops at a token that ends a text.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000), conflicts_with_all = ["survey", "layer", "save", "only", "explain", "symbolic", "versus"])]
    next: Option<u16>,
    /// Draw each token at random, from this seed
    #[arg(long, value_name = "S", requires = "next", hide_short_help = true)]
    seed: Option<u32>,
    /// Divide the logits before drawing [default: 1]
    ///
    /// Below 1 the probable tokens become more probable, above 1 less.
    #[arg(long, value_name = "T", requires = "next", hide_short_help = true)]
    temperature: Option<String>,
}

impl NextArgs {
    /// The number of tokens, if there are to be some.
    pub fn count(&self) -> Option<usize> {
        self.next.map(usize::from)
    }

    /// The seed of the draws, where tokens are drawn, and the temperature.
    ///
    /// # Errors
    /// If the temperature is not positive.
    pub fn draws(&self) -> Result<(Option<u32>, f64)> {
        let temperature = match &self.temperature {
            Some(text) => positive("--temperature", text)?,
            None => 1.0,
        };
        let is_random = self.seed.is_some() || self.temperature.is_some();
        Ok((is_random.then(|| self.seed.unwrap_or(0)), temperature))
    }
}
