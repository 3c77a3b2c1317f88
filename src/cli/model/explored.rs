//! The graph of a whole model on a text, for walking through it.

use clap::Args;

use super::logits::with_logits;
use super::numbers::NumbersArgs;
use super::opened::OpenedModel;
use crate::cli::env::Env;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::model::Edits;

/// The most logits that are computed for it: a row for each token.
const MOST_LOGITS: usize = 4_000_000;

/// A model and a text.
#[derive(Args, Debug)]
pub(crate) struct ModelToRead {
    /// A model's folder, or words
    #[arg(value_name = "FOLDER")]
    folder: String,
    /// The text that the model reads
    #[arg(value_name = "TEXT", conflicts_with = "ids", required_unless_present = "ids")]
    text: Option<String>,
    /// The ids of its tokens, in place of TEXT: 464,3290
    #[arg(long, value_name = "IDS")]
    ids: Option<String>,
    #[command(flatten)]
    numbers: NumbersArgs,
}

impl ModelToRead {
    /// All steps of all layers, and the logits where there are not too many.
    ///
    /// # Errors
    /// If the folder cannot be opened, the text not be read, or there are more numbers than the limit.
    pub(crate) fn graph(&self, env: &Env) -> Result<Graph> {
        let model = OpenedModel::open(&self.folder, env)?;
        let text = match (&self.text, &self.ids) {
            (Some(text), _) => model.read(text)?,
            (None, Some(ids)) => model.read_ids(ids)?,
            (None, None) => return Err(Error::new("there is no text").help("give a text, or --ids")),
        };
        let tokens = text.text.ids.len();
        let mut options = self.numbers.chosen(&model, tokens, Edits::default()).options;
        options.measured = false;
        let wants_logits = model.has_head
            && tokens.saturating_mul(model.architecture.model.vocabulary as usize) <= MOST_LOGITS;
        let mut graph = model.with_run(|run| {
            let forward = run.forward(text.text.clone(), options)?;
            let graph = run.layers_again(&forward, 1..=model.architecture.blocks.len())?;
            if wants_logits { with_logits(&run, &forward, graph) } else { Ok(graph) }
        })?;
        model.name_words(&mut graph);
        Ok(graph)
    }
}
