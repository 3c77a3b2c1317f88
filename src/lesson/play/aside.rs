//! What is shown besides the lesson: contents, keys, search, commands of one's own, the end.

use crate::error::{Error, counted};
use crate::foreign::visible;
use crate::lesson::show::{Ink, Text, Tone};
use crate::lesson::{Block, Command, Runner, Screen};

use super::entry::Purpose;
use super::keys::{KEYS, Key, STORY_KEYS, WHERE_TYPED};
use super::pages;
use super::player::{Beside, Player};
use super::stops::{Kind, Stop};

impl Player<'_> {
    /// Shows something besides the lesson: any key leaves it, and shows the lesson again.
    fn beside(&mut self, what: Beside, lines: &[String]) -> Vec<String> {
        self.beside = Some(what);
        self.aside(lines)
    }

    /// Does what a key says besides the lesson; nothing where the lesson is to be shown again.
    pub(super) fn press_beside(&mut self, key: Key) -> Option<Vec<String>> {
        let beside = self.beside?;
        let is_more = matches!(key, Key::Char(' ') | Key::Enter | Key::Right | Key::Down | Key::PageDown);
        match (beside, key) {
            (Beside::Contents, Key::Char('0'..='9') | Key::Backspace) if self.counts(key) => Some(Vec::new()),
            (Beside::Contents, Key::Char('G') | Key::Enter) if self.count.is_some() => {
                let count = self.count.take();
                Some(self.jump(count))
            }
            _ if is_more && !self.waiting.is_empty() => Some(self.more_aside()),
            (Beside::Output, Key::Char('!')) => Some(self.enter(Purpose::Command)),
            _ => None,
        }
    }

    /// Whether Ctrl-C drops what is left of something besides the lesson, and nothing else.
    pub(super) fn drops_the_rest(&self) -> bool {
        self.beside.is_some() && !self.waiting.is_empty() && self.entry.is_none()
    }

    /// Shows lines, a page at a time.
    pub(super) fn aside(&mut self, lines: &[String]) -> Vec<String> {
        self.waiting = pages::chunks(0, lines, self.height());
        self.more_aside()
    }

    /// The next page of what is shown aside.
    pub(super) fn more_aside(&mut self) -> Vec<String> {
        let end = pages::pages(&self.waiting, self.height()).first().map_or(0, |page| page.end);
        let shown: Vec<_> = self.waiting.drain(..end).collect();
        pages::lines(&shown)
    }

    /// A sentence to the teacher.
    pub(super) fn remark(&mut self, text: &str) -> Vec<String> {
        let lines = self.sentence(text);
        self.aside(&lines)
    }

    /// The lines of a sentence to the teacher.
    pub(super) fn sentence(&self, text: &str) -> Vec<String> {
        wrapped(text, Ink::of(Tone::Note), self.window.screen)
    }

    /// What an error says.
    pub(super) fn refused(&mut self, error: &Error) -> Vec<String> {
        let text = error.to_string().replace("\n  help: ", "; ");
        self.remark(&text)
    }

    /// The steps with their minutes; the present one is marked.
    pub(super) fn contents(&mut self) -> Vec<String> {
        let screen = self.window.screen;
        let here = if self.is_over() { None } else { self.step() };
        let mut lines = vec![Ink::bold().on(&self.lesson.title, screen), String::new()];
        for (number, step) in self.lesson.steps.iter().enumerate() {
            let is_here = here == Some(number);
            let mark = match (is_here, self.done().contains(&number)) {
                (true, _) => screen.charset.spelled("▶").into_owned(),
                (false, true) => "*".to_string(),
                (false, false) => String::new(),
            };
            let minutes = step.minutes.map(|minutes| format!("  {minutes} min")).unwrap_or_default();
            let line = format!(" {mark:2} {:>2}  {}{minutes}", self.lesson.number(number), step.title);
            let ink = if is_here { Ink::bold() } else { Ink::default() };
            lines.extend(wrapped(&line, ink, screen));
        }
        lines.push(String::new());
        let words = "A number and Enter goes to a step, any other key back. * has been shown.";
        lines.extend(wrapped(words, Ink::of(Tone::Quiet), screen));
        self.beside(Beside::Contents, &lines)
    }

    /// What the keys do.
    pub(super) fn help(&mut self) -> Vec<String> {
        let screen = self.window.screen;
        let is_lesson = self.lesson.told.is_none();
        let mut lines = key_lines(screen, is_lesson);
        if !is_lesson {
            return self.beside(Beside::Keys, &lines);
        }
        lines.push(String::new());
        lines.extend(WHERE_TYPED.iter().flat_map(|words| wrapped(words, Ink::of(Tone::Quiet), screen)));
        self.beside(Beside::Keys, &lines)
    }

    /// Runs the present commands again.
    pub(super) fn run_again(&mut self) -> Vec<String> {
        self.runner = Runner::new(self.run);
        self.show_again()
    }

    /// Goes to the next stop that holds a text; without one, to the next that holds the last.
    pub(super) fn search(&mut self, text: &str) -> Vec<String> {
        if !text.is_empty() {
            self.searched = text.to_lowercase();
        }
        if self.searched.is_empty() {
            return Vec::new();
        }
        let count = self.stops.len();
        let at = self.at.min(count - 1);
        let found = (1..=count).map(|ahead| (at + ahead) % count).find(|&stop| self.holds(&self.stops[stop]));
        match found {
            Some(stop) => self.go_to(stop),
            None => {
                let words = format!("“{}” was not found.", self.searched);
                self.remark(&words)
            }
        }
    }

    /// Whether a stop holds the text that is searched; answers are not looked into, they would be given away.
    fn holds(&self, stop: &Stop) -> bool {
        if stop.kind == Kind::Answer {
            return false;
        }
        let mut texts: Vec<&str> = Vec::new();
        if stop.step.is_none() {
            texts.push(&self.lesson.title);
        }
        if let (true, Some(part)) = (stop.begins_part(), stop.in_part(self.lesson)) {
            texts.extend(part.title.as_deref());
            texts.extend(
                stop.step.filter(|_| stop.part == 0).map(|step| self.lesson.steps[step].title.as_str()),
            );
        }
        collect(stop.shown(self.lesson), &mut texts);
        texts.iter().any(|text| text.to_lowercase().contains(&self.searched))
    }

    /// Runs a command of the teacher's own; the lesson stays where it is.
    pub(super) fn what_if(&mut self, typed: &str) -> Vec<String> {
        if typed.is_empty() {
            return Vec::new();
        }
        let typed = match typed.split_whitespace().next() {
            Some("attn") => typed.to_string(),
            _ => format!("attn {typed}"),
        };
        self.keep_command(&typed);
        let mut lines = self.show().command_lines(&typed);
        if Command::is_lesson(&typed) {
            lines.extend(self.sentence("A lesson cannot be played inside a lesson. Press q first."));
            return self.beside(Beside::Output, &lines);
        }
        let command = match Command::by_hand(&typed, 0) {
            Ok(command) => command,
            Err(fault) => {
                let help = fault.help.map(|help| format!("; {help}")).unwrap_or_default();
                return self.remark(&format!("{}{help}", fault.what));
            }
        };
        // Not through the runner, which remembers: a file may have been changed for it.
        let ran = (self.by_hand)(&command.args, self.window.screen);
        lines.extend(ran.shown().lines().map(str::to_string));
        self.beside(Beside::Output, &lines)
    }

    /// What stands below a lesson that has been left before its end. `asked` is what it was asked for by.
    pub fn farewell(&self, asked: &str) -> Option<String> {
        if self.is_over() {
            return None;
        }
        let lesson = self.lesson;
        let last = lesson.last_number();
        let (place, resume) = match (self.step(), &lesson.told) {
            (None, _) => {
                ("before step 1".to_string(), Some(format!("attn lesson play {}", shell_word(asked))))
            }
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
        let screen = self.window.screen;
        Some(Ink::of(Tone::Quiet).on(&screen.charset.spelled(&words), screen))
    }

    /// What is shown at the end.
    pub(super) fn ending(&self) -> Vec<String> {
        let screen = self.window.screen;
        let mut lines = vec![Ink::bold().on(&format!("End: {}", self.lesson.title), screen)];
        let (answered, right) = self.score();
        if answered > 0 {
            lines.push(format!("{} answered, {right} of them right", counted(answered, "question")));
        }
        if let Some(next) = self.lesson.what_is_next() {
            let text = Text::of(&format!("Next: {}", next.join(" · ")), Ink::of(Tone::Quiet), screen);
            lines.extend(text.wrapped(screen.width, ["", "      "], screen));
        }
        lines
    }
}

/// A word as a shell reads it.
fn shell_word(word: &str) -> String {
    let word = visible(word);
    // A step behind its `#` within a word is no comment.
    match shlex::try_quote(&word.replace('#', "")) {
        Ok(plain) if plain == word.replace('#', "") => word.into_owned(),
        _ => shlex::try_quote(&word).map_or_else(|_| word.to_string(), |quoted| quoted.into_owned()),
    }
}

fn wrapped(text: &str, ink: Ink, screen: Screen) -> Vec<String> {
    Text::of(text, ink, screen).wrapped(screen.width, ["", "     "], screen)
}

/// What the keys do, as lines.
pub(super) fn key_lines(screen: Screen, is_lesson: bool) -> Vec<String> {
    let spelled = |text: &str| screen.charset.spelled(text).into_owned();
    let width = |text: &str| unicode_width::UnicodeWidthStr::width(text);
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

/// The texts of blocks that a class may see.
fn collect<'a>(blocks: &'a [Block], texts: &mut Vec<&'a str>) {
    for block in blocks {
        match block {
            Block::Prose(prose) => texts.push(&prose.markdown),
            Block::Console(console) => {
                texts.extend(console.exchanges.iter().map(|exchange| exchange.command.typed.as_str()));
            }
            Block::Literal(literal) => texts.push(&literal.text),
            Block::Note(_) => {}
            Block::Question(question) => {
                collect(&question.asked, texts);
                texts.extend(
                    question
                        .choices
                        .iter()
                        .filter_map(|choice| Some(choice.text.as_ref()?.markdown.as_str())),
                );
            }
        }
    }
}
