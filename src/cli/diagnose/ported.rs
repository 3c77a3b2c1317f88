//! `attn diagnose --model`: tensors that a port of a model has dumped.

use clap::Args;

use super::DiagnoseArgs;
use crate::cli::model::OpenedModel;
use crate::cli::output::FormatArg;
use crate::cli::{Env, Streams};
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, Error, Result};
use crate::foreign::visible;
use crate::input::{Files, Limit};
use crate::model::PassOptions;
use crate::model::porting::{Dumped, diagnose};
use crate::render;
use crate::story;

/// A port of a model.
#[derive(Args, Debug)]
#[command(next_help_heading = "A port of a model")]
pub(super) struct PortedArgs {
    /// The model that you port; --yours has your tensors
    ///
    /// Names are those of transformers (hidden_states.3, model.layers.0.self_attn.q_proj), TransformerLens (blocks.0.attn.hook_q),
    /// nnsight, or attn model (L1.Q_2). It finds the first tensor that differs, and the mistake in the port that gives its numbers.
    #[arg(long, value_name = "FOLDER", requires = "yours", conflicts_with_all = ["file", "q", "k", "v", "x", "words", "random", "WordArgs", "AttentionArgs", "MechanismArgs", "GradientArgs", "batch", "list", "suggest_input", "details", "rtol", "atol"])]
    pub model: Option<String>,
    /// The text that your model has read
    #[arg(long, value_name = "TEXT", requires = "model", conflicts_with = "ids")]
    text: Option<String>,
    /// The ids of its tokens, in place of --text
    #[arg(long, value_name = "IDS", requires = "model", hide_short_help = true)]
    ids: Option<String>,
}

impl DiagnoseArgs {
    /// The tensors of a port against the model in this folder.
    pub(super) fn ported(&self, folder: &str, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let model = OpenedModel::open(folder, env)?;
        let read = match (&self.ported.text, &self.ported.ids) {
            (Some(text), _) => model.read(text)?,
            (None, Some(ids)) => model.read_ids(ids)?,
            (None, None) => {
                return Err(Error::new("there is no text that the model has read")
                    .help("give --text TEXT, or --ids 464,3290"));
            }
        };
        let dump = dumped(&self.yours, &mut Files::new(streams.input).within(env.reading.clone()))?;
        let options = PassOptions { measured: false, ..PassOptions::default() };
        let report = model.with_run(|run| diagnose(run, &read.text, model.beginning(), &dump, options))?;
        if self.look.format() == FormatArg::Json {
            render::porting(&report, streams.out)?;
        } else {
            let parts = story::porting(&report, &read.text);
            self.look.tables("diagnose", &parts, env, streams)?;
        }
        Ok(if report.is_right() { EXIT_DONE } else { EXIT_CHECK_FAILED })
    }
}

/// The tensors of some files, each FILE, or NAME=FILE for a file of one.
fn dumped(yours: &[String], files: &mut Files<'_>) -> Result<Vec<Dumped>> {
    let mut all = Vec::new();
    for text in yours {
        let (name, source) = match text.split_once('=') {
            Some((name, source)) if !crate::input::exists(text) => (Some(name), source),
            _ => (None, text.as_str()),
        };
        let place = visible(source).into_owned();
        let arrays = files.named(source, Limit::ANY)?;
        if name.is_some() && arrays.len() > 1 {
            return Err(Error::new(format!("the file has {} arrays, but one is needed", arrays.len()))
                .in_source(place)
                .help("leave out the name before the file: each tensor has its own"));
        }
        for (own, array) in arrays {
            let Some(name) = name.map(str::to_string).or(own) else {
                return Err(Error::new("the tensor has no name").in_source(place).help(format!(
                    "say which it is: --yours {}={}",
                    "blocks.0.attn.hook_q",
                    visible(source)
                )));
            };
            all.push(Dumped { name, dims: array.dims().to_vec(), cells: array.values().to_vec() });
        }
    }
    Ok(all)
}
