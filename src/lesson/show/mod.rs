//! A lesson as lines for a terminal: prose wrapped, questions set off, commands run live.
//!
//! Nothing here waits or reads: the player, the transcript and the recording decide when a line is shown. A line ends without
//! a newline; with colours it is the same line without them, and escapes around its words.

mod markdown;
mod questions;

use textwrap::core::display_width;

use crate::render::Screen;
use crate::text::{ScreenWidth, counted};

use super::command::outside_of_quotes;
use super::model::{Block, Item, Lesson};
use super::run::Runner;
use super::{Exchange, Literal, Question, Step};
use markdown::{PROSE_WIDTH, joined};

pub(super) use markdown::{Ink, Text, Tone, inline};
pub use questions::BLANK;
pub(super) use questions::{Verdict, escaped, judge, next_try};

/// A lesson, and the screen that it is shown on.
#[derive(Clone, Copy)]
pub struct LessonView<'a> {
    /// The lesson.
    pub lesson: &'a Lesson,
    /// The runner of its commands.
    pub runner: &'a Runner<'a>,
    /// The screen.
    pub screen: Screen,
    /// Whether the teacher's notes are shown among the other blocks.
    pub notes: bool,
}

impl<'a> LessonView<'a> {
    /// A lesson on a screen, without its notes.
    pub fn new(lesson: &'a Lesson, runner: &'a Runner<'a>, screen: Screen) -> LessonView<'a> {
        LessonView { lesson, runner, screen, notes: false }
    }

    /// The lines of a block: of a question without its answer, and of a note only if notes are shown.
    pub fn block(&self, block: &Block) -> Vec<String> {
        match block {
            Block::Prose(prose) => markdown::lines(&prose.markdown, self.screen),
            Block::Console(exchanges) => {
                let lines = |one| [self.prompted(&self.typed(one)), self.printed(one)].concat();
                joined(exchanges.iter().map(lines))
            }
            Block::Literal(literal) => self.literal(literal),
            Block::Note(note) if self.notes => self.note(note),
            Block::Note(_) => Vec::new(),
            Block::Question(question) => self.question(question),
        }
    }

    /// The lines of blocks, an empty one between any two.
    pub fn blocks(&self, blocks: &[Block]) -> Vec<String> {
        joined(blocks.iter().map(|block| self.block(block)))
    }

    /// The lines of a note, whether notes are shown among the blocks or not.
    pub fn note(&self, note: &str) -> Vec<String> {
        let mut text = Text::of("Note  ", Ink { bold: true, ..Ink::of(Tone::Note) }, self.screen);
        text.extend(&markdown::inline(note, self.screen));
        text.wrapped(self.prose_width(), ["      ", "            "], self.screen)
    }

    fn prose_width(&self) -> usize {
        self.screen.width.min(PROSE_WIDTH)
    }
}

// A whole lesson from its title to its end.

impl LessonView<'_> {
    /// The whole lesson as text: every question followed by its answer, or by a line for a handwritten one.
    pub fn transcript(&self, answers: bool) -> String {
        self.transcript_with(None, &mut |question| if answers { self.reveal(question) } else { self.blank() })
    }

    /// The whole lesson, or its part from a step on, with some lines after every question.
    pub fn transcript_with(
        &self,
        first: Option<usize>,
        behind: &mut dyn FnMut(&Question) -> Vec<String>,
    ) -> String {
        let mut lines = if first.is_none() { self.title() } else { Vec::new() };
        let put = |lines: &mut Vec<String>, block: Vec<String>| {
            if !block.is_empty() {
                lines.push(String::new());
                lines.extend(block);
            }
        };
        for item in self.lesson.items(first) {
            match item {
                Item::Step(step) => {
                    if !lines.is_empty() {
                        lines.extend([String::new(), String::new()]);
                    }
                    lines.extend(self.step_heading(step));
                }
                Item::Pause(title) => put(&mut lines, self.pause_heading(title)),
                Item::Block(block) => {
                    put(&mut lines, self.block(block));
                    if let Some(question) = block.question() {
                        put(&mut lines, behind(question));
                    }
                }
            }
        }
        lines.join("\n") + "\n"
    }
}

// Titles, steps and pauses, to be seen from the back row.

/// Headings are no wider than this, so that the number at their end stays near.
const WIDEST: usize = 100;

/// `1 minute`, `1.5 minutes`
pub(super) fn minutes(minutes: f64) -> String {
    format!("{minutes} {}", if minutes == 1.0 { "minute" } else { "minutes" })
}

impl LessonView<'_> {
    /// The lesson's title, how many steps it has and how long it takes.
    pub fn title(&self) -> Vec<String> {
        let steps = counted(self.lesson.steps.len(), "step");
        let length = match self.lesson.minutes {
            Some(planned) => format!("{steps}, {}", minutes(planned)),
            None => steps,
        };
        self.barred(&self.lesson.title, &length)
    }

    /// The heading of the step at a position from 0: its number, its title, and a rule across the screen. Nothing where there
    /// is no such step.
    pub fn step_heading(&self, step: usize) -> Vec<String> {
        let steps = &self.lesson.steps;
        let Some(Step { title, .. }) = steps.get(step) else { return Vec::new() };
        let title = format!("{}  {title}", step + 1);
        self.barred(&title, &format!("{} of {}", step + 1, steps.len()))
    }

    /// The heading of a part of a step after a pause.
    pub fn pause_heading(&self, title: &str) -> Vec<String> {
        let width = self.heading_width();
        let mut text = Text::of("── ", Ink::of(Tone::Quiet), self.screen);
        text.push(title, Ink::bold(), self.screen);
        text.wrapped(width, ["", "   "], self.screen)
    }

    fn heading_width(&self) -> usize {
        self.screen.width.min(WIDEST)
    }

    /// A title, something at the end of its first line, and a rule below.
    pub(super) fn barred(&self, title: &str, end: &str) -> Vec<String> {
        let width = self.heading_width();
        let room = width.saturating_sub(end.width() + 2);
        let plain = Screen { colour: false, ..self.screen };
        let wrapped = Text::of(title, Ink::default(), plain).wrapped(room, ["", "   "], plain);
        let bar = Ink { bold: true, tone: Tone::Bar, ..Ink::default() };
        let mut lines = Vec::new();
        for (number, line) in wrapped.iter().enumerate() {
            let end = if number == 0 { end } else { "" };
            let gap = " ".repeat(width.saturating_sub(line.width() + end.width()));
            let gap = if end.is_empty() { "" } else { &gap };
            lines.push(bar.on(&format!("{line}{gap}{end}"), self.screen));
        }
        let rule = self.screen.charset.spelled("─").repeat(width);
        lines.push(Ink::of(Tone::Quiet).on(&rule, self.screen));
        lines
    }
}

// Commands and what they print, live.

/// The prompt of a command and the prefix of its further lines, which can be pasted into a shell.
const PROMPTS: [&str; 2] = ["$ ", "  "];
/// The end of a line of a command that continues, as in a shell.
const GOES_ON: &str = " \\";
/// Indent of a block that is only shown, where there is room for it.
const INDENT: usize = 4;

impl LessonView<'_> {
    /// A command after its prompt, in as many lines as the screen needs.
    pub fn command_lines(&self, typed: &str) -> Vec<String> {
        self.prompted(&broken(typed, self.room()))
    }

    /// The lines of a command, each after its prompt.
    pub fn prompted(&self, typed: &[String]) -> Vec<String> {
        typed.iter().enumerate().map(|(number, line)| self.prompt(number) + &self.command(line)).collect()
    }

    /// The mark before the line of a command at a position from 0.
    pub fn prompt(&self, number: usize) -> String {
        Ink::of(Tone::Quiet).on(PROMPTS[number.min(1)], self.screen)
    }

    /// The styled text after a prompt, or a part of it.
    pub fn command(&self, typed: &str) -> String {
        Ink::bold().on(typed, self.screen)
    }

    /// The lines of a command as they are typed after the prompt: one, or where the screen is too narrow several, each but
    /// the last with a backslash at its end.
    pub fn typed(&self, exchange: &Exchange) -> Vec<String> {
        // A step of a command's story has no command above it.
        if exchange.typed.is_empty() {
            return Vec::new();
        }
        broken(&self.screen.charset.spelled(&exchange.typed.join(" ")), self.room())
    }

    /// The columns after a prompt.
    fn room(&self) -> usize {
        self.screen.width.saturating_sub(PROMPTS[0].width())
    }

    /// The output of a command on this screen, and its exit code if it is not 0.
    pub fn printed(&self, exchange: &Exchange) -> Vec<String> {
        let ran = self.runner.run(&exchange.command.args, self.screen);
        let mut lines: Vec<String> = ran.shown().lines().map(str::to_string).collect();
        if ran.code != 0 {
            lines.push(Ink::of(Tone::Quiet).on(&format!("(exit code {})", ran.code), self.screen));
        }
        lines
    }

    /// A fence that is only shown, as it is; but a command that is too long for the screen is broken as one that runs.
    fn literal(&self, literal: &Literal) -> Vec<String> {
        let text = self.screen.charset.spelled(literal.text.trim_end()).into_owned();
        let has_commands = literal.label.starts_with("console");
        let shown = |line: &str| match line.strip_prefix(PROMPTS[0]).filter(|_| has_commands) {
            Some(typed) => self.command_lines(typed),
            None => vec![line.to_string()],
        };
        let lines: Vec<String> = text.lines().flat_map(shown).collect();
        let widest = lines.iter().map(|line| display_width(line)).max().unwrap_or(0);
        let indent = if widest + INDENT <= self.screen.width { INDENT } else { 0 };
        let margin = " ".repeat(indent);
        lines.iter().map(|line| format!("{margin}{line}").trim_end().to_string()).collect()
    }
}

/// A command in lines of at most `room` columns that a shell reads as one: broken at spaces outside of quotes, and not between
/// an option and its value where there is room for both.
pub(super) fn broken(typed: &str, room: usize) -> Vec<String> {
    if typed.width() <= room {
        return vec![typed.to_string()];
    }
    let room = room.saturating_sub(GOES_ON.width()).max(1);
    let fits = |before: &str, word: &str| before.width() + 1 + word.width() <= room;
    let is_value = |option: &str, word: &str| {
        option.starts_with("--") && !option.contains(' ') && !word.starts_with("--") && fits(option, word)
    };
    let mut lines = gathered(gathered(words(typed), is_value), fits);
    let last = lines.len() - 1;
    lines[..last].iter_mut().for_each(|line| line.push_str(GOES_ON));
    lines
}

/// Words, each joined by a space to what is before it where `belongs` says so.
fn gathered(words: Vec<String>, belongs: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for word in words {
        match all.last_mut().filter(|before| belongs(before, &word)) {
            Some(before) => before.extend([" ", &word]),
            None => all.push(word),
        }
    }
    all
}

/// A command cut at its spaces, but not at those within quotes.
fn words(typed: &str) -> Vec<String> {
    let spaces = outside_of_quotes(typed).filter(|(_, c)| *c == ' ').map(|(at, _)| at);
    let mut begin = 0;
    let word = |end: usize| &typed[std::mem::replace(&mut begin, end + 1)..end];
    spaces.chain([typed.len()]).map(word).filter(|word| !word.is_empty()).map(str::to_string).collect()
}
