//! Exploring line by line: for screen readers, and for scripts without a terminal.

use std::io::{BufRead, Read, Write};

use attn_story::live::sentences;
use attn_story::render::number_alone;

use crate::error::{EXIT_DONE, Error, Result};
use crate::explore::{Event, Mode, Purpose, State, begins_number, update};
use crate::foreign::visible;
use crate::graph::address_of;
use crate::render::wrapped_text;
use crate::terminal::{Asciicast, BEGIN, Display, Key};
use crate::text::{clip, counted};

use super::draw::{Board, draw, sentence_lines};
use super::keys::{Action, BINDINGS, Line, Script, action_in};
use super::session::Opened;

/// The most cells that are listed as operands or dependents.
const MOST_LISTED: usize = 4;

/// Explores line by line until `q` or the end of the input; returns the exit code. A script is played first.
///
/// # Errors
/// If nothing can be read or written.
pub(crate) fn plain(
    mut opened: Opened,
    script: &mut Script,
    input: Option<&mut dyn BufRead>,
    out: &mut dyn Write,
) -> Result<u8> {
    opened.tell(out)?;
    while let Some(line) = script.next() {
        if let Line::Key(key) = line {
            script.record(key);
            let name = key.name();
            writeln!(out, "\n{} {name}", opened.prompt())?;
            if opened.press(key, out)? {
                return Ok(EXIT_DONE);
            }
        }
    }
    let Some(input) = input else { return Ok(EXIT_DONE) };
    for number in 1.. {
        write!(out, "\n{} ", opened.prompt())?;
        out.flush()?;
        let Some(line) = typed_line(input, number)? else {
            writeln!(out)?;
            return Ok(EXIT_DONE);
        };
        for entry in entries(line.trim_end_matches(['\n', '\r']), opened.state.mode()) {
            let ends = match entry {
                Entry::Key(key) => {
                    // A recording ends with `q`, whatever ended the program.
                    if action_in(opened.state.mode(), key) != Some(Action::Interrupt) {
                        script.record(key);
                    }
                    opened.press(key, out)?
                }
                Entry::Text(text) => opened.enter(&text, script, out)?,
                Entry::Unknown(word) => {
                    let said = format!("`{}` is no key; ? lists them.", clip(&visible(&word)));
                    writeln!(out, "{}", opened.spelled(&said))?;
                    false
                }
            };
            if ends {
                return Ok(EXIT_DONE);
            }
        }
    }
    Ok(EXIT_DONE)
}

/// The longest line that is read, in bytes.
const LONGEST_LINE: u64 = 1 << 16;

/// The next line; `None` at the end of the input.
///
/// # Errors
/// If it cannot be read, is too long, or is not UTF-8: the error says which line.
fn typed_line(input: &mut dyn BufRead, number: usize) -> Result<Option<String>> {
    let of_line = |error: Error| Err(error.in_source(format!("line {number} of the typed keys")));
    let mut line = Vec::new();
    if let Err(error) = input.take(LONGEST_LINE).read_until(b'\n', &mut line) {
        return of_line(Error::new(format!("it cannot be read: {error}")));
    }
    if line.len() as u64 == LONGEST_LINE {
        return of_line(
            Error::new(format!("it has {LONGEST_LINE} bytes or more"))
                .help("type a key, or a few of them, on each line"),
        );
    }
    match String::from_utf8(line) {
        Ok(line) => Ok(Some(line).filter(|line| !line.is_empty())),
        Err(_) => of_line(
            Error::new("it is not UTF-8").help("type keys as names: l, Enter, Esc, C-r; ? lists them"),
        ),
    }
}

/// A part of a typed line.
enum Entry {
    /// A key.
    Key(Key),
    /// A number or a search, typed and taken.
    Text(String),
    /// Something else.
    Unknown(String),
}

/// The parts of a typed line: names of keys between spaces; a number or a search is typed and taken; an empty line is Enter.
fn entries(line: &str, mode: &Mode) -> Vec<Entry> {
    let line = line.trim();
    let is_number =
        |word: &str| word.chars().next().is_some_and(begins_number) && word.parse::<f64>().is_ok();
    if line.is_empty() {
        return vec![Entry::Key(Key::Enter)];
    }
    if line.contains(char::is_control) {
        return vec![Entry::Unknown(line.to_string())];
    }
    if matches!(mode, Mode::Typing { .. }) && Key::named(line).is_none_or(|key| matches!(key, Key::Char(_))) {
        return vec![Entry::Text(line.to_string())];
    }
    if line.starts_with('/') && line.len() > 1 || is_number(line) {
        return vec![Entry::Text(line.to_string())];
    }
    let word = |word: &str| match Key::named(word) {
        Some(key) => Entry::Key(key),
        None if is_number(word) => Entry::Text(word.to_string()),
        None => Entry::Unknown(word.to_string()),
    };
    line.split_whitespace().map(word).collect()
}

/// What the number under the cursor and its matrix were in the state that is shown beside this one.
fn beside(state: &State) -> Option<String> {
    let (before, changes) = state.beside()?;
    let when = if changes.is_nothing() { "At the start" } else { "Before the last change" };
    let cell = state.cursor();
    let node = &state.graph()[cell.node];
    if before.find(&node.name).is_none_or(|there| before[there].shape() != node.shape()) {
        return Some(format!("{when} there was no {} of this shape.", node.name));
    }
    let number = match state.change_at(cell) {
        Some(change) => format!("was {}", number_alone(change.before, state.decimals())),
        None => "was the same".to_string(),
    };
    let all = node.shape().rows * node.shape().cols;
    let others = state.changed_count(cell.node);
    Some(format!("{when} this number {number}; {others} of the {all} numbers of {} differ.", node.name))
}

impl Opened {
    fn prompt(&self) -> &'static str {
        match self.state.mode() {
            Mode::Typing { purpose: Purpose::Number, .. } => "number>",
            Mode::Typing { purpose: Purpose::Guess, .. } => "guess>",
            Mode::Typing { purpose: Purpose::Search, .. } => "find>",
            Mode::Adjust(_) => "setting>",
            Mode::Typing { purpose: Purpose::File(_), .. } => "file>",
            Mode::Write => "write>",
            Mode::Help { .. } => "keys>",
            Mode::Look => ">",
        }
    }

    /// Types a text and takes it, unless its first character begins none; returns true at the end.
    fn enter(&mut self, text: &str, script: &mut Script, out: &mut dyn Write) -> Result<bool> {
        for key in text.chars().map(Key::Char).chain([Key::Enter]) {
            script.record(key);
            if self.press(key, out)? {
                return Ok(true);
            }
            if !matches!(self.state.mode(), Mode::Typing { .. }) {
                break;
            }
        }
        Ok(false)
    }

    /// Does what a key means; returns true at the end.
    fn press(&mut self, key: Key, out: &mut dyn Write) -> Result<bool> {
        let event = match action_in(self.state.mode(), key) {
            Some(Action::Do(event)) => event,
            Some(Action::Quit | Action::Interrupt) => return Ok(true),
            Some(
                Action::CopyCell | Action::CopyMatrix | Action::Mouse | Action::Redraw | Action::Suspend,
            ) => {
                writeln!(out, "That key needs the full screen: leave out --plain.")?;
                return Ok(false);
            }
            None | Some(Action::Number) => return Ok(false),
        };
        let is_text =
            matches!(event, Event::Type(_) | Event::Erase) && !matches!(self.state.mode(), Mode::Adjust(_));
        let state = self.state.clone();
        self.state = update(state, event);
        if matches!(self.state.mode(), Mode::Help { .. }) {
            return self.keys(out).map(|()| false);
        }
        if let Some(said) = self.writer.answer(&self.state) {
            writeln!(out, "{}", self.spelled(&said))?;
        } else if *self.state.mode() == Mode::Write {
            writeln!(out, "{}", self.spelled(&sentences::bottom(&self.state)))?;
        } else if !is_text || self.state.message().is_some() {
            self.tell(out)?;
        }
        Ok(false)
    }

    fn keys(&self, out: &mut dyn Write) -> Result<()> {
        for binding in BINDINGS {
            let names: Vec<String> = binding.keys.iter().map(|key| key.name()).collect();
            writeln!(out, "{}: {}", self.spelled(&names.join(" ")), self.spelled(binding.says))?;
        }
        self.say(
            out,
            "A number such as 2.5, or /cave, is typed and taken in one line. An empty line goes on.",
        )
    }

    fn spelled(&self, text: &str) -> String {
        self.narrator.screen.charset.spelled(text).into_owned()
    }

    /// Says where the cursor is, what the number came from, what it feeds, and what the last key did.
    fn tell(&self, out: &mut dyn Write) -> Result<()> {
        let Opened { state, narrator, .. } = self;
        let story = narrator.of(state);
        let board = Board::new(state, &story, None);
        self.say(out, story.sentence(state.cursor().node))?;
        for line in sentence_lines(&board, narrator.screen.width) {
            writeln!(out, "{line}")?;
        }
        let graph = state.graph();
        let shape = graph[state.cursor().node].shape();
        let (row, col) = (state.cursor().row + 1, state.cursor().col + 1);
        writeln!(out, "row {row} of {}, column {col} of {}", shape.rows, shape.cols)?;
        if let Some(cell) = state.chosen_operand() {
            self.say(out, &format!("Enter goes to {}.", address_of(graph, cell)))?;
        }
        let feeds = state.feeds();
        if !feeds.is_empty() {
            let named = feeds.iter().take(MOST_LISTED).map(|(node, places)| {
                format!("{} of {}", counted(places.len(), "number"), graph[*node].name)
            });
            self.say(out, &format!("It feeds {}.", named.collect::<Vec<_>>().join(", ")))?;
        }
        self.say(out, &beside(state).unwrap_or_default())?;
        let moved: usize = state.changed_nodes().iter().map(|id| state.changed_count(*id)).sum();
        if moved > 0 && state.message().is_none() && state.beside().is_none() {
            writeln!(out, "The last change has moved {}.", counted(moved, "number"))?;
        }
        self.say(out, &sentences::bottom(state))
    }

    /// Writes a sentence, if there is one, in lines as wide as the screen.
    fn say(&self, out: &mut dyn Write, text: &str) -> Result<()> {
        let lines = wrapped_text(&self.spelled(text), self.narrator.screen.width);
        for line in lines.iter().filter(|line| !line.is_empty()) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

// Keys from a file as a recording of the screen, without a terminal and without waiting.

/// A screen has at most this many columns.
const MOST_COLUMNS: u16 = 1000;

/// The recording of the keys of a script, on a screen of this many rows.
///
/// # Errors
/// If a screen cannot be drawn.
pub(crate) fn cast(opened: Opened, mut script: Script, rows: u16, title: &str) -> Result<String> {
    let Opened { mut state, narrator, .. } = opened;
    let columns = u16::try_from(narrator.screen.width).unwrap_or(u16::MAX).clamp(1, MOST_COLUMNS);
    let mut display = Display::new(Vec::new(), (columns, rows));
    let mut recording = Asciicast::new(columns.into(), rows.into(), title);
    recording.writes(BEGIN);
    // Of each screen only what differs from the one before.
    let mut film = |board: &Board<'_>, recording: &mut Asciicast| -> Result<()> {
        display.show((columns, rows), |cells| draw(board, cells).1)?;
        recording.writes(&String::from_utf8_lossy(&std::mem::take(&mut display.out)));
        Ok(())
    };
    let mut story = narrator.of(&state);
    film(&Board::new(&state, &story, None), &mut recording)?;
    while let Some(line) = script.next() {
        let action = match line {
            Line::Wait(pause) => {
                recording.wait(pause.as_millis() as u64);
                continue;
            }
            Line::Key(key) => action_in(state.mode(), key),
        };
        match action {
            Some(Action::Do(event)) => {
                let before = state.clone();
                state = update(state, event);
                if !state.has_version_of(&before) {
                    story = narrator.of(&state);
                }
            }
            Some(Action::Quit | Action::Interrupt) => break,
            // What a key does to a terminal cannot be seen in a recording.
            _ => continue,
        }
        film(&Board::new(&state, &story, None), &mut recording)?;
    }
    Ok(recording.finish())
}
