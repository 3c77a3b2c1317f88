//! `attn lesson report`: what a class has handed in.

use serde::Deserialize;

use crate::cli::output::LookArgs;
use crate::cli::program::Program;
use crate::cli::{Env, Streams, output};
use crate::error::{EXIT_DONE, EXIT_UNUSABLE, Error, Result};
use crate::foreign::visible;
use crate::input::Files;
use crate::lesson::class_report::{class_tables, to_look_at};
use crate::lesson::hand_in::{HandIn, handed_in};
use crate::lesson::show::LessonView;
use crate::lesson::{Lesson, Runner, built_in, open};
use crate::render::Screen;

use super::lesson_files;
use super::trust::TrustArgs;

/// The options of `attn lesson report`.
#[derive(Deserialize, Debug)]
pub(crate) struct ReportArgs {
    files: Vec<String>,
    add: Option<String>,
    #[serde(flatten)]
    look: LookArgs,
}

impl ReportArgs {
    pub(crate) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let mut all: Vec<HandIn> = Vec::new();
        let mut refused = Vec::new();
        {
            let mut files = Files::new(streams.input).within(env.reading.clone());
            for file in &self.files {
                let text = files.text(file)?;
                let read = match handed_in(&text) {
                    Ok(read) => read,
                    // One file without results does not keep the others from being read.
                    Err(error) => {
                        refused.push(error.in_source(visible(file)));
                        continue;
                    }
                };
                for (at, one) in read.into_iter().enumerate() {
                    let place = |error: Error| error.in_source(format!("{}, code {}", visible(file), at + 1));
                    match one.map_err(place) {
                        // The same line twice is one student; without a name it may be two.
                        Ok(handed) if !handed.name.is_empty() && all.contains(&handed) => {}
                        Ok(handed) => all.push(handed),
                        Err(error) => refused.push(error),
                    }
                }
            }
        }
        if all.is_empty() {
            let first = refused.remove(0);
            tell(&refused.iter().map(Error::in_one_line).collect::<Vec<_>>(), streams);
            return Err(first);
        }
        let lessons = self.lessons(&all)?;
        let commands = TrustArgs::default().commands(program);
        let runs: Vec<_> = lessons.iter().map(|lesson| commands.of(&lesson.file)).collect();
        let runners: Vec<Runner<'_>> = runs.iter().map(|run| Runner::new(run)).collect();
        let views: Vec<LessonView<'_>> = lessons
            .iter()
            .zip(&runners)
            .map(|(lesson, runner)| LessonView::new(lesson, runner, Screen::plain(80)))
            .collect();
        let refusals: Vec<String> = refused.iter().map(Error::in_one_line).collect();
        let mut parts = class_tables(&all, &views, self.look.is_for_people());
        parts.extend(to_look_at(&all, &views, &refusals));
        if self.look.is_csv() {
            let cells = parts.iter_mut().flat_map(|(_, table)| table.rows.iter_mut().flatten());
            cells.filter(|cell| is_formula(cell)).for_each(|cell| cell.insert(0, '\''));
        }
        output::write_paged(&self.look, env, streams, |streams| {
            self.look.tables("lesson report", &parts, env, streams)
        })?;
        tell(&refusals, streams);
        Ok(if refused.is_empty() { EXIT_DONE } else { EXIT_UNUSABLE })
    }

    /// The lessons of the results: those of the program by their names, and those of the folder. A name in a result opens no file.
    fn lessons(&self, all: &[HandIn]) -> Result<Vec<Lesson>> {
        let own = self.add.as_deref().map(lesson_files).transpose()?.unwrap_or_default();
        let mut lessons = own.into_iter().map(|(file, _)| Ok(open(&file)?.0)).collect::<Result<Vec<_>>>()?;
        for handed in all {
            let is_known = lessons.iter().any(|lesson| lesson.name == handed.lesson);
            if !is_known && let Some((file, text)) = built_in(&handed.lesson) {
                lessons.extend(crate::lesson::read(file, text).ok());
            }
        }
        Ok(lessons)
    }
}

/// Tells what could not be read.
fn tell(refusals: &[String], streams: &mut Streams<'_>) {
    for refusal in refusals {
        // An error of writing to standard error is ignored.
        let _ = writeln!(streams.err, "warning: {refusal}");
    }
}

/// Whether a spreadsheet would compute this text; an apostrophe in front keeps it a text.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err()
}
