//! `attn lesson check` and `attn lesson check --update`: lessons that are checked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use colored::Colorize;
use serde::Deserialize;

use crate::cli::program::Program;
use crate::cli::{Env, Streams, report};
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNUSABLE, Error, Result};
use crate::foreign::{to_path, visible};
use crate::input::{files_ending, is_folder, write_text};
use crate::lesson::check::{Coverage, Report, Tag, check, unified};
use crate::lesson::update::{Refusal, update};
use crate::lesson::{Concern, Fault, Faults, built_in, is_built_in, is_lesson, read, text_of};
use crate::memory;
use crate::text::{ScreenWidth, counted};

use super::no_lessons;
use super::trust::{LessonCommands, TrustArgs};

/// The options of `attn lesson check`.
#[derive(Deserialize, Debug)]
pub(crate) struct CheckArgs {
    paths: Vec<String>,
    update: bool,
    #[serde(flatten)]
    trust: TrustArgs,
}

impl CheckArgs {
    pub(crate) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        if self.update {
            return self.rewrite(program, env, streams);
        }
        let checked_files = checked_files(&self.paths, self.trust.commands(program));
        let widest = checked_files.iter().map(|checked| checked.file.width()).max().unwrap_or(0);
        let mut text = String::new();
        for checked in &checked_files {
            if let Checked::Unreadable(error) = &checked.outcome {
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
        if let Checked::Lesson(report) = &checked.outcome {
            all.add(report.checked);
        }
    }
    let verdict = match checked_files.iter().filter(|checked| checked.code() != EXIT_DONE).count() {
        0 => "ok".to_string(),
        wrong => format!("{wrong} not ok"),
    };
    format!("{}, {}: {verdict}", counted(checked_files.len(), "lesson"), amounts(all))
}

// The lessons that a command was given, each checked, and how the findings are shown.

/// The maximum number of lines of a diff that are shown.
const MOST_OF_A_DIFF: usize = 24;
/// The stack of a thread that checks lessons, as large as that of a program usually is.
const STACK: usize = 8 << 20;

/// One file, and what came of it.
pub(super) struct CheckedFile {
    /// Its name as it was given.
    path: String,
    /// Whether it is in the program.
    is_built_in: bool,
    /// Its name in messages.
    file: String,
    /// Its text, where it could be read.
    text: String,
    outcome: Checked,
}

/// What came of a file: the report on a lesson; the faults of what is no lesson, or one that cannot be played; or why it could not be
/// read.
enum Checked {
    Lesson(Report),
    Malformed(Faults),
    Unreadable(Error),
}

/// Checks the lessons that the paths name: files, built-in names, and the lessons in folders.
pub(super) fn checked_files(paths: &[String], commands: LessonCommands) -> Vec<CheckedFile> {
    let is_lessons = |path: &str| built_in(path).is_none() && is_folder(path);
    let files_of = |path: &String| match is_lessons(path) {
        true => files_ending(path, ".md"),
        false => Ok(vec![path.clone()]),
    };
    let files: Vec<Result<Vec<String>>> = paths.iter().map(files_of).collect();
    let names: Vec<&String> = files.iter().flatten().flatten().collect();
    let mut checked = on_all_cores(&names, |name| of_one(name, commands)).into_iter();
    let mut all = Vec::new();
    for (path, files) in paths.iter().zip(files) {
        match files.map(|names| checked.by_ref().take(names.len())) {
            Err(error) => all.push(CheckedFile::unreadable(path, error)),
            Ok(files) if is_lessons(path) => all.extend(lessons_of(path, files)),
            Ok(files) => all.extend(files),
        }
    }
    all
}

/// The lessons among the files of a folder, which must have one.
fn lessons_of(folder: &str, files: impl Iterator<Item = CheckedFile>) -> Vec<CheckedFile> {
    let lessons: Vec<CheckedFile> = files.filter(|checked| !checked.is_other()).collect();
    if !lessons.is_empty() {
        return lessons;
    }
    vec![CheckedFile::unreadable(folder, no_lessons(folder))]
}

/// The results of the same work for each item, in their order. The work is done on all cores; each thread has the rest of this
/// command's budget of memory.
fn on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, account) = (AtomicUsize::new(0), memory::lent());
    let work = || -> Vec<(usize, R)> {
        let _open = account.enter();
        let taken = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        taken.map_while(|at| Some((at, work(items.get(at)?)))).collect()
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let mut done = thread::scope(|scope| {
        let start = |_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..threads).filter_map(start).collect();
        let mut done = work();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

fn of_one(name: &str, commands: LessonCommands) -> CheckedFile {
    let (file, text) = match text_of(name) {
        Ok(found) => found,
        Err(error) => return CheckedFile::unreadable(name, error),
    };
    let outcome = match read(&file, &text) {
        Ok(lesson) => Checked::Lesson(check(&lesson, &commands.of(&file))),
        Err(faults) => Checked::Malformed(faults),
    };
    let is_built_in = is_built_in(&file);
    let file = if is_built_in { format!("{} (built in)", file.trim_end_matches(".md")) } else { file };
    CheckedFile { path: name.to_string(), is_built_in, file: visible(&file).into_owned(), text, outcome }
}

impl CheckedFile {
    fn unreadable(name: &str, error: Error) -> CheckedFile {
        let (file, outcome) = (visible(name).into_owned(), Checked::Unreadable(error));
        CheckedFile { path: name.to_string(), is_built_in: false, file, text: String::new(), outcome }
    }

    /// Whether it is a text of another kind, as a folder may hold beside its lessons.
    fn is_other(&self) -> bool {
        matches!(self.outcome, Checked::Malformed(_)) && !is_lesson(&self.text)
    }

    /// The exit code that it asks for.
    pub fn code(&self) -> u8 {
        match &self.outcome {
            Checked::Lesson(report) if report.holds() => EXIT_DONE,
            Checked::Lesson(_) => EXIT_CHECK_FAILED,
            Checked::Malformed(_) | Checked::Unreadable(_) => EXIT_UNUSABLE,
        }
    }

    /// Everything that is wrong with it, an empty line after each.
    fn details(&self, colour: bool) -> String {
        let findings = match &self.outcome {
            // That is an error, and not a finding.
            Checked::Unreadable(_) => &[][..],
            Checked::Malformed(faults) => &faults.0,
            Checked::Lesson(report) => &report.findings,
        };
        faults_text(findings, &self.file, colour)
    }

    /// The verdict in a few words.
    fn verdict(&self) -> String {
        let report = match &self.outcome {
            Checked::Unreadable(_) => return "not read".to_string(),
            Checked::Malformed(Faults(faults)) if !is_lesson(&self.text) && faults.len() == 1 => {
                return "no lesson".to_string();
            }
            Checked::Malformed(Faults(faults)) => {
                return format!("not checked: {}", counted(faults.len(), "fault"));
            }
            Checked::Lesson(report) => report,
        };
        let verdict = match report.wrong() {
            0 => "ok".to_string(),
            wrong => counted(wrong, "fault"),
        };
        let remarks = match report.findings.len() - report.wrong() {
            0 => String::new(),
            remarks => format!(", {}", counted(remarks, "remark")),
        };
        format!("{}: {verdict}{remarks}", amounts(report.checked))
    }
}

/// “8 steps, 12 commands, 31 numbers, 5 questions (1 can be drawn again with other numbers)”
pub(super) fn amounts(checked: Coverage) -> String {
    let Coverage { steps, commands, numbers, questions, drawable } = checked;
    let all = [(steps, "step"), (commands, "command"), (numbers, "number"), (questions, "question")];
    let mut amounts = all.map(|(count, noun)| counted(count, noun)).join(", ");
    if drawable > 0 {
        amounts.push_str(&format!(" ({drawable} can be drawn again with other numbers)"));
    }
    amounts
}

/// Faults, each with its diff where there is one; of a long diff its beginning. An empty line after each.
fn faults_text(faults: &[Fault], file: &str, colour: bool) -> String {
    let mut text = String::new();
    for fault in faults {
        let remark = if fault.concern == Concern::Remark { "remark: " } else { "" };
        let shown = Fault { what: format!("{remark}{}", fault.what), ..fault.clone() };
        text.push_str(&format!("{}\n", shown.in_file(file)));
        let diff = fault.rewrite.as_ref().map(|new| unified(&new.old, &new.text, new.lines.start + 1));
        let diff = diff.unwrap_or_default();
        for (tag, line) in diff.iter().take(MOST_OF_A_DIFF) {
            text.push_str(&format!("  {}\n", diff_line(*tag, line, colour)));
        }
        let more = diff.len().saturating_sub(MOST_OF_A_DIFF);
        if more > 0 {
            text.push_str(&format!("  … {}\n", counted(more, "more line")));
        }
        text.push('\n');
    }
    text
}

fn diff_line(tag: Tag, line: &str, colour: bool) -> String {
    let line = format!("{}{line}", tag.sign());
    match tag {
        Tag::Hunk if colour => line.cyan().to_string(),
        Tag::Lesson if colour => line.red().to_string(),
        Tag::Printed if colour => line.green().to_string(),
        _ => line,
    }
}

// `--update`.

impl CheckArgs {
    fn rewrite(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let (mut worst, commands) = (EXIT_DONE, self.trust.commands(program));
        for (at, checked) in checked_files(&self.paths, commands).iter().enumerate() {
            if let Checked::Unreadable(error) = &checked.outcome {
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
    let Checked::Lesson(report) = &checked.outcome else {
        let said = format!("{}{file}  {}\n", checked.details(colour), checked.verdict());
        return Ok((said, EXIT_UNUSABLE));
    };
    if checked.is_built_in {
        return Err(Error::new("there is no file to write").in_source(file));
    }
    let (text, left) = match update(file, &checked.text, report, &commands.of(&checked.path)) {
        Ok(updated) => updated,
        Err(Refusal { why, faults }) => {
            let said = faults_text(&faults.0, file, colour);
            return Ok((format!("{said}{file}  not written: {why}\n"), EXIT_CHECK_FAILED));
        }
    };
    let rewritten = report.findings.iter().filter(|finding| finding.rewrite.is_some());
    let rewritten: Vec<Fault> = rewritten.map(|finding| Fault { help: None, ..finding.clone() }).collect();
    let mut done = "nothing to rewrite".to_string();
    if !rewritten.is_empty() {
        write_text(&to_path(&checked.path), &text)?;
        done = format!("{} rewritten", counted(rewritten.len(), "output"));
    }
    let said = faults_text(&rewritten, file, colour) + &faults_text(&left.findings, file, colour);
    Ok(match left.wrong() {
        0 => (format!("{said}{file}  {done}\n"), EXIT_DONE),
        wrong => (format!("{said}{file}  {done}, {} to fix\n", counted(wrong, "fault")), EXIT_CHECK_FAILED),
    })
}
