//! `attn lesson update`.

use clap::Args;

use super::checked_files::{CheckedFile, FileState, checked_files, finding_text};
use super::trust::{LessonCommands, TrustArgs};
use crate::cli::LESSON_OPTIONS;
use crate::cli::program::Program;
use crate::cli::{Env, Streams, report};
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNUSABLE, Error, Result};
use crate::foreign::to_path;
use crate::input::write_text;
use crate::lesson::check::{Concern, Finding, Report};
use crate::lesson::update::{UpdateOutcome, update};
use crate::text::counted;

/// Rewrite the outputs in a lesson's file
///
/// It shows what changes and rewrites only outputs. Lines with `...` and `[..]` that still match stay. It writes nothing while
/// a key or a command is wrong. Exit code 1 if something is left to fix.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  attn lesson update my-lesson.md")]
pub(super) struct UpdateArgs {
    /// Lessons: files or folders
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
    #[command(flatten)]
    trust: TrustArgs,
}

impl UpdateArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let (mut worst, commands) = (EXIT_DONE, self.trust.commands(program));
        for (at, checked) in checked_files(&self.paths, commands).iter().enumerate() {
            if let FileState::Unreadable(error) = &checked.state {
                report(error, env, streams);
            }
            let (text, code) = one(checked, commands, env.colour).unwrap_or_else(|error| {
                report(&error, env, streams);
                (format!("{}  not written\n", checked.file), EXIT_UNUSABLE)
            });
            let gap = if at > 0 && text.lines().count() > 1 { "\n" } else { "" };
            streams.out.write_all(env.charset.spelled(&format!("{gap}{text}")).as_bytes())?;
            worst = worst.max(code);
        }
        Ok(worst)
    }
}

/// Updates one file. Returns the report on it, and its exit code.
///
/// # Errors
/// If it cannot be written.
fn one(checked: &CheckedFile, commands: LessonCommands, colour: bool) -> Result<(String, u8)> {
    let file = &checked.file;
    let FileState::Checked(report) = &checked.state else {
        let said = format!("{}{file}  {}\n", checked.details(colour), checked.verdict());
        return Ok((said, EXIT_UNUSABLE));
    };
    if checked.is_built_in {
        return Err(Error::new("there is no file to write").in_source(file));
    }
    Ok(match update(file, &checked.text, report, &commands.of(&checked.path), LESSON_OPTIONS) {
        Err(faults) => {
            let broken: String =
                faults.0.iter().map(|fault| format!("{}\n\n", fault.in_file(file))).collect();
            let why = "not written: the output would break the block around it";
            (format!("{broken}{file}  {why}\n"), EXIT_CHECK_FAILED)
        }
        Ok(UpdateOutcome::Refused) => {
            let first: Vec<&Finding> =
                report.findings.iter().filter(|finding| finding.concern == Concern::Structure).collect();
            let why = format!("not written: {} to fix first", counted(first.len(), "fault"));
            let said: String = first.into_iter().map(|finding| finding_text(finding, file, colour)).collect();
            (format!("{said}{file}  {why}\n"), EXIT_CHECK_FAILED)
        }
        Ok(UpdateOutcome::Current) => rest(report, file, "nothing to rewrite", colour),
        Ok(UpdateOutcome::Rewritten(text, left)) => {
            write_text(&to_path(&checked.path), &text)?;
            let mut changes = String::new();
            let mut count = 0;
            for finding in report.findings.iter().filter(|finding| finding.rewrite.is_some()) {
                let mut finding = finding.clone();
                finding.fault.help = None;
                changes.push_str(&finding_text(&finding, file, colour));
                count += 1;
            }
            let (said, code) = rest(&left, file, &format!("{} rewritten", counted(count, "output")), colour);
            (changes + &said, code)
        }
    })
}

/// The findings that an update does not fix.
fn rest(report: &Report, file: &str, done: &str, colour: bool) -> (String, u8) {
    let said: String = report.findings.iter().map(|finding| finding_text(finding, file, colour)).collect();
    match report.wrong() {
        0 => (format!("{said}{file}  {done}\n"), EXIT_DONE),
        wrong => (format!("{said}{file}  {done}, {} to fix\n", counted(wrong, "fault")), EXIT_CHECK_FAILED),
    }
}
