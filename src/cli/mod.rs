//! The command line: arguments to a story or a table, and that to bytes.

mod arguments;
mod attend;
mod bench;
mod completions;
mod demo;
mod diagnose;
mod explore;
mod find;
mod help;
mod learn;
mod lesson;
mod model;
mod options;
mod output;
mod params;
mod presentation;
mod program;
mod reference;
mod selection;
mod similarity;
mod site;
mod softmax;
mod texts;
mod tokens;
mod versus;
mod word_vectors;

use std::borrow::Cow;
use std::ffi::OsString;
use std::sync::LazyLock;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use colored::Colorize;

use crate::error::{EXIT_UNUSABLE, Error, Result};
use crate::foreign::{from_os, hidden, visible_lines};
use crate::input::system;
use crate::kernel::SimdLevel;
use crate::memory;
use crate::terminal::HUNG_UP;
use crate::text::abridged;

use arguments::has_flag;
use program::{Program, check_names, matches};
use texts::help_page;

pub use program::{Env, Outcome, Streams};

/// Runs one command and returns its exit code and the graphs that it computed. No global state decides what it prints: the same
/// arguments, environment and input give the same bytes, also when several run at once.
///
/// `args` begins with the first argument, not with the program's name.
pub fn run<A: Into<OsString>>(
    args: impl IntoIterator<Item = A>,
    env: &Env,
    streams: &mut Streams<'_>,
) -> Outcome {
    run_typed(&args.into_iter().map(Into::into).collect::<Vec<OsString>>(), env, streams)
}

fn run_typed(args: &[OsString], env: &Env, streams: &mut Streams<'_>) -> Outcome {
    // The crates' own switches are global: both are always on, and `Env` decides.
    colored::control::set_override(true);
    crossterm::style::force_color_output(true);
    let definitions = definitions();
    let typed: Vec<OsString> = args.iter().map(|arg| from_os(arg).into_owned().into()).collect();
    let arguments::CorrectedArgs { args, said } = arguments::meant(typed, definitions);
    let applied = arguments::check_charset(&args).and_then(|()| arguments::applied(args, env, definitions));
    let (args, env) = match applied {
        Ok(applied) => applied,
        Err(error) => {
            report(&error, env, streams);
            return Outcome::of_error(&error);
        }
    };
    let env = &env.with_screen_asked_for(&args);
    let program = Program { typed: &args, definitions, run: run_typed };
    let outcome = parse(&program, env, streams).and_then(|parsed| {
        if let Some(said) = said.filter(|_| !matches!(parsed, CommandLine::Answered(EXIT_UNUSABLE))) {
            writeln!(streams.out, "{said}\n")?;
        }
        match parsed {
            CommandLine::Command { cli, memory } => {
                let _account = memory::enter(memory.or(env.memory), system::memory_available);
                cli.command.run(&program, env, streams)
            }
            CommandLine::Answered(code) => Ok(Outcome::from(code)),
        }
    });
    let outcome = outcome.and_then(|outcome| match streams.out.flush() {
        // There is no terminal that could take it.
        Err(_) if outcome.code == HUNG_UP => Ok(outcome),
        flushed => Ok(flushed.map(|()| outcome)?),
    });
    outcome.unwrap_or_else(|error| {
        report(&error, env, streams);
        Outcome::of_error(&error)
    })
}

/// Reads late answers of the terminal, so that the shell does not read them. Call it once, when everything is written.
pub fn settle() {
    crate::terminal::settle();
}

fn report(error: &Error, env: &Env, streams: &mut Streams<'_>) {
    if program::is_closed_pipe(error) {
        return;
    }
    let head = if env.colour_err { "error:".red().bold().to_string() } else { "error:".to_string() };
    // An error of writing to standard error is ignored: there is no other place to report it.
    let said = error.to_string();
    let text = env.charset.spelled(&program::unshielded(&visible_lines(&said))).into_owned();
    let _ = writeln!(streams.err, "{head} {text}");
}

/// The result of parsing a command line.
enum CommandLine {
    /// A command to be run, in this much memory.
    Command { cli: Box<Cli>, memory: Option<u64> },
    /// Help, the version or an error of the command line has been written; the exit code.
    Answered(u8),
}

/// Reads the command line, and answers what needs no command to run.
fn parse(program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<CommandLine> {
    let args = program.typed;
    let (is_short, is_long) = (has_flag(args, "-h"), has_flag(args, "--help"));
    let definitions = program.definitions.clone().term_width(help::width(env));
    let definitions = match (is_short, is_long) {
        (true, _) => help::shortened(definitions),
        (false, true) => help::lengthened(definitions, help::width(env)),
        (false, false) => definitions,
    };
    let read = matches(definitions, args).and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let mut failed = match read {
        Ok((cli, matches)) => {
            check_names(program.definitions, &matches)?;
            return Ok(CommandLine::Command { cli: Box::new(cli), memory: memory_allowed(&matches) });
        }
        Err(failed) => failed,
    };
    // Nothing typed at all is asking what there is.
    let is_help =
        matches!(failed.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) || args.is_empty();
    if is_help {
        let text = help::written(&failed.render(), env);
        let text = env.charset.spelled(&text);
        return Ok(CommandLine::Answered(output::paged_if_long(text.as_bytes(), env, streams)?));
    }
    arguments::improve(&mut failed, args, program.definitions);
    let text = failed.render();
    // Text that a value parser repeats is in no field of clap's error, so the rendered message is checked.
    let plain = text.to_string();
    let is_seen = hidden(&plain).all(|(_, c)| c == '\n');
    let seen = visible_lines(&plain);
    let text = match abridged(&seen) {
        Cow::Borrowed(_) if env.colour_err && is_seen => text.ansi().to_string(),
        short => short.into_owned(),
    };
    let text = arguments::plain(&program::unshielded(&text));
    let message = text.trim_end();
    // clap's message is complete, with its own “error:” in front.
    let _ = writeln!(streams.err, "{message}");
    Ok(CommandLine::Answered(EXIT_UNUSABLE))
}

// The definitions of all commands, and their dispatch.

/// Computes attention and shows where every number comes from
#[derive(Parser, Debug)]
#[command(name = "attn", subcommand_required = true, arg_required_else_help = true)]
#[command(override_help = help_page("front"), disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Lesson(lesson::LessonArgs),
    Site(site::SiteArgs),
    Demo(demo::DemoArgs),
    Glossary(reference::GlossaryArgs),
    Attend(Box<attend::AttendArgs>),
    Explore(Box<explore::ExploreArgs>),
    Softmax(softmax::SoftmaxArgs),
    Similarity(similarity::SimilarityArgs),
    Model(Box<model::ModelArgs>),
    Learn(Box<learn::LearnArgs>),
    Params(params::ParamsArgs),
    Tokens(tokens::TokensArgs),
    Bench(bench::BenchArgs),
    Diagnose(Box<diagnose::DiagnoseArgs>),
    Find(find::FindArgs),
    Examples(reference::ExamplesArgs),
    Errata(reference::ErrataArgs),
    Notation(reference::NotationArgs),
    Help(help::HelpArgs),
    Man(help::ManArgs),
    Completions(completions::CompletionsArgs),
}

/// The whole command line, for parsing, completions and the manual page; made once, since a lesson runs many commands.
fn definitions() -> &'static clap::Command {
    static DEFINITIONS: LazyLock<clap::Command> = LazyLock::new(|| {
        // There, the width is that of a token.
        let renamed = |learn: clap::Command| learn.mut_arg("width", |width| width.long("columns"));
        let whole = Cli::command().version(version()).mut_subcommand("learn", renamed);
        whole.mut_subcommands(with_memory).arg(memory_arg())
    });
    &DEFINITIONS
}

/// The commands that print what the program contains: no size of anything is up to their user.
const WITHOUT_MEMORY: &str =
    "completions directives errata examples find follow glossary help list man new notation";

/// The command with `--memory`, and so each of its commands, where it has an effect.
fn with_memory(command: clap::Command) -> clap::Command {
    if WITHOUT_MEMORY.split(' ').any(|name| name == command.get_name()) {
        return command;
    }
    let runs = !command.has_subcommands() || command.get_positionals().next().is_some();
    let command = command.mut_subcommands(with_memory);
    if runs { command.arg(memory_arg()) } else { command }
}

fn memory_arg() -> clap::Arg {
    clap::Arg::new("memory")
        .long("memory")
        .value_name("SIZE")
        .help("Use at most this memory: 500M, 2G [default: all free]")
        .hide_short_help(true)
        .value_parser(memory::parsed)
}

/// The memory that a command line allows, typed before the command or behind it.
fn memory_allowed(matches: &clap::ArgMatches) -> Option<u64> {
    let own = matches.try_get_one("memory").ok().flatten().copied();
    matches.subcommand().and_then(|(_, inner)| memory_allowed(inner)).or(own)
}

fn version() -> String {
    format!("{} (SIMD: {})", env!("CARGO_PKG_VERSION"), SimdLevel::detect())
}

impl Command {
    /// Runs the command.
    fn run(self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        match self {
            Command::Demo(args) => args.run(program, env, streams),
            Command::Attend(args) => args.run(program, env, streams),
            Command::Explore(args) => args.run(program, env, streams).map(Outcome::from),
            Command::Softmax(args) => args.run(program, env, streams),
            Command::Similarity(args) => args.run(program, env, streams),
            Command::Model(args) => args.run(program, env, streams),
            Command::Learn(args) => args.run(env, streams),
            Command::Params(args) => args.run(env, streams),
            Command::Tokens(args) => args.run(program, env, streams),
            Command::Diagnose(args) => args.run(env, streams).map(Outcome::from),
            Command::Lesson(args) => args.run(program, env, streams).map(Outcome::from),
            Command::Site(args) => args.run(program, env, streams).map(Outcome::from),
            Command::Glossary(args) => args.run(env, streams).map(Outcome::from),
            Command::Find(args) => args.run(program, env, streams).map(Outcome::from),
            Command::Examples(args) => args.run(env, streams).map(Outcome::from),
            Command::Notation(args) => args.run(env, streams).map(Outcome::from),
            Command::Errata(args) => args.run(env, streams).map(Outcome::from),
            Command::Bench(args) => args.run(env, streams).map(Outcome::from),
            Command::Help(args) => args.run(program, env, streams).map(Outcome::from),
            Command::Man(args) => args.run(program, env, streams).map(Outcome::from),
            Command::Completions(args) => args.run(program, streams).map(Outcome::from),
        }
    }
}
