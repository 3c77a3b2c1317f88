//! `attn lesson`.

mod check;
mod directives;
mod export;
mod follow;
mod list;
mod new;
mod outcomes;
mod play;
mod quiz;
mod update;

use clap::{Args, Subcommand};

use super::output::TablesArgs;
use super::{Env, Streams};
use crate::error::{EXIT_DONE, Result};
use crate::input::{Reading, Writing};
use crate::lesson::{Drawn, Lesson, MOST_PRINTED, Ran, Runner, Screen, draw};
use crate::memory::Gathered;

/// Lessons for a class or alone: play, quiz, check, export
#[derive(Args, Debug)]
#[command(
    verbatim_doc_comment,
    disable_help_subcommand = true,
    override_usage = "attn lesson [COMMAND]",
    args_conflicts_with_subcommands = true
)]
#[command( help_template = HELP)]
pub(super) struct LessonArgs {
    #[command(subcommand)]
    command: Option<LessonCommand>,
    #[command(flatten)]
    look: TablesArgs,
}

/// All that a teacher needs, on one screen.
const HELP: &str = "\
{about}

  attn lesson play 0-tour   on the projector; file.md works as well
  attn lesson follow        your notes and the answers, in a second terminal

  space → PgDn  go on         A B C …  answer a choice     v  votes: A3 B14 C8
  ← PgUp        go back       Enter    show the answer     h  a hint
  5G  n  p      to a step     t        contents            !  any attn command
  ?             more keys     /        search              q  end

{usage-heading} {usage}

{subcommands}
";

#[derive(Subcommand, Debug)]
enum LessonCommand {
    List(list::ListArgs),
    Play(play::PlayArgs),
    Follow(follow::FollowArgs),
    Quiz(quiz::QuizArgs),
    Check(check::CheckArgs),
    Update(update::UpdateArgs),
    New(new::NewArgs),
    Directives(directives::DirectivesArgs),
    Export(export::ExportArgs),
}

impl LessonArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let Some(command) = &self.command else {
            list::ListArgs::built_in(self.look.clone()).run(env, streams)?;
            return Ok(EXIT_DONE);
        };
        match command {
            LessonCommand::List(args) => args.run(env, streams)?,
            LessonCommand::Play(args) => return args.run(env, streams),
            LessonCommand::Follow(args) => return args.run(env, streams),
            LessonCommand::Quiz(args) => return args.run(env, streams),
            LessonCommand::Check(args) => return args.run(env, streams),
            LessonCommand::Update(args) => return args.run(env, streams),
            LessonCommand::New(args) => args.run(env, streams)?,
            LessonCommand::Directives(args) => args.run(env, streams)?,
            LessonCommand::Export(args) => args.run(env, streams)?,
        }
        Ok(EXIT_DONE)
    }
}

/// The lesson, with its questions drawn again where a seed is asked for. On standard error stands what keeps its numbers.
fn with_seed(lesson: Lesson, seed: Option<u32>, runner: &Runner<'_>, streams: &mut Streams<'_>) -> Lesson {
    let Some(seed) = seed else { return lesson };
    let Drawn { lesson, redrawn, kept } = draw(&lesson, runner, seed);
    let mut remarks: Vec<String> = kept
        .iter()
        .map(|id| {
            format!("`{id}` keeps its numbers: no other numbers were found with exactly one right answer")
        })
        .collect();
    if redrawn.is_empty() && kept.is_empty() {
        remarks
            .push(format!("no question of `{}` can have other numbers; all stay as they are", lesson.name));
    }
    for remark in remarks {
        // Where standard error cannot be written there is nobody to tell.
        let _ = writeln!(streams.err, "remark: {remark}");
    }
    lesson
}

/// Whether a lesson is trusted.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct TrustArgs {
    /// Let the lesson's commands read any file
    ///
    /// Otherwise they read only files below the lesson's own folder and the working directory.
    #[arg(long)]
    trust: bool,
}

impl TrustArgs {
    /// The program's own `run`, in process: what the commands of a lesson are run by. They write no files.
    pub(super) fn run(self, lesson: &str) -> impl Fn(&[String], Screen) -> Ran + use<> {
        let reading = if self.trust { Reading::Anywhere } else { Reading::of_lesson(lesson) };
        move |args, screen| ran(args, screen, Writing::Refused, reading)
    }
}

/// The same for a command that a teacher types.
pub(super) fn by_hand(args: &[String], screen: Screen) -> Ran {
    ran(args, screen, Writing::Allowed, Reading::Anywhere)
}

fn ran(args: &[String], screen: Screen, writing: Writing, reading: Reading) -> Ran {
    let env = Env {
        writing,
        reading,
        width: screen.width,
        colour: screen.colour,
        colour_err: screen.colour,
        theme: screen.theme,
        charset: screen.charset,
        ..Env::default()
    };
    let (mut out, mut err) = (Gathered::new(MOST_PRINTED), Gathered::new(MOST_PRINTED));
    let mut streams = Streams { input: &mut std::io::empty(), out: &mut out, err: &mut err };
    let code = super::run(args, &env, &mut streams);
    let text = |gathered: Gathered| {
        String::from_utf8(gathered.into_bytes())
            .unwrap_or_else(|bytes| String::from_utf8_lossy(bytes.as_bytes()).into_owned())
    };
    Ran { code, out: text(out), err: text(err) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::exists;

    #[test]
    fn a_lesson_writes_no_files_whatever_its_commands_ask_for_and_a_teacher_does() {
        let folder = tempfile::tempdir().unwrap();
        let made = |name: &str| folder.path().join(name).display().to_string();
        let data = "examples/data/bat.json";
        let (saved, suggested) = (made("o.npy"), made("made.npz"));
        for (command, file) in [
            (format!("attend {data} --save O={saved}"), &saved),
            (format!("diagnose {data} --suggest-input {suggested}"), &suggested),
        ] {
            let args: Vec<String> = command.split(' ').map(str::to_string).collect();
            let refused = TrustArgs { trust: true }.run("x.md")(&args, Screen::plain(80));
            assert_eq!(refused.code, 2, "{command}");
            assert!(refused.err.contains("a lesson cannot write files"), "{command}: {}", refused.err);
            assert!(!exists(file), "{command}");
            assert_eq!(by_hand(&args, Screen::plain(80)).code, 0, "{command}");
            assert!(exists(file), "{command}");
        }
    }
}
