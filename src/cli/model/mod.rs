//! `attn model`: a model from its folder, on a text.

mod address;
mod folder;
mod graph;
mod layer;
mod logits;
mod next;
mod options;
mod overview;
mod reading;
mod survey;

use clap::Args;

use crate::error::{EXIT_DONE, Error, ErrorKind, Result};
use crate::graph::Convention;
use crate::render;
use crate::story::Table;

use super::output::{LiveArgs, OutputArgs};
use super::program::Program;
use super::selection::{NodeArgs, StepArgs};
use super::versus::VersusArgs;
use super::{Env, Outcome, Streams, output};
use address::ChangeArgs;
use graph::WindowArgs;

use folder::{ChosenNumbers, NextArgs, NumbersArgs, ReadText, View};

pub(super) use folder::OpenedModel;
pub(super) use graph::ModelToRead;

/// Open a model's folder, run it on your sentence, and explain every number
///
/// FOLDER is what you download from a hub: `config.json`, `model.safetensors` (or an index and its files) and `tokenizer.json`.
/// Without TEXT, it shows what the model consists of. With TEXT, it shows the next word, and what the heads attend to.
/// With --layer, it shows every step of a layer, as `attn attend` does. With --explain, a level of --depth goes down to the next step
/// that reads weights.
#[derive(Args, Debug)]
#[command(
    after_help = crate::cli::texts::examples("model -h"),
    after_long_help = crate::cli::texts::examples("model"),
    mut_arg("live", |live| live.help("With --layer and html: a page you can change"))
)]
pub(super) struct ModelArgs {
    /// A model's folder
    #[arg(value_name = "FOLDER")]
    folder: String,
    /// The text that the model reads
    #[arg(value_name = "TEXT", conflicts_with = "ids")]
    text: Option<String>,
    /// The ids of its tokens, in place of TEXT: 464,3290
    #[arg(long, value_name = "IDS")]
    ids: Option<String>,
    #[command(flatten)]
    varied: VariedArgs,
    #[command(flatten)]
    more: NextArgs,
    /// Score every head by what it attends to
    ///
    /// On the text, and on a random sequence that repeats itself: there is nothing to know in it but the repetition.
    #[arg(long, help_heading = "What is shown", conflicts_with_all = ["layer", "save", "only", "explain", "symbolic", "versus"])]
    survey: bool,
    /// Show every table: tokens, layers, every head
    ///
    /// A screen has the main ones without it, and with --survey each head of a model with up to 48.
    #[arg(long, help_heading = "What is shown", conflicts_with_all = ["layer", "save", "only", "explain", "symbolic", "next"])]
    all: bool,
    /// Show every step of this layer, counted from 1
    #[arg(long, value_name = "L", help_heading = "What is shown")]
    layer: Option<usize>,
    /// Of the layer, show only this head, counted from 1
    #[arg(long, value_name = "H", requires = "layer", help_heading = "What is shown")]
    head: Option<usize>,
    /// The number of next words that are shown [default: 10]
    #[arg(long, value_name = "N", hide_short_help = true, help_heading = "What is shown", value_parser = clap::value_parser!(u16).range(1..=1000))]
    top: Option<u16>,
    #[command(flatten)]
    window: WindowArgs,
    /// Write a matrix to a file: L3.A_2=a.npy
    #[arg(long, value_name = "NODE=FILE", help_heading = "Output", conflicts_with = "versus")]
    save: Vec<String>,
    #[command(flatten)]
    versus: VersusArgs,
    #[command(flatten)]
    steps: StepArgs,
    #[command(flatten)]
    nodes: NodeArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    live: LiveArgs,
}

/// The options that `--versus` may change.
#[derive(Args, Clone, Debug)]
struct VariedArgs {
    /// Open the weights kept after this step of the training
    ///
    /// They are in the folder, as checkpoints/step-150.safetensors. An error says which steps were kept. Two of them are compared with
    /// --at 150 --versus '--at 600'.
    #[arg(long, value_name = "STEP", help_heading = "What is computed")]
    at: Option<usize>,
    #[command(flatten)]
    numbers: NumbersArgs,
    #[command(flatten)]
    changes: ChangeArgs,
}

impl VariedArgs {
    /// The option that is used, if one is.
    fn given_option(&self) -> Option<&'static str> {
        self.numbers.given_option().or(self.changes.given_option())
    }

    /// How a pass over this many tokens is computed.
    ///
    /// # Errors
    /// If the model has not the parts that are taken out.
    fn chosen(&self, model: &OpenedModel, tokens: usize) -> Result<ChosenNumbers> {
        Ok(self.numbers.chosen(model, tokens, self.changes.edits(&model.architecture)?))
    }
}

/// The number of next words that are shown, unless the user chooses.
const TOP: u16 = 10;

impl ModelArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        self.live.check(&self.output)?;
        if self.live.live && !matches!(self.view(), View::Layers) {
            return Err(Error::new("--live needs one layer here").help("add --layer 1, or leave out --live"));
        }
        let model = OpenedModel::open_at(&self.folder, self.varied.at, env)?;
        self.check_options(model.tensors.has_head)?;
        let read = self.read(&model)?;
        let tokens = read.as_ref().map_or(0, |read| read.text.ids.len()) + self.more.count().unwrap_or(0);
        let tokens = if self.survey { tokens + survey::LONGEST } else { tokens };
        let enough = self.varied.numbers.enough_memory(&model, tokens);
        self.shown_of(&model, read, program, env, streams).map_err(|error| match enough {
            Some(enough) if error.kind() == ErrorKind::TooLarge => {
                error.with_help(format!("give a shorter text, or allow more: --memory {enough}"))
            }
            _ => error,
        })
    }

    fn shown_of(
        &self,
        model: &OpenedModel,
        read: Option<ReadText>,
        program: &Program<'_>,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<Outcome> {
        let tables = match (self.view(), read) {
            (View::Survey, read) => survey::tables(model, read, self)?,
            (_, None) => overview::tables(model, &self.output)?,
            (View::Layers | View::Files, Some(text)) => {
                return self.of_layers(model, text, program, env, streams);
            }
            (_, Some(text)) => match self.more.count() {
                Some(count) => next::tables(model, text, self, count)?,
                None => {
                    let (parts, forward) = reading::tables(model, &text, (self, program), env)?;
                    if self.output.is_page() {
                        survey::write(model, (&text, &forward), &parts, (self, program), (env, streams))?;
                        return Outcome::of_tables(EXIT_DONE, &parts);
                    }
                    parts
                }
            },
        };
        self.tables(tables, env, streams)
    }

    /// Writes tables of words.
    fn tables(&self, parts: Vec<(String, Table)>, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        let style = self.live.style(&self.output, env, Convention::Rows);
        let write = |streams: &mut Streams<'_>| render::tables(&parts, "model", &style, streams.out);
        let code = output::paged_text(style.format, env, streams, write)?;
        Outcome::of_tables(code, &parts)
    }
}
