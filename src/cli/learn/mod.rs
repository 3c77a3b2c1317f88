//! `attn learn`: a small model learns a task while you watch.

mod history;
mod report;
mod training;

use std::path::PathBuf;

use clap::Args;

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::input::Files;
use crate::learn::{AdamSettings, Defaults, LONGEST, Line, ModelSize, Pair, Settings, Task, defaults};
use crate::memory;
use crate::tensor::Dtype;

use super::options::{DTYPES, choice, path, positive};
use super::output::OutputArgs;
use super::selection::NodeArgs;
use super::{Env, Outcome, Streams};

/// Train a small model in a second, and see what its heads learn
///
/// The gradients are those of `attn attend --gradient`, and a step is that of Adam. The same command gives the same numbers on every
/// machine. With --at and --explain, a step shows which examples and which terms changed a weight.
#[derive(Args, Debug)]
#[command(after_help = crate::cli::texts::examples("learn"))]
pub(super) struct LearnArgs {
    #[command(flatten)]
    task: TaskArgs,
    #[command(flatten)]
    settings: SettingsArgs,
    /// Write the model into this folder
    ///
    /// `attn model FOLDER` opens it, and so does transformers.
    #[arg(long, value_name = "FOLDER", help_heading = "Output", value_parser = path, conflicts_with = "at")]
    save: Option<PathBuf>,
    /// With --save: keep the weights of every N-th step, too
    #[arg(long, value_name = "N", help_heading = "Output", requires = "save", value_parser = clap::value_parser!(u64).range(1..=MOST_STEPS))]
    every: Option<u64>,
    /// Write the curves as a picture: curves.svg
    #[arg(long, value_name = "FILE", help_heading = "Output", value_parser = path, conflicts_with = "at")]
    plot: Option<PathBuf>,
    /// Look into this step, with --explain or --only
    #[arg(long, value_name = "STEP", help_heading = "Where a number comes from", value_parser = clap::value_parser!(u64).range(1..=MOST_STEPS))]
    at: Option<u64>,
    #[command(flatten)]
    nodes: NodeArgs,
    #[command(flatten)]
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

/// The tasks that are built in, by their names.
const TASKS: [(&str, &str, &str); 5] = [
    ("reverse", "Reverse a sequence of digits", "reverse"),
    ("sort", "Put a sequence of digits in order", "sort"),
    ("induction", "Finish words that the text has had before", "induction"),
    ("addition", "Add two numbers of two digits", "addition"),
    ("names", "Write first names, letter by letter", "names"),
];

/// What is learned.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What is learned")]
struct TaskArgs {
    /// reverse, sort, induction, addition or names
    #[arg(value_parser = choice(TASKS), value_name = "TASK")]
    task: Option<&'static str>,
    /// Learn to go on with this text, character by character
    #[arg(long, value_name = "FILE", conflicts_with = "task")]
    text: Option<String>,
    /// Learn to answer: a line is an input → its output
    ///
    /// Between them stands →, -> or a tab.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["task", "text"])]
    pairs: Option<String>,
    /// Length of each random example: 6, or a range: 8-12
    ///
    /// Digits of reverse and sort, a word of induction, the piece of --text that is read at once.
    #[arg(long, value_name = "A-B", value_parser = lengths)]
    length: Option<(usize, usize)>,
}

/// The shortest and the longest length.
fn lengths(text: &str) -> std::result::Result<(usize, usize), String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    match (least.trim().parse::<usize>(), most.trim().parse::<usize>()) {
        (Ok(0), Ok(_)) => Err("a length of 0 leaves nothing to learn".into()),
        (Ok(least), Ok(most)) if least > most => Err(format!("{least} is more than {most}")),
        (Ok(_), Ok(most)) if most > LONGEST => Err(format!("the longest is {LONGEST}")),
        (Ok(least), Ok(most)) => Ok((least, most)),
        _ => Err("write a number, or two with a hyphen between, such as 8-12".into()),
    }
}

impl TaskArgs {
    /// The task, and what it is learned with.
    ///
    /// # Errors
    /// If a file cannot be read, has too little in it, or a length does not fit the task.
    fn task(&self, files: &mut Files<'_>) -> Result<(Task, Defaults)> {
        let name = match (self.task, &self.text, &self.pairs) {
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
            (_, None, None) => Task::lines(name, &lines(NAMES).collect::<Vec<_>>(), defaults.context)?,
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

/// The most steps and the most examples of a batch.
const MOST_STEPS: u64 = 1_000_000;
const MOST_EXAMPLES: u64 = 4096;

/// The size of the model, and how it learns.
#[derive(Args, Clone, Debug)]
struct SettingsArgs {
    /// Layers
    #[arg(long, value_name = "N", help_heading = "The model")]
    layers: Option<usize>,
    /// Heads of a layer
    #[arg(long, value_name = "N", help_heading = "The model")]
    heads: Option<usize>,
    /// Width of a token's vector
    #[arg(id = "model_width", long = "width", value_name = "N", help_heading = "The model")]
    width: Option<usize>,
    /// Width inside the MLP; 0 leaves it out
    #[arg(long, value_name = "N", help_heading = "The model")]
    mlp: Option<usize>,
    /// Steps
    #[arg(long, value_name = "N", help_heading = "How it learns", value_parser = clap::value_parser!(u64).range(1..=MOST_STEPS))]
    steps: Option<u64>,
    /// Learning rate
    #[arg(long, value_name = "RATE", help_heading = "How it learns")]
    lr: Option<String>,
    /// Examples of a step [default: 32]
    #[arg(long, value_name = "N", help_heading = "How it learns", value_parser = clap::value_parser!(u64).range(1..=MOST_EXAMPLES))]
    batch: Option<u64>,
    /// Seed of the first weights and of the examples
    #[arg(long, value_name = "N", help_heading = "How it learns", default_value_t = 1)]
    seed: u32,
    /// Number type: f32 (fast) or f64 (exact)
    #[arg(long, value_parser = choice(DTYPES), default_value = "f32", help_heading = "How it learns")]
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
            width: self.width.unwrap_or(usual.size.width),
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
