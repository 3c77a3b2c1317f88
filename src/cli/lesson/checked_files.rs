//! The lessons that a command was given, each checked, and how the findings are shown.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use colored::Colorize;

use crate::cli::LESSON_OPTIONS;
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNUSABLE, Error, Result};
use crate::foreign::visible;
use crate::input::{is_folder, markdown_files};
use crate::lesson::check::{Concern, Coverage, Finding, Report, Tag, check};
use crate::lesson::{Faults, built_in, is_built_in, is_lesson, read, text_of};
use crate::memory;
use crate::text::counted;

use super::trust::LessonCommands;

/// The maximum number of lines of a diff that are shown.
const MOST_OF_A_DIFF: usize = 24;
/// The stack of a thread that checks lessons, as large as that of a program usually is.
const STACK: usize = 8 << 20;

/// One file and its state.
pub(super) struct CheckedFile {
    /// Its name as it was given.
    pub path: String,
    /// Whether it is in the program.
    pub is_built_in: bool,
    /// Its name in messages.
    pub file: String,
    /// Its text, where it could be read.
    pub text: String,
    pub state: FileState,
}

/// The state of a file.
pub(super) enum FileState {
    /// It is a lesson, and was checked.
    Checked(Report),
    /// It is not a lesson, or one that cannot be played.
    Malformed(Faults),
    /// It could not be read.
    Unreadable(Error),
}

/// Checks the lessons that the paths name: files, built-in names, and the lessons in folders.
pub(super) fn checked_files(paths: &[String], commands: LessonCommands) -> Vec<CheckedFile> {
    let is_lessons = |path: &str| built_in(path).is_none() && is_folder(path);
    let files_of = |path: &String| match is_lessons(path) {
        true => markdown_files(path),
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
    let error = Error::new("this folder has no lessons").in_source(visible(folder));
    let help = "name a folder with lessons; attn lesson new NAME writes one";
    vec![CheckedFile::unreadable(folder, error.help(help))]
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
    let state = match read(&file, &text, LESSON_OPTIONS) {
        Ok(lesson) => FileState::Checked(check(&lesson, &commands.of(&file))),
        Err(faults) => FileState::Malformed(faults),
    };
    let is_built_in = is_built_in(&file);
    let file = if is_built_in { format!("{} (built in)", file.trim_end_matches(".md")) } else { file };
    CheckedFile { path: name.to_string(), is_built_in, file: visible(&file).into_owned(), text, state }
}

impl CheckedFile {
    fn unreadable(name: &str, error: Error) -> CheckedFile {
        let file = visible(name).into_owned();
        let state = FileState::Unreadable(error);
        CheckedFile { path: name.to_string(), is_built_in: false, file, text: String::new(), state }
    }

    /// Whether it is a text of another kind, as a folder may hold beside its lessons.
    fn is_other(&self) -> bool {
        matches!(self.state, FileState::Malformed(_)) && !is_lesson(&self.text)
    }

    /// The exit code that it asks for.
    pub fn code(&self) -> u8 {
        match &self.state {
            FileState::Checked(report) if report.holds() => EXIT_DONE,
            FileState::Checked(_) => EXIT_CHECK_FAILED,
            FileState::Malformed(_) | FileState::Unreadable(_) => EXIT_UNUSABLE,
        }
    }

    /// Everything that is wrong with it, an empty line after each.
    pub fn details(&self, colour: bool) -> String {
        match &self.state {
            // That is an error, and not a finding.
            FileState::Unreadable(_) => String::new(),
            FileState::Malformed(Faults(faults)) => {
                faults.iter().map(|fault| format!("{}\n\n", fault.in_file(&self.file))).collect()
            }
            FileState::Checked(report) => {
                report.findings.iter().map(|finding| finding_text(finding, &self.file, colour)).collect()
            }
        }
    }

    /// The verdict in a few words.
    pub fn verdict(&self) -> String {
        match &self.state {
            FileState::Unreadable(_) => "not read".to_string(),
            FileState::Malformed(Faults(faults)) if !is_lesson(&self.text) && faults.len() == 1 => {
                "no lesson".to_string()
            }
            FileState::Malformed(Faults(faults)) => {
                format!("not checked: {}", counted(faults.len(), "fault"))
            }
            FileState::Checked(report) => {
                let remarks = match report.findings.len() - report.wrong() {
                    0 => String::new(),
                    remarks => format!(", {}", counted(remarks, "remark")),
                };
                let verdict = match report.wrong() {
                    0 => "ok".to_string(),
                    wrong => counted(wrong, "fault"),
                };
                format!("{}: {verdict}{remarks}", amounts(report.checked))
            }
        }
    }
}

/// “8 steps, 12 commands, 31 numbers, 5 questions (1 can be drawn again with other numbers)”
pub(super) fn amounts(checked: Coverage) -> String {
    let Coverage { steps, commands, numbers, questions, drawable } = checked;
    let all = [(steps, "step"), (commands, "command"), (numbers, "number"), (questions, "question")];
    let drawable = if drawable == 0 {
        String::new()
    } else {
        format!(" ({drawable} can be drawn again with other numbers)")
    };
    all.map(|(count, noun)| counted(count, noun)).join(", ") + &drawable
}

/// One finding, and the diff where there is one; of a long one its beginning.
pub(super) fn finding_text(finding: &Finding, file: &str, colour: bool) -> String {
    let mut fault = finding.fault.clone();
    if finding.concern == Concern::Remark {
        fault.what = format!("remark: {}", fault.what);
    }
    let mut text = format!("{}\n", fault.in_file(file));
    for (tag, line) in finding.diff.iter().take(MOST_OF_A_DIFF) {
        text.push_str(&format!("  {}\n", diff_line(*tag, line, colour)));
    }
    let more = finding.diff.len().saturating_sub(MOST_OF_A_DIFF);
    if more > 0 {
        text.push_str(&format!("  … {}\n", counted(more, "more line")));
    }
    text.push('\n');
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
