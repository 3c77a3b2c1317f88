//! The command line: arguments to a story or a table, and that to bytes.

mod attend;
mod bench;
mod completions;
mod defaults;
mod definitions;
mod demo;
mod diagnose;
mod edits;
mod env;
mod examples;
mod explain;
mod explore;
mod find;
mod front_page;
mod glossary;
mod help;
mod help_layout;
mod hints;
mod learn;
mod lesson;
mod listing;
mod machine;
mod man;
mod model;
mod negative_numbers;
mod nodes;
mod notation_of_models;
mod outcome;
mod output;
mod params;
mod presentation;
mod program;
mod reference;
mod screen;
mod similarity;
mod softmax;
mod steps;
mod streams;
mod tokens;
mod values;
mod variables;
mod versus;
mod word_notes;
mod word_vector;
mod word_vectors;
mod write;
mod written_state;

pub use env::Env;
pub use outcome::Outcome;
pub use streams::Streams;

use std::borrow::Cow;
use std::ffi::OsString;

use clap::FromArgMatches;
use clap::error::ErrorKind;
use colored::Colorize;

use definitions::{Cli, definitions, memory_allowed};
use program::{Program, check_names, matches};
use variables::has_flag;

use crate::error::{EXIT_UNUSABLE, Error, Result};
use crate::foreign::{from_os, hidden, visible_lines};
use crate::input::system;
use crate::memory;
use crate::terminal::HUNG_UP;
use crate::text::abridged;

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
    let hints::CorrectedArgs { args, said } = hints::meant(typed, definitions);
    let applied = variables::check_charset(&args).and_then(|()| variables::applied(args, env, definitions));
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
        if let (Some(said), false) = (said, parsed.is_misunderstood()) {
            writeln!(streams.out, "{said}\n")?;
        }
        match parsed {
            CommandLine::Command { cli, memory } => {
                let _account = memory::enter(memory.or(env.memory), system::memory_available);
                cli.command.run(&program, env, streams)
            }
            CommandLine::Answered(code) => Ok(Outcome::of_code(code)),
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
    if outcome::is_closed_pipe(error) {
        return;
    }
    let head = if env.colour_err { "error:".red().bold().to_string() } else { "error:".to_string() };
    // An error of writing to standard error is ignored: there is no other place to report it.
    let said = error.to_string();
    let text = env.charset.spelled(&negative_numbers::unshielded(&visible_lines(&said))).into_owned();
    let _ = writeln!(streams.err, "{head} {text}");
}

/// The result of parsing a command line.
enum CommandLine {
    /// A command to be run, in this much memory.
    Command { cli: Box<Cli>, memory: Option<u64> },
    /// Help, the version or an error of the command line has been written; the exit code.
    Answered(u8),
}

impl CommandLine {
    /// Whether the command line cannot be read.
    fn is_misunderstood(&self) -> bool {
        matches!(self, CommandLine::Answered(EXIT_UNUSABLE))
    }
}

/// Reads the command line, and answers what needs no command to run.
fn parse(program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<CommandLine> {
    let args = program.typed;
    let (is_short, is_long) = (has_flag(args, "-h"), has_flag(args, "--help"));
    let definitions = program.definitions.clone().term_width(help::width(env));
    let definitions = match (is_short, is_long) {
        (true, _) => help_layout::shortened(definitions),
        (false, true) => help_layout::lengthened(definitions, help::width(env)),
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
        return Ok(CommandLine::Answered(listing::paged_if_long(text.as_bytes(), env, streams)?));
    }
    hints::improve(&mut failed, args, program.definitions);
    let text = failed.render();
    // Text that a value parser repeats is in no field of clap's error, so the rendered message is checked.
    let plain = text.to_string();
    let is_seen = hidden(&plain).all(|(_, c)| c == '\n');
    let seen = visible_lines(&plain);
    let text = match abridged(&seen) {
        Cow::Borrowed(_) if env.colour_err && is_seen => text.ansi().to_string(),
        short => short.into_owned(),
    };
    let text = hints::plain(&negative_numbers::unshielded(&text));
    let message = text.trim_end();
    // clap's message is complete, with its own “error:” in front.
    let _ = writeln!(streams.err, "{message}");
    Ok(CommandLine::Answered(EXIT_UNUSABLE))
}
