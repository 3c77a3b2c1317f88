//! The view of a player: lines of a state. It does not change the state.

use std::time::Duration;

use unicode_width::UnicodeWidthChar;

use crate::foreign::visible;
use crate::lesson::hand_in::{HandIn, TO_HAND_IN};
use crate::lesson::quiz::played;
use crate::lesson::show::Verdict;
use crate::lesson::show::{Ink, LessonView, Text, Tone};
use crate::lesson::{Block, Choice, Question};
use crate::render::{Charset, Screen};
use crate::text::{ScreenWidth, clipped_at_word, counted};

use super::answers::{bars, right_bar};
use super::state::{Course, LinePurpose, State, Topic, TypedLine, minutes_and_seconds};
use super::stops;
use super::stops::{Chunk, Stop, StopKind, position};

// The line at the bottom: where the class is, and what time it is.

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
pub(super) fn bottom(course: &Course<'_>, state: &State, now: Duration) -> StatusLine {
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
pub(super) fn key_typed(course: &Course<'_>, state: &State, text: &str) -> Option<char> {
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
            LinePurpose::Name => "Enter shows the line to hand in".to_string(),
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
            let mut pieces =
                vec![(9, "end".to_string()), (6, pace), (8, "space leaves, ← goes back".to_string())];
            if self.state.class.score().0 > 0 {
                pieces.push((7, "h hands in the answers".to_string()));
            }
            return pieces;
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

// The pages of the lesson: the text of a stop with its heading, the answer of a question, the end.

/// The text of a stop in pieces.
pub(super) fn chunks(course: &Course<'_>, state: &State, stop: &Stop) -> Vec<Chunk> {
    let (show, height) = (course.show(state.window.screen), state.height());
    let mut chunks = Vec::new();
    for (number, block) in stop.blocks_shown(course.lesson).iter().enumerate() {
        let lines = match (stop.kind, block) {
            (StopKind::Answer, Block::Question(question)) => answer(course, state, question),
            _ => show.block(block),
        };
        let mut pieces = stops::chunks(number, &lines, height);
        if matches!((stop.kind, block), (StopKind::Asked, Block::Question(_))) {
            stops::keep_first_two_together(&mut pieces, height);
        }
        chunks.extend(pieces);
    }
    let is_headed = stop.begins_part() && course.lesson.story.is_none();
    let heading = if is_headed { heading(&show, stop) } else { Vec::new() };
    if heading.is_empty() {
        return chunks;
    }
    match chunks.first_mut().filter(|first| heading.len() + 1 + first.lines.len() <= height) {
        // A heading is never alone at the end of a page.
        Some(first) => {
            first.lines.insert(0, String::new());
            first.lines.splice(0..0, heading);
        }
        None => chunks.insert(0, Chunk { block: 0, gap: 1, lines: heading }),
    }
    chunks
}

fn heading(show: &LessonView<'_>, stop: &Stop) -> Vec<String> {
    match (stop.step, stop.in_part(show.lesson).and_then(|part| part.title.as_deref())) {
        (None, _) => show.title(),
        (Some(step), _) if stop.part == 0 => show.step_heading(step),
        (Some(_), Some(title)) => show.pause_heading(title),
        (Some(_), None) => Vec::new(),
    }
}

/// The text of the current step before the current page, limited to the rows above `below` lines.
pub(super) fn above(course: &Course<'_>, state: &State, below: usize) -> Vec<String> {
    let (at, stops) = (state.page.stop, &course.stops);
    let Some(stop) = stops.get(at) else { return Vec::new() };
    let first = stops[..at].iter().rposition(|other| other.step != stop.step).map_or(0, |at| at + 1);
    let before = stops[first..at].iter();
    let mut chunks: Vec<Chunk> = before.flat_map(|stop| self::chunks(course, state, stop)).collect();
    let own = self::chunks(course, state, stop);
    chunks.extend_from_slice(&own[..position(&own, state.page.from)]);
    let mut room = state.height().saturating_sub(below + 1);
    let fits = |chunk: &&Chunk| {
        let needed = chunk.lines.len() + chunk.gap;
        let fits = needed <= room;
        room = room.saturating_sub(needed);
        fits
    };
    let count = chunks.iter().rev().take_while(fits).count();
    stops::lines(&chunks[chunks.len() - count..])
}

/// The letter of the right option.
pub(super) fn right_letter(course: &Course<'_>, state: &State, question: &Question) -> Option<char> {
    question.right_answer(&course.show(state.window.screen).values()).ok()??.value.letter()
}

/// The answer, with the votes. The feedback to a wrong option is shown if it has votes, unless it is already above; with the
/// teacher's notes all feedback is shown.
fn answer(course: &Course<'_>, state: &State, question: &Question) -> Vec<String> {
    let (screen, show) = (state.window.screen, course.show(state.window.screen));
    let record = state.class.records.get(&question.id);
    let hands = record.and_then(|record| record.hands.as_ref());
    let mut groups = Vec::new();
    if let Some(hands) = hands {
        let right = right_letter(course, state, question);
        // The bars are already above the answer, unless the screen is clean.
        let stands_above = record.is_some_and(|record| record.drawn) && !state.is_clean;
        groups.push(match right.filter(|_| stands_above) {
            Some(letter) => right_bar(hands, letter, screen),
            None => bars(hands, None, right, screen),
        });
    }
    let has_feedback = |choice: &Choice| {
        let option = question.choices.iter().position(|other| other.letter == choice.letter);
        let votes = hands.zip(option).and_then(|(hands, option)| hands.get(option)).copied();
        let stands_above = record.is_some_and(|record| record.explained.contains(&choice.letter));
        show.notes || votes.unwrap_or(0) > 0 && !stands_above
    };
    let right = record.filter(|record| record.right);
    let given = right.and_then(|record| record.given.last()).map(String::as_str);
    let (answer, rest) = show.answer(question, given, has_feedback);
    groups.extend([answer, show.blocks(rest)]);
    groups.retain(|group| !group.is_empty());
    groups.join(&String::new())
}

/// The page at the end.
pub(super) fn ending(course: &Course<'_>, state: &State) -> Vec<String> {
    let screen = state.window.screen;
    let mut lines = vec![Ink::bold().on(&format!("End: {}", course.lesson.title), screen)];
    let (answered, right) = state.class.score();
    if answered > 0 {
        lines.push(format!("{} answered, {right} of them right", counted(answered, "question")));
    }
    if let Some(next) = course.lesson.what_is_next() {
        let text = Text::of(&format!("Next: {}", next.join(" · ")), Ink::of(Tone::Quiet), screen);
        lines.extend(text.wrapped(screen.width, ["", "      "], screen));
    }
    lines
}

/// The answers as a line to hand in, under a name; a narrow screen cuts it, and blanks in it do not count.
pub(super) fn hand_in(course: &Course<'_>, state: &State, name: &str) -> Vec<String> {
    let screen = state.window.screen;
    let results = played(&course.show(screen), &state.class.answers());
    let code: Vec<char> = HandIn::of(&results, name).code().chars().collect();
    let pieces = code.chunks(screen.width.saturating_sub(1).max(1)).map(|piece| piece.iter().collect());
    [format!("{TO_HAND_IN}:")].into_iter().chain(pieces).collect()
}

// Sentences to the teacher.

/// The lines of a sentence to the teacher.
pub(super) fn sentence(text: &str, screen: Screen) -> Vec<String> {
    wrapped(text, Ink::of(Tone::Note), screen)
}

/// A text whose further lines are set in.
fn wrapped(text: &str, ink: Ink, screen: Screen) -> Vec<String> {
    Text::of(text, ink, screen).wrapped(screen.width, ["", "     "], screen)
}

/// The line below a lesson that was left before its end; `asked` is the name or path that it was opened by.
pub(super) fn farewell(course: &Course<'_>, state: &State, asked: &str) -> Option<String> {
    if state.is_over(course) {
        return None;
    }
    let lesson = course.lesson;
    let last = lesson.last_number();
    let (place, resume) = match (state.step(course), &lesson.story) {
        (None, _) => ("before step 1".to_string(), Some(format!("attn lesson play {}", shell_word(asked)))),
        (Some(step), None) => {
            let there = shell_word(&format!("{asked}#{}", lesson.steps[step].id));
            (format!("at step {} of {last}", step + 1), Some(format!("attn lesson play {there}")))
        }
        (Some(step), Some(told)) => {
            let [number, end] = [lesson.number(step), lesson.number(lesson.steps.len() - 1)];
            let end = if end == last { String::new() } else { end.to_string() };
            let rest = told.whole.as_ref().map(|whole| format!("{whole} --steps {number}-{end}"));
            (format!("at step {number} of {last}"), rest)
        }
    };
    let resume = resume.map(|resume| format!(" Resume: {resume}")).unwrap_or_default();
    let words = format!("Stopped {place}.{resume}");
    let screen = state.window.screen;
    Some(Ink::of(Tone::Quiet).on(&screen.charset.spelled(&words), screen))
}

/// A word as a shell reads it.
fn shell_word(word: &str) -> String {
    let word = visible(word);
    // A step after its `#` within a word is no comment.
    match shlex::try_quote(&word.replace('#', "")) {
        Ok(plain) if plain == word.replace('#', "") => word.into_owned(),
        _ => shlex::try_quote(&word).map_or_else(|_| word.to_string(), |quoted| quoted.into_owned()),
    }
}

// Text in place of the lesson: contents and keys.

/// The steps with their minutes; the present one is marked.
pub(super) fn contents(course: &Course<'_>, state: &State) -> Vec<String> {
    let (screen, lesson) = (state.window.screen, course.lesson);
    let here = if state.is_over(course) { None } else { state.step(course) };
    let mut lines = vec![Ink::bold().on(&lesson.title, screen), String::new()];
    for (number, step) in lesson.steps.iter().enumerate() {
        let is_here = here == Some(number);
        let is_done = state.class.done.contains(&number);
        let mark = if is_here {
            screen.charset.spelled("▶").into_owned()
        } else if is_done {
            "*".to_string()
        } else {
            String::new()
        };
        let minutes = step.minutes.map(|minutes| format!("  {minutes} min")).unwrap_or_default();
        let line = format!(" {mark:2} {:>2}  {}{minutes}", lesson.number(number), step.title);
        let ink = if is_here { Ink::bold() } else { Ink::default() };
        lines.extend(wrapped(&line, ink, screen));
    }
    lines.push(String::new());
    let words = "A number and Enter goes to a step, any other key back. * has been shown.";
    lines.extend(wrapped(words, Ink::of(Tone::Quiet), screen));
    lines
}

/// The keys, and how to type answers.
pub(super) fn help(course: &Course<'_>, state: &State) -> Vec<String> {
    let screen = state.window.screen;
    let is_lesson = course.lesson.story.is_none();
    let mut lines = key_lines(screen, is_lesson);
    if is_lesson {
        lines.push(String::new());
        lines.extend(WHERE_TYPED.iter().flat_map(|words| wrapped(words, Ink::of(Tone::Quiet), screen)));
    }
    lines
}

/// The list of keys as lines.
fn key_lines(screen: Screen, is_lesson: bool) -> Vec<String> {
    let spelled = |text: &str| screen.charset.spelled(text).into_owned();
    let width = |text: &str| crate::text::ScreenWidth::width(text);
    let keys: Vec<[(&str, &str); 2]> = if is_lesson { KEYS.to_vec() } else { STORY_KEYS.to_vec() };
    let spelled = |row: [(&str, &str); 2]| row.map(|(keys, does)| (spelled(keys), spelled(does)));
    let rows: Vec<[(String, String); 2]> = keys.into_iter().map(spelled).collect();
    let widest = |column: usize| rows.iter().map(|row| width(&row[column].0)).max().unwrap_or(0);
    let cell = |column: usize, (keys, does): &(String, String)| {
        let gap = " ".repeat(widest(column) - width(keys));
        format!("{}{gap}  {does}", Ink::bold().on(keys, screen))
    };
    let left = rows.iter().map(|row| widest(0) + 2 + width(&row[0].1)).max().unwrap_or(0);
    let right = rows.iter().map(|row| widest(1) + 2 + width(&row[1].1)).max().unwrap_or(0);
    if left + 4 + right + 1 > screen.width {
        let columns = [0, 1].iter().flat_map(|&column| rows.iter().map(move |row| (column, &row[column])));
        return columns.map(|(column, pair)| format!(" {}", cell(column, pair))).collect();
    }
    let line = |row: &[(String, String); 2]| {
        let gap = " ".repeat(left - widest(0) - 2 - width(&row[0].1) + 4);
        format!(" {}{gap}{}", cell(0, &row[0]), cell(1, &row[1]))
    };
    rows.iter().map(line).collect()
}

// The keys of a player and their effects, as it lists them.

/// The keys and their effects, in two columns.
pub const KEYS: [[(&str, &str); 2]; 9] = [
    [("space → PgDn", "go on (Enter too)"), ("A B C …", "answer a choice")],
    [("← PgUp", "go back (Backspace too)"), ("0.5 cat …", "type another answer")],
    [("n p", "next, previous step"), ("Enter Esc", "give it, drop it")],
    [("5G", "to step 5"), ("space", "shows the answer")],
    [("t", "contents"), ("v", "votes: A3 B14 C8, or 3 14 8")],
    [("/", "search; / Enter: next"), ("h", "a hint; at the end: hand in")],
    [("b .", "blank the screen"), ("!", "an attn command; ↑ the last")],
    [("r F5", "this again, run again"), ("?", "these keys")],
    [("q", "end (Ctrl-Z: pause)"), ("Esc", "drops what is typed")],
];

/// The keys of a played demo, which asks nothing.
pub const STORY_KEYS: [[(&str, &str); 2]; 5] = [
    [("space → PgDn", "go on (Enter too)"), ("5G", "to step 5")],
    [("← PgUp", "go back (Backspace too)"), ("t", "contents")],
    [("n p", "next, previous step"), ("/", "search; / Enter: next")],
    [("!", "an attn command; ↑ the last"), ("b .", "blank the screen")],
    [("q", "end (Ctrl-Z: pause)"), ("?", "these keys")],
];

/// The line on typed answers below the keys.
pub const WHERE_TYPED: [&str; 2] = [
    "Where an answer is typed, a digit or the first letter of a name begins it.",
    "All other keys work as always; where a name begins with h, press h Enter for the hint.",
];
