//! What lessons are written to, and how they are written: `attn lesson export`, `attn lesson new` and `attn lesson new --directives`.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::cli::output::LookArgs;
use crate::cli::program::Program;
use crate::cli::{Env, Streams, output};
use crate::error::{EXIT_DONE, Error, Result};
use crate::foreign::{from_path, to_path, visible};
use crate::input::{exists, read_text, write_text};
use crate::lesson::export::{Answers, Handout};
use crate::lesson::play::ScriptedAnswers;
use crate::lesson::{LONGEST, Runner, built_in, export, is_lesson, lesson_format, new_lesson, open, read};
use crate::story::Table;
use crate::text::{counted, quoted};

use super::trust::{TrustArgs, with_seed};

/// The options of `attn lesson export`.
#[derive(Deserialize, Debug)]
pub(crate) struct ExportArgs {
    lesson: String,
    to: Option<Target>,
    #[serde(deserialize_with = "crate::cli::options::path")]
    output: Option<PathBuf>,
    live: bool,
    answers: Option<Answers>,
    seed: Option<u32>,
    answer: Vec<String>,
    notes: bool,
    #[serde(flatten)]
    trust: TrustArgs,
}

/// `--to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
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

impl Target {
    /// The kind of document for the ending of a file.
    ///
    /// # Errors
    /// If no document has this ending.
    fn of_file(path: &Path) -> Result<Target> {
        match &*ending(path) {
            "cast" => Ok(Target::Cast),
            "html" | "htm" => Ok(Target::Html),
            "md" | "markdown" => Ok(Target::Md),
            "txt" => Ok(Target::Txt),
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
    pub(crate) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let (lesson, step) = open(&self.lesson)?;
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
            let (asked, name) = (quoted(&self.lesson), &lesson.name);
            let what = format!("a lesson as {ending} is a file, not something to read on a terminal");
            let command = format!("attn lesson export {asked} --to {ending} --output {name}.{ending}");
            return Err(Error::new(what).help(format!("name the file: {command}")));
        }
        let run = self.trust.commands(program).of(&lesson.file);
        let runner = Runner::new(&run);
        let lesson = with_seed(lesson, self.seed, &runner, streams);
        let answers = self.answers.unwrap_or_default();
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

/// The ending of a file's name, in lower case; empty without one.
pub(super) fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// # Errors
/// If the file is a lesson, perhaps the exported one: its questions and keys would be lost.
pub(super) fn refuse_lesson(path: &Path) -> Result<()> {
    let name = from_path(path);
    let is_one = |text: String| is_lesson(&text) || read(&name, &text).is_ok();
    if !read_text(path, LONGEST).is_ok_and(is_one) {
        return Ok(());
    }
    Err(Error::new("is a lesson and would be overwritten")
        .in_source(visible(&name))
        .help("name another file"))
}

// `attn lesson new`.

/// The options of `attn lesson new`.
#[derive(Deserialize, Debug)]
pub(crate) struct NewArgs {
    name: Option<String>,
    #[serde(flatten)]
    look: LookArgs,
}

impl NewArgs {
    pub(crate) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let Some(name) = self.name.as_deref() else { return write_directives(&self.look, env, streams) };
        let file = if name.ends_with(".md") { name.to_string() } else { format!("{name}.md") };
        let shown = visible(&file).into_owned();
        if name.is_empty() || name.ends_with(['/', '\\']) {
            return Err(
                Error::new("the lesson needs a name").help("write, for example, attn lesson new my-lesson")
            );
        }
        let name = file.trim_end_matches(".md");
        if let Some((own, _)) = built_in(name) {
            let own = own.trim_end_matches(".md");
            let what = format!("`attn lesson play {name}` would play the lesson `{own}` of the program");
            return Err(Error::new(what).in_source(shown).help("choose another name"));
        }
        if exists(&file) {
            let help = "name a new file; this one is not overwritten";
            return Err(Error::new("exists already").in_source(shown).help(help));
        }
        let run = TrustArgs::default().commands(program).of(&file);
        let text = new_lesson(&file, &run).map_err(|faults| faults.error(&shown))?;
        write_text(&to_path(&file), &text)?;
        let lesson = read(&file, &text).map_err(|faults| faults.error(&shown))?;
        let [steps, questions] = [(lesson.steps.len(), "step"), (lesson.questions().count(), "question")]
            .map(|(n, word)| counted(n, word));
        let name = quoted(&shown);
        let said = format!(
            "{shown} is written: a lesson of {steps} with {questions}, for you to change.\n\n  \
             attn lesson play {name}              play it\n  \
             attn lesson check {name}             what is wrong with it, after each change\n  \
             attn lesson check --update {name}    write what its commands print into it\n  \
             attn lesson new --directives{}   what its comments can say\n",
            " ".repeat(name.chars().count())
        );
        streams.out.write_all(env.charset.spelled(&said).as_bytes())?;
        Ok(EXIT_DONE)
    }
}

/// Writes the tables of what a lesson file can contain.
fn write_directives(look: &LookArgs, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
    let parts = lesson_format().iter().map(|part| {
        let rows = part.rows.iter().map(|row| row.iter().map(|cell| cell.to_string()).collect());
        (part.title.to_string(), Table::new(&part.head, rows))
    });
    let parts: Vec<(String, Table)> = parts.collect();
    output::write_paged(look, env, streams, |streams| look.tables("lesson", &parts, env, streams))
}
