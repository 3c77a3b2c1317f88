//! `attn lesson quiz`.

use std::collections::HashSet;
use std::io::BufReader;

use clap::Args;

use super::{in_process, with_seed};
use crate::cli::output::ScreenArgs;
use crate::cli::{Env, Streams};
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, Error, Result};
use crate::lesson::play::Scripted;
use crate::lesson::quiz::{Pupil, quiz};
use crate::lesson::show::Show;
use crate::lesson::{Runner, open};

/// The questions of a lesson, for one pupil alone, graded
///
/// Each answer is judged at once, and what is right is told. Enter alone skips a question, h gives a hint.
/// Exit code 1 unless all is right. Answers may come from a file: attn lesson quiz 0-tour < answers.txt
///
/// Examples:
///   attn lesson quiz 0-tour             with the numbers of the lesson
///   attn lesson quiz 0-tour --seed 31   with others; attn lesson export has the same sheet on paper
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct QuizArgs {
    /// A built-in lesson (attn lesson lists them), or a file.
    #[arg(value_name = "NAME|FILE")]
    lesson: String,
    /// Draw other random numbers in the questions that can be drawn again: a number for each pupil.
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// Answer a question beforehand.
    #[arg(long, value_name = "ID=ANSWER")]
    answer: Vec<String>,
    #[command(flatten)]
    screen: ScreenArgs,
}

impl QuizArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let (lesson, step) = open(&self.lesson)?;
        if step.is_some() {
            return Err(Error::new("a quiz is on a whole lesson").help("leave out the step behind `#`"));
        }
        let runner = Runner::new(&in_process);
        let lesson = with_seed(lesson, self.seed, &runner, streams);
        let show = Show::new(&lesson, &runner, self.screen.screen(env));
        let scripted = self.scripted(&show)?;
        let mut pupil = Pupil {
            input: &mut BufReader::new(&mut *streams.input),
            out: &mut *streams.out,
            at_terminal: env.has_keys && env.has_screen,
            scripted,
        };
        match quiz(&show, &self.lesson, &mut pupil)? {
            true => Ok(EXIT_DONE),
            false => Ok(EXIT_CHECK_FAILED),
        }
    }

    /// # Errors
    /// If an answer cannot be one, or a second one is given to a question.
    fn scripted(&self, show: &Show<'_>) -> Result<Scripted> {
        let scripted = Scripted::read(&self.answer, show)?;
        let ids = self.answer.iter().filter_map(|one| one.split_once('=')).map(|(id, _)| id.trim());
        let mut seen = HashSet::new();
        match { ids }.find(|id| !seen.insert(*id)) {
            Some(id) => Err(Error::new(format!("a second answer to `{id}`"))
                .in_source("--answer")
                .help("a quiz asks each question once; leave one of them out")),
            None => Ok(scripted),
        }
    }
}
