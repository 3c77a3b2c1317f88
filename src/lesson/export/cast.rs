//! A lesson as a recording of a terminal.

use textwrap::core::display_width;

use super::{Answers, Handout};
use crate::lesson::model::{Block, Exchange, Item, Question};
use crate::lesson::play::{ScriptedAnswers, answered};
use crate::lesson::question::is_show_of_hands;
use crate::lesson::show::{Ink, LessonView, Tone};
use crate::terminal::Asciicast;

/// Between two keys of a command.
const KEY: u64 = 40;
/// Before a command's first key, and before its output.
const BREATH: u64 = 500;
/// For each column of a sentence, and of what a command printed, to be read.
const READ: u64 = 40;
const LOOK: u64 = 5;
/// The minimum and maximum time for reading a page.
const LEAST: u64 = 1_000;
const MOST: u64 = 8_000;
/// A heading is seen at once.
const HEADING: u64 = 1_500;
/// The time to think, for questions that do not give it.
const THINK: u64 = 10_000;

/// The whole lesson as it is played, with a marker at each step: commands typed key by key, time to read, and the `think` of
/// each question before its answer. ScriptedAnswers answers, votes among them, are typed after the `think` and judged. The same
/// lesson and answers give the same bytes.
pub fn cast(handout: &Handout<'_>, scripted: ScriptedAnswers) -> String {
    let lesson = handout.lesson;
    let mut recording = Recording {
        show: handout.show(true),
        scripted,
        cast: Asciicast::new(lesson.size.columns, lesson.size.rows, &lesson.title),
    };
    let answers = handout.answers != Answers::Hidden;
    recording.print(&recording.show.title(), HEADING);
    for item in lesson.items(None) {
        match item {
            Item::Step(step) => {
                recording.cast.marks(&lesson.steps[step].title);
                recording.cast.writes("\r\n");
                recording.print(&recording.show.step_heading(step), HEADING);
            }
            Item::Pause(title) => recording.print(&recording.show.pause_heading(title), HEADING),
            Item::Block(block) => recording.block(block, answers),
        }
    }
    // The recording lasts until the last lines are read.
    recording.cast.writes("\r\n");
    recording.cast.finish()
}

/// The recording so far.
struct Recording<'a> {
    show: LessonView<'a>,
    /// The answers of the class.
    scripted: ScriptedAnswers,
    cast: Asciicast,
}

impl Recording<'_> {
    /// Lines and an empty one, and a wait.
    fn print(&mut self, lines: &[String], milliseconds: u64) {
        if !lines.is_empty() {
            self.cast.writes(&(lines.join("\r\n") + "\r\n\r\n"));
            self.cast.wait(milliseconds);
        }
    }

    /// Sentences, and the time to read them.
    fn say(&mut self, lines: &[String]) {
        self.print(lines, time_for(lines, READ));
    }

    fn block(&mut self, block: &Block, answers: bool) {
        match block {
            Block::Console(exchanges) => exchanges.iter().for_each(|exchange| self.exchange(exchange)),
            Block::Question(question) => self.question(question, answers),
            block => self.say(&self.show.block(block)),
        }
    }

    fn exchange(&mut self, exchange: &Exchange) {
        for (number, line) in self.show.typed(exchange).iter().enumerate() {
            if number > 0 {
                self.cast.writes("\r\n");
            }
            self.cast.writes(&self.show.prompt(number));
            self.type_in(line);
        }
        self.cast.wait(BREATH);
        self.cast.writes("\r\n");
        let printed = self.show.printed(exchange);
        self.print(&printed, time_for(&printed, LOOK));
    }

    /// Types a line, key by key.
    fn type_in(&mut self, line: &str) {
        self.cast.wait(BREATH);
        for key in line.chars() {
            self.cast.writes(&self.show.command(&key.to_string()));
            self.cast.wait(KEY);
        }
    }

    fn question(&mut self, question: &Question, answers: bool) {
        self.say(&self.show.question_head(question));
        question.asked.iter().for_each(|block| self.block(block, answers));
        self.say(&self.show.options(question));
        self.cast.wait(question.think.map_or(THINK, |think| think.as_secs() * 1000));
        while let Some(typed) = self.scripted.next(&question.id) {
            let prompt = if is_show_of_hands(&typed) { "votes: " } else { "answer: " };
            self.cast.writes(&Ink::of(Tone::Asked).on(prompt, self.show.screen));
            self.type_in(&typed);
            self.cast.writes("\r\n\r\n");
            self.say(&answered(&self.show, question, &typed));
        }
        if answers {
            let (answer, rest) = self.show.answer(question, None, |_| true);
            self.say(&answer);
            rest.iter().for_each(|block| self.block(block, answers));
        } else {
            self.say(&self.show.blank());
        }
    }
}

/// The time that lines take, at this many milliseconds a column.
fn time_for(lines: &[String], each: u64) -> u64 {
    let columns: usize = lines.iter().map(|line| display_width(line)).sum();
    (columns as u64 * each).clamp(LEAST, MOST)
}
