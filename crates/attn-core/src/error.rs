//! What went wrong, where, and what to do about it.

use std::fmt;
use std::io;

use crate::foreign::{visible, visible_lines};
use crate::text::abridged;

/// The result of everything that can fail here.
pub type Result<T> = std::result::Result<T, Error>;

/// It ran, and nothing is wrong.
pub const EXIT_DONE: u8 = 0;
/// It ran, and a check said no.
pub const EXIT_CHECK_FAILED: u8 = 1;
/// The command or its input cannot be used.
pub const EXIT_UNUSABLE: u8 = 2;

/// Why a command ends early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command, or a file it names, cannot be used: exit code 2.
    #[error("{0}")]
    Unusable(Box<Problem>),
    /// Nobody reads the output any more (`attn … | head`): a quiet exit code 0.
    #[error("the program that reads the output has ended")]
    ClosedPipe,
    /// The message has been written already, by the reading of the command line: exit code 2.
    #[error("see above")]
    AlreadySaid,
    /// The output could not be written: exit code 2.
    #[error("cannot write the output: {0}")]
    Output(io::Error),
}

/// One problem, for the person who reads it: *what* is wrong, *where*, and *what to do*.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// What is wrong, as a sentence without a full stop.
    pub what: String,
    /// The place in the user's input, where there is one.
    pub place: Option<Place>,
    /// What to do about it.
    pub help: Option<String>,
}

/// A place in something that a user gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// A whole file, or an argument such as `--q`.
    Source(String),
    /// A line of a text, from 1: `lesson.md:12`.
    Line(String, usize),
    /// A line and a column of a text, both from 1: `scores.csv:3:7`.
    Text(String, usize, usize),
    /// A row and a column of a matrix, both from 1: `scores.npy, row 3, column 7`.
    Cell(String, usize, usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Source(name) => write!(f, "{name}"),
            Place::Line(name, line) => write!(f, "{name}:{line}"),
            Place::Text(name, line, column) => write!(f, "{name}:{line}:{column}"),
            Place::Cell(name, row, column) => write!(f, "{name}, row {row}, column {column}"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What a place, a message of another crate or a quoted name holds is told apart from what it could do to a terminal.
        let place = self.place.as_ref().map(|place| format!("{}: ", visible(&place.to_string())));
        let help = self.help.as_ref().map(|help| format!("\n  help: {}", visible_lines(help)));
        let [place, help] = [place, help].map(Option::unwrap_or_default);
        write!(f, "{}", abridged(&format!("{place}{}{help}", visible(&self.what))))
    }
}

impl Error {
    /// A problem with what the user gave.
    pub fn new(what: impl Into<String>) -> Error {
        Error::Unusable(Box::new(Problem { what: what.into(), place: None, help: None }))
    }

    /// The same error, at a place. An inner place, which is nearer to the cause, is kept.
    pub fn at(mut self, place: Place) -> Error {
        if let Error::Unusable(problem) = &mut self {
            problem.place.get_or_insert(place);
        }
        self
    }

    /// The same error, in the named file or argument.
    pub fn in_source(self, name: impl Into<String>) -> Error {
        self.at(Place::Source(name.into()))
    }

    /// The same error, with what to do about it. The first remedy given is kept.
    pub fn help(mut self, help: impl Into<String>) -> Error {
        if let Error::Unusable(problem) = &mut self {
            problem.help.get_or_insert(help.into());
        }
        self
    }

    /// The same error, with one more line of what is to be done about it.
    pub fn and_help(mut self, more: &str) -> Error {
        if let Error::Unusable(problem) = &mut self {
            problem.help = Some(match problem.help.take() {
                Some(help) => format!("{help}\n  {more}"),
                None => more.to_string(),
            });
        }
        self
    }

    /// The exit code that this error ends a command with.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::ClosedPipe => EXIT_DONE,
            Error::Unusable(_) | Error::AlreadySaid | Error::Output(_) => EXIT_UNUSABLE,
        }
    }
}

impl Error {
    /// The error of this crate that an error of reading or writing carries, such as one about memory.
    pub fn carried_by(error: &io::Error) -> Option<Error> {
        match error.get_ref()?.downcast_ref::<Error>()? {
            Error::Unusable(problem) => Some(Error::Unusable(problem.clone())),
            _ => None,
        }
    }
}

impl From<io::Error> for Error {
    /// For writing to the program's own output; reading a user's file names the file instead.
    fn from(error: io::Error) -> Error {
        if let Some(own) = Error::carried_by(&error) {
            return own;
        }
        match error.kind() {
            io::ErrorKind::BrokenPipe => Error::ClosedPipe,
            _ => Error::Output(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_where_what_and_what_to_do() {
        let error = Error::new("`abc` is not a number")
            .at(Place::Text("scores.csv".into(), 3, 7))
            .help("write decimals such as 0.25, or -inf to mask");
        let said = error.to_string();
        assert_eq!(
            said,
            "scores.csv:3:7: `abc` is not a number\n  help: write decimals such as 0.25, or -inf to mask"
        );
        assert_eq!(error.exit_code(), EXIT_UNUSABLE);
    }

    #[test]
    fn the_place_nearest_to_the_cause_is_kept() {
        let error = Error::new("empty").in_source("inner.csv").in_source("--q");
        assert_eq!(error.to_string(), "inner.csv: empty");
    }

    #[test]
    fn an_error_repeats_a_bounded_part_of_what_a_user_gave() {
        let long = "x".repeat(120_000);
        let error =
            Error::new(format!("`{long}` is not a number")).in_source(&*long).help(format!("not {long}"));
        assert!(error.to_string().chars().count() < 2100);
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let error = Error::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!(error.exit_code(), EXIT_DONE);
    }
}
