//! `attn learn`: a small model learns a task while you watch.

mod history;
mod report;
mod training;

use std::path::PathBuf;

use serde::{Deserialize, Deserializer};

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::input::Files;
use crate::learn::{AdamSettings, Defaults, LONGEST, Line, ModelSize, Pair, Settings, Task, defaults};
use crate::memory;
use crate::tensor::Dtype;

use super::options::{path, positive, read_with};
use super::output::OutputArgs;
use super::selection::NodeArgs;
use super::{Env, Outcome, Streams};

/// The options of `attn learn`.
#[derive(Deserialize, Debug)]
pub(super) struct LearnArgs {
    #[serde(flatten)]
    task: TaskArgs,
    #[serde(flatten)]
    settings: SettingsArgs,
    #[serde(deserialize_with = "path")]
    save: Option<PathBuf>,
    every: Option<u64>,
    #[serde(deserialize_with = "path")]
    plot: Option<PathBuf>,
    at: Option<u64>,
    #[serde(flatten)]
    nodes: NodeArgs,
    #[serde(flatten)]
    output: OutputArgs,
}

impl LearnArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        self.check_options()?;
        let mut files = Files::new(streams.input).within(env.reading.clone());
        let (task, defaults) = self.task.task(&mut files)?;
        let settings = self.settings.settings(&task, &defaults)?;
        match (self.at, self.settings.dtype) {
            (Some(at), Dtype::F64) => self.look_into::<f64>((task, settings), at as usize, env, streams),
            (Some(at), _) => self.look_into::<f32>((task, settings), at as usize, env, streams),
            (None, Dtype::F64) => self.train::<f64>((task, settings), env, streams),
            (None, _) => self.train::<f32>((task, settings), env, streams),
        }
    }
}

// Which task is learned: one of those that are built in, or the user's data.

/// The names of `attn learn names`.
const NAMES: &str = include_str!("../../../models/names/names.txt");
/// What may stand between an input and its output.
const ARROWS: [&str; 3] = ["→", "->", "\t"];

/// What is learned.
#[derive(Deserialize, Clone, Debug)]
struct TaskArgs {
    task: Option<String>,
    text: Option<String>,
    pairs: Option<String>,
    #[serde(deserialize_with = "read_lengths")]
    length: Option<(usize, usize)>,
}

/// The shortest and the longest length.
pub(super) fn lengths(text: &str) -> std::result::Result<(usize, usize), String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    match (least.trim().parse::<usize>(), most.trim().parse::<usize>()) {
        (Ok(0), Ok(_)) => Err("a length of 0 leaves nothing to learn".into()),
        (Ok(least), Ok(most)) if least > most => Err(format!("{least} is more than {most}")),
        (Ok(_), Ok(most)) if most > LONGEST => Err(format!("the longest is {LONGEST}")),
        (Ok(least), Ok(most)) => Ok((least, most)),
        _ => Err("write a number, or two with a hyphen between, such as 8-12".into()),
    }
}

fn read_lengths<'de, D: Deserializer<'de>>(text: D) -> std::result::Result<Option<(usize, usize)>, D::Error> {
    read_with(text, lengths)
}

impl TaskArgs {
    /// The task, and what it is learned with.
    ///
    /// # Errors
    /// If a file cannot be read, has too little in it, or a length does not fit the task.
    fn task(&self, files: &mut Files<'_>) -> Result<(Task, Defaults)> {
        let name = match (self.task.as_deref(), &self.text, &self.pairs) {
            (Some(task), ..) => task,
            (None, Some(_), _) => "text",
            (None, None, Some(_)) => "pairs",
            (None, None, None) => {
                return Err(Error::new("attn learn needs to know what is to be learned").help(
                    "name a task: reverse, sort, induction, addition or names; or give --text FILE or --pairs FILE",
                ));
            }
        };
        let defaults = defaults(name);
        let lengths = match (self.length, defaults.lengths) {
            (asked, Some(usual)) => asked.unwrap_or(usual),
            (None, None) => (1, 1),
            (Some(_), None) => {
                return Err(Error::new(format!("the examples of {name} have lengths of their own"))
                    .help("leave out --length"));
            }
        };
        let task = match (name, &self.text, &self.pairs) {
            ("reverse", ..) => Task::reverse(lengths),
            ("sort", ..) => Task::sort(lengths),
            ("induction", ..) => Task::induction(lengths).map_err(|error| error.in_source("--length"))?,
            ("addition", ..) => Task::addition(),
            (_, Some(file), _) => {
                let text = files.text(file)?;
                Task::text(&text, lengths).map_err(|error| error.in_source(visible(file)))?
            }
            (_, _, Some(file)) => {
                let text = files.text(file)?;
                let pairs = pairs(&text).and_then(|pairs| Task::pairs(&pairs));
                pairs.map_err(|error| error.in_source(visible(file)))?
            }
            (_, None, None) => Task::lines("names", &lines(NAMES).collect::<Vec<_>>(), defaults.context)?,
        };
        Ok((task, defaults))
    }
}

/// The lines of a text that are not empty.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> + Clone {
    let numbered = text.lines().enumerate().map(|(at, text)| Line { text: text.trim(), number: at + 1 });
    numbered.filter(|line| !line.text.is_empty())
}

/// The pairs of a text, one a line.
fn pairs(text: &str) -> Result<Vec<Pair<'_>>> {
    let mut pairs = memory::reserved(lines(text).count())?;
    for Line { text, number } in lines(text) {
        let parts = ARROWS.iter().find_map(|arrow| text.split_once(arrow));
        let (input, output) = parts.ok_or_else(|| {
            Error::new(format!("line {number} has no arrow, so nobody knows where its output begins"))
                .help("write input → output; -> or a tab will do")
        })?;
        let (input, output) = (input.trim(), output.trim());
        if input.is_empty() || output.is_empty() {
            return Err(Error::new(format!("line {number} has nothing on one side of its arrow"))
                .help("write input → output"));
        }
        pairs.push(Pair { input, output, number });
    }
    Ok(pairs)
}

// How a model learns: its size, the steps, the seed.

/// The size of the model, and how it learns.
#[derive(Deserialize, Clone, Debug)]
struct SettingsArgs {
    layers: Option<usize>,
    heads: Option<usize>,
    model_width: Option<usize>,
    mlp: Option<usize>,
    steps: Option<u64>,
    lr: Option<String>,
    batch: Option<u64>,
    seed: u32,
    dtype: Dtype,
}

impl SettingsArgs {
    /// The settings for a task.
    ///
    /// # Errors
    /// If a size is 0 or does not fit another, or the learning rate is not a positive number.
    fn settings(&self, task: &Task, defaults: &Defaults) -> Result<Settings> {
        let usual = defaults.settings(task, self.seed);
        let size = ModelSize {
            width: self.model_width.unwrap_or(usual.size.width),
            layers: self.layers.unwrap_or(usual.size.layers),
            heads: self.heads.unwrap_or(usual.size.heads),
            mlp: self.mlp.map_or(usual.size.mlp, |width| (width > 0).then_some(width)),
            ..usual.size
        };
        size.check()?;
        let rate = match &self.lr {
            Some(text) => positive("--lr", text)?,
            None => defaults.rate,
        };
        let steps = self.steps.map_or(defaults.steps, |steps| steps as usize);
        let batch = self.batch.map_or(usual.batch, |batch| batch as usize);
        Ok(Settings { size, adam: AdamSettings::new(steps, rate), batch, ..usual })
    }
}
