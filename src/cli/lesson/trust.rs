//! Runs the commands of lessons, and limits the files that they read and write.

use std::ffi::OsString;
use std::sync::Arc;

use serde::Deserialize;

use crate::cli::program::{Program, RunFn};
use crate::cli::{Env, Outcome, Streams};
use crate::input::{ReadPermission, WritePermission};
use crate::lesson::{CommandOutput, DrawResult, Lesson, MOST_PRINTED, Runner, draw, is_built_in};
use crate::memory::ChargedBytes;
use crate::render::Screen;

/// Whether a lesson is trusted.
#[derive(Deserialize, Clone, Copy, Debug, Default)]
pub(crate) struct TrustArgs {
    trust: bool,
}

/// Runs the commands of lessons.
#[derive(Clone, Copy)]
pub(crate) struct LessonCommands {
    run: RunFn,
    is_trusted: bool,
}

impl TrustArgs {
    /// The commands of lessons that have this trust.
    pub(crate) fn commands(self, program: &Program<'_>) -> LessonCommands {
        LessonCommands { run: program.run, is_trusted: self.trust }
    }
}

impl LessonCommands {
    /// Runs the commands of one lesson in this process. They write no files.
    pub(crate) fn of(self, lesson: &str) -> impl Fn(&[String], Screen) -> CommandOutput + use<> {
        let reading = match is_built_in(lesson) {
            true => ReadPermission::of_built_in_lesson(lesson),
            false if self.is_trusted => ReadPermission::Anywhere,
            false => ReadPermission::of_lesson(lesson),
        };
        commands_in(Env { writing: WritePermission::Refused, reading, ..Env::default() }, self.run)
    }
}

/// Runs the commands that a teacher types during a lesson. They may write files.
pub(crate) fn typed_commands(program: &Program<'_>) -> impl Fn(&[String], Screen) -> CommandOutput + use<> {
    let (writing, reading) = (WritePermission::Allowed, ReadPermission::Anywhere);
    commands_in(Env { writing, reading, ..Env::default() }, program.run)
}

/// Runs those of them that fill the screen.
pub(crate) fn full_screen_commands(
    program: &Program<'_>,
) -> impl Fn(&[String], Screen) -> CommandOutput + use<> {
    commands_in(Env { has_keys: true, has_screen: true, ..Env::default() }, program.run)
}

/// Runs commands in these surroundings, on whatever screen.
fn commands_in(env: Env, run: RunFn) -> impl Fn(&[String], Screen) -> CommandOutput {
    move |args, Screen { width, colour, theme, charset }| {
        let env = Env { width, colour, colour_err: colour, theme, charset, ..env.clone() };
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let (mut out, mut err) = (ChargedBytes::new(MOST_PRINTED), ChargedBytes::new(MOST_PRINTED));
        let mut streams = Streams { input: &mut std::io::empty(), out: &mut out, err: &mut err };
        let Outcome { code, graphs } = run(&args, &env, &mut streams);
        let text = |gathered: ChargedBytes| {
            String::from_utf8(gathered.into_bytes())
                .unwrap_or_else(|bytes| String::from_utf8_lossy(bytes.as_bytes()).into_owned())
        };
        let graphs = graphs.into_iter().map(Arc::new).collect();
        CommandOutput { code, out: text(out), err: text(err), graphs }
    }
}

// `--seed`: a lesson with other random numbers.

/// The lesson, with its questions drawn again if there is a seed. Questions that keep their numbers are listed on standard
/// error.
pub(super) fn with_seed(
    lesson: Lesson,
    seed: Option<u32>,
    runner: &Runner<'_>,
    streams: &mut Streams<'_>,
) -> Lesson {
    let Some(seed) = seed else { return lesson };
    let DrawResult { lesson, redrawn, kept } = draw(&lesson, runner, seed);
    let keeps =
        |id| format!("`{id}` keeps its numbers: no other numbers were found with exactly one right answer");
    let mut remarks: Vec<String> = kept.iter().map(keeps).collect();
    if redrawn.is_empty() && kept.is_empty() {
        let name = &lesson.name;
        remarks.push(format!("no question of `{name}` can have other numbers; all stay as they are"));
    }
    for remark in remarks {
        // An error of writing to standard error is ignored.
        let _ = writeln!(streams.err, "remark: {remark}");
    }
    lesson
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::exists;

    #[test]
    fn a_lesson_writes_no_files_whatever_its_commands_ask_for_and_a_teacher_does() {
        let definitions = clap::Command::new("attn");
        let run: RunFn = |args, env, streams| crate::cli::run(args, env, streams);
        let program = Program { typed: &[], definitions: &definitions, run };
        let folder = tempfile::tempdir().unwrap();
        let made = |name: &str| folder.path().join(name).display().to_string();
        let data = "examples/data/bat.json";
        let (saved, suggested) = (made("o.npy"), made("made.npz"));
        for (command, file) in [
            (format!("attend {data} --save O={saved}"), &saved),
            (format!("diagnose {data} --suggest-input {suggested}"), &suggested),
        ] {
            let args: Vec<String> = command.split(' ').map(str::to_string).collect();
            let refused = TrustArgs { trust: true }.commands(&program).of("x.md")(&args, Screen::plain(80));
            assert_eq!(refused.code, 2, "{command}");
            assert!(refused.err.contains("a lesson cannot write files"), "{command}: {}", refused.err);
            assert!(!exists(file), "{command}");
            assert_eq!(typed_commands(&program)(&args, Screen::plain(80)).code, 0, "{command}");
            assert!(exists(file), "{command}");
        }
    }
}
