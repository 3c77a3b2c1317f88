//! `attn lesson`.

mod check;
mod directives;
mod export;
mod new;
mod outcomes;
mod update;

use clap::{Args, Subcommand};

use super::{Env, Streams};
use crate::error::{EXIT_DONE, Result};
use crate::lesson::{Ran, Screen};

/// Lessons that are played in class, step by step, and checked to the last digit
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct LessonArgs {
    #[command(subcommand)]
    command: LessonCommand,
}

#[derive(Subcommand, Debug)]
enum LessonCommand {
    Check(check::CheckArgs),
    Update(update::UpdateArgs),
    New(new::NewArgs),
    Directives(directives::DirectivesArgs),
    Export(export::ExportArgs),
}

impl LessonArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        match &self.command {
            LessonCommand::Check(args) => return args.run(env, streams),
            LessonCommand::Update(args) => return args.run(env, streams),
            LessonCommand::New(args) => args.run(env, streams)?,
            LessonCommand::Directives(args) => args.run(env, streams)?,
            LessonCommand::Export(args) => args.run(streams)?,
        }
        Ok(EXIT_DONE)
    }
}

/// The program's own `run`, in process: what a lesson's commands are run by.
pub(super) fn in_process(args: &[String], screen: Screen) -> Ran {
    let env = Env {
        width: screen.width,
        colour: screen.colour,
        colour_err: screen.colour,
        charset: screen.charset,
    };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = Streams { input: &mut std::io::empty(), out: &mut out, err: &mut err };
    let code = super::run(args, &env, &mut streams);
    let text = |bytes: Vec<u8>| {
        String::from_utf8(bytes)
            .unwrap_or_else(|bytes| String::from_utf8_lossy(bytes.as_bytes()).into_owned())
    };
    Ran { code, out: text(out), err: text(err) }
}
