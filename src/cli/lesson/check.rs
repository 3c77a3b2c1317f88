//! `attn lesson check`.

use clap::Args;
use unicode_width::UnicodeWidthStr;

use super::TrustArgs;
use super::outcomes::{CameTo, Outcome, amounts, outcomes};
use crate::cli::{Env, Streams};
use crate::error::{EXIT_DONE, Result, counted};
use crate::lesson::check::Checked;

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
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let outcomes = outcomes(&self.paths, self.trust);
        let widest = outcomes.iter().map(|outcome| outcome.file.width()).max().unwrap_or(0);
        let mut text = String::new();
        for outcome in &outcomes {
            let details = outcome.details(env.colour);
            // What is wrong with a file stands by itself, its line below it.
            if !details.is_empty() && !text.is_empty() {
                text.push('\n');
            }
            let blank = " ".repeat(widest - outcome.file.width());
            text.push_str(&format!("{details}{}{blank}  {}\n", outcome.file, outcome.verdict()));
        }
        if outcomes.len() > 1 {
            text.push_str(&format!("\n{}\n", sum(&outcomes)));
        }
        streams.out.write_all(env.charset.spelled(&text).as_bytes())?;
        Ok(outcomes.iter().map(Outcome::code).max().unwrap_or(EXIT_DONE))
    }
}

/// “6 lessons, 74 steps, 111 commands, 240 numbers, 64 questions: ok”
fn sum(outcomes: &[Outcome]) -> String {
    let mut all = Checked::default();
    for outcome in outcomes {
        if let CameTo::Checked(report) = &outcome.came_to {
            all.add(report.checked);
        }
    }
    let verdict = match outcomes.iter().filter(|outcome| outcome.code() != EXIT_DONE).count() {
        0 => "ok".to_string(),
        wrong => format!("{wrong} not ok"),
    };
    format!("{}, {}: {verdict}", counted(outcomes.len(), "lesson"), amounts(all))
}
