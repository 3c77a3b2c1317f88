//! The program, as its commands see it.

use std::ffi::{OsStr, OsString};

use super::env::Env;
use super::negative_numbers;
use super::outcome::Outcome;
use super::streams::Streams;
use crate::error::{Error, Result};

/// Runs one command line, without the name of the program.
pub(super) type RunFn = fn(&[OsString], &Env, &mut Streams<'_>) -> Outcome;

/// The command line in use, and the program that it is for: lessons run further commands, and `--versus` reads the same command
/// with further options.
#[derive(Clone, Copy)]
pub(super) struct Program<'a> {
    /// The arguments, after corrections.
    pub typed: &'a [OsString],
    /// The definitions of all commands.
    pub definitions: &'a clap::Command,
    /// Runs another command.
    pub run: RunFn,
}

/// Reads arguments by the definitions of the program.
pub(super) fn matches(
    definitions: clap::Command,
    args: &[OsString],
) -> std::result::Result<clap::ArgMatches, clap::Error> {
    let args = args.iter().map(|arg| negative_numbers::shielded(arg.clone()));
    definitions.try_get_matches_from(std::iter::once(OsString::from("attn")).chain(args))
}

/// # Errors
/// If an argument for a file or a folder has an empty name, which no command takes for the current folder.
pub(super) fn check_names(definitions: &clap::Command, matches: &clap::ArgMatches) -> Result<()> {
    for arg in definitions.get_arguments() {
        let value = arg.get_value_names().unwrap_or_default().first().map_or("", |name| name.as_str());
        let what = match value {
            _ if value.contains("FILE") => "file",
            "FOLDER" | "DIR" => "folder",
            "PATH" => "file or folder",
            _ => continue,
        };
        let is_empty = |typed: &OsStr| {
            typed.is_empty() || value.contains('=') && typed.as_encoded_bytes().ends_with(b"=")
        };
        let mut typed = matches.try_get_raw(arg.get_id().as_str()).ok().flatten().into_iter().flatten();
        if typed.any(is_empty) {
            let for_option = arg.get_long().map_or(String::new(), |long| format!(" for --{long}"));
            return Err(Error::new(format!("the name of the {what}{for_option} is empty"))
                .help("give a name; a shell variable that is not set is an empty one"));
        }
    }
    match matches.subcommand() {
        Some((name, inner)) => {
            definitions.find_subcommand(name).map_or(Ok(()), |command| check_names(command, inner))
        }
        None => Ok(()),
    }
}

/// The innermost subcommand that the arguments name, and the position at which its own arguments begin.
pub(super) fn deepest<'a>(whole: &'a clap::Command, args: &[OsString]) -> (usize, &'a clap::Command) {
    let (mut end, mut found) = (0, whole);
    while let Some(next) = args.get(end).and_then(|arg| found.find_subcommand(arg)) {
        (end, found) = (end + 1, next);
    }
    (end, found)
}
