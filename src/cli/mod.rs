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
mod old_spellings;
mod options;
mod output;
mod params;
mod presentation;
mod program;
mod reference;
mod registry;
mod selection;
mod similarity;
mod site;
mod softmax;
mod texts;
mod tokens;
mod versus;
mod weights;
mod word_vectors;

use std::borrow::Cow;
use std::ffi::OsString;
use std::sync::LazyLock;

use clap::ArgMatches;
use clap::error::ErrorKind;
use colored::Colorize;

use crate::error::{EXIT_UNUSABLE, Error, Result};
use crate::foreign::{from_os, hidden, visible_lines};
use crate::input::system;
use crate::kernel::SimdLevel;
use crate::memory;
use crate::terminal::HUNG_UP;
use crate::text::abridged;

use arguments::has_flag;
use help::Detail;
use program::{Program, check_names, matches};
use registry::{Checks, values as read};
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
    // The crate's own switch is global: it is always on, and `Env` decides.
    colored::control::set_override(true);
    let definitions = definitions();
    let typed: Vec<OsString> = args.iter().map(|arg| from_os(arg).into_owned().into()).collect();
    let (typed, respelled) = old_spellings::respelled(typed);
    if let Some(said) = respelled.filter(|_| env.shows_progress) {
        // An error of writing to standard error is ignored.
        let _ = writeln!(streams.err, "note: {said}");
    }
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
            CommandLine::Command(typed) => {
                let memory = memory_allowed(&typed).or(env.memory);
                let _account = memory::enter(memory, system::memory_available);
                run_command(&typed, &program, env, streams)
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
    /// A command to be run.
    Command(Box<ArgMatches>),
    /// Help, the version or an error of the command line has been written; the exit code.
    Answered(u8),
}

/// Reads the command line, and answers what needs no command to run.
fn parse(program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<CommandLine> {
    let args = program.typed;
    let (is_short, is_long) = (has_flag(args, "-h"), has_flag(args, "--help"));
    let definitions = program.definitions.clone().term_width(help::width(env));
    let definitions = match (is_short, is_long) {
        (true, _) => help::explained(definitions, Detail::Line, help::width(env)),
        (false, true) => help::explained(definitions, Detail::Paragraphs, help::width(env)),
        (false, false) => definitions,
    };
    let mut failed = match matches(definitions, args) {
        Ok(typed) => {
            check_names(program.definitions, &typed)?;
            return Ok(CommandLine::Command(Box::new(typed)));
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

/// The whole command line, for parsing, completions and the manual page; made once, since a lesson runs many commands.
fn definitions() -> &'static clap::Command {
    static DEFINITIONS: LazyLock<clap::Command> = LazyLock::new(|| {
        registry::program(CHECKS)
            .version(version())
            .subcommand_required(true)
            .arg_required_else_help(true)
            .override_help(help_page("front"))
            .disable_help_subcommand(true)
    });
    &DEFINITIONS
}

/// What reads the values of options that are neither numbers nor names.
const CHECKS: Checks = &[
    ("depth", |text| selection::depth(text).map(drop)),
    ("lengths", |text| learn::lengths(text).map(drop)),
    ("memory", |text| memory::parsed(text).map(drop)),
    ("range", |text| model::range(text).map(drop)),
    ("scaling", |text| attend::mechanisms::RopeScalingArg::parse(text).map(drop)),
];

/// The memory that a command line allows, typed before the command or behind it.
fn memory_allowed(matches: &clap::ArgMatches) -> Option<u64> {
    let own = matches.try_get_one::<String>("memory").ok().flatten();
    let own = own.and_then(|size| memory::parsed(size).ok());
    matches.subcommand().and_then(|(_, inner)| memory_allowed(inner)).or(own)
}

fn version() -> String {
    format!("{} (SIMD: {})", env!("CARGO_PKG_VERSION"), SimdLevel::detect())
}

/// The whole name of the command that was typed, such as `lesson play`, and its arguments.
fn innermost(typed: &ArgMatches) -> (String, &ArgMatches) {
    let (mut name, mut own) = (String::new(), typed);
    while let Some((next, inner)) = own.subcommand() {
        name = format!("{name} {next}");
        own = inner;
    }
    (name.trim_start().to_string(), own)
}

/// Runs a command with the options that were typed.
fn run_command(
    typed: &ArgMatches,
    program: &Program<'_>,
    env: &Env,
    streams: &mut Streams<'_>,
) -> Result<Outcome> {
    let (name, typed) = innermost(typed);
    let name = name.as_str();
    registry::check_needs(name, typed)?;
    match name {
        "lesson" => read::<lesson::ListArgs>(name, typed)?.run(env, streams).map(Outcome::from),
        "lesson play" => read::<lesson::PlayArgs>(name, typed)?.run(program, env, streams).map(Outcome::from),
        "lesson follow" => read::<lesson::FollowArgs>(name, typed)?.run(env, streams).map(Outcome::from),
        "lesson quiz" => read::<lesson::QuizArgs>(name, typed)?.run(program, env, streams).map(Outcome::from),
        "lesson report" => {
            read::<lesson::ReportArgs>(name, typed)?.run(program, env, streams).map(Outcome::from)
        }
        "lesson check" => {
            read::<lesson::CheckArgs>(name, typed)?.run(program, env, streams).map(Outcome::from)
        }
        "lesson new" => read::<lesson::NewArgs>(name, typed)?.run(program, env, streams).map(Outcome::from),
        "lesson export" => {
            read::<lesson::ExportArgs>(name, typed)?.run(program, env, streams).map(Outcome::from)
        }
        "site" => read::<site::SiteArgs>(name, typed)?.run(program, env, streams).map(Outcome::from),
        "demo" => read::<demo::DemoArgs>(name, typed)?.run(program, env, streams),
        "attend" => read::<attend::AttendArgs>(name, typed)?.run(program, env, streams),
        "explore" => {
            read::<explore::SavedToExplore>(name, typed)?.run(program, env, streams).map(Outcome::from)
        }
        "softmax" => read::<softmax::SoftmaxArgs>(name, typed)?.run(program, env, streams),
        "similarity" => read::<similarity::SimilarityArgs>(name, typed)?.run(program, env, streams),
        "weights" => read::<weights::WeightsArgs>(name, typed)?.run(program, env, streams),
        "model" => read::<model::ModelArgs>(name, typed)?.run(program, env, streams),
        "learn" => read::<learn::LearnArgs>(name, typed)?.run(env, streams),
        "bench" => read::<bench::BenchArgs>(name, typed)?.run(env, streams).map(Outcome::from),
        "diagnose" => read::<diagnose::DiagnoseArgs>(name, typed)?.run(env, streams).map(Outcome::from),
        "find" => read::<find::FindArgs>(name, typed)?.run(program, env, streams).map(Outcome::from),
        "help" => read::<help::HelpArgs>(name, typed)?.run(program, env, streams).map(Outcome::from),
        _ => unreachable!("every command of data/options.toml is run"),
    }
}
