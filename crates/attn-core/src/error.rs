//! Errors: a sentence that says what is wrong, the place, and a remedy.

use std::fmt;
use std::io;

use crate::foreign::{visible, visible_lines};
use crate::text::{abridged, did_you_mean};

/// The result of everything that can fail here.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An input cannot be used.
    #[error("{0}")]
    Unusable(Box<Problem>),
    /// The output could not be written.
    #[error("cannot write the output: {0}")]
    Output(io::Error),
}

/// The kind of an error, for programs that branch on it. The sentences are for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An input cannot be used; the sentence says why.
    Unusable,
    /// Matrices whose shapes do not fit each other.
    Shape,
    /// A name or an address that nothing has.
    Unknown,
    /// More numbers or more memory than is available.
    TooLarge,
    /// A file that is not there, or may not be read.
    File,
    /// The output could not be written.
    Output,
}

/// One problem, for the person who reads it: *what* is wrong, *where*, and *what to do*.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The sentence that says what is wrong, without a full stop.
    pub what: String,
    /// The place in the user's input, where there is one.
    pub place: Option<Place>,
    /// The remedy.
    pub help: Option<String>,
}

/// A place in something that a user gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// A whole file, or an argument such as `--q`.
    Source(String),
    /// A line of a text, from 1: `lesson.md:12`.
    Line(String, usize),
    /// A line and a column of a text, both from 1: `scores.csv:3:7`. What was typed as an option has no name, and no lines.
    Text(String, usize, usize),
    /// A row and a column of a matrix, both from 1: `scores.npy, row 3, column 7`.
    Cell(String, usize, usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Source(name) => write!(f, "{name}"),
            Place::Line(name, line) => write!(f, "{name}:{line}"),
            Place::Text(name, _, column) if name.is_empty() => write!(f, "column {column}"),
            Place::Text(name, line, column) => write!(f, "{name}:{line}:{column}"),
            Place::Cell(name, row, column) => write!(f, "{name}, row {row}, column {column}"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Escapes every part that comes from outside (a place, another crate's message, a quoted name), since it could contain
        // terminal controls.
        let place = self.place.as_ref().map(|place| format!("{}: ", visible(&place.to_string())));
        let help = self.help.as_ref().map(|help| format!("\n  help: {}", visible_lines(help)));
        let [place, help] = [place, help].map(Option::unwrap_or_default);
        write!(f, "{}", abridged(&format!("{place}{}{help}", visible(&self.what))))
    }
}

impl Error {
    /// An error about the user's input.
    pub fn new(what: impl Into<String>) -> Error {
        let kind = ErrorKind::Unusable;
        Error::Unusable(Box::new(Problem { kind, what: what.into(), place: None, help: None }))
    }

    /// The error of a message of serde; where a word is unknown, the words that it expected are the remedy, the nearest first.
    pub fn of_serde(message: &str) -> Error {
        let Some((what, expected)) =
            message.rsplit_once(", expected ").filter(|(what, _)| what.contains("unknown "))
        else {
            return Error::new(message);
        };
        let quoted = |text| str::split(text, '`').skip(1).step_by(2);
        let near = quoted(what).last().and_then(|word| did_you_mean(word, quoted(expected)));
        let near = near.map_or_else(String::new, |near| format!("{near} "));
        let what =
            what.replace("unknown variant", "there is no").replace("unknown field", "there is no field");
        Error::new(what).help(format!("{near}it can be {}", expected.replace("one of ", "")))
    }

    /// This error with its problem changed; a failure of the output has none.
    fn changed(mut self, change: impl FnOnce(&mut Problem)) -> Error {
        if let Error::Unusable(problem) = &mut self {
            change(problem);
        }
        self
    }

    /// This error at a place. A place that is already set is kept, because it is nearer to the cause.
    pub fn at(self, place: Place) -> Error {
        self.changed(|problem| {
            problem.place.get_or_insert(place);
        })
    }

    /// This error at a place of a text; what it is about, such as a node, goes into the sentence.
    #[must_use]
    pub fn within(self, place: Place) -> Error {
        self.changed(|problem| {
            if !matches!(problem.place, Some(Place::Text(..)))
                && let Some(about) = problem.place.replace(place)
            {
                problem.what = format!("{about}: {}", problem.what);
            }
        })
    }

    /// This error in other words; its remedy stays.
    pub fn saying(self, what: String) -> Error {
        self.changed(|problem| problem.what = what)
    }

    /// This error at this place, whatever place it had.
    pub fn moved(self, place: Place) -> Error {
        self.changed(|problem| problem.place = Some(place))
    }

    /// This error in the named file or argument.
    pub fn in_source(self, name: impl Into<String>) -> Error {
        self.at(Place::Source(name.into()))
    }

    /// This error with a remedy. The first remedy given is kept.
    pub fn help(self, help: impl Into<String>) -> Error {
        self.changed(|problem| {
            problem.help.get_or_insert(help.into());
        })
    }

    /// This error with another remedy.
    pub fn with_help(self, help: String) -> Error {
        self.changed(|problem| problem.help = Some(help))
    }

    /// This error with one more line of remedy.
    pub fn and_help(self, more: &str) -> Error {
        let with_more = |help: Option<String>| help.map_or(more.into(), |help| format!("{help}\n  {more}"));
        self.changed(|problem| problem.help = Some(with_more(problem.help.take())))
    }

    /// This error with its remedy in other words, where it has one.
    #[must_use]
    pub fn map_help(self, change: impl FnOnce(String) -> String) -> Error {
        self.changed(|problem| problem.help = problem.help.take().map(change))
    }

    /// What is wrong and what to do, in one line.
    pub fn in_one_line(&self) -> String {
        self.to_string().replace("\n  help: ", "; ")
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Unusable(problem) => problem.kind,
            Error::Output(_) => ErrorKind::Output,
        }
    }

    /// This error with another kind.
    pub fn of_kind(self, kind: ErrorKind) -> Error {
        self.changed(|problem| problem.kind = kind)
    }

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
        Error::carried_by(&error).unwrap_or(Error::Output(error))
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
        assert_eq!(error.kind(), ErrorKind::Unusable);
    }

    #[test]
    fn the_place_nearest_to_the_cause_is_kept() {
        let error = Error::new("empty").in_source("inner.csv").in_source("outer");
        assert_eq!(error.to_string(), "inner.csv: empty");
    }

    #[test]
    fn a_kind_stays_with_an_error_that_is_told_more_of() {
        let error =
            Error::new("there is no `X`").of_kind(ErrorKind::Unknown).in_source("a.csv").help("name another");
        assert_eq!(error.kind(), ErrorKind::Unknown);
        let output = Error::from(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(output.kind(), ErrorKind::Output);
    }

    #[test]
    fn an_error_repeats_a_bounded_part_of_what_a_user_gave() {
        let long = "x".repeat(120_000);
        let error =
            Error::new(format!("`{long}` is not a number")).in_source(&*long).help(format!("not {long}"));
        assert!(error.to_string().chars().count() < 2100);
    }
}
