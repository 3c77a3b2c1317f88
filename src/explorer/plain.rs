//! Exploring line by line: for screen readers, and for scripts without a terminal.

use std::cell::RefCell;
use std::io;
use std::io::{BufRead, Read, Write};
use std::rc::Rc;

use attn_story::live::sentences;
use attn_story::render::number_alone;

use crate::error::{EXIT_DONE, Error, Result};
use crate::explore::{Event, Mode, Purpose, State, begins_number, update};
use crate::foreign::visible;
use crate::graph::address_of;
use crate::render::wrapped_text;
use crate::terminal::{Asciicast, Key};
use crate::text::{clip, counted};

use super::draw::{Board, Look, StepsOfStory, draw, sentence_lines};
use super::keys::{Action, BINDINGS, Line, Script, action_in, key_of};
use super::session::{Display, Opened};

/// The most cells that are listed as operands or dependents.
const MOST_LISTED: usize = 4;

/// Explores line by line until `q` or the end of the input; returns the exit code. A script is played first.
///
/// # Errors
/// If nothing can be read or written.
pub(crate) fn plain(
    opened: Opened,
    script: &mut Script,
    input: Option<&mut dyn BufRead>,
    out: &mut dyn Write,
) -> Result<u8> {
    let mut reader = Reader { opened };
    reader.tell(out)?;
    while let Some(line) = script.next() {
        if let Line::Key(key) = line {
            script.record(key);
            let name = super::keys::name(key);
            writeln!(out, "\n{} {name}", reader.prompt())?;
            if reader.press(key, out)? {
                return Ok(EXIT_DONE);
            }
        }
    }
    let Some(input) = input else { return Ok(EXIT_DONE) };
    for number in 1.. {
        write!(out, "\n{} ", reader.prompt())?;
        out.flush()?;
        let Some(line) = typed_line(input, number)? else {
            writeln!(out)?;
            return Ok(EXIT_DONE);
        };
        for entry in entries(line.trim_end_matches(['\n', '\r']), reader.opened.state.mode()) {
            let ends = match entry {
                Entry::Key(key) => {
                    // A recording ends with `q`, whatever ended the program.
                    if action_in(reader.opened.state.mode(), key) != Some(Action::Interrupt) {
                        script.record(key);
                    }
                    reader.press(key, out)?
                }
                Entry::Text(text) => reader.enter(&text, script, out)?,
                Entry::Unknown(word) => {
                    let said = format!("`{}` is no key; ? lists them.", clip(&visible(&word)));
                    writeln!(out, "{}", reader.spelled(&said))?;
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
    if matches!(mode, Mode::Typing { .. }) && key_of(line).is_none_or(|key| matches!(key, Key::Char(_))) {
        return vec![Entry::Text(line.to_string())];
    }
    if line.starts_with('/') && line.len() > 1 || is_number(line) {
        return vec![Entry::Text(line.to_string())];
    }
    let word = |word: &str| match key_of(word) {
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

struct Reader {
    opened: Opened,
}

impl Reader {
    fn prompt(&self) -> &'static str {
        match self.opened.state.mode() {
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
            if !matches!(self.opened.state.mode(), Mode::Typing { .. }) {
                break;
            }
        }
        Ok(false)
    }

    /// Does what a key means; returns true at the end.
    fn press(&mut self, key: Key, out: &mut dyn Write) -> Result<bool> {
        let event = match action_in(self.opened.state.mode(), key) {
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
        let is_text = matches!(event, Event::Type(_) | Event::Erase)
            && !matches!(self.opened.state.mode(), Mode::Adjust(_));
        let state = self.opened.state.clone();
        self.opened.state = update(state, event);
        if matches!(self.opened.state.mode(), Mode::Help { .. }) {
            return self.keys(out).map(|()| false);
        }
        if let Some(said) = self.opened.writer.answer(&self.opened.state) {
            writeln!(out, "{}", self.spelled(&said))?;
        } else if *self.opened.state.mode() == Mode::Write {
            writeln!(out, "{}", self.spelled(&sentences::bottom(&self.opened.state)))?;
        } else if !is_text || self.opened.state.message().is_some() {
            self.tell(out)?;
        }
        Ok(false)
    }

    fn keys(&self, out: &mut dyn Write) -> Result<()> {
        for binding in BINDINGS {
            let names: Vec<String> = binding.keys.iter().map(|key| super::keys::name(*key)).collect();
            writeln!(out, "{}: {}", self.spelled(&names.join(" ")), self.spelled(binding.says))?;
        }
        self.say(
            out,
            "A number such as 2.5, or /cave, is typed and taken in one line. An empty line goes on.",
        )
    }

    fn spelled(&self, text: &str) -> String {
        sentences::spelled(text, self.opened.screen.charset)
    }

    /// Says where the cursor is, what the number came from, what it feeds, and what the last key did.
    fn tell(&self, out: &mut dyn Write) -> Result<()> {
        let Opened { state, told, screen, .. } = &self.opened;
        let look = Look { colour: false, theme: screen.theme, charset: screen.charset };
        let story = StepsOfStory::of(state, told, *screen);
        let board = Board { state, story: &story, look, said: None };
        let sentence = story.sentence(state.cursor().node);
        if !sentence.is_empty() {
            self.say(out, sentence)?;
        }
        for line in sentence_lines(&board, screen.width) {
            writeln!(out, "{line}")?;
        }
        let graph = state.graph();
        let shape = graph[state.cursor().node].shape();
        let place = format!(
            "row {} of {}, column {} of {}",
            state.cursor().row + 1,
            shape.rows,
            state.cursor().col + 1,
            shape.cols
        );
        writeln!(out, "{place}")?;
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
        if let Some(said) = beside(state) {
            self.say(out, &said)?;
        }
        let moved: usize = self.moved(state);
        if moved > 0 && state.message().is_none() && state.beside().is_none() {
            writeln!(out, "The last change has moved {}.", counted(moved, "number"))?;
        }
        let said = sentences::bottom(state);
        if !said.is_empty() {
            self.say(out, &said)?;
        }
        Ok(())
    }

    /// Writes a sentence in lines as wide as the screen.
    fn say(&self, out: &mut dyn Write, text: &str) -> Result<()> {
        for line in wrapped_text(&self.spelled(text), self.opened.screen.width) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    fn moved(&self, state: &State) -> usize {
        state.changed_nodes().iter().map(|id| state.changed_count(*id)).sum()
    }
}

// Keys from a file as a recording of the screen, without a terminal and without waiting.

/// A screen has at most this many columns.
const MOST_COLUMNS: u16 = 1000;

/// What a terminal does before the first screen: another screen, no cursor.
const BEGIN: &str = "\x1b[?1049h\x1b[2J\x1b[H\x1b[?25l";

/// The recording of the keys of a script, on a screen of this many rows.
///
/// # Errors
/// If a screen cannot be drawn.
pub(crate) fn cast(opened: Opened, mut script: Script, rows: u16, title: &str) -> Result<String> {
    let Opened { mut state, told, screen, .. } = opened;
    let columns = u16::try_from(screen.width).unwrap_or(u16::MAX).clamp(1, MOST_COLUMNS);
    // The recording has its colours whatever this process prints to.
    crossterm::style::force_color_output(true);
    let mut camera = Camera::new(columns, rows, title);
    let mut story = StepsOfStory::of(&state, &told, screen);
    let look = Look { colour: screen.colour, theme: screen.theme, charset: screen.charset };
    camera.films(&Board { state: &state, story: &story, look, said: None })?;
    while let Some(line) = script.next() {
        let key = match line {
            Line::Wait(pause) => {
                camera.recording.wait(pause.as_millis() as u64);
                continue;
            }
            Line::Key(key) => key,
        };
        match action_in(state.mode(), key) {
            Some(Action::Do(event)) => {
                let before = state.clone();
                state = update(state, event);
                if !state.has_version_of(&before) {
                    story = StepsOfStory::of(&state, &told, screen);
                }
            }
            Some(Action::Quit | Action::Interrupt) => break,
            // What a key does to a terminal cannot be seen in a recording.
            _ => continue,
        }
        camera.films(&Board { state: &state, story: &story, look, said: None })?;
    }
    Ok(camera.recording.finish())
}

/// Draws screens into a recording: each only where it differs from the one before.
struct Camera {
    display: Display<Film>,
    film: Film,
    size: (u16, u16),
    recording: Asciicast,
}

impl Camera {
    fn new(columns: u16, rows: u16, title: &str) -> Camera {
        let film = Film::default();
        let size = (columns, rows);
        let display = Display::new(film.clone(), size);
        let mut recording = Asciicast::new(columns.into(), rows.into(), title);
        recording.writes(BEGIN);
        Camera { display, film, size, recording }
    }

    fn films(&mut self, board: &Board<'_>) -> Result<()> {
        self.display.show(self.size, |buffer| draw(board, buffer).1)?;
        let bytes = std::mem::take(&mut *self.film.0.borrow_mut());
        self.recording.writes(&String::from_utf8_lossy(&bytes));
        Ok(())
    }
}

/// What a display writes.
#[derive(Clone, Default)]
struct Film(Rc<RefCell<Vec<u8>>>);

impl Write for Film {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
