//! The keys and their meanings: the one list from which they are dispatched, listed and named.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use Action::Do;
use Key::{
    BackTab, Char, Control, Down, End, Enter, Escape, F2, Home, Left, PageDown, PageUp, Right, Tab, Up,
};

use crate::error::{Error, Result};
use crate::explore::{Event, Knob, Mode, Way};
use crate::input::{GrowingText, WritePermission};
use crate::terminal::Key;
use crate::text::clip;

/// What a key does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    /// It is an event of the state.
    Do(Event),
    /// It begins a number, and is its first character.
    Number,
    /// The number under the cursor is copied.
    CopyCell,
    /// The matrix under the cursor is copied, as NumPy's text.
    CopyMatrix,
    /// Clicks are read, or no longer.
    Mouse,
    /// The whole screen is drawn again.
    Redraw,
    /// The program stops until the shell continues it.
    Suspend,
    /// The program ends as if it were interrupted.
    Interrupt,
    /// The program ends.
    Quit,
}

/// The headings under which the keys are listed.
const MOVE: &str = "Move";
const FOLLOW: &str = "Follow a number";
const CHANGE: &str = "Change";
const OTHER: &str = "Other";

/// Keys with one meaning.
pub(super) struct Binding {
    pub keys: &'static [Key],
    /// The keys as they are listed.
    pub shown: &'static str,
    pub action: Action,
    /// What they do, as it is listed.
    pub says: &'static str,
    pub group: &'static str,
    /// For the keys that are needed most: their rank, and one or two words for the line of hints.
    pub hint: Option<(u8, &'static str)>,
}

macro_rules! bindings {
    ($($group:ident $keys:expr, $shown:literal, $action:expr, $says:literal $(, $rank:literal $hint:literal)?;)+) => {
        &[$(Binding {
            keys: &$keys, shown: $shown, action: $action, says: $says, group: $group,
            hint: bindings!(@ $($rank $hint)?),
        }),+]
    };
    (@) => { None };
    (@ $rank:literal $hint:literal) => { Some(($rank, $hint)) };
}

/// The rows of a page.
const PAGE: usize = 10;

/// Every key.
pub(super) const BINDINGS: &[Binding] = bindings! {
    MOVE [Left, Char('h')], "← h", Do(Event::Move(Way::Left)), "one column to the left";
    MOVE [Right, Char('l')], "→ l", Do(Event::Move(Way::Right)), "one column to the right";
    MOVE [Up, Char('k')], "↑ k", Do(Event::Move(Way::Up)), "one row up", 1 "move";
    MOVE [Down, Char('j')], "↓ j", Do(Event::Move(Way::Down)), "one row down";
    MOVE [PageUp], "PgUp", Do(Event::Move(Way::RowsUp(PAGE))), "ten rows up";
    MOVE [PageDown], "PgDn", Do(Event::Move(Way::RowsDown(PAGE))), "ten rows down";
    MOVE [Home, Char('^')], "Home ^", Do(Event::Move(Way::RowStart)), "the first column";
    MOVE [End, Char('$')], "End $", Do(Event::Move(Way::RowEnd)), "the last column";
    MOVE [Char('g')], "g", Do(Event::Move(Way::Top)), "the first row";
    MOVE [Char('G')], "G", Do(Event::Move(Way::Bottom)), "the last row";
    MOVE [Char('n')], "n", Do(Event::Node(1)), "the next step", 7 "next step";
    MOVE [Char('b')], "b", Do(Event::Node(-1)), "the step before";
    MOVE [Char('[')], "[", Do(Event::Head(-1)), "the head before";
    MOVE [Char(']')], "]", Do(Event::Head(1)), "the next head";
    MOVE [Char('{')], "{", Do(Event::Layer(-1)), "the layer before";
    MOVE [Char('}')], "}", Do(Event::Layer(1)), "the next layer";
    MOVE [Char('/')], "/", Do(Event::Search), "find a step, word or number", 6 "find";
    FOLLOW [Tab], "Tab", Do(Event::NextOperand), "choose the next operand", 8 "choose";
    FOLLOW [BackTab], "Shift-Tab", Do(Event::PreviousOperand), "choose the one before";
    FOLLOW [Enter], "Enter", Do(Event::Open), "go to the chosen operand", 2 "open";
    FOLLOW [Escape, Key::Backspace], "Esc", Do(Event::Back), "go back along the path", 3 "back";
    CHANGE [Char('e'), F2], "e F2", Do(Event::Edit), "edit a given number";
    CHANGE [
        Char('0'), Char('1'), Char('2'), Char('3'), Char('4'), Char('5'), Char('6'), Char('7'), Char('8'), Char('9'),
        Char('-'), Char('.')
    ], "0–9 - .", Action::Number, "type another number", 4 "edit";
    CHANGE [Char('u')], "u", Do(Event::Undo), "undo a change", 5 "undo";
    CHANGE [Control('r')], "Ctrl-R", Do(Event::Redo), "make it again";
    CHANGE [Char('t')], "t", Do(Event::Adjust(Knob::Temperature)), "temperature: then ← →";
    CHANGE [Char('s')], "s", Do(Event::Adjust(Knob::Scale)), "scale: then ← →";
    CHANGE [Char('m')], "m", Do(Event::Adjust(Knob::Mask)), "mask: then ← →";
    CHANGE [Char('p')], "p", Do(Event::Adjust(Knob::Positions)), "positions: then ← →";
    CHANGE [Char('x')], "x", Do(Event::RemoveHead), "take this head out, or back";
    CHANGE [Char('v')], "v", Do(Event::Versus), "beside the state before", 9 "compare";
    OTHER [Char('w')], "w", Do(Event::Write), "write command, files, lesson", 11 "write";
    OTHER [Char('a')], "a", Do(Event::Predict), "hide the number, and guess it", 10 "guess";
    OTHER [Char('<')], "<", Do(Event::Digits(-1)), "fewer decimals";
    OTHER [Char('>')], ">", Do(Event::Digits(1)), "more decimals";
    OTHER [Char('y')], "y", Action::CopyCell, "copy the number";
    OTHER [Char('Y')], "Y", Action::CopyMatrix, "copy the matrix as NumPy text";
    OTHER [Char('M')], "M", Action::Mouse, "read clicks, or no longer";
    OTHER [Control('l')], "Ctrl-L", Action::Redraw, "draw the screen again";
    OTHER [Control('z')], "Ctrl-Z", Action::Suspend, "pause; fg comes back";
    OTHER [Control('c')], "Ctrl-C", Action::Interrupt, "end at once";
    OTHER [Char('?')], "?", Do(Event::Help), "these keys", 12 "all keys";
    OTHER [Char('q')], "q", Action::Quit, "end", 13 "end";
};

/// What a key does in a mode.
pub(super) fn action_in(mode: &Mode, key: Key) -> Option<Action> {
    let event = match (mode, key) {
        (Mode::Typing { .. } | Mode::Write, Control('c' | 'z' | 'l')) => return action_of(key),
        (Mode::Typing { .. } | Mode::Write, Char(c)) => Event::Type(c),
        (Mode::Typing { .. }, Enter | Tab) => Event::Accept,
        (Mode::Typing { .. } | Mode::Adjust(_), Key::Backspace) => Event::Erase,
        (Mode::Typing { .. } | Mode::Write, Escape) | (Mode::Write, Key::Backspace) => Event::Back,
        (Mode::Typing { .. } | Mode::Write, _) => return None,
        (Mode::Help { .. }, Char(' ') | PageDown) => Event::MoreHelp,
        (Mode::Help { .. }, Char('q' | '?') | Enter | Escape) => Event::Back,
        (Mode::Adjust(_) | Mode::Look | Mode::Help { .. }, key) => match (action_of(key), key) {
            (Some(Action::Number), Char(c)) => Event::Type(c),
            // Any other key leaves the list of keys, and does what it does.
            (None, _) if matches!(mode, Mode::Help { .. }) => Event::Back,
            (action, _) => return action,
        },
    };
    Some(Do(event))
}

/// What a key does while nothing is typed.
fn action_of(key: Key) -> Option<Action> {
    BINDINGS.iter().find(|binding| binding.keys.contains(&key)).map(|binding| binding.action.clone())
}

// Keys from a file and into a file: one on each line, `wait 300` between them.

/// The longest pause that is recorded, in milliseconds: somebody has left.
const LONGEST_PAUSE: u128 = 60_000;
/// A shorter pause than this is not recorded.
const SHORTEST_PAUSE: u128 = 20;

/// A line of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A key.
    Key(Key),
    /// A pause.
    Wait(Duration),
}

/// Keys that are played, and the file that keys are recorded in.
#[derive(Debug, Default)]
pub(crate) struct Script {
    lines: VecDeque<Line>,
    record: Option<Recording>,
}

#[derive(Debug)]
struct Recording {
    keys: GrowingText,
    last: Option<Instant>,
    /// Where the key stands that began a change, and the key that has its effect without the change.
    begun: Option<(usize, Option<Key>)>,
}

impl Script {
    /// Plays the keys of a text, the contents of the file `source`.
    ///
    /// # Errors
    /// If a line names no key; the error says which.
    pub fn playing(mut self, text: &str, source: &str) -> Result<Script> {
        self.lines = parsed(text).map_err(|error| error.in_source(source))?.into();
        Ok(self)
    }

    /// Records all keys in a file, each at once: neither a closed terminal nor a killed program loses any.
    ///
    /// # Errors
    /// If nothing may be written, or it cannot be.
    pub fn recording(mut self, file: PathBuf, writing: WritePermission) -> Result<Script> {
        writing.check(&file)?;
        self.record = Some(Recording { keys: GrowingText::new(file)?, last: None, begun: None });
        Ok(self)
    }

    /// Whether keys are still to be played.
    pub fn is_playing(&self) -> bool {
        !self.lines.is_empty()
    }

    /// The next line.
    pub fn next(&mut self) -> Option<Line> {
        self.lines.pop_front()
    }

    /// Records a key, and the pause before it.
    pub fn record(&mut self, key: Key) {
        let Some(recording) = &mut self.record else { return };
        let now = Instant::now();
        let pause = recording.last.map_or(0, |last| now.duration_since(last).as_millis());
        let wait = match pause {
            ..SHORTEST_PAUSE => String::new(),
            pause => format!("wait {}\n", pause.min(LONGEST_PAUSE)),
        };
        recording.keys.push(&format!("{wait}{}\n", key.name()));
        recording.last = Some(now);
    }

    /// The next key may begin a change; `instead` is the key that has its effect without the change.
    pub fn begin(&mut self, instead: Option<Key>) {
        if let Some(recording) = &mut self.record {
            recording.begun = Some((recording.keys.text().len(), instead));
        }
    }

    /// Takes back what was recorded since a change began that was stopped: played again, the keys leave the same state.
    pub fn take_back(&mut self) {
        let Some(recording) = &mut self.record else { return };
        let Some((at, instead)) = recording.begun.take() else { return };
        recording.keys.cut(at);
        if let Some(key) = instead {
            self.record(key);
        }
    }

    /// Ends what was recorded with `q`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(&mut self) -> Result<()> {
        let Some(mut recording) = self.record.take() else { return Ok(()) };
        if recording.keys.text().lines().last() != Some("q") {
            recording.keys.push("q\n");
        }
        recording.keys.finish()
    }
}

/// The lines of a script. Empty lines and those that begin with `# ` are passed over.
fn parsed(text: &str) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_end_matches('\r');
        if line.trim().is_empty() || line.starts_with("# ") {
            continue;
        }
        let wrong = || {
            Error::new(format!("line {}: `{}` is no key", number + 1, clip(line))).help(
                "write a key on each line, such as l, Enter, Esc, C-r or Right, or a pause such as wait 300",
            )
        };
        if let Some(pause) = line.trim().strip_prefix("wait ") {
            let milliseconds: u32 = pause.trim().parse().map_err(|_| wrong())?;
            lines.push(Line::Wait(Duration::from_millis(milliseconds.into())));
        } else {
            lines.push(Line::Key(Key::named(line.trim()).ok_or_else(wrong)?));
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_has_two_meanings() {
        let mut seen: Vec<Key> = Vec::new();
        for binding in BINDINGS {
            for key in binding.keys {
                assert!(!seen.contains(key), "{key:?} of “{}” has another meaning", binding.says);
                seen.push(*key);
            }
        }
    }

    #[test]
    fn every_key_of_the_list_has_a_name_that_is_read_back() {
        for key in BINDINGS.iter().flat_map(|binding| binding.keys) {
            assert_eq!(Key::named(&key.name()), Some(*key), "{key:?}");
        }
        assert_eq!(
            ["C-r", "enter", "wait", ""].map(Key::named),
            [Some(Control('r')), Some(Enter), None, None]
        );
    }

    #[test]
    fn the_keys_that_are_listed_are_those_that_are_dispatched() {
        for binding in BINDINGS {
            assert!(binding.keys.iter().all(|key| action_of(*key) == Some(binding.action.clone())));
            assert!(!binding.says.is_empty() && !binding.shown.is_empty());
        }
    }

    #[test]
    fn a_script_has_keys_pauses_and_remarks() {
        let lines = parsed("l\n# a remark\n\nEnter\nwait 300\nC-r\n").unwrap();
        let wait = Line::Wait(Duration::from_millis(300));
        assert_eq!(
            lines,
            [Line::Key(Key::Char('l')), Line::Key(Key::Enter), wait, Line::Key(Key::Control('r'))]
        );
        let said = parsed("l\nEnterr").unwrap_err().to_string();
        assert!(said.contains("line 2: `Enterr` is no key"), "{said}");
        assert!(parsed("wait soon").is_err() && parsed("wait -1").is_err());
    }

    #[test]
    fn what_is_recorded_can_be_played_and_ends_with_q() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.txt");
        let mut script = Script::default().recording(file.clone(), WritePermission::Allowed).unwrap();
        for key in [Key::Char('l'), Key::Enter, Key::Control('r')] {
            script.record(key);
        }
        let text = || crate::input::read_text(&file, 1000).unwrap();
        assert_eq!(text(), "l\nEnter\nC-r\n", "each key is in the file at once");
        script.begin(Some(Key::Escape));
        script.record(Key::Char('7'));
        script.take_back();
        assert_eq!(text(), "l\nEnter\nC-r\nEsc\n");
        script.finish().unwrap();
        let text = crate::input::read_text(&file, 1000).unwrap();
        assert_eq!(text, "l\nEnter\nC-r\nEsc\nq\n");
        assert!(Script::default().playing(&text, "keys.txt").unwrap().is_playing());
        assert!(Script::default().recording(file, WritePermission::Refused).is_err());
    }
}
