//! `attn lesson export`.

use crate::cli::LESSON_OPTIONS;
use crate::foreign::{from_path, visible};
use crate::text::quoted;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::seed::with_seed;
use super::trust::TrustArgs;
use crate::cli::program::Program;
use crate::cli::{Env, Streams};
use crate::error::{Error, Result};
use crate::input::{read_text, write_text};
use crate::lesson::export::{self, Answers, Handout};
use crate::lesson::play::ScriptedAnswers;
use crate::lesson::{LONGEST, Runner, is_lesson, open, read};

/// Write a lesson as a page, a handout, a transcript or a recording
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExportArgs {
    /// A built-in lesson or a file
    #[arg(value_name = "NAME|FILE")]
    lesson: String,
    /// The kind of document [default: by FILE, or html]
    #[arg(long, value_enum, value_name = "WHAT")]
    to: Option<Target>,
    /// The file to write [default: standard output]
    ///
    /// Without --to its ending chooses the kind of document: .html, .md, .txt or .cast.
    #[arg(value_parser = crate::cli::options::path, long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// With html: a page whose numbers can be changed
    ///
    /// Its stories compute for themselves, its what-ifs run, and its questions judge answers, without a network.
    #[arg(long)]
    live: bool,
    /// Answers: hidden or shown
    ///
    /// Without this option they are folded in html and md, and shown in txt and cast.
    #[arg(long, value_enum, value_name = "WHICH")]
    answers: Option<AnswersArg>,
    /// Draw other random numbers
    ///
    /// `attn lesson quiz --seed N` has the same ones.
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// Answer or vote in a recording: share=C
    ///
    /// share="A9 B4 C12" votes. Give it again for a second try.
    #[arg(long, value_name = "ID=ANSWER")]
    answer: Vec<String>,
    /// Include the teacher's notes
    #[arg(long)]
    notes: bool,
    #[command(flatten)]
    trust: TrustArgs,
}

const EXAMPLES: &str = "\
Examples:
  attn lesson export 0-tour -o tour.html
  attn lesson export 0-tour -o tour.html --live
  attn lesson export 0-tour -o worksheet.md --answers hidden
  attn lesson export 0-tour -o tour.cast";

/// `--to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    /// A recording for asciinema, with a marker at each step
    Cast,
    /// A page for a browser: point at a number to see what made it
    Html,
    /// A handout in Markdown
    Md,
    /// A transcript
    Txt,
}

/// `--answers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AnswersArg {
    /// Left out, with a line to write each on
    Hidden,
    /// After each question
    Shown,
}

impl Target {
    /// The kind of document for the ending of a file.
    ///
    /// # Errors
    /// If no document has this ending.
    fn of_file(path: &Path) -> Result<Target> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("cast") => Ok(Target::Cast),
            Some("html" | "htm") => Ok(Target::Html),
            Some("md" | "markdown") => Ok(Target::Md),
            Some("txt") => Ok(Target::Txt),
            _ => Err(Error::new("the ending does not say what to write")
                .in_source(visible(&from_path(path)))
                .help("end the name with .html, .md, .txt or .cast, or say what it is: --to html")),
        }
    }

    /// The ending of its files, for kinds that are not readable on a terminal.
    fn ending(self) -> Option<&'static str> {
        match self {
            Target::Cast => Some("cast"),
            Target::Html => Some("html"),
            Target::Md | Target::Txt => None,
        }
    }
}

impl ExportArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let (lesson, step) = open(&self.lesson, LESSON_OPTIONS)?;
        if step.is_some() {
            return Err(
                Error::new("only a whole lesson can be exported").help("leave out the step behind `#`")
            );
        }
        let to = match (self.to, &self.output) {
            (Some(to), _) => to,
            (None, Some(path)) => Target::of_file(path)?,
            (None, None) => Target::Html,
        };
        if self.live && to != Target::Html {
            return Err(Error::new("--live makes a page").help("add --to html, or leave out --live"));
        }
        if let (None, true, Some(ending)) = (&self.output, env.has_screen, to.ending()) {
            let name = quoted(&self.lesson);
            return Err(Error::new(format!(
                "a lesson as {ending} is a file, not something to read on a terminal"
            ))
            .help(format!(
                "name the file: attn lesson export {name} --to {ending} --output {}.{ending}",
                lesson.name
            )));
        }
        let run = self.trust.commands(program).of(&lesson.file);
        let runner = Runner::new(&run);
        let lesson = with_seed(lesson, self.seed, &runner, streams);
        let answers = match self.answers {
            Some(AnswersArg::Hidden) => Answers::Hidden,
            Some(AnswersArg::Shown) => Answers::Shown,
            None => Answers::Folded,
        };
        if !self.answer.is_empty() && to != Target::Cast {
            return Err(Error::new("--answer goes with a recording").help("add --to cast"));
        }
        let handout =
            Handout { lesson: &lesson, runner: &runner, answers, notes: self.notes, live: self.live };
        let text = match to {
            Target::Cast => {
                let scripted = ScriptedAnswers::read(&self.answer, &handout.show(true))?;
                export::cast(&handout, scripted)
            }
            Target::Html => export::html(&handout),
            Target::Md => export::markdown(&handout),
            Target::Txt => export::transcript(&handout),
        };
        match &self.output {
            Some(path) => {
                refuse_lesson(path)?;
                write_text(path, &text)
            }
            None => Ok(streams.out.write_all(text.as_bytes())?),
        }
    }
}

/// # Errors
/// If the file is a lesson, perhaps the exported one: its questions and keys would be lost.
pub(super) fn refuse_lesson(path: &Path) -> Result<()> {
    let name = from_path(path);
    let is_one = |text: String| is_lesson(&text) || read(&name, &text, LESSON_OPTIONS).is_ok();
    if !read_text(path, LONGEST).is_ok_and(is_one) {
        return Ok(());
    }
    Err(Error::new("is a lesson and would be overwritten")
        .in_source(visible(&name))
        .help("name another file"))
}
