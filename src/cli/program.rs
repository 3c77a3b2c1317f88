//! The program, as its commands see it.

use std::ffi::OsString;

use super::env::Env;
use super::negative_numbers;
use super::outcome::Outcome;
use super::streams::Streams;

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
) -> Result<clap::ArgMatches, clap::Error> {
    let args = args.iter().map(|arg| negative_numbers::shielded(arg.clone()));
    definitions.try_get_matches_from(std::iter::once(OsString::from("attn")).chain(args))
}

/// The innermost subcommand that the arguments name, and the position at which its own arguments begin.
pub(super) fn deepest<'a>(whole: &'a clap::Command, args: &[OsString]) -> (usize, &'a clap::Command) {
    let (mut end, mut found) = (0, whole);
    while let Some(next) = args.get(end).and_then(|arg| found.find_subcommand(arg)) {
        (end, found) = (end + 1, next);
    }
    (end, found)
}
