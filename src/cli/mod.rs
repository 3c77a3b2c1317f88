//! The command line: arguments to a story or a table, and that to bytes.

mod attend;
mod bench;
mod demo;
mod diagnose;
mod env;
mod explain;
mod lesson;
mod machine;
mod negative;
mod output;
mod params;
mod reference;
mod shell;
mod similarity;
mod softmax;
mod stepping;
mod steps;
mod versus;
mod words;

pub use env::Env;

use std::ffi::OsString;
use std::io::{Read, Write};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use colored::Colorize;

use crate::error::{EXIT_DONE, Error, Result, nearest};
use crate::kernel::SimdLevel;

/// What a command reads and writes besides its arguments.
pub struct Streams<'a> {
    /// Standard input.
    pub input: &'a mut dyn Read,
    /// Standard output.
    pub out: &'a mut dyn Write,
    /// Standard error.
    pub err: &'a mut dyn Write,
}

/// Every number of attention, and where it comes from.
#[derive(Parser, Debug)]
#[command(name = "attn", subcommand_required = true, arg_required_else_help = true)]
#[command(before_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Try:
  attn demo                                  the list of demos
  attn demo mask                             one of them, step by step
  attn similarity bat cave racket            how alike words are, four ways
  attn softmax 1 2 3                         a softmax, every step of it
  attn softmax 1 2 3 --explain 'A[1,3]'      where a number comes from
  attn attend --words \"bat cave racket\"      attention over words
  attn attend --q q.csv --k k.csv --v v.csv  the same on your own matrices
  attn lesson                                lessons to play in class
  attn diagnose --list                       mistakes that give wrong attention
  attn params gpt2                           a model's weights, counted
  attn bench                                 how fast it is here, and how it grows";

#[derive(Subcommand, Debug)]
enum Command {
    Demo(demo::DemoArgs),
    Attend(Box<attend::AttendArgs>),
    Diagnose(Box<diagnose::DiagnoseArgs>),
    Similarity(similarity::SimilarityArgs),
    Softmax(softmax::SoftmaxArgs),
    Lesson(lesson::LessonArgs),
    Params(params::ParamsArgs),
    Bench(bench::BenchArgs),
    Errata(reference::ErrataArgs),
    Notation(reference::NotationArgs),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
}

/// Runs one command and returns its exit code. Nothing global decides what it prints: the same arguments, surroundings and
/// input give the same bytes, also when several run at once.
///
/// `args` begins with the first argument, not with the program's name.
pub fn run<A: Into<OsString>>(args: impl IntoIterator<Item = A>, env: &Env, streams: &mut Streams<'_>) -> u8 {
    // The crates' own switches are global: both are set to “on” once and for all, and `Env` decides.
    colored::control::set_override(true);
    crossterm::style::force_color_output(true);
    let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
    let env = &env.with_colour_asked_for(&args);
    let outcome = parse(&args, env, streams).and_then(|cli| match cli {
        Some(cli) => execute(cli, &args, env, streams),
        None => Ok(EXIT_DONE),
    });
    let outcome = outcome.and_then(|code| {
        streams.out.flush()?;
        Ok(code)
    });
    match outcome {
        Ok(code) => code,
        Err(error) => {
            report(&error, env, streams);
            error.exit_code()
        }
    }
}

fn report(error: &Error, env: &Env, streams: &mut Streams<'_>) {
    if matches!(error, Error::ClosedPipe | Error::AlreadySaid) {
        return;
    }
    let head = if env.colour_err { "error:".red().bold().to_string() } else { "error:".to_string() };
    // Where standard error cannot be written either there is nobody left to tell.
    let text = env.charset.spelled(&negative::unshielded(&error.to_string())).into_owned();
    let _ = writeln!(streams.err, "{head} {text}");
}

/// The parsed command; `None` if help or the version was asked for and has been written.
fn parse(args: &[OsString], env: &Env, streams: &mut Streams<'_>) -> Result<Option<Cli>> {
    let mut failed = match Cli::read(command().term_width(env.width.clamp(40, 100)), args) {
        Ok(cli) => return Ok(Some(cli)),
        Err(failed) => failed,
    };
    drop_far_fetched(&mut failed);
    let text = failed.render();
    let is_help = matches!(failed.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if is_help {
        let text = if env.colour { text.ansi().to_string() } else { text.to_string() };
        streams.out.write_all(env.charset.spelled(&text).as_bytes())?;
        return Ok(None);
    }
    let text = negative::unshielded(&if env.colour_err { text.ansi().to_string() } else { text.to_string() });
    let message = text.trim_end();
    // clap's message is complete, with its own “error:” in front.
    let _ = writeln!(streams.err, "{message}");
    Err(Error::AlreadySaid)
}

/// Takes away clap's “a similar argument exists” where the two are not near: `--x` for `--explain`.
fn drop_far_fetched(failed: &mut clap::Error) {
    let text = |kind| match failed.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (typed, similar) = (text(ContextKind::InvalidArg), text(ContextKind::SuggestedArg));
    if let (Some(typed), Some(similar)) = (typed, similar)
        && nearest(typed.trim_matches('-'), [similar.trim_matches('-')]).is_none()
    {
        failed.remove(ContextKind::SuggestedArg);
    }
}

impl Cli {
    /// What the arguments say under the definitions of a command.
    fn read(command: clap::Command, args: &[OsString]) -> std::result::Result<Cli, clap::Error> {
        let args = args.iter().map(|arg| negative::shielded(arg.clone()));
        let matches = command.try_get_matches_from(std::iter::once(OsString::from("attn")).chain(args))?;
        Cli::from_arg_matches(&matches)
    }
}

/// The whole command line, for parsing, completions and the manual page.
fn command() -> clap::Command {
    Cli::command().version(version())
}

fn version() -> String {
    format!("{} (SIMD: {})", env!("CARGO_PKG_VERSION"), SimdLevel::detect())
}

/// Runs the command that the arguments `typed` have been parsed to.
fn execute(cli: Cli, typed: &[OsString], env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
    match cli.command {
        Command::Demo(args) => return args.run(typed, env, streams),
        Command::Attend(args) => return args.run(typed, env, streams),
        Command::Diagnose(args) => return args.run(env, streams),
        Command::Lesson(args) => return args.run(env, streams),
        Command::Similarity(args) => args.run(typed, env, streams)?,
        Command::Softmax(args) => args.run(typed, env, streams)?,
        Command::Params(args) => args.run(env, streams)?,
        Command::Bench(args) => args.run(env, streams)?,
        Command::Errata(args) => args.run(env, streams)?,
        Command::Notation(args) => args.run(env, streams)?,
        Command::Completions(args) => args.run(streams)?,
        Command::Man(args) => args.run(streams)?,
    }
    Ok(EXIT_DONE)
}
