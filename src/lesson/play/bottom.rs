//! The line at the bottom: where the class is, and what time it is.

use std::time::Duration;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::lesson::Question;
use crate::lesson::key::Kind;
use crate::render::Charset;

use super::clock::minutes_and_seconds;
use super::entry::{Entry, Purpose};
use super::player::Player;

/// The line at the bottom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bottom {
    /// Its text, narrower than the screen.
    pub text: String,
    /// The column of the cursor, where something is typed.
    pub cursor: Option<usize>,
}

/// A piece of the status line; where room is short those of the lowest weight go first.
type Piece = (u8, String);

impl Player<'_> {
    /// The line at the bottom, `now` after the beginning.
    pub fn bottom(&self, now: Duration) -> Bottom {
        // The last column stays free: a terminal may break the line there.
        let room = self.window.screen.width.saturating_sub(1).max(1);
        let bottom = match &self.entry {
            Some(entry) => self.typing(entry, room, now),
            None => Bottom { text: fitted(self.pieces(now), self.separator(), room), cursor: None },
        };
        Bottom { text: self.window.screen.charset.spelled(&bottom.text).into_owned(), ..bottom }.cut(room)
    }

    fn separator(&self) -> &'static str {
        match self.window.screen.charset {
            Charset::Utf8 => " · ",
            Charset::Ascii => " | ",
        }
    }

    fn typing(&self, entry: &Entry, room: usize, now: Duration) -> Bottom {
        let label = entry.label();
        let (typed, column) = entry.line.window(room.saturating_sub(label.width()));
        let cursor = label.width() + column;
        let line = format!("{label}{typed}");
        let hint = self.typing_hint(entry, now);
        let fits = !hint.is_empty() && line.width() + 5 + hint.width() <= room;
        let text = if fits { format!("{line}   ({hint})") } else { line };
        Bottom { text, cursor: Some(cursor) }
    }

    /// What may be typed, or what Enter would do.
    fn typing_hint(&self, entry: &Entry, now: Duration) -> String {
        let text = entry.line.text();
        match entry.purpose {
            Purpose::Hands => "such as A3 B14 C8".to_string(),
            Purpose::Search if self.searched.is_empty() => "Enter finds the next".to_string(),
            Purpose::Search => format!("Enter alone: the next `{}`", self.searched),
            Purpose::Command if text.is_empty() && !self.commands.is_empty() => {
                "↑ the last command, Esc back".to_string()
            }
            Purpose::Command => String::new(),
            Purpose::Answer => match self.letter_typed(text.trim()) {
                Some('q') => "Enter: end the lesson".to_string(),
                Some('h') => "Enter: a hint".to_string(),
                Some(letter) => format!("Enter: the key {letter}"),
                None => self.thinking(now).unwrap_or_default(),
            },
        }
    }

    /// The time that is left to think.
    fn thinking(&self, now: Duration) -> Option<String> {
        let question = self.asking()?;
        let think = question.think?;
        let left = think.saturating_sub(now.saturating_sub(self.asked_at()));
        Some(match left.as_secs_f64().ceil() as u64 {
            0 => "time is up".to_string(),
            seconds => format!("think {}", minutes_and_seconds(seconds)),
        })
    }

    fn pieces(&self, now: Duration) -> Vec<Piece> {
        if self.is_blank {
            return vec![(9, "any key shows the lesson again".to_string())];
        }
        if let Some(count) = self.count {
            return vec![(9, format!("to step {count}: G"))];
        }
        let steps = self.lesson.steps.len();
        let pace = self.pace(now).in_words();
        if self.is_over() {
            return vec![(9, "end".to_string()), (7, pace), (8, "space leaves, ← goes back".to_string())];
        }
        let title = self.step().map_or(&self.lesson.title, |step| &self.lesson.steps[step].title);
        let mut pieces = vec![(9, format!("{}/{steps}", self.step().map_or(0, |step| step + 1)))];
        let more = !self.waiting.is_empty() || self.has_more();
        match self.asking() {
            _ if more => pieces.extend([(2, title.clone()), (8, "space shows more".to_string())]),
            Some(question) => {
                pieces.extend(self.thinking(now).map(|thinking| (8, thinking)));
                pieces.push((6, how_to_answer(question).to_string()));
            }
            None => pieces.extend([(5, title.clone()), (3, "space goes on".to_string())]),
        }
        pieces.extend([(7, pace), (4, "?: keys".to_string())]);
        pieces
    }
}

fn how_to_answer(question: &Question) -> &'static str {
    match question.kind {
        Kind::Choice => "a letter answers, space shows the answer",
        Kind::Open => "space shows the answer",
        _ => "type an answer, space shows it",
    }
}

/// The pieces in a row, as many as there is room for.
fn fitted(mut pieces: Vec<Piece>, separator: &str, room: usize) -> String {
    loop {
        let line =
            format!(" {}", pieces.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(separator));
        let lightest = pieces.iter().enumerate().min_by_key(|(_, (weight, _))| *weight).map(|(at, _)| at);
        match lightest {
            Some(lightest) if line.width() > room && pieces.len() > 1 => pieces.remove(lightest),
            _ => return line,
        };
    }
}

impl Bottom {
    /// The same line, at most so wide.
    fn cut(mut self, room: usize) -> Bottom {
        let mut used = 0;
        let fits = |c: &char| {
            used += c.width().unwrap_or(0);
            used <= room
        };
        self.text = self.text.chars().take_while(fits).collect();
        self.cursor = self.cursor.map(|cursor| cursor.min(room));
        self
    }
}
