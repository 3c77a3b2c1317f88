//! `attn site`: the program as a static site.

use serde::Deserialize;

use crate::demo::FileDemo;
use crate::error::{EXIT_DONE, Result};
use crate::foreign::{from_os, from_path, to_path, visible};
use crate::input::{PutOutcome, check_folder, files_ending, put_files, read_text};
use crate::lesson::check::check;
use crate::lesson::{BUILT_IN, LONGEST, open};
use crate::site;
use crate::site::{Added, Example, SiteDemo, SiteExercise, SiteLesson, files, mistaken_results};
use crate::terminal::ERASE;
use crate::text::{counted, quoted};

use super::diagnose::exercise;
use super::lesson::{TrustArgs, lesson_files};
use super::program::Program;
use super::{Env, Streams};

/// The options of `attn site`.
#[derive(Deserialize, Debug)]
pub(super) struct SiteArgs {
    folder: String,
    add: Option<String>,
    overwrite: bool,
}

impl SiteArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        // What cannot be written is not computed.
        check_folder(&to_path(&self.folder), env.writing)?;
        let commands = TrustArgs::default().commands(program);
        let with_run = |name: &str| -> Result<SiteLesson<'_>> {
            let (lesson, _) = open(name)?;
            let run = Box::new(commands.of(&lesson.file));
            Ok(SiteLesson { lesson, run })
        };
        let own: Vec<SiteLesson<'_>> =
            BUILT_IN.iter().map(|(file, _)| with_run(file.trim_end_matches(".md"))).collect::<Result<_>>()?;
        let mut added = Added::default();
        if let Some(folder) = &self.add {
            for file in files_ending(folder, ".attn")? {
                let text = read_text(&to_path(&file), LONGEST)?;
                let title = FileDemo::read(&visible(&file), &text)?.title().to_string();
                let name =
                    to_path(&file).file_stem().map_or(String::new(), |name| from_os(name).into_owned());
                let run = Box::new(commands.of(&file));
                added.demos.push(SiteDemo { file, name, title, run });
            }
            let lessons = lesson_files(folder);
            // A folder of demos alone is fine.
            let lessons = if added.demos.is_empty() { lessons? } else { lessons.unwrap_or_default() };
            for (file, text) in lessons {
                text?;
                added.lessons.push(with_run(&file)?);
            }
        }
        for SiteLesson { lesson, run } in &added.lessons {
            let wrong = check(lesson, run).wrong();
            if wrong > 0 {
                let file = visible(&lesson.file);
                let found = counted(wrong, "fault");
                // An error of writing to standard error is ignored.
                let _ =
                    writeln!(streams.err, "warning: {file} has {found}; attn lesson check {}", quoted(&file));
            }
        }
        let mut exercises: Vec<Example> = Vec::new();
        for SiteExercise { typed, .. } in site::exercises().iter().filter(|one| one.title.is_none()) {
            let task = exercise(program, typed, "")?;
            exercises.push(Example { typed: typed.to_string(), task, result: None });
        }
        for one in mistaken_results() {
            let task = exercise(program, &format!("- {}", one.options), &one.inputs.to_string())?;
            exercises.push(Example { typed: one.options.clone(), task, result: Some(one) });
        }
        let mut tell = |line: &str| {
            if env.shows_progress {
                // An error of writing to standard error is ignored.
                let _ = write!(streams.err, "{ERASE}{line}").and_then(|()| streams.err.flush());
            }
        };
        let mut count = |done: usize| tell(&counted(done, "file"));
        let made = files(&own, &added, &commands.of(BUILT_IN[0].0), &exercises, &mut count);
        tell("");
        let made = made?;
        let files: Vec<(&str, &[u8])> =
            made.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        let put = put_files(&to_path(&self.folder), &files, self.overwrite, env.writing)?;
        let written = put.iter().filter(|put| **put != PutOutcome::WasThere).count();
        let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
        let front = from_path(&to_path(&self.folder).join("index.html"));
        let said = format!(
            "{} written to {}, {:.1} MB in all. Open {} in a browser.\n",
            counted(written, "file"),
            visible(&self.folder),
            bytes as f64 / 1e6,
            visible(&quoted(&front))
        );
        streams.out.write_all(env.charset.spelled(&said).as_bytes())?;
        Ok(EXIT_DONE)
    }
}
