//! The student's side of a quiz: input and output.

use std::io::{BufRead, Write};

use crate::error::Result;
use crate::foreign::visible;
use crate::lesson::QuizProgress;
use crate::lesson::play::ScriptedAnswers;
use crate::lesson::show::{Ink, Tone};
use crate::render::Screen;

/// The prompt.
const PROMPT: &str = "> ";

/// The student's side.
pub struct Student<'a> {
    /// The typed lines.
    pub input: &'a mut dyn BufRead,
    /// The output.
    pub out: &'a mut dyn Write,
    /// True if the student uses a terminal: it echoes what is typed, and the quiz waits after an answer until the student has
    /// read it.
    pub at_terminal: bool,
    /// Scripted answers; no line is read for them.
    pub scripted: ScriptedAnswers,
    /// Waits until a line can be read; `false` if the student stops the quiz.
    pub waits: &'a dyn Fn() -> bool,
    /// The maximum number of answers to a question: after a wrong one another is asked for.
    pub tries: usize,
    /// The answers of an earlier sitting: those questions are not asked again.
    pub kept: QuizProgress,
}

impl Student<'_> {
    /// Writes the prompt, and after it the scripted answer, if there is one.
    pub(super) fn prompt(&mut self, given: Option<&str>, screen: Screen) -> Result<()> {
        let prompt = Ink::of(Tone::Asked).on(PROMPT, screen);
        write!(self.out, "{prompt}")?;
        match given {
            Some(typed) => self.echo(typed, screen),
            None => Ok(self.out.flush()?),
        }
    }

    /// Ends the line of the prompt with what was typed, where the terminal has not shown it.
    pub(super) fn echo(&mut self, typed: &str, screen: Screen) -> Result<()> {
        let typed = visible(typed);
        Ok(writeln!(self.out, "{}", screen.charset.spelled(&typed))?)
    }

    /// Lines below an empty one, if there are any.
    pub(super) fn say_block(&mut self, lines: Vec<String>) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        self.say(&[String::new()])?;
        self.say(&lines)
    }

    pub(super) fn say(&mut self, lines: &[String]) -> Result<()> {
        for line in lines {
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }
}
