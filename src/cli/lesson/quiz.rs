//! `attn lesson quiz`.

use std::collections::HashSet;
use std::io::{BufReader, Write, sink};
use std::path::PathBuf;

use serde::Deserialize;

use crate::cli::output::{LookArgs, ScreenArgs};
use crate::cli::program::Program;
use crate::cli::{Env, Streams};
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, Error, Result};
use crate::foreign::{from_path, visible};
use crate::input::write_text;
use crate::lesson::hand_in::{HandIn, TO_HAND_IN};
use crate::lesson::play::ScriptedAnswers;
use crate::lesson::quiz::{Interrupt, Results, Student, quiz, tables};
use crate::lesson::show::LessonView;
use crate::lesson::{Lesson, QuizProgress, Runner, Store, open};
use crate::render;
use crate::render::Format;
use crate::terminal::INTERRUPTED;
use crate::text::quoted;

use super::trust::{TrustArgs, with_seed};
use super::write::{ending, refuse_lesson};

/// The options of `attn lesson quiz`.
#[derive(Deserialize, Debug)]
pub(crate) struct QuizArgs {
    lesson: String,
    seed: Option<u32>,
    answer: Vec<String>,
    tries: Option<u8>,
    restart: bool,
    name: Option<String>,
    format: Option<Format>,
    #[serde(deserialize_with = "crate::cli::options::path")]
    output: Option<PathBuf>,
    #[serde(flatten)]
    trust: TrustArgs,
    #[serde(flatten)]
    screen: ScreenArgs,
}

impl QuizArgs {
    pub(crate) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let (lesson, step) = open(&self.lesson)?;
        if step.is_some() {
            return Err(Error::new("a quiz covers a whole lesson").help("leave out the step behind `#`"));
        }
        let format = self.result_format()?;
        let run = self.trust.commands(program).of(&lesson.file);
        let runner = Runner::new(&run);
        let lesson = with_seed(lesson, self.seed, &runner, streams);
        let on_err = format.is_some() && self.output.is_none();
        let at_terminal = env.has_keys && (env.has_screen || on_err);
        let mut screen = self.screen.screen(env);
        screen.colour &= !on_err || env.colour_err;
        let show = LessonView::new(&lesson, &runner, screen);
        let scripted = self.scripted(&show)?;
        let store = env.state.as_deref().filter(|_| at_terminal).map(Store::new);
        let kept = self.kept(store.as_ref(), &lesson, streams);
        let interrupt = if at_terminal { Some(Interrupt::new()?) } else { None };
        let waits = || interrupt.as_ref().is_none_or(Interrupt::waits);
        let mut nowhere = sink();
        let out: &mut dyn Write = match (on_err, at_terminal) {
            (false, _) => &mut *streams.out,
            (true, true) => &mut *streams.err,
            (true, false) => &mut nowhere,
        };
        let tries = self.tries.unwrap_or(if at_terminal { 2 } else { 1 }).into();
        let input = &mut BufReader::new(&mut *streams.input);
        let mut student = Student { input, out, at_terminal, scripted, waits: &waits, tries, kept };
        let results = Results { seed: self.seed, ..quiz(&show, &self.lesson, &mut student)? };
        student.out.flush()?;
        if let Some(store) = store {
            self.keep(&store, &lesson, &results, streams);
        }
        if !results.interrupted && !on_err && (at_terminal || self.name.is_some()) {
            let name = self.name.as_deref().unwrap_or_default();
            let whose = if name.is_empty() { " (--name NAME puts your name in it)" } else { "" };
            writeln!(streams.out, "\n{TO_HAND_IN}{whose}:\n{}", HandIn::of(&results, name).code())?;
        }
        if let Some(format) = format {
            self.write(&results, format, env, streams)?;
        }
        Ok(match (results.interrupted, results.all_right()) {
            (true, _) => interrupt.and_then(|interrupt| interrupt.code()).unwrap_or(INTERRUPTED),
            (false, true) => EXIT_DONE,
            (false, false) => EXIT_CHECK_FAILED,
        })
    }

    /// The format of the results, if they are written.
    fn result_format(&self) -> Result<Option<Format>> {
        let Some(file) = &self.output else { return Ok(self.format) };
        refuse_lesson(file)?;
        match (self.format, &*ending(file)) {
            (Some(format), _) => Ok(Some(format)),
            (None, "json") => Ok(Some(Format::Json)),
            (None, "csv") => Ok(Some(Format::Csv)),
            _ => Err(Error::new("results can only be JSON or CSV")
                .in_source(visible(&from_path(file.as_ref())))
                .help("name a file that ends in .json or .csv, or add --format csv")),
        }
    }

    /// The answers of an interrupted quiz with the same numbers.
    fn kept(&self, store: Option<&Store>, lesson: &Lesson, streams: &mut Streams<'_>) -> QuizProgress {
        let Some(store) = store.filter(|_| !self.restart) else { return QuizProgress::default() };
        match store.read(lesson) {
            Ok(progress) => progress.quiz.filter(|sitting| sitting.seed == self.seed).unwrap_or_default(),
            Err(error) => {
                complain(&error, streams);
                QuizProgress::default()
            }
        }
    }

    /// Saves an interrupted quiz and prints how to resume it; deletes one that is finished.
    fn keep(&self, store: &Store, lesson: &Lesson, results: &Results, streams: &mut Streams<'_>) {
        let done = results.graded.iter().filter(|one| one.is_done());
        let sitting = results.interrupted.then(|| QuizProgress {
            seed: self.seed,
            answers: done.clone().map(|one| (one.id.clone(), one.answers.clone())).collect(),
            hints: done.map(|one| (one.id.clone(), one.hints)).collect(),
        });
        match store.write_quiz(lesson, sitting) {
            Err(error) => complain(&error, streams),
            Ok(()) if results.interrupted => {
                let seed = self.seed.map(|seed| format!(" --seed {seed}")).unwrap_or_default();
                let name = quoted(&self.lesson);
                // An error of writing to standard error is ignored.
                let _ = writeln!(streams.err, "Resume: attn lesson quiz {name}{seed}");
            }
            Ok(()) => {}
        }
    }

    /// Writes the results.
    fn write(&self, results: &Results, format: Format, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let parts = tables(results, self.name.as_deref().unwrap_or_default());
        let parts = if format == Format::Csv { &parts[..1] } else { &parts[..] };
        let style = LookArgs { format, screen: self.screen.clone() }.style(env);
        let mut bytes = Vec::new();
        render::tables(parts, "lesson quiz", &style, &mut bytes)?;
        match &self.output {
            Some(file) => write_text(file, &String::from_utf8_lossy(&bytes)),
            None => Ok(streams.out.write_all(&bytes)?),
        }
    }

    /// # Errors
    /// If an answer cannot be one, or a second one is given to a question.
    fn scripted(&self, show: &LessonView<'_>) -> Result<ScriptedAnswers> {
        let scripted = ScriptedAnswers::read(&self.answer, show)?;
        let ids = self.answer.iter().filter_map(|one| one.split_once('=')).map(|(id, _)| id.trim());
        let mut seen = HashSet::new();
        match { ids }.find(|id| !seen.insert(*id)) {
            Some(id) => Err(Error::new(format!("a second answer to `{id}`"))
                .in_source("--answer")
                .help("give one answer to each question; leave out one of these")),
            None => Ok(scripted),
        }
    }
}

/// Warns that answers cannot be saved; the quiz goes on.
fn complain(error: &Error, streams: &mut Streams<'_>) {
    // An error of writing to standard error is ignored.
    let _ = writeln!(streams.err, "warning: your answers cannot be saved: {}", error.in_one_line());
}
