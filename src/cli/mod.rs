//! The command line: arguments to a story or a table, and that to bytes.

mod attend;
mod bench;
mod completions;
mod demo;
mod diagnose;
mod env;
mod examples;
mod explain;
mod find;
mod front;
mod glossary;
mod help;
mod hints;
mod layout;
mod lesson;
mod listing;
mod machine;
mod man;
mod negative;
mod number;
mod outcome;
mod output;
mod params;
mod reference;
mod similarity;
mod softmax;
mod stepping;
mod steps;
mod variables;
mod versus;
mod vocabulary;
mod words;

pub use env::Env;
pub use lesson::LESSON_OPTIONS;
pub use outcome::Outcome;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{Read, Write};

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use colored::Colorize;

use crate::error::{EXIT_DONE, EXIT_UNUSABLE, Error, Result};
use crate::foreign::{from_os, hidden, visible_lines};
use crate::hint;
use crate::input::system;
use crate::kernel::SimdLevel;
use crate::memory;
use crate::text::abridged;

/// What a command reads and writes besides its arguments.
pub struct Streams<'a> {
    /// Standard input.
    pub input: &'a mut dyn Read,
    /// Standard output.
    pub out: &'a mut dyn Write,
    /// Standard error.
    pub err: &'a mut dyn Write,
}

/// Computes attention and shows where every number comes from
#[derive(Parser, Debug)]
#[command(name = "attn", subcommand_required = true, arg_required_else_help = true)]
#[command(override_help = front::FRONT, disable_help_subcommand = true)]
struct Cli {
    /// Memory to use at most: 500M, 2G [default: what is free]
    #[arg(long, global = true, value_name = "SIZE", hide_short_help = true, value_parser = memory::parsed)]
    memory: Option<u64>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Lesson(lesson::LessonArgs),
    Demo(demo::DemoArgs),
    Glossary(glossary::GlossaryArgs),
    Attend(Box<attend::AttendArgs>),
    Softmax(softmax::SoftmaxArgs),
    Similarity(similarity::SimilarityArgs),
    Params(params::ParamsArgs),
    Bench(bench::BenchArgs),
    Diagnose(Box<diagnose::DiagnoseArgs>),
    Find(find::FindArgs),
    Examples(examples::ExamplesArgs),
    Errata(reference::ErrataArgs),
    Notation(reference::NotationArgs),
    Help(help::HelpArgs),
    Man(man::ManArgs),
    Completions(completions::CompletionsArgs),
}

/// Runs one command and returns its exit code and the graphs that it computed. Nothing global decides what it prints: the same arguments, surroundings and
/// input give the same bytes, also when several run at once.
///
/// `args` begins with the first argument, not with the program's name.
pub fn run<A: Into<OsString>>(
    args: impl IntoIterator<Item = A>,
    env: &Env,
    streams: &mut Streams<'_>,
) -> Outcome {
    // The crates' own switches are global: both are set to “on” once and for all, and `Env` decides.
    colored::control::set_override(true);
    crossterm::style::force_color_output(true);
    let _speaking = hint::speak(vocabulary::typed);
    let typed: Vec<OsString> = args.into_iter().map(|arg| from_os(&arg.into()).into_owned().into()).collect();
    let hints::CorrectedArgs { args, said } = hints::meant(typed);
    let (args, env) = match variables::applied(args, env) {
        Ok(applied) => applied,
        Err(error) => {
            report(&error, env, streams);
            return Outcome::of_error(&error);
        }
    };
    let env = &env.with_screen_asked_for(&args);
    let outcome = parse(&args, env, streams).and_then(|parsed| {
        if let (Some(said), false) = (said, parsed.is_misunderstood()) {
            writeln!(streams.out, "{said}\n")?;
        }
        match parsed {
            CommandLine::Command(cli) => execute(*cli, &args, env, streams),
            CommandLine::Answered(code) => Ok(Outcome::of_code(code)),
        }
    });
    let outcome = outcome.and_then(|outcome| {
        streams.out.flush()?;
        Ok(outcome)
    });
    outcome.unwrap_or_else(|error| {
        report(&error, env, streams);
        Outcome::of_error(&error)
    })
}

/// Takes in what the terminal has been asked and answers late, so that the shell does not read it. Call it once, when
/// everything is written.
pub fn settle() {
    crate::terminal::settle();
}

fn report(error: &Error, env: &Env, streams: &mut Streams<'_>) {
    if outcome::is_closed_pipe(error) {
        return;
    }
    let head = if env.colour_err { "error:".red().bold().to_string() } else { "error:".to_string() };
    // Where standard error cannot be written either there is nobody left to tell.
    let said = error.to_string();
    let text = env.charset.spelled(&negative::unshielded(&visible_lines(&said))).into_owned();
    let _ = writeln!(streams.err, "{head} {text}");
}

/// What a command line comes to before anything is computed.
enum CommandLine {
    /// A command to be run.
    Command(Box<Cli>),
    /// Help, the version, or what is wrong with the command line has been written; the exit code.
    Answered(u8),
}

impl CommandLine {
    /// Whether the command line cannot be read.
    fn is_misunderstood(&self) -> bool {
        matches!(self, CommandLine::Answered(EXIT_UNUSABLE))
    }
}

/// Whether a flag is typed; what stands behind `--` is none.
fn has_flag(args: &[OsString], flag: &str) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| arg == flag)
}

/// Reads the command line, and answers what needs no command to run.
fn parse(args: &[OsString], env: &Env, streams: &mut Streams<'_>) -> Result<CommandLine> {
    let (is_short, is_long) = (has_flag(args, "-h"), has_flag(args, "--help"));
    let definitions = command().term_width(help::width(env));
    let definitions = match (is_short, is_long) {
        (true, _) => layout::shortened(definitions),
        (false, true) => layout::lengthened(definitions, help::width(env)),
        (false, false) => definitions,
    };
    let mut failed = match Cli::read(definitions, args) {
        Ok(cli) => return Ok(CommandLine::Command(Box::new(cli))),
        Err(failed) => failed,
    };
    // Nothing typed at all is asking what there is.
    let is_help =
        matches!(failed.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) || args.is_empty();
    if is_help {
        let text = help::written(&failed.render(), env);
        streams.out.write_all(env.charset.spelled(&text).as_bytes())?;
        return Ok(CommandLine::Answered(EXIT_DONE));
    }
    hints::improve(&mut failed, args);
    let text = failed.render();
    // What a parser of values has repeated is in no part of the message that could be looked at before.
    let plain = text.to_string();
    let is_seen = hidden(&plain).all(|(_, c)| c == '\n');
    let seen = visible_lines(&plain);
    let text = match abridged(&seen) {
        Cow::Borrowed(_) if env.colour_err && is_seen => text.ansi().to_string(),
        short => short.into_owned(),
    };
    let text = hints::plain(&negative::unshielded(&text));
    let message = text.trim_end();
    // clap's message is complete, with its own “error:” in front.
    let _ = writeln!(streams.err, "{message}");
    Ok(CommandLine::Answered(EXIT_UNUSABLE))
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
fn execute(cli: Cli, typed: &[OsString], env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
    let _account = memory::enter(cli.memory.or(env.memory), system::memory_available);
    match cli.command {
        Command::Demo(args) => args.run(typed, env, streams),
        Command::Attend(args) => args.run(typed, env, streams),
        Command::Softmax(args) => args.run(typed, env, streams),
        Command::Similarity(args) => args.run(typed, env, streams),
        Command::Params(args) => args.run(env, streams),
        Command::Diagnose(args) => args.run(env, streams).map(Outcome::from),
        Command::Lesson(args) => args.run(env, streams).map(Outcome::from),
        Command::Glossary(args) => args.run(env, streams).map(Outcome::from),
        Command::Find(args) => args.run(env, streams).map(Outcome::from),
        Command::Examples(args) => args.run(env, streams).map(Outcome::from),
        Command::Notation(args) => args.run(env, streams).map(Outcome::from),
        Command::Errata(args) => args.run(env, streams).map(Outcome::from),
        Command::Bench(args) => args.run(env, streams).map(Outcome::from),
        Command::Help(args) => args.run(env, streams).map(Outcome::from),
        Command::Man(args) => args.run(env, streams).map(Outcome::from),
        Command::Completions(args) => args.run(streams).map(Outcome::from),
    }
}
