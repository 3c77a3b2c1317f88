//! `attn lesson new`.

use crate::cli::LESSON_OPTIONS;
use crate::foreign::{to_path, visible};
use crate::text::{counted, quoted};

use clap::Args;

use super::trust::TrustArgs;
use crate::cli::program::Program;
use crate::cli::{Env, Streams};
use crate::error::{Error, Place, Result};
use crate::input::{exists, write_text};
use crate::lesson::{built_in, new_lesson, read};

/// Write a small lesson to start from, which passes `check`
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  attn lesson new my-lesson")]
pub(super) struct NewArgs {
    /// The file to write; .md is added if it is missing
    #[arg(value_name = "NAME")]
    name: String,
}

impl NewArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let file = if self.name.ends_with(".md") { self.name.clone() } else { format!("{}.md", self.name) };
        let shown = visible(&file).into_owned();
        if self.name.is_empty() || self.name.ends_with(['/', '\\']) {
            return Err(
                Error::new("the lesson needs a name").help("write, for example, attn lesson new my-lesson")
            );
        }
        let name = file.trim_end_matches(".md");
        if let Some((own, _)) = built_in(name) {
            let own = own.trim_end_matches(".md");
            return Err(Error::new(format!(
                "`attn lesson play {name}` would play the lesson `{own}` of the program"
            ))
            .in_source(shown)
            .help("choose another name"));
        }
        if exists(&file) {
            return Err(Error::new("exists already")
                .in_source(shown)
                .help("name a new file; this one is not overwritten"));
        }
        let text = new_lesson(&file, &TrustArgs::default().commands(program).of(&file), LESSON_OPTIONS)
            .map_err(|faults| {
                let first = faults.0.into_iter().next();
                first.map_or_else(
                    || Error::new("no lesson"),
                    |fault| Error::new(fault.what).at(Place::Line(shown.clone(), fault.line)),
                )
            })?;
        write_text(&to_path(&file), &text)?;
        let lesson = read(&file, &text, LESSON_OPTIONS)
            .map_err(|_| Error::new("no lesson").in_source(shown.clone()))?;
        let [steps, questions] = [(lesson.steps.len(), "step"), (lesson.questions().count(), "question")]
            .map(|(n, word)| counted(n, word));
        let name = quoted(&shown);
        let said = format!(
            "{shown} is written: a lesson of {steps} with {questions}, for you to change.\n\n  \
             attn lesson play {name}        play it\n  \
             attn lesson check {name}       what is wrong with it, after each change\n  \
             attn lesson update {name}      write what its commands print into it\n  \
             attn lesson directives{}   what its comments can say\n",
            " ".repeat(name.chars().count())
        );
        streams.out.write_all(env.charset.spelled(&said).as_bytes())?;
        Ok(())
    }
}
