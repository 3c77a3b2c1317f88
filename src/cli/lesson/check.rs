//! `attn lesson check`.

use std::path::Path;

use clap::Args;
use colored::Colorize;

use crate::cli::{Env, Streams};
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNUSABLE, Error, Result, counted};
use crate::input::{is_folder, markdown_files};
use crate::lesson::check::{Difference, Finding, Report, Tag, check};
use crate::lesson::{Faults, read, text_of};

use super::in_process;

/// Whether everything that lessons show is what the program prints
///
/// Runs every command and compares its output, recomputes every number in the text and every answer, and looks whether it
/// fits the screen. Exit code 1 if something differs, 2 if a file is no lesson.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct CheckArgs {
    /// Lessons: files, folders of them, or built-in names.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
}

/// What has become of one file.
enum Outcome {
    Checked(Report),
    NoLesson(Faults),
    Unreadable(Error),
}

impl CheckArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let mut worst = EXIT_DONE;
        let mut count = 0;
        let mut failed = 0;
        for path in &self.paths {
            for (name, outcome) in outcomes(path) {
                let code = outcome.code();
                worst = worst.max(code);
                count += 1;
                failed += usize::from(code != EXIT_DONE);
                streams.out.write_all(env.charset.spelled(&outcome.shown(&name, env.colour)).as_bytes())?;
            }
        }
        if count > 1 {
            let sum = match failed {
                0 => format!("{}: ok\n", counted(count, "lesson")),
                failed => format!("{}: {failed} not ok\n", counted(count, "lesson")),
            };
            streams.out.write_all(sum.as_bytes())?;
        }
        Ok(worst)
    }
}

/// The lessons that a path names, each with what has become of it.
fn outcomes(path: &str) -> Vec<(String, Outcome)> {
    if !is_folder(Path::new(path)) {
        return vec![outcome(path)];
    }
    let files = match markdown_files(Path::new(path)) {
        Ok(files) => files,
        Err(error) => return vec![(path.to_string(), Outcome::Unreadable(error))],
    };
    let names = files.iter().map(|file| file.to_string_lossy().into_owned());
    let all: Vec<(String, Outcome)> =
        names.map(|name| outcome(&name)).filter(|(_, one)| !one.is_other()).collect();
    if all.is_empty() {
        let error = Error::new("a folder without lessons")
            .in_source(path)
            .help("name a folder that holds .md files with attn-lesson: 1 in their head; `attn lesson new NAME` writes one");
        return vec![(path.to_string(), Outcome::Unreadable(error))];
    }
    all
}

fn outcome(name: &str) -> (String, Outcome) {
    match text_of(name) {
        Err(error) => (name.to_string(), Outcome::Unreadable(error)),
        Ok((file, text)) => {
            let outcome = match read(&file, &text) {
                Ok(lesson) => Outcome::Checked(check(&lesson, &in_process)),
                Err(faults) => Outcome::NoLesson(faults),
            };
            (file, outcome)
        }
    }
}

impl Outcome {
    fn code(&self) -> u8 {
        match self {
            Outcome::Checked(report) if report.findings.is_empty() => EXIT_DONE,
            Outcome::Checked(_) => EXIT_CHECK_FAILED,
            Outcome::NoLesson(_) | Outcome::Unreadable(_) => EXIT_UNUSABLE,
        }
    }

    /// Whether it is a text of another kind, which a folder may hold beside its lessons.
    fn is_other(&self) -> bool {
        matches!(self, Outcome::NoLesson(Faults(faults)) if faults.iter().any(|fault| fault.what == "this is no lesson"))
    }

    fn shown(&self, file: &str, colour: bool) -> String {
        let mut text = String::new();
        let line = match self {
            Outcome::Unreadable(error) => format!("{error}\n"),
            Outcome::NoLesson(Faults(faults)) => {
                for fault in faults {
                    text.push_str(&format!("{}\n\n", fault.in_file(file)));
                }
                format!("{file}  {}\n", counted(faults.len(), "fault"))
            }
            Outcome::Checked(report) => {
                for finding in &report.findings {
                    match finding {
                        Finding::Fault(fault) => text.push_str(&format!("{}\n\n", fault.in_file(file))),
                        Finding::Difference(one) => {
                            text.push_str(&format!("{}\n", difference(one, file, colour)))
                        }
                    }
                }
                let checked = report.checked;
                let verdict = match report.findings.len() {
                    0 => "ok".to_string(),
                    wrong => format!("{wrong} not ok"),
                };
                format!(
                    "{file}  {}, {}, {}: {verdict}\n",
                    counted(checked.steps, "step"),
                    counted(checked.commands, "command"),
                    counted(checked.questions, "question")
                )
            }
        };
        text + &line
    }
}

/// A difference as a unified diff below its place.
fn difference(one: &Difference, file: &str, colour: bool) -> String {
    let mut text = format!("{file}:{}: `{}` prints something else\n", one.line, one.command);
    if let Some(step) = &one.step {
        text.push_str(&format!("  step: {step}\n"));
    }
    text.push_str("  - in the lesson, + printed now\n");
    for (tag, line) in &one.lines {
        let line = format!("{}{line}", tag.sign());
        let line = match tag {
            Tag::Hunk if colour => line.cyan().to_string(),
            Tag::Lesson if colour => line.red().to_string(),
            Tag::Printed if colour => line.green().to_string(),
            _ => line,
        };
        text.push_str(&format!("  {line}\n"));
    }
    text
}
