//! The player as lines: the page, the status line, the contents and the keys. Nothing here changes it.

use std::time::Duration;

use unicode_width::UnicodeWidthChar;

use crate::foreign::visible;
use crate::lesson::hand_in::{HandIn, TO_HAND_IN};
use crate::lesson::quiz::played;
use crate::lesson::show::{Ink, Text, Tone, Verdict};
use crate::lesson::{Block, Choice, Question};
use crate::render::{Charset, Screen};
use crate::text::{ScreenWidth, clipped_at_word, counted};

use super::answers::{bars, right_bar};
use super::keys::{BINDINGS, typed_key};
use super::state::{LinePurpose, Player, Topic, TypedLine, minutes_and_seconds};
use super::stops;
use super::stops::{Chunk, Heading, Stop, StopKind, keep_first_two_together, lines, position};

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

/// A piece of the status line with its priority; if the line is too narrow, pieces with the lowest priority are left out first.
type StatusPiece = (u8, String);

impl Player<'_> {
    /// The line at the bottom, `now` after the beginning.
    pub fn bottom(&self, now: Duration) -> StatusLine {
        let screen = self.window.screen;
        // The last column stays free: a terminal may break the line there.
        let room = screen.width.saturating_sub(1).max(1);
        let (text, cursor) = match &self.typing.entry {
            Some(entry) => {
                let (text, cursor) = self.typed_line(entry, room, now);
                (text, Some(cursor.min(room)))
            }
            None => (fitted(self.pieces(now), self.separator(), room), None),
        };
        let mut used = 0;
        let fits = |c: &char| {
            used += c.width().unwrap_or(0);
            used <= room
        };
        let text = screen.charset.spelled(&text).chars().take_while(fits).collect();
        StatusLine { text, cursor, is_alert: cursor.is_none() && self.is_time_up(now) }
    }

    /// The key that an answer of one letter means: `h` and Enter is the hint, unless `h` is an answer to this question.
    pub(super) fn key_typed(&self, text: &str) -> Option<char> {
        let letter = typed_key(text)?;
        let asked = self.asking().filter(|question| question.kind.is_graded());
        let is_answer = asked.is_some_and(|question| Verdict::of(text, question, &self.show()).is_ok());
        (!is_answer).then_some(letter)
    }

    fn separator(&self) -> &'static str {
        match self.window.screen.charset {
            Charset::Utf8 => " · ",
            Charset::Ascii => " | ",
        }
    }

    /// The line that is typed with its label and its hint, and the column of the cursor.
    fn typed_line(&self, entry: &TypedLine, room: usize, now: Duration) -> (String, usize) {
        let label = entry.purpose.label();
        let (typed, column) = entry.line.window(room.saturating_sub(label.width()));
        let line = format!("{label}{typed}");
        let hint = self.typing_hint(entry, now);
        let fits = !hint.is_empty() && line.width() + 5 + hint.width() <= room;
        (if fits { format!("{line}   ({hint})") } else { line }, label.width() + column)
    }

    /// The possible answers, or the effect of Enter.
    fn typing_hint(&self, entry: &TypedLine, now: Duration) -> String {
        let text = entry.line.text();
        let hint = match entry.purpose {
            LinePurpose::Hands => "such as A3 B14 C8, or 3 14 8",
            LinePurpose::Search if self.typing.search.is_empty() => "Enter finds the next",
            LinePurpose::Search => return format!("Enter alone: the next `{}`", self.typing.search),
            LinePurpose::Command if text.is_empty() && !self.typing.commands.is_empty() => {
                "↑ the last command, Esc back"
            }
            LinePurpose::Command => "",
            LinePurpose::Name => "Enter shows the line to hand in",
            LinePurpose::Answer => match self.key_typed(text.trim()) {
                Some('q') => "Enter: end the lesson",
                Some('h') => "Enter: a hint",
                Some(letter) => return format!("Enter: the key {letter}"),
                None => {
                    let thinking =
                        self.thinking(now).map(|thinking| format!("{}{thinking}", self.separator()));
                    return format!("Enter answers, Esc drops it{}", thinking.unwrap_or_default());
                }
            },
        };
        hint.to_string()
    }

    /// The remaining time to think.
    fn time_left(&self, now: Duration) -> Option<Duration> {
        let think = self.asking()?.think?;
        Some(think.saturating_sub(now.saturating_sub(self.timing.asked_at())))
    }

    fn is_time_up(&self, now: Duration) -> bool {
        let is_asked = !self.is_blank && self.overlay.topic.is_none() && self.typing.count.is_none();
        is_asked && self.time_left(now).is_some_and(|left| left.is_zero())
    }

    /// The time that is left to think, in words.
    fn thinking(&self, now: Duration) -> Option<String> {
        Some(match self.time_left(now)?.as_secs_f64().ceil() as u64 {
            0 => "time is up".to_string(),
            seconds => format!("think {}", minutes_and_seconds(seconds)),
        })
    }

    fn pieces(&self, now: Duration) -> Vec<StatusPiece> {
        let piece = |priority: u8, text: &str| (priority, text.to_string());
        if self.is_blank {
            return vec![piece(9, "any key goes back")];
        }
        if let Some(count) = self.typing.count {
            return vec![(9, format!("to step {count}: G"))];
        }
        let has_rest = !self.overlay.rest.is_empty();
        let rest = if has_rest { "space shows more, q leaves the rest out" } else { "any key goes back" };
        match self.overlay.topic {
            Some(Topic::Contents) => return vec![piece(9, "number, Enter: to a step"), piece(8, rest)],
            Some(Topic::Output) => return vec![piece(9, rest), piece(8, "!: another command")],
            Some(Topic::Keys) => return vec![piece(9, rest)],
            None => {}
        }
        // Whether a class is behind is the teacher's business alone.
        let pace = self.plan().spent_of_planned(now.as_secs());
        if self.is_over() {
            let mut pieces = vec![piece(9, "end"), (6, pace), piece(8, "space leaves, ← goes back")];
            pieces.extend((self.class.score().0 > 0).then(|| piece(7, "h hands in the answers")));
            return pieces;
        }
        let (lesson, step) = (self.lesson, self.step());
        let title = step.map_or(&lesson.title, |step| &lesson.steps[step].title);
        let title = clipped_at_word(title, LONGEST_TITLE);
        let number = step.map_or(0, |step| lesson.number(step));
        let mut pieces = vec![(9, format!("{number}/{}", lesson.last_number()))];
        match self.asking() {
            _ if has_rest || self.page.next.is_some() => {
                pieces.extend([piece(2, &title), piece(8, "space shows more")]);
            }
            Some(question) => {
                pieces.extend(self.thinking(now).map(|thinking| (8, thinking)));
                match question.kind.status_hint(question.letters().len()) {
                    Some(how) => pieces.extend([(7, how), piece(6, "space shows it")]),
                    None => pieces.push(piece(7, "space shows the answer")),
                }
            }
            None if self.is_end_of_story() => pieces.extend([piece(9, "end"), piece(6, "space leaves")]),
            None => pieces.extend([piece(5, &title), piece(6, "space goes on")]),
        }
        if lesson.story.is_none() {
            pieces.push((4, pace));
        }
        pieces.push(piece(3, "?: keys"));
        pieces
    }
}

/// The pieces in a row, as many as there is room for.
fn fitted(mut pieces: Vec<StatusPiece>, separator: &str, room: usize) -> String {
    loop {
        let texts: Vec<&str> = pieces.iter().map(|(_, text)| text.as_str()).collect();
        let line = format!(" {}", texts.join(separator));
        let lightest = (0..pieces.len()).min_by_key(|&at| pieces[at].0);
        match lightest {
            Some(lightest) if line.width() > room && pieces.len() > 1 => pieces.remove(lightest),
            _ => return line,
        };
    }
}

// The pages of the lesson: the text of a stop with its heading, the answer of a question, the end.

impl Player<'_> {
    /// Runs the commands of the next stop ahead of time, so that it appears at once.
    pub fn prepare(&self) {
        if let Some(next) = self.stops.get(self.page.stop + 1) {
            self.chunks(next);
        }
    }

    /// The text of a stop in pieces.
    pub(super) fn chunks(&self, stop: &Stop<'_>) -> Vec<Chunk> {
        let (show, height) = (self.show(), self.height());
        let mut chunks = Vec::new();
        for (number, block) in stop.blocks.iter().enumerate() {
            let lines = match (stop.kind, block) {
                (StopKind::Answer(question), Block::Question(_)) => self.answer(question),
                _ => show.block(block),
            };
            let mut pieces = stops::chunks(number, &lines, height);
            if stop.asked().is_some() && block.question().is_some() {
                keep_first_two_together(&mut pieces, height);
            }
            chunks.extend(pieces);
        }
        let heading = stop.heading.filter(|_| self.lesson.story.is_none());
        if let Some(heading) = heading {
            // A heading is never alone at the end of a page.
            chunks.iter_mut().take(1).for_each(|first| first.gap = 1);
            let lines = match heading {
                Heading::Lesson => show.title(),
                Heading::Step(step) => show.step_heading(step),
                Heading::Pause(title) => show.pause_heading(title),
            };
            chunks.insert(0, Chunk { block: 0, gap: 1, lines });
            keep_first_two_together(&mut chunks, height);
        }
        chunks
    }

    /// The text of the current step before the current page, limited to the rows above `below` lines.
    pub(super) fn above(&self, below: usize) -> Vec<String> {
        let (at, stops) = (self.page.stop, &self.stops);
        let Some(stop) = stops.get(at) else { return Vec::new() };
        let first = stops[..at].iter().rposition(|other| other.step != stop.step).map_or(0, |at| at + 1);
        let mut chunks: Vec<Chunk> = stops[first..at].iter().flat_map(|stop| self.chunks(stop)).collect();
        let own = self.chunks(stop);
        chunks.extend_from_slice(&own[..position(&own, self.page.from)]);
        let mut room = self.height().saturating_sub(below + 1);
        let fits = |chunk: &&Chunk| {
            let needed = chunk.lines.len() + chunk.gap;
            let fits = needed <= room;
            room = room.saturating_sub(needed);
            fits
        };
        let count = chunks.iter().rev().take_while(fits).count();
        lines(&chunks[chunks.len() - count..])
    }

    /// The answer, with the votes. The feedback to a wrong option is shown if it has votes, unless it is already above; with
    /// the teacher's notes all feedback is shown.
    fn answer(&self, question: &Question) -> Vec<String> {
        let (screen, show) = (self.window.screen, self.show());
        let record = self.class.records.get(&question.id);
        let hands = record.and_then(|record| record.hands.as_ref());
        let mut groups = Vec::new();
        if let Some(hands) = hands {
            let right = show.right_letter(question);
            // The bars are already above the answer, unless the screen is clean.
            let stands_above = record.is_some_and(|record| record.drawn) && !self.is_clean;
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
    pub(super) fn ending(&self) -> Vec<String> {
        let screen = self.window.screen;
        let mut lines = vec![Ink::bold().on(&format!("End: {}", self.lesson.title), screen)];
        let (answered, right) = self.class.score();
        if answered > 0 {
            lines.push(format!("{} answered, {right} of them right", counted(answered, "question")));
        }
        if let Some(next) = self.lesson.what_is_next() {
            let text = Text::of(&format!("Next: {}", next.join(" · ")), Ink::of(Tone::Quiet), screen);
            lines.extend(text.wrapped(screen.width, ["", "      "], screen));
        }
        lines
    }

    /// The answers as a line to hand in, under a name; a narrow screen cuts it, and blanks in it do not count.
    pub(super) fn hand_in(&self, name: &str) -> Vec<String> {
        let results = played(&self.show(), &self.class.answers());
        let code: Vec<char> = HandIn::of(&results, name).code().chars().collect();
        let pieces = code.chunks(self.window.screen.width.saturating_sub(1).max(1));
        let pieces = pieces.map(|piece| piece.iter().collect());
        [format!("{TO_HAND_IN}:")].into_iter().chain(pieces).collect()
    }

    /// The lines of a sentence to the teacher.
    pub(super) fn sentence(&self, text: &str) -> Vec<String> {
        self.wrapped(text, Ink::of(Tone::Note))
    }

    /// A text whose further lines are set in.
    fn wrapped(&self, text: &str, ink: Ink) -> Vec<String> {
        let screen = self.window.screen;
        Text::of(text, ink, screen).wrapped(screen.width, ["", "     "], screen)
    }

    /// The line below a lesson that was left before its end; `asked` is the name or path that it was opened by.
    pub fn farewell(&self, asked: &str) -> Option<String> {
        if self.is_over() {
            return None;
        }
        let (lesson, last) = (self.lesson, self.lesson.last_number());
        let play = |place: &str| Some(format!("attn lesson play {}", shell_word(place)));
        let (place, resume) = match (self.step(), &lesson.story) {
            (None, _) => ("before step 1".to_string(), play(asked)),
            (Some(step), None) => {
                let there = format!("{asked}#{}", lesson.steps[step].id);
                (format!("at step {} of {last}", step + 1), play(&there))
            }
            (Some(step), Some(told)) => {
                let [number, end] = [step, lesson.steps.len() - 1].map(|step| lesson.number(step));
                let end = if end == last { String::new() } else { end.to_string() };
                let rest = told.whole.as_ref().map(|whole| format!("{whole} --steps {number}-{end}"));
                (format!("at step {number} of {last}"), rest)
            }
        };
        let resume = resume.map(|resume| format!(" Resume: {resume}")).unwrap_or_default();
        let screen = self.window.screen;
        let words = screen.charset.spelled(&format!("Stopped {place}.{resume}")).into_owned();
        Some(Ink::of(Tone::Quiet).on(&words, screen))
    }

    // Text in place of the lesson: contents and keys.

    /// The steps with their minutes; the present one is marked.
    pub(super) fn contents(&self) -> Vec<String> {
        let (screen, lesson) = (self.window.screen, self.lesson);
        let here = self.step().filter(|_| !self.is_over());
        let mut lines = vec![Ink::bold().on(&lesson.title, screen), String::new()];
        for (number, step) in lesson.steps.iter().enumerate() {
            let (mark, ink) = match here == Some(number) {
                true => (screen.charset.spelled("▶"), Ink::bold()),
                false if self.class.done.contains(&number) => ("*".into(), Ink::default()),
                false => ("".into(), Ink::default()),
            };
            let minutes = step.minutes.map(|minutes| format!("  {minutes} min")).unwrap_or_default();
            let line = format!(" {mark:2} {:>2}  {}{minutes}", lesson.number(number), step.title);
            lines.extend(self.wrapped(&line, ink));
        }
        lines.push(String::new());
        let words = "A number and Enter goes to a step, any other key back. * has been shown.";
        lines.extend(self.wrapped(words, Ink::of(Tone::Quiet)));
        lines
    }

    /// The keys, and how to type answers.
    pub(super) fn help(&self) -> Vec<String> {
        let screen = self.window.screen;
        if self.lesson.story.is_some() {
            return key_lines(1, screen);
        }
        let mut lines = key_lines(0, screen);
        lines.push(String::new());
        lines.extend(WHERE_TYPED.iter().flat_map(|words| self.wrapped(words, Ink::of(Tone::Quiet))));
        lines
    }
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

/// Where answers are typed, below the keys.
const WHERE_TYPED: [&str; 2] = [
    "Where an answer is typed, a digit or the first letter of a name begins it.",
    "All other keys work as always; where a name begins with h, press h Enter for the hint.",
];

/// The keys in two columns, or where the screen is too narrow in one: those of a lesson (0) or of a story (1).
fn key_lines(list: usize, screen: Screen) -> Vec<String> {
    let column = |number: usize| -> Vec<[String; 2]> {
        let listed = BINDINGS.iter().filter(|binding| binding.columns[list] == Some(number));
        let spelled = |text: &str| screen.charset.spelled(text).into_owned();
        listed.map(|binding| [spelled(binding.shown), spelled(binding.says)]).collect()
    };
    let columns = [column(0), column(1)];
    let widest = |column: usize, part: usize| {
        columns[column].iter().map(|entry| entry[part].width()).max().unwrap_or(0)
    };
    let entry = |column: usize, [keys, says]: &[String; 2]| {
        let blank = " ".repeat(widest(column, 0) - keys.width());
        format!("{}{blank}  {says}", Ink::bold().on(keys, screen))
    };
    let all = [0, 1].map(|column| widest(column, 0) + widest(column, 1)).iter().sum::<usize>();
    if all + 2 * 2 + 4 + 1 > screen.width {
        let lines = |column: usize| columns[column].iter().map(move |of| format!(" {}", entry(column, of)));
        return lines(0).chain(lines(1)).collect();
    }
    let beside = |(left, right): (&[String; 2], &[String; 2])| {
        let blank = " ".repeat(widest(0, 1) - left[1].width());
        format!(" {}{blank}    {}", entry(0, left), entry(1, right))
    };
    columns[0].iter().zip(&columns[1]).map(beside).collect()
}
