//! `attn lesson`.

mod check;
mod checked_files;
mod directives;
mod export;
mod follow;
mod list;
mod new;
mod options;
mod play;
mod quiz;
mod seed;
mod trust;
mod update;

use clap::{Args, Subcommand};

pub use options::LESSON_OPTIONS;
pub(super) use trust::{fills_screen, full_screen_commands, typed_commands};

use super::output::TablesArgs;
use super::program::Program;
use super::{Env, Streams};
use crate::error::{EXIT_DONE, Result};

/// Lessons for a class or alone: play, quiz, check, export
#[derive(Args, Debug)]
#[command(
    verbatim_doc_comment,
    disable_help_subcommand = true,
    override_usage = "attn lesson [COMMAND]",
    args_conflicts_with_subcommands = true
)]
#[command(help_template = HELP)]
pub(super) struct LessonArgs {
    #[command(subcommand)]
    command: Option<LessonCommand>,
    #[command(flatten)]
    look: TablesArgs,
}

/// The help: all commands and keys on one screen.
const HELP: &str = "\
{about}

  attn lesson play 0-tour   on the projector; file.md works as well
  attn lesson follow        your notes and the answers, in a second terminal

  space → PgDn  go on         A B C …  answer a choice     v  votes: A3 B14 C8
  ← PgUp        go back       Enter    show the answer     h  a hint
  5G  n  p      to a step     t        contents            !  any attn command
  ?             more keys     /        search              q  end

  A lesson's commands write no files, and read only files below its folder and
  the working directory; --trust lets them read any file.

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
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let Some(command) = &self.command else {
            return list::ListArgs::built_in(self.look.clone()).run(env, streams);
        };
        match command {
            LessonCommand::List(args) => return args.run(env, streams),
            LessonCommand::Play(args) => return args.run(program, env, streams),
            LessonCommand::Follow(args) => return args.run(env, streams),
            LessonCommand::Quiz(args) => return args.run(program, env, streams),
            LessonCommand::Check(args) => return args.run(program, env, streams),
            LessonCommand::Update(args) => return args.run(program, env, streams),
            LessonCommand::New(args) => args.run(program, env, streams)?,
            LessonCommand::Directives(args) => return args.run(env, streams),
            LessonCommand::Export(args) => args.run(program, env, streams)?,
        }
        Ok(EXIT_DONE)
    }
}
