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

use std::collections::HashMap;

use serde::Deserialize;

use crate::error::{EXIT_DONE, Error, ErrorKind, Result};
use crate::explore::{Source, State};
use crate::graph::Convention;
use crate::render;
use crate::story::Table;

use super::explore::{Begun, ExploreArgs};
use super::output::{LiveArgs, OutputArgs};
use super::params::ParamsArgs;
use super::program::Program;
use super::selection::{NodeArgs, StepArgs};
use super::tokens::TokensToShow;
use super::versus::VersusArgs;
use super::{Env, Outcome, Streams, output};
use address::ChangeArgs;
use graph::LayersArgs;

use folder::{ChosenNumbers, NextArgs, NumbersArgs, ReadText, View};

pub(super) use address::Within;
pub(super) use folder::OpenedModel;
pub(super) use graph::{WindowArgs, range};
pub(super) use layer::nodes_in;

/// The options of `attn model`.
#[derive(Deserialize, Debug)]
pub(super) struct ModelArgs {
    folder: Option<String>,
    text: Option<String>,
    ids: Option<String>,
    tokens: bool,
    merges: bool,
    #[serde(flatten)]
    params: ParamsArgs,
    #[serde(flatten)]
    varied: VariedArgs,
    #[serde(flatten)]
    more: NextArgs,
    survey: bool,
    all: bool,
    layer: Option<usize>,
    head: Option<usize>,
    top: Option<u16>,
    #[serde(flatten)]
    window: WindowArgs,
    #[serde(flatten)]
    explored: LayersArgs,
    set: Vec<String>,
    #[serde(flatten)]
    explorer: ExploreArgs,
    save: Vec<String>,
    #[serde(flatten)]
    versus: VersusArgs,
    #[serde(flatten)]
    steps: StepArgs,
    #[serde(flatten)]
    nodes: NodeArgs,
    #[serde(flatten)]
    output: OutputArgs,
    #[serde(flatten)]
    live: LiveArgs,
}

/// The options that `--versus` may change.
#[derive(Deserialize, Clone, Debug)]
struct VariedArgs {
    at: Option<usize>,
    #[serde(flatten)]
    numbers: NumbersArgs,
    #[serde(flatten)]
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
        let (text, ids) = (self.text.as_deref(), self.ids.as_deref());
        let look = &self.output.look;
        if self.params.params {
            return self.params.run(self.folder.as_deref(), look, env, streams);
        } else if self.tokens {
            let shown = TokensToShow { folder: self.folder(), text, ids, merges: self.merges, look };
            return shown.run(program, env, streams);
        } else if self.explorer.explore {
            return self.explore((program, env), streams).map(Outcome::from);
        }
        self.live.check(&self.output)?;
        if self.live.live && !matches!(self.view(), View::Layers) {
            return Err(Error::new("--live needs one layer here").help("add --layer 1, or leave out --live"));
        }
        let model = OpenedModel::open_at(self.folder(), self.varied.at, env)?;
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

    /// The folder; only `--params` goes without one.
    fn folder(&self) -> &str {
        self.folder.as_deref().unwrap_or_default()
    }

    /// All its layers, or some, in the explorer.
    fn explore(&self, place: (&Program<'_>, &Env), streams: &mut Streams<'_>) -> Result<u8> {
        let model = OpenedModel::open_at(self.folder(), self.varied.at, place.1)?;
        let text = self.read(&model)?;
        let text = text.ok_or_else(|| Error::new("there is no text").help("give a text, or --ids"))?;
        let (graph, row) = graph::graph(&model, &text, self.explored.layers.clone(), &self.varied.numbers)?;
        let state = State::new(Source::steps(graph))?.predicting(row);
        let state = state.with_assignments(&self.set, &self.varied.changes.parts())?;
        self.explorer.run(Begun::Steps, (state, HashMap::new()), self.output.screen(), place, streams)
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
