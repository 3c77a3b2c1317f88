//! `attn explore`: walk through the matrices of a computation, and change them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::BufReader;
use std::sync::Arc;

use serde::Deserialize;

use crate::demo;
use crate::error::{EXIT_DONE, Error, Result};
use crate::explore::{Changes, Event, Source, State, update};
use crate::explorer::{COLUMNS, Opened, Script, Writer, cast, explore, plain};
use crate::explorer::{Narrator, command_line};
use crate::foreign::{to_path, visible};
use crate::graph::saved::SavedGraph;
use crate::graph::{address_of, resolve, saved};
use crate::input::{read_text, write_text};
use crate::json_tree::tree;
use crate::render::{Charset, Screen};
use crate::text::nearest;

use super::attend::computation::options_of_changes;
use super::lesson::typed_commands;
use super::options::StepEditArgs;
use super::output::{ScreenArgs, ThemeArgs};
use super::presentation::{typed_without, without};
use super::program::{Env, Program, Streams};

/// The options of `attn explore`.
#[derive(Deserialize, Debug)]
pub(super) struct SavedToExplore {
    file: String,
    #[serde(flatten)]
    edits: StepEditArgs,
    #[serde(flatten)]
    explorer: ExploreArgs,
    #[serde(flatten)]
    screen: ScreenArgs,
    #[serde(flatten)]
    theme: ThemeArgs,
}

/// Whether and how a computation is explored.
#[derive(Deserialize, Clone, Debug)]
pub(super) struct ExploreArgs {
    #[serde(default)]
    pub explore: bool,
    cell: Option<String>,
    play: Option<String>,
    record: Option<String>,
    cast: Option<String>,
    plain: bool,
}

/// The columns and rows of a recording.
const COLUMNS_OF_CAST: usize = 100;
const ROWS_OF_CAST: u16 = 24;

/// The longest script.
const LONGEST_SCRIPT: u64 = 1 << 20;

/// The largest file of a computation.
const LARGEST_FILE: u64 = 1 << 30;

impl SavedToExplore {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let state = self.edits.changed(State::new(self.saved(env)?)?)?;
        let screen = (&self.screen, &self.theme);
        self.explorer.run(Begun::Steps, (state, HashMap::new()), screen, (program, env), streams)
    }

    /// The computation in the file: its first graph.
    fn saved(&self, env: &Env) -> Result<Source> {
        let file = self.file.as_str();
        env.reading.check(file)?;
        let text = read_text(&to_path(file), LARGEST_FILE).map_err(|error| match demo::find(file) {
            Ok(_) => error.help(format!("to explore the demo: attn demo {file} -x")),
            Err(_) => match nearest(file, ["attend", "demo", "model"]) {
                Some(near) => error.help(format!("what attn {near} computes: attn {near} … -x")),
                None => error,
            },
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
fn writer(of: Begun, program: &Program<'_>, env: &Env) -> Writer {
    let (typed, shown) = (program.typed.to_vec(), program.typed.to_vec());
    let run = typed_commands(program);
    Writer {
        printing: Box::new(move |state| of.command(&typed, state)),
        showing: Box::new(move |state| of.matrix_command(&shown, state)),
        has_json: of.has_json(),
        run: Box::new(move |words| {
            let output = run(words, Screen::plain(COLUMNS));
            (output.code, output.shown())
        }),
        writing: env.writing,
    }
}

impl ExploreArgs {
    /// Explores a state, of whose nodes some have sentences.
    ///
    /// # Errors
    /// If there is no such cell, no terminal, or a file cannot be read or written.
    pub(super) fn run(
        &self,
        of: Begun,
        (state, told): (State, HashMap<String, String>),
        (asked, theme): (&ScreenArgs, &ThemeArgs),
        (program, env): (&Program<'_>, &Env),
        streams: &mut Streams<'_>,
    ) -> Result<u8> {
        let state = self.cell.iter().try_fold(state, |state, address| at(state, address))?.opened();
        let mut script = Script::default();
        if let Some(file) = &self.play {
            env.reading.check(file)?;
            script = script.playing(&read_text(&to_path(file), LONGEST_SCRIPT)?, file)?;
        }
        let reads_lines = self.plain || env.has_keys && !env.has_screen;
        let screen = match &self.cast {
            Some(_) => film(asked, theme, env),
            None if reads_lines => asked.screen(env),
            None if env.has_keys && env.has_screen => theme.asked_of(asked.screen(env), env),
            None => {
                let error = Error::new("exploring needs a terminal for its keys and its screen");
                return Err(error.help(match of.printing(program.typed, &state) {
                    Some(command) => {
                        format!("print the steps instead: {command}, or add --plain --play FILE")
                    }
                    None => "play keys without a terminal: add --plain --play FILE".to_string(),
                }));
            }
        };
        let narrator = Narrator { told: Arc::new(told), screen };
        let columns = asked.width;
        let opened = Opened { state, narrator, writer: writer(of, program, env), columns };
        if let Some(file) = &self.cast {
            let title = typed_without(program.typed, &["--play", "--cast"]);
            env.writing.check(&to_path(file))?;
            write_text(&to_path(file), &cast(opened, script, ROWS_OF_CAST, &title)?)?;
            return Ok(EXIT_DONE);
        }
        // Without a terminal a script is all there is to do.
        let has_input = env.has_keys || !script.is_playing();
        if let Some(file) = &self.record {
            script = script.recording(to_path(file), env.writing)?;
        }
        if !reads_lines {
            return explore(opened, script);
        }
        let mut lines = BufReader::new(&mut *streams.input);
        let code = plain(opened, &mut script, has_input.then_some(&mut lines), streams.out);
        script.finish()?;
        code
    }
}

/// The screen of a recording: it has all colours and characters.
fn film(screen: &ScreenArgs, theme: &ThemeArgs, env: &Env) -> Screen {
    let Screen { theme, .. } = theme.of(screen.screen(env));
    let width = screen.width.map_or(COLUMNS_OF_CAST, usize::from);
    Screen { width, colour: true, theme, charset: Charset::Utf8 }
}

// The command line that prints the numbers of an explored state: what was typed, and the options for what has been changed since.

/// What is explored, and so the command that prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    /// `attn attend` prints it.
    Attend,
    /// `attn demo` prints it.
    Demo,
    /// Nothing but the explorer has all steps of a model, or of a file.
    Steps,
}

/// The options of the explorer and of its screen.
const OF_THE_EXPLORER: [&str; 8] =
    ["--cell", "--play", "--record", "--plain", "--width", "--color", "--theme", "--charset"];

/// What begins the explorer.
const EXPLORE: [&str; 2] = ["-x", "--explore"];

impl Begun {
    /// The words after `attn` that print the state's numbers; `typed` are those that the explorer was begun with.
    pub(super) fn command(self, typed: &[OsString], state: &State) -> Vec<String> {
        let changes = state.changes();
        let (mut further, replaced) = match self {
            Begun::Attend => options_of_changes(changes),
            Begun::Demo | Begun::Steps => (Vec::new(), Vec::new()),
        };
        let mut options: Vec<&str> = OF_THE_EXPLORER.into_iter().chain(["--without"]).collect();
        options.extend(replaced.iter().map(String::as_str));
        if self != Begun::Steps {
            options.extend(EXPLORE);
        }
        // In `attn attend` every `--set` is a change of the state.
        let keeps = |set: &str| self != Begun::Attend && !crate::explore::is_assignment(set);
        let mut words = without(typed, &options, keeps);
        let mut set = changes.numbers_as_text(state.graph());
        match state.source().recipe(&Changes::default()) {
            Some(start) => set.extend(changes.recipe_as_text(&start)),
            None => set.extend(changes.settings_as_text()),
        }
        further.extend(set.into_iter().flat_map(|set| ["--set".to_string(), set]));
        let removed = changes.removed_as_text();
        if !removed.is_empty() {
            further.extend(["--without".to_string(), removed.join(",")]);
        }
        // Behind `--` nothing is an option.
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        words.splice(end..end, further);
        words
    }

    /// The words that print the matrix under the cursor; for a model or a file the formula of the number.
    pub(super) fn matrix_command(self, typed: &[OsString], state: &State) -> Vec<String> {
        let mut words = self.command(typed, state);
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        let graph = state.graph();
        let more = match self {
            Begun::Attend | Begun::Demo => {
                vec!["--only".to_string(), graph[state.cursor().node].name.clone()]
            }
            Begun::Steps => {
                vec!["--plain".to_string(), "--cell".to_string(), address_of(graph, state.cursor())]
            }
        };
        words.splice(end..end, more);
        words
    }

    /// The command that prints the steps; none for those of a file.
    pub(super) fn printing(self, typed: &[OsString], state: &State) -> Option<String> {
        let words = match self {
            Begun::Attend | Begun::Demo => self.command(typed, state),
            Begun::Steps if typed.first().is_some_and(|word| word == "model") => {
                let options = [&OF_THE_EXPLORER[..], &EXPLORE, &["--layers", "--without"]].concat();
                without(typed, &options, |_| false)
            }
            Begun::Steps => return None,
        };
        Some(command_line(&words))
    }

    /// Whether the command knows `--format json`, so that a lesson can compare a number in its text.
    pub(super) fn has_json(self) -> bool {
        self != Begun::Steps
    }
}

#[cfg(test)]
mod tests {
    use crate::explore::{Event, Knob, Source, Way, update};
    use crate::graph::recipes::{AttendInputs, Recipe};
    use crate::matrix::Matrix;

    use super::*;

    fn typed(command: &str) -> Vec<OsString> {
        shlex::split(command).unwrap().into_iter().map(OsString::from).collect()
    }

    fn start() -> State {
        let x = Matrix::of([[3.0, 3.0], [4.0, 0.0]]).rows_named(&["bat", "cave"]).cols_named(&["a", "b"]);
        State::new(Source::attend(Recipe::causal(), AttendInputs::of_tokens(x))).unwrap()
    }

    fn after(events: impl IntoIterator<Item = Event>) -> State {
        events.into_iter().fold(start(), update)
    }

    fn text(of: Begun, command: &str, state: &State) -> String {
        of.command(&typed(command), state).join(" ")
    }

    #[test]
    fn the_options_of_the_explorer_are_left_out_and_the_others_stay() {
        let command = "attend --words 'bat cave' -x --cell S --causal --plain --play=k --width 70 --heads 1";
        assert_eq!(text(Begun::Attend, command, &start()), "attend --words bat cave --causal --heads 1");
        let shown = Begun::Attend.matrix_command(&typed(command), &start());
        assert_eq!(shown[shown.len() - 2..], ["--only", "A"]);
    }

    #[test]
    fn a_changed_setting_takes_the_place_of_the_one_that_was_typed() {
        let adjust = |knob, way| [Event::Adjust(knob), Event::Move(way), Event::Back];
        let command = "attend --explore --words 'bat cave' --causal --window 2 --temperature=2";
        let state = after(adjust(Knob::Mask, Way::Left));
        assert_eq!(text(Begun::Attend, command, &state), "attend --words bat cave --temperature=2");
        let state =
            after(adjust(Knob::Mask, Way::Right).into_iter().chain(adjust(Knob::Temperature, Way::Left)));
        let said = text(Begun::Attend, command, &state);
        assert_eq!(said, "attend --words bat cave --causal --window 1 --temperature 0.9");
    }

    #[test]
    fn changed_numbers_and_heads_come_before_the_end_of_options() {
        let search = "X[cave,a]".chars().map(Event::Type);
        let state = after([Event::Search].into_iter().chain(search).chain([
            Event::Accept,
            Event::Type('7'),
            Event::Accept,
        ]));
        let command = "demo mask -x --set X=x.csv --set 'X[1,2]=3' --without A -- y";
        assert_eq!(text(Begun::Demo, command, &state), "demo mask --set X=x.csv --set X[cave,a]=7 -- y");
        assert_eq!(text(Begun::Steps, "explore graph.json", &state), "explore graph.json --set X[cave,a]=7");
    }
}
