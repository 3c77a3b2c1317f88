//! Keys, whatever terminal or clicker they come from, and a line that is typed with them.

use unicode_width::UnicodeWidthChar;

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character, as it is typed.
    Char(char),
    /// A letter together with the control key, in lower case.
    Control(char),
    /// Enter.
    Enter,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// The arrow to the left.
    Left,
    /// The arrow to the right.
    Right,
    /// The arrow upwards.
    Up,
    /// The arrow downwards.
    Down,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up: what a clicker sends to go back.
    PageUp,
    /// Page down: what a clicker sends to go on.
    PageDown,
    /// Escape: what a clicker sends to leave a presentation.
    Escape,
    /// F5, with or without shift: what a clicker sends to begin a presentation.
    F5,
    /// Tab.
    Tab,
    /// Tab with shift.
    BackTab,
    /// F2.
    F2,
}

/// What comes from a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key.
    Key(Key),
    /// A click with the first button, at this column and row from 0.
    Click(u16, u16),
}

impl Input {
    /// The key, for a program that has no use for a pointer.
    pub(crate) fn key(self) -> Option<Key> {
        if let Input::Key(key) = self { Some(key) } else { None }
    }
}

/// The result of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// A key may have come.
    Ready,
    /// The time is up, or a signal has come.
    Nothing,
    /// The terminal is gone.
    Gone,
}

/// The names of keys that are no characters, as scripts and lists have them.
const NAMES: [(Key, &str); 16] = [
    (Key::Enter, "Enter"),
    (Key::Escape, "Esc"),
    (Key::Tab, "Tab"),
    (Key::BackTab, "S-Tab"),
    (Key::Backspace, "Backspace"),
    (Key::Delete, "Delete"),
    (Key::Left, "Left"),
    (Key::Right, "Right"),
    (Key::Up, "Up"),
    (Key::Down, "Down"),
    (Key::Home, "Home"),
    (Key::End, "End"),
    (Key::PageUp, "PageUp"),
    (Key::PageDown, "PageDown"),
    (Key::F2, "F2"),
    (Key::F5, "F5"),
];

impl Key {
    /// Its name in a script: `l`, `Enter`, `C-r`.
    pub(crate) fn name(self) -> String {
        match self {
            Key::Char(' ') => "Space".to_string(),
            Key::Char(c) => c.to_string(),
            Key::Control(c) => format!("C-{c}"),
            key => NAMES.iter().find(|(named, _)| *named == key).map_or("", |(_, name)| name).to_string(),
        }
    }

    /// The key of a name in a script.
    pub(crate) fn named(name: &str) -> Option<Key> {
        let chars: Vec<char> = name.chars().take(4).collect();
        match chars[..] {
            [c] => (!c.is_control() && c != ' ').then_some(Key::Char(c)),
            ['C', '-', c] => Some(Key::Control(c.to_ascii_lowercase())),
            _ if name == "Space" => Some(Key::Char(' ')),
            _ => NAMES.iter().find(|(_, of)| of.eq_ignore_ascii_case(name)).map(|(key, _)| *key),
        }
    }
}

/// No line is longer than this, in characters.
const LONGEST: usize = 2000;

/// A line with a cursor, and earlier lines that the arrows bring back.
#[derive(Clone, Debug, Default)]
pub(crate) struct EditLine {
    text: Vec<char>,
    cursor: usize,
    /// The oldest first.
    earlier: Vec<String>,
    /// The position of the shown line; after the last one the line itself.
    shown: usize,
    /// The typed line, while an earlier one is shown.
    draft: String,
}

impl EditLine {
    /// A line that begins with a text.
    pub(crate) fn new(text: &str, earlier: Vec<String>) -> EditLine {
        let shown = earlier.len();
        let mut line = EditLine { earlier, shown, ..EditLine::default() };
        line.set(text);
        line
    }

    /// The typed text.
    pub(crate) fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// Whether nothing has been typed.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    fn set(&mut self, text: &str) {
        self.text = text.chars().take(LONGEST).collect();
        self.cursor = self.text.len();
    }

    /// Changes the line as a key says; keys that are not for editing do nothing.
    pub(crate) fn press(&mut self, key: Key) {
        match key {
            Key::Char(typed) if self.text.len() < LONGEST => {
                self.text.insert(self.cursor, typed);
                self.cursor += 1;
            }
            Key::Backspace | Key::Control('h') if self.cursor > 0 => {
                self.cursor -= 1;
                self.text.remove(self.cursor);
            }
            Key::Delete | Key::Control('d') if self.cursor < self.text.len() => {
                self.text.remove(self.cursor);
            }
            Key::Left | Key::Control('b') => self.cursor = self.cursor.saturating_sub(1),
            Key::Right | Key::Control('f') => self.cursor = (self.cursor + 1).min(self.text.len()),
            Key::Home | Key::Control('a') => self.cursor = 0,
            Key::End | Key::Control('e') => self.cursor = self.text.len(),
            Key::Control('u') => self.take(0),
            Key::Control('w') => self.take(self.word_before()),
            Key::Control('k') => self.text.truncate(self.cursor),
            Key::Up | Key::Control('p') => self.bring(self.shown.checked_sub(1)),
            Key::Down | Key::Control('n') => self.bring(Some(self.shown + 1)),
            _ => {}
        }
    }

    /// Takes away what stands between `from` and the cursor.
    fn take(&mut self, from: usize) {
        self.text.drain(from..self.cursor);
        self.cursor = from;
    }

    /// The position at which the word before the cursor begins.
    fn word_before(&self) -> usize {
        let before = &self.text[..self.cursor];
        let word_end = before.iter().rposition(|c| !c.is_whitespace()).map_or(0, |last| last + 1);
        before[..word_end].iter().rposition(|c| c.is_whitespace()).map_or(0, |space| space + 1)
    }

    /// Shows the earlier line at a position, or again what was being typed.
    fn bring(&mut self, position: Option<usize>) {
        let Some(position) = position.filter(|&position| position <= self.earlier.len()) else { return };
        if self.shown == self.earlier.len() {
            self.draft = self.text();
        }
        self.shown = position;
        let text = self.earlier.get(position).cloned().unwrap_or_else(|| self.draft.clone());
        self.set(&text);
    }

    /// The part of the line around the cursor that fits into `room` columns, and the column of the cursor in it.
    pub(crate) fn window(&self, room: usize) -> (String, usize) {
        let width = |c: &char| c.width().unwrap_or(0);
        let room = room.max(2);
        // One column is kept for the cursor after the last character.
        let mut start = self.cursor;
        let mut column = 0;
        while start > 0 && column + width(&self.text[start - 1]) < room {
            start -= 1;
            column += width(&self.text[start]);
        }
        let mut used = 0;
        let fits = |c: &&char| {
            used += width(c);
            used < room
        };
        (self.text[start..].iter().take_while(fits).collect(), column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(line: &mut EditLine, keys: &[Key]) -> String {
        keys.iter().for_each(|&key| line.press(key));
        line.text()
    }

    #[test]
    fn a_line_is_edited_in_the_middle() {
        let mut line = EditLine::new("attn softmax 1 2", Vec::new());
        assert_eq!(pressed(&mut line, &[Key::Left, Key::Backspace, Key::Char('9')]), "attn softmax 192");
        assert_eq!(pressed(&mut line, &[Key::Delete, Key::Delete]), "attn softmax 19");
        assert_eq!(pressed(&mut line, &[Key::Control('w')]), "attn softmax ");
        assert_eq!(pressed(&mut line, &[Key::Control('w')]), "attn ");
        assert_eq!(pressed(&mut line, &[Key::Home, Key::Char('é'), Key::Right, Key::Control('k')]), "éa");
        assert_eq!(pressed(&mut line, &[Key::Control('u')]), "");
        assert!(line.is_empty());
    }

    #[test]
    fn earlier_lines_come_back_and_what_was_typed_is_not_lost() {
        let mut line = EditLine::new("", vec!["one".into(), "two".into()]);
        pressed(&mut line, &[Key::Char('x')]);
        assert_eq!(pressed(&mut line, &[Key::Up]), "two");
        assert_eq!(pressed(&mut line, &[Key::Up, Key::Up]), "one");
        assert_eq!(pressed(&mut line, &[Key::Down]), "two");
        assert_eq!(pressed(&mut line, &[Key::Down, Key::Down]), "x");
    }

    #[test]
    fn a_long_line_is_shown_around_its_cursor() {
        let mut line = EditLine::new("0123456789", Vec::new());
        assert_eq!(line.window(20), ("0123456789".to_string(), 10));
        assert_eq!(line.window(5), ("6789".to_string(), 4));
        line.press(Key::Home);
        assert_eq!(line.window(5), ("0123".to_string(), 0));
        assert_eq!(EditLine::new("ab漢字", Vec::new()).window(4), ("字".to_string(), 2));
    }
}
