//! The line at the bottom: where the class is, and what time it is.

use std::time::Duration;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::lesson::Question;
use crate::lesson::key::Kind;
use crate::render::Charset;

use super::answers::options;
use super::clock::minutes_and_seconds;
use super::entry::{Entry, Purpose};
use super::player::{Beside, Player};

/// The line at the bottom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bottom {
    /// Its text, narrower than the screen.
    pub text: String,
    /// The column of the cursor, where something is typed.
    pub cursor: Option<usize>,
    /// Whether it is to catch the eye.
    pub is_alert: bool,
}

/// A title is shortened to this many columns.
const LONGEST_TITLE: usize = 40;

/// A piece of the status line; where room is short those of the lowest weight go first.
type Piece = (u8, String);

impl Player<'_> {
    /// The line at the bottom, `now` after the beginning.
    pub fn bottom(&self, now: Duration) -> Bottom {
        // The last column stays free: a terminal may break the line there.
        let room = self.window.screen.width.saturating_sub(1).max(1);
        let bottom = match &self.entry {
            Some(entry) => self.typing(entry, room, now),
            None => Bottom {
                text: fitted(self.pieces(now), self.separator(), room),
                cursor: None,
                is_alert: self.is_time_up(now),
            },
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
        Bottom { text, cursor: Some(cursor), is_alert: false }
    }

    /// What may be typed, or what Enter would do.
    fn typing_hint(&self, entry: &Entry, now: Duration) -> String {
        let text = entry.line.text();
        match entry.purpose {
            Purpose::Hands => "such as A3 B14 C8, or 3 14 8".to_string(),
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
                None => {
                    let thinking =
                        self.thinking(now).map(|thinking| format!("{}{thinking}", self.separator()));
                    format!("Enter answers, Esc drops it{}", thinking.unwrap_or_default())
                }
            },
        }
    }

    /// What is left of the time to think.
    fn time_left(&self, now: Duration) -> Option<Duration> {
        let think = self.asking()?.think?;
        Some(think.saturating_sub(now.saturating_sub(self.asked_at())))
    }

    fn is_time_up(&self, now: Duration) -> bool {
        let is_asked = !self.is_blank && self.beside.is_none() && self.count.is_none();
        is_asked && self.time_left(now).is_some_and(|left| left.is_zero())
    }

    /// The time that is left to think, in words.
    fn thinking(&self, now: Duration) -> Option<String> {
        Some(match self.time_left(now)?.as_secs_f64().ceil() as u64 {
            0 => "time is up".to_string(),
            seconds => format!("think {}", minutes_and_seconds(seconds)),
        })
    }

    fn pieces(&self, now: Duration) -> Vec<Piece> {
        if self.is_blank {
            return vec![(9, "any key goes back".to_string())];
        }
        if let Some(count) = self.count {
            return vec![(9, format!("to step {count}: G"))];
        }
        let more = !self.waiting.is_empty() || self.has_more();
        let rest = ["space shows more, q leaves the rest out", "any key goes back"];
        let rest = rest[usize::from(self.waiting.is_empty())].to_string();
        match self.beside {
            Some(Beside::Contents) => return vec![(9, "number, Enter: to a step".to_string()), (8, rest)],
            Some(Beside::Output) => return vec![(9, rest), (8, "!: another command".to_string())],
            Some(Beside::Keys) => return vec![(9, rest)],
            None => {}
        }
        let steps = self.lesson.last_number();
        // Whether a class is behind is the teacher's business alone.
        let pace = self.pace(now).spent_of_planned();
        if self.is_over() {
            return vec![(9, "end".to_string()), (7, pace), (8, "space leaves, ← goes back".to_string())];
        }
        let title = self.step().map_or(&self.lesson.title, |step| &self.lesson.steps[step].title);
        let title = shortened(title);
        let mut pieces =
            vec![(9, format!("{}/{steps}", self.step().map_or(0, |step| self.lesson.number(step))))];
        match self.asking() {
            _ if more => pieces.extend([(2, title.clone()), (8, "space shows more".to_string())]),
            Some(question) => {
                pieces.extend(self.thinking(now).map(|thinking| (8, thinking)));
                match how_to_answer(question) {
                    Some(how) => pieces.extend([(7, how), (6, "space shows it".to_string())]),
                    None => pieces.push((7, "space shows the answer".to_string())),
                }
            }
            None if self.is_told() => {
                pieces.extend([(9, "end".to_string()), (6, "space leaves".to_string())])
            }
            None => pieces.extend([(5, title.clone()), (6, "space goes on".to_string())]),
        }
        if self.lesson.told.is_none() {
            pieces.push((4, pace));
        }
        pieces.push((3, "?: keys".to_string()));
        pieces
    }
}

/// A title that leaves room for what else the line tells.
fn shortened(title: &str) -> String {
    if title.width() <= LONGEST_TITLE {
        return title.to_string();
    }
    let mut short: String = title.chars().take(LONGEST_TITLE - 1).collect();
    short.truncate(short.rfind(' ').unwrap_or(short.len()));
    format!("{short} …")
}

/// What is pressed or typed as an answer; nothing where the class speaks.
fn how_to_answer(question: &Question) -> Option<String> {
    let letters: Vec<String> = ('A'..='Z').take(options(question)).map(String::from).collect();
    Some(match (question.kind, letters.len()) {
        (Kind::Choice, 0..=5) => format!("{} answers", letters.join(" ")),
        (Kind::Choice, count) => format!("A to {} answers", letters[count - 1]),
        (Kind::Open, _) => return None,
        (Kind::Number, _) => "type a number".to_string(),
        (Kind::Cell, _) => "type row,column".to_string(),
        (Kind::Order, 0) => "type the names, largest first".to_string(),
        (Kind::Order, _) => "type the letters, largest first".to_string(),
    })
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
