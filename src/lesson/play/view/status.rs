//! The line at the bottom: where the class is, and what time it is.

use std::time::Duration;

use crate::text::ScreenWidth;
use unicode_width::UnicodeWidthChar;

use crate::lesson::play::clock::minutes_and_seconds;
use crate::lesson::play::course::Course;
use crate::lesson::play::overlay::Topic;
use crate::lesson::play::state::State;
use crate::lesson::play::typing::{LinePurpose, TypedLine};
use crate::lesson::verdict::Verdict;
use crate::render::Charset;
use crate::text::clipped_at_word;

/// The line at the bottom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusLine {
    /// Its text, narrower than the screen.
    pub text: String,
    /// The column of the cursor, where something is typed.
    pub cursor: Option<usize>,
    /// Whether it is to catch the eye.
    pub is_alert: bool,
}

/// The most columns of a title, which leave room for what else the line says.
const LONGEST_TITLE: usize = 40;

/// The keys that can be typed as a line of one letter, for questions whose answers contain letters.
const LETTERS: [char; 9] = ['q', 'h', 'v', 't', 'n', 'p', 'r', 'b', '?'];

/// A piece of the status line with its priority; if the line is too narrow, pieces with the lowest priority are left out first.
type StatusPiece = (u8, String);

/// The line at the bottom, `now` after the beginning.
pub(in crate::lesson::play) fn bottom(course: &Course<'_>, state: &State, now: Duration) -> StatusLine {
    let (status, screen) = (Status { course, state, now }, state.window.screen);
    // The last column stays free: a terminal may break the line there.
    let room = screen.width.saturating_sub(1).max(1);
    let bottom = match &state.typing.entry {
        Some(entry) => status.typing(entry, room),
        None => StatusLine {
            text: fitted(status.pieces(), status.separator(), room),
            cursor: None,
            is_alert: status.is_time_up(),
        },
    };
    StatusLine { text: screen.charset.spelled(&bottom.text).into_owned(), ..bottom }.cut(room)
}

/// The key that an answer of one letter means: `h` and Enter is the hint, unless `h` is an answer to this question.
pub(in crate::lesson::play) fn key_typed(course: &Course<'_>, state: &State, text: &str) -> Option<char> {
    let mut letters = text.chars();
    let (Some(letter), None) = (letters.next(), letters.next()) else { return None };
    let is_answer = || {
        let asked = state.asking(course).filter(|question| question.kind.is_graded());
        asked.is_some_and(|question| Verdict::of(text, question, &course.show(state.window.screen)).is_ok())
    };
    (LETTERS.contains(&letter) && !is_answer()).then_some(letter)
}

/// The parts of the line.
struct Status<'s, 'a> {
    course: &'s Course<'a>,
    state: &'s State,
    now: Duration,
}

impl Status<'_, '_> {
    fn separator(&self) -> &'static str {
        match self.state.window.screen.charset {
            Charset::Utf8 => " · ",
            Charset::Ascii => " | ",
        }
    }

    fn typing(&self, entry: &TypedLine, room: usize) -> StatusLine {
        let label = entry.label();
        let (typed, column) = entry.line.window(room.saturating_sub(label.width()));
        let cursor = label.width() + column;
        let line = format!("{label}{typed}");
        let hint = self.typing_hint(entry);
        let fits = !hint.is_empty() && line.width() + 5 + hint.width() <= room;
        let text = if fits { format!("{line}   ({hint})") } else { line };
        StatusLine { text, cursor: Some(cursor), is_alert: false }
    }

    /// The possible answers, or the effect of Enter.
    fn typing_hint(&self, entry: &TypedLine) -> String {
        let text = entry.line.text();
        match entry.purpose {
            LinePurpose::Hands => "such as A3 B14 C8, or 3 14 8".to_string(),
            LinePurpose::Search if self.state.typing.search.is_empty() => "Enter finds the next".to_string(),
            LinePurpose::Search => format!("Enter alone: the next `{}`", self.state.typing.search),
            LinePurpose::Command if text.is_empty() && !self.state.typing.commands.is_empty() => {
                "↑ the last command, Esc back".to_string()
            }
            LinePurpose::Command => String::new(),
            LinePurpose::Answer => match key_typed(self.course, self.state, text.trim()) {
                Some('q') => "Enter: end the lesson".to_string(),
                Some('h') => "Enter: a hint".to_string(),
                Some(letter) => format!("Enter: the key {letter}"),
                None => {
                    let thinking = self.thinking().map(|thinking| format!("{}{thinking}", self.separator()));
                    format!("Enter answers, Esc drops it{}", thinking.unwrap_or_default())
                }
            },
        }
    }

    /// The remaining time to think.
    fn time_left(&self) -> Option<Duration> {
        let think = self.state.asking(self.course)?.think?;
        Some(think.saturating_sub(self.now.saturating_sub(self.state.timing.asked_at())))
    }

    fn is_time_up(&self) -> bool {
        let is_asked =
            !self.state.is_blank && self.state.overlay.topic.is_none() && self.state.typing.count.is_none();
        is_asked && self.time_left().is_some_and(|left| left.is_zero())
    }

    /// The time that is left to think, in words.
    fn thinking(&self) -> Option<String> {
        Some(match self.time_left()?.as_secs_f64().ceil() as u64 {
            0 => "time is up".to_string(),
            seconds => format!("think {}", minutes_and_seconds(seconds)),
        })
    }

    fn pieces(&self) -> Vec<StatusPiece> {
        if self.state.is_blank {
            return vec![(9, "any key goes back".to_string())];
        }
        if let Some(count) = self.state.typing.count {
            return vec![(9, format!("to step {count}: G"))];
        }
        let more = !self.state.overlay.rest.is_empty() || self.state.page.next.is_some();
        let rest = ["space shows more, q leaves the rest out", "any key goes back"];
        let rest = rest[usize::from(self.state.overlay.rest.is_empty())].to_string();
        match self.state.overlay.topic {
            Some(Topic::Contents) => return vec![(9, "number, Enter: to a step".to_string()), (8, rest)],
            Some(Topic::Output) => return vec![(9, rest), (8, "!: another command".to_string())],
            Some(Topic::Keys) => return vec![(9, rest)],
            None => {}
        }
        let steps = self.course.lesson.last_number();
        // Whether a class is behind is the teacher's business alone.
        let pace = self.state.pace(self.course, self.now).spent_of_planned();
        if self.state.is_over(self.course) {
            return vec![(9, "end".to_string()), (7, pace), (8, "space leaves, ← goes back".to_string())];
        }
        let title = self
            .state
            .step(self.course)
            .map_or(&self.course.lesson.title, |step| &self.course.lesson.steps[step].title);
        let title = clipped_at_word(title, LONGEST_TITLE).into_owned();
        let mut pieces = vec![(
            9,
            format!(
                "{}/{steps}",
                self.state.step(self.course).map_or(0, |step| self.course.lesson.number(step))
            ),
        )];
        match self.state.asking(self.course) {
            _ if more => pieces.extend([(2, title.clone()), (8, "space shows more".to_string())]),
            Some(question) => {
                pieces.extend(self.thinking().map(|thinking| (8, thinking)));
                match question.kind.status_hint(question.letters().len()) {
                    Some(how) => pieces.extend([(7, how), (6, "space shows it".to_string())]),
                    None => pieces.push((7, "space shows the answer".to_string())),
                }
            }
            None if self.state.is_end_of_story(self.course) => {
                pieces.extend([(9, "end".to_string()), (6, "space leaves".to_string())])
            }
            None => pieces.extend([(5, title.clone()), (6, "space goes on".to_string())]),
        }
        if self.course.lesson.story.is_none() {
            pieces.push((4, pace));
        }
        pieces.push((3, "?: keys".to_string()));
        pieces
    }
}

/// The pieces in a row, as many as there is room for.
fn fitted(mut pieces: Vec<StatusPiece>, separator: &str, room: usize) -> String {
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

impl StatusLine {
    /// The same line in at most `width` columns.
    fn cut(mut self, room: usize) -> StatusLine {
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
