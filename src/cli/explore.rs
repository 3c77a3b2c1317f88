//! `attn explore`: walk through the matrices of a computation, and change them.

use std::collections::HashMap;
use std::io::{BufReader, Read, Write};
use std::mem::take;
use std::sync::Arc;

use clap::{Args, Subcommand};

use super::attend::gradient::GradientArgs;
use super::attend::{Computation, ComputationArgs};
use super::demo::NumberArgs;
use super::edits::{EditArgs, StepEditArgs};
use super::lesson::typed_commands;
use super::model::ModelToRead;
use super::presentation;
use super::program::Program;
use super::screen::{ScreenArgs, ThemeArgs};
use super::written_state;
use super::{Env, Streams};
use crate::demo;
use crate::error::{EXIT_DONE, Error, Result};
use crate::explore::{Event, Source, State, update};
use crate::explorer::{COLUMNS, Opened, Script, Writer, cast, explore, plain};
use crate::foreign::{to_path, visible};
use crate::graph::resolve;
use crate::graph::saved::{self, SavedGraph};
use crate::input::{Files, read_text, write_text};
use crate::json_tree::tree;
use crate::render::{Charset, Screen};
use crate::story;

/// Walk through the matrices with the arrow keys, and change numbers
///
/// The cursor stands on a number. The numbers that it came from are marked, and those that it feeds; Enter goes to an operand, Esc
/// comes back. Type a number to change a given one: every matrix follows, and u takes it back. ? lists all keys.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, arg_required_else_help = true, args_conflicts_with_subcommands = true)]
pub(super) struct ExploreArgs {
    /// A computation that `--format json` has written
    #[arg(value_name = "FILE", required = true)]
    file: Option<String>,
    #[command(flatten)]
    edits: StepEditArgs,
    #[command(flatten)]
    options: ExploreOptions,
    #[command(subcommand)]
    of: Option<Explored>,
}

const EXAMPLES: &str = "\
Examples:
  attn explore attend --words \"bat cave racket\" --causal
  attn explore attend --words \"bat cave racket\" --at 'A[cave,bat]'
  attn explore demo mask
  attn explore model words \"the bat sleeps in the cave . it is\" --at L1.A_3
  attn explore mask.json                     what --format json has written
  attn explore demo mask --play keys.txt     keys from a file, in real time
  attn explore demo mask --play keys.txt --cast mask.cast    the same as a recording
  attn explore demo mask --plain             line by line, for a screen reader";

/// What is explored.
#[derive(Subcommand, Debug)]
enum Explored {
    /// Your own words or matrices, with the options of attn attend
    Attend(Box<AttendToExplore>),
    /// A demo
    Demo(DemoToExplore),
    /// Every layer of a model on your sentence
    Model(ModelToExplore),
}

#[derive(Args, Debug)]
struct AttendToExplore {
    #[command(flatten)]
    computation: ComputationArgs,
    #[command(flatten)]
    edits: EditArgs,
    #[command(flatten)]
    gradient: GradientArgs,
    #[command(flatten)]
    options: ExploreOptions,
}

#[derive(Args, Debug)]
struct ModelToExplore {
    #[command(flatten)]
    model: ModelToRead,
    #[command(flatten)]
    edits: StepEditArgs,
    #[command(flatten)]
    options: ExploreOptions,
}

#[derive(Args, Debug)]
struct DemoToExplore {
    /// The name of a demo
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    numbers: NumberArgs,
    #[command(flatten)]
    options: ExploreOptions,
}

/// How it is explored.
#[derive(Args, Debug)]
struct ExploreOptions {
    /// Begin at a cell or a step: A[cave,bat], S
    #[arg(long, value_name = "CELL", help_heading = "Explore")]
    at: Option<String>,
    /// Type the keys in a file first, then hand over to you
    ///
    /// They are played in real time. One key on each line: l, Enter, Esc, C-r, Right; `wait 300` pauses for 300 milliseconds.
    #[arg(long, value_name = "FILE", help_heading = "Explore")]
    play: Option<String>,
    /// Record every key in a file, for --play
    #[arg(long, value_name = "FILE", help_heading = "Explore")]
    record: Option<String>,
    /// With --play: write the screens as a recording
    ///
    /// In the format of asciinema, without a terminal and without waiting. It has 100 columns, or those of --width, and 24 rows.
    #[arg(
        long,
        value_name = "FILE",
        requires = "play",
        conflicts_with_all = ["record", "plain"],
        help_heading = "Explore"
    )]
    cast: Option<String>,
    /// Line by line, for screen readers
    ///
    /// In place of the full screen. Each line has keys, or a number, or /text to find. With --play it works without a terminal.
    #[arg(long, help_heading = "Explore")]
    plain: bool,
    #[command(flatten)]
    screen: ScreenArgs,
    #[command(flatten)]
    theme: ThemeArgs,
}

/// The columns and rows of a recording.
const COLUMNS_OF_CAST: usize = 100;
const ROWS_OF_CAST: u16 = 24;

/// The longest script.
const LONGEST_SCRIPT: u64 = 1 << 20;

impl ExploreArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let (of, state, told, options) = match &self.of {
            None => {
                let state = self.edits.changed(State::new(self.saved(env)?)?)?;
                (written_state::Explored::Steps, state, HashMap::new(), &self.options)
            }
            Some(Explored::Attend(of)) => {
                let mut files = Files::new(streams.input).within(env.reading.clone());
                let Computation { recipe, inputs, .. } = of.computation.computation(None, &mut files)?;
                let inputs = of.gradient.with_pass(&recipe, inputs, &mut files)?;
                let state = State::new(Source::attend(recipe, inputs));
                let state = state.map_err(|error| of.gradient.refused(error))?;
                let state = state.with_assignments(of.edits.cells()?, &of.edits.heads())?;
                (written_state::Explored::Attend, state, HashMap::new(), &of.options)
            }
            Some(Explored::Demo(of)) => {
                let mut settings = of.numbers.settings(env, streams.input)?;
                // They are changes of the explorer, which can be taken back.
                let (assignments, removed) = (take(&mut settings.assignments), take(&mut settings.removed));
                let story = demo::find(&of.name)?.story(&settings)?;
                let told = story::sentences(&story);
                let begin = story.first_cell();
                let state = State::new(Source::steps(story.graph))?;
                let state = begin.into_iter().fold(state, State::begun_at);
                let state = state.with_assignments(&assignments, &removed)?;
                (written_state::Explored::Demo, state, told, &of.options)
            }
            Some(Explored::Model(of)) => {
                let (graph, row) = of.model.graph(env)?;
                let state = of.edits.changed(State::new(Source::steps(graph))?.predicting(row))?;
                (written_state::Explored::Steps, state, HashMap::new(), &of.options)
            }
        };
        let state = options.at.iter().try_fold(state, |state, address| at(state, address))?;
        options.run(of, (state.opened(), told), program, env, streams)
    }
}

/// The largest file of a computation.
const LARGEST_FILE: u64 = 1 << 30;

impl ExploreArgs {
    /// The computation in the file: its first graph.
    fn saved(&self, env: &Env) -> Result<Source> {
        let file = self.file.as_deref().unwrap_or_default();
        env.reading.check(file)?;
        let text = read_text(&to_path(file), LARGEST_FILE).map_err(|error| match demo::find(file) {
            Ok(_) => error.help(format!("to explore the demo: attn explore demo {file}")),
            Err(_) => error,
        })?;
        let of_file = |error: Error| error.in_source(visible(file));
        let no_json = |error| {
            Error::new(format!("this is not JSON: {error}"))
                .help("give a file that --format json has written: attn demo mask --format json > mask.json")
        };
        let document = tree(text.as_bytes(), &saved::NAMES, no_json).map_err(of_file)?;
        drop(text);
        let first = saved::read(&document).map_err(of_file)?.into_iter().next();
        let SavedGraph { graph, read_only, .. } =
            first.ok_or_else(|| of_file(Error::new("there is no computation in it")))?;
        Ok(match read_only {
            Some(reason) => Source::ReadOnly(Arc::new(graph), format!("{reason}.")),
            None => Source::steps(graph),
        })
    }
}

/// The state with the cursor on a cell.
fn at(state: State, address: &str) -> Result<State> {
    resolve(state.graph(), address)?;
    let typed = address.chars().map(Event::Type).chain([Event::Accept]);
    let state = [Event::Search].into_iter().chain(typed).fold(state, update);
    // The way there is not a part of the path.
    Ok(state.begun_here())
}

/// Writes states of what was begun by this command line.
fn writer(of: written_state::Explored, program: &Program<'_>, env: &Env) -> Writer {
    let (typed, shown) = (program.typed.to_vec(), program.typed.to_vec());
    let run = typed_commands(program);
    Writer {
        printing: Box::new(move |state| of.command(&typed, state)),
        showing: Box::new(move |state| of.shown(&shown, state)),
        has_json: of.has_json(),
        run: Box::new(move |words| {
            let output = run(words, Screen::plain(COLUMNS));
            (output.code, output.shown())
        }),
        writing: env.writing,
    }
}

impl ExploreOptions {
    fn run(
        &self,
        of: written_state::Explored,
        (state, told): (State, HashMap<String, String>),
        program: &Program<'_>,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<u8> {
        let mut script = Script::default();
        if let Some(file) = &self.play {
            env.reading.check(file)?;
            script = script.playing(&read_text(&to_path(file), LONGEST_SCRIPT)?, file)?;
        }
        if let Some(file) = &self.cast {
            let opened = Opened { state, told, screen: self.film(env), writer: writer(of, program, env) };
            let title = presentation::typed_without(program.typed, &["--play", "--cast"]);
            return write_cast(opened, script, &title, file, env);
        }
        let is_terminal = env.has_keys && env.has_screen;
        let reads_lines = self.plain || env.has_keys && !env.has_screen;
        let writer = writer(of, program, env);
        if reads_lines {
            let opened = Opened { state, told, screen: self.screen.screen(env), writer };
            // Without a terminal a script is all there is to do.
            let has_input = env.has_keys || !script.is_playing();
            return self.by_line(opened, self.recorded(script, env)?, has_input, streams);
        }
        if !is_terminal {
            let error = Error::new("attn explore needs a terminal for its keys and its screen");
            return Err(error.help(match of.printing(program.typed, &state) {
                Some(command) => format!("print the steps instead: {command}, or add --plain --play FILE"),
                None => "play keys without a terminal: add --plain --play FILE".to_string(),
            }));
        }
        let script = self.recorded(script, env)?;
        explore(
            Opened { state, told, screen: self.theme.asked_of(self.screen.screen(env), env), writer },
            script,
        )
    }

    /// The script with the recording that was asked for.
    fn recorded(&self, script: Script, env: &Env) -> Result<Script> {
        match &self.record {
            Some(file) => script.recording(to_path(file), env.writing),
            None => Ok(script),
        }
    }

    /// The screen of a recording: it has all colours and characters.
    fn film(&self, env: &Env) -> Screen {
        let Screen { theme, .. } = self.theme.of(self.screen.screen(env));
        let width = self.screen.width.map_or(COLUMNS_OF_CAST, usize::from);
        Screen { width, colour: true, theme, charset: Charset::Utf8 }
    }

    fn by_line(
        &self,
        opened: Opened,
        mut script: Script,
        has_input: bool,
        streams: &mut Streams<'_>,
    ) -> Result<u8> {
        let out: &mut dyn Write = streams.out;
        let input: &mut dyn Read = streams.input;
        let mut lines = BufReader::new(input);
        let code = plain(opened, &mut script, has_input.then_some(&mut lines), out);
        script.finish()?;
        code
    }
}

/// Writes a script as a recording.
fn write_cast(opened: Opened, script: Script, title: &str, file: &str, env: &Env) -> Result<u8> {
    let path = to_path(file);
    env.writing.check(&path)?;
    write_text(&path, &cast(opened, script, ROWS_OF_CAST, title)?)?;
    Ok(EXIT_DONE)
}
