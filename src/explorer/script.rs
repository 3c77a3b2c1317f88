//! Keys from a file and into a file: one on each line, `wait 300` between them.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::keys::{key_of, name};
use crate::error::{Error, Result};
use crate::input::{GrowingText, WritePermission};
use crate::terminal::Key;
use crate::text::clip;

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

/// The place in a recording of a key that began a change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Begun {
    at: Option<usize>,
    /// The key that has its effect without the change.
    instead: Option<Key>,
}

#[derive(Debug)]
struct Recording {
    keys: GrowingText,
    last: Option<Instant>,
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
        self.record = Some(Recording { keys: GrowingText::new(file)?, last: None });
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
        recording.keys.push(&format!("{wait}{}\n", name(key)));
        recording.last = Some(now);
    }

    /// The place of the next key, which may begin a change; `instead` is the key that has its effect without the change.
    pub fn begun(&self, instead: Option<Key>) -> Begun {
        Begun { at: self.record.as_ref().map(|recording| recording.keys.text().len()), instead }
    }

    /// Takes back what was recorded since a change began that was stopped: played again, the keys leave the same state.
    pub fn take_back(&mut self, begun: Begun) {
        if let (Some(recording), Some(at)) = (&mut self.record, begun.at) {
            recording.keys.cut(at);
        }
        if let Some(key) = begun.instead {
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
            lines.push(Line::Key(key_of(line.trim()).ok_or_else(wrong)?));
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let begun = script.begun(Some(Key::Escape));
        script.record(Key::Char('7'));
        script.take_back(begun);
        assert_eq!(text(), "l\nEnter\nC-r\nEsc\n");
        script.finish().unwrap();
        let text = crate::input::read_text(&file, 1000).unwrap();
        assert_eq!(text, "l\nEnter\nC-r\nEsc\nq\n");
        assert!(Script::default().playing(&text, "keys.txt").unwrap().is_playing());
        assert!(Script::default().recording(file, WritePermission::Refused).is_err());
    }
}
