//! `attn lesson check`.

use crate::text::ScreenWidth;
use clap::Args;

use super::checked_files::{CheckedFile, FileState, amounts, checked_files};
use super::trust::TrustArgs;
use crate::cli::program::Program;
use crate::cli::{Env, Streams, report};
use crate::error::{EXIT_DONE, Result};
use crate::lesson::check::Coverage;
use crate::text::counted;

/// Check that a lesson shows what the program prints
///
/// Runs every command and compares its output, computes every number in the text and every answer again, and checks that
/// everything fits the screen. Exit code 1 if something is wrong, 2 if a file is not a lesson.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  attn lesson check my-lesson.md\n  attn lesson check my-lessons")]
pub(super) struct CheckArgs {
    /// Lessons: files, folders, or names of built-in lessons
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
    #[command(flatten)]
    trust: TrustArgs,
}

impl CheckArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let checked_files = checked_files(&self.paths, self.trust.commands(program));
        let widest = checked_files.iter().map(|checked| checked.file.width()).max().unwrap_or(0);
        let mut text = String::new();
        for checked in &checked_files {
            if let FileState::Unreadable(error) = &checked.state {
                report(error, env, streams);
            }
            let details = checked.details(env.colour);
            // An empty line separates the findings in a file from the line before.
            if !details.is_empty() && !text.is_empty() {
                text.push('\n');
            }
            let blank = " ".repeat(widest - checked.file.width());
            text.push_str(&format!("{details}{}{blank}  {}\n", checked.file, checked.verdict()));
        }
        if checked_files.len() > 1 {
            text.push_str(&format!("\n{}\n", sum(&checked_files)));
        }
        streams.out.write_all(env.charset.spelled(&text).as_bytes())?;
        Ok(checked_files.iter().map(CheckedFile::code).max().unwrap_or(EXIT_DONE))
    }
}

/// “7 lessons, 84 steps, 111 commands, 240 numbers, 64 questions: ok”
fn sum(checked_files: &[CheckedFile]) -> String {
    let mut all = Coverage::default();
    for checked in checked_files {
        if let FileState::Checked(report) = &checked.state {
            all.add(report.checked);
        }
    }
    let verdict = match checked_files.iter().filter(|checked| checked.code() != EXIT_DONE).count() {
        0 => "ok".to_string(),
        wrong => format!("{wrong} not ok"),
    };
    format!("{}, {}: {verdict}", counted(checked_files.len(), "lesson"), amounts(all))
}
