//! `attn lesson`, and the list of lessons.

mod check;
mod play;
mod quiz;
mod report;
mod trust;
mod write;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::foreign::{from_os, from_path, to_path, visible};
use crate::input::{exists, files_ending, is_folder, read_text};
use crate::lesson::{BUILT_IN, LONGEST, Lesson, ROUTES, Store, is_lesson, read};
use crate::story::Table;
use crate::text::quoted;

use super::output::LookArgs;
use super::{Env, Streams, output};

pub(super) use check::CheckArgs;
pub(super) use play::{FollowArgs, PlayArgs};
pub(super) use quiz::QuizArgs;
pub(super) use report::ReportArgs;
pub(super) use trust::{TrustArgs, full_screen_commands, typed_commands};
pub(super) use write::{ExportArgs, NewArgs};

/// The options of `attn lesson`.
#[derive(Deserialize, Debug)]
pub(super) struct ListArgs {
    folder: Option<String>,
    #[serde(flatten)]
    look: LookArgs,
}

impl ListArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let table = table(self.folder.as_deref(), env)?;
        output::write_paged(&self.look, env, streams, |streams| {
            self.look.tables("lesson", &[table], env, streams)
        })
    }
}

/// The lessons of a folder, or those in the program, under a title.
fn table(folder: Option<&str>, env: &Env) -> Result<(String, Table)> {
    let (title, rows) = match folder {
        None => {
            let own = BUILT_IN.iter();
            let rows = own.map(|(file, text)| row(file.trim_end_matches(".md"), file, Some(text), env));
            (format!("Lessons: attn lesson play NAME. {ROUTES}"), rows.collect::<Vec<_>>())
        }
        Some(folder) => {
            let path = from_path(&to_path(folder).join("FILE"));
            let title = format!("Lessons: attn lesson play {}", quoted(&path));
            let row_of = |(file, text): &(String, Result<String>)| {
                let path = to_path(file);
                let name = path.file_name().map_or(file.as_str().into(), from_os);
                row(&name, file, text.as_deref().ok(), env)
            };
            (title, lesson_files(folder)?.iter().map(row_of).collect())
        }
    };
    Ok((title, Table::new(&["lesson", "title", "minutes", "steps", "shown"], rows)))
}

/// The lessons of a folder: the name of each file, and its text, or why it cannot be read.
///
/// # Errors
/// If there is no such folder, or it has no lessons.
pub(super) fn lesson_files(folder: &str) -> Result<Vec<(String, Result<String>)>> {
    if exists(folder) && !is_folder(folder) {
        return Err(Error::new("is not a folder").in_source(visible(folder)).help(format!(
            "name its folder, or play the lesson: attn lesson play {}",
            quoted(&visible(folder))
        )));
    }
    let files = files_ending(folder, ".md")?.into_iter().map(|file| {
        let text = read_text(&to_path(&file), LONGEST);
        (file, text)
    });
    let lessons: Vec<_> =
        files.filter(|(_, text)| text.as_ref().map_or(true, |text| is_lesson(text))).collect();
    if lessons.is_empty() {
        return Err(no_lessons(folder));
    }
    Ok(lessons)
}

/// The error of a folder without lessons.
fn no_lessons(folder: &str) -> Error {
    Error::new("this folder has no lessons")
        .in_source(visible(folder))
        .help("name a folder with lessons; attn lesson new NAME writes one")
}

/// The row of a lesson, called `name`; `text` is that of its file, where it could be read.
fn row(name: &str, file: &str, text: Option<&str>, env: &Env) -> Vec<String> {
    let [title, minutes, steps, shown] = match text.and_then(|text| read(file, text).ok()) {
        Some(lesson) => [
            lesson.title.clone(),
            lesson.minutes.map(|minutes| minutes.to_string()).unwrap_or_default(),
            lesson.steps.len().to_string(),
            progress(&lesson, env),
        ],
        None => {
            let what = format!("cannot be played: attn lesson check {}", quoted(file));
            [what, String::new(), String::new(), String::new()]
        }
    };
    vec![name.to_string(), title, minutes, steps, shown]
}

/// `3/8`; empty if no step was shown, or the progress is unknown.
fn progress(lesson: &Lesson, env: &Env) -> String {
    let progress =
        env.state.as_deref().and_then(|state| Store::new(state).read(lesson).ok()).unwrap_or_default();
    match progress.steps_done(lesson) {
        0 => String::new(),
        done => format!("{done}/{}", lesson.steps.len()),
    }
}
