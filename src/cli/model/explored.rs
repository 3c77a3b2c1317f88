//! The graph of a whole model on a text, for walking through it.

use std::ops::RangeInclusive;

use clap::Args;

use crate::cli::program::Env;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;
use crate::model::{Edits, Forward, ModelRun};
use crate::text::{counted, grouped};

use super::logits::with_logits;
use super::numbers::NumbersArgs;
use super::opened::OpenedModel;
use super::predicted;
use super::window::range;

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
    /// Open only these layers: 3-5, or 3
    ///
    /// The first of them begins with the numbers that enter it. An edit recomputes the layers that are open.
    #[arg(long, value_name = "FROM-TO", value_parser = range, help_heading = "What is computed")]
    layers: Option<RangeInclusive<usize>>,
    /// Open the weights kept after this step of the training
    ///
    /// It is --at of attn model, which means the cell to begin at here.
    #[arg(long, value_name = "STEP", help_heading = "What is computed")]
    checkpoint: Option<usize>,
    #[command(flatten)]
    numbers: NumbersArgs,
}

impl ModelToRead {
    /// All steps of the layers that are asked for, or of all; with the last one the logits, where there are not too many. And the row
    /// of the prediction, from 0.
    ///
    /// # Errors
    /// If the folder cannot be opened, the text not be read, there are no such layers, or they have more numbers than the limit: the
    /// error says which layers have not.
    pub(crate) fn graph(&self, env: &Env) -> Result<(Graph, usize)> {
        let model = OpenedModel::open_at(&self.folder, self.checkpoint, env)?;
        let text = match (&self.text, &self.ids) {
            (Some(text), _) => model.read(text)?,
            (None, Some(ids)) => model.read_ids(ids)?,
            (None, None) => return Err(Error::new("there is no text").help("give a text, or --ids")),
        };
        let tokens = text.text.ids.len();
        let mut options = self.numbers.chosen(&model, tokens, Edits::default()).options;
        options.measured = false;
        let count = model.architecture.blocks.len();
        let layers = self.layers.clone().unwrap_or(1..=count);
        if let Some(none) = [layers.start(), layers.end()].into_iter().find(|layer| **layer > count) {
            return Err(Error::new(format!("there is no layer {none}"))
                .help(format!("the model has {}, counted from 1", counted(count, "layer"))));
        }
        let wants_logits = model.has_head
            && *layers.end() == count
            && tokens.saturating_mul(model.architecture.model.vocabulary as usize) <= MOST_LOGITS;
        let mut graph = model.with_run(|run| {
            let forward = run.forward(text.text.clone(), options)?;
            let graph = run
                .layers_again(&forward, layers.clone())
                .map_err(|error| with_fewer_layers(error, &run, &forward, &layers))?;
            if wants_logits { with_logits(&run, &forward, graph) } else { Ok(graph) }
        })?;
        model.name_words(&mut graph);
        let place =
            predicted::places(&model, &text).first().map_or(tokens.saturating_sub(1), |place| place.row);
        Ok((graph, place))
    }
}

/// An error about too many numbers, which says how many layers are not too many.
fn with_fewer_layers(
    error: Error,
    run: &ModelRun<'_>,
    forward: &Forward,
    layers: &RangeInclusive<usize>,
) -> Error {
    let last = *layers.end();
    if error.kind() != ErrorKind::TooLarge {
        return error;
    }
    let Ok(one) = run.layers_again(forward, last..=last) else { return error };
    let computed = one.nodes().filter(|(_, node)| !node.op.is_given()).map(|(_, node)| node.shape());
    let each: usize = computed.map(|shape| shape.rows * shape.cols).sum();
    let (asked, limit) = (last + 1 - layers.start(), forward.options.limit);
    let fitting = limit / each.max(1);
    let all = each.saturating_mul(asked);
    // Memory may be short instead.
    if fitting == 0 || fitting >= asked {
        return error;
    }
    let fewer = match last + 1 - fitting {
        first if first == last => first.to_string(),
        first => format!("{first}-{last}"),
    };
    // A little more: the embedding is recorded, too.
    let enough = all.saturating_add(each);
    Error::new(format!(
        "{} record about {} numbers, more than the limit of {}",
        counted(asked, "layer"),
        grouped(all as u64),
        grouped(limit as u64)
    ))
    .of_kind(ErrorKind::TooLarge)
    .help(format!("open some of them: --layers {fewer}"))
    .and_help(&format!("or record more: --limit {enough}"))
}
