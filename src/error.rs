//! What went wrong, where, and what to do about it.

use std::collections::HashSet;
use std::fmt;
use std::io;

use crate::foreign::{visible, visible_lines};

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
        if let Some(place) = &self.place {
            write!(f, "{}: ", visible(&place.to_string()))?;
        }
        write!(f, "{}", visible(&self.what))?;
        if let Some(help) = &self.help {
            write!(f, "\n  help: {}", visible_lines(help))?;
        }
        Ok(())
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

/// A count with its noun: “1 number”, “2 numbers”, “0 matrices”, “3 entries”.
pub fn counted(count: usize, noun: &str) -> String {
    let (stem, ending) = match noun {
        _ if count == 1 => (noun, ""),
        "matrix" => ("matri", "ces"),
        _ => match noun.strip_suffix('y') {
            Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => (stem, "ies"),
            _ => (noun, "s"),
        },
    };
    format!("{count} {stem}{ending}")
}

/// Longer words, in characters, are nobody's slip of the fingers.
const LONGEST_WORD: usize = 64;

/// So many words are compared at most with one that is not there, those of a like length.
const MOST_COMPARED: usize = 20_000;

/// The most names that “did you mean …?” offers.
const MOST_NEAR: usize = 3;

/// The entry of `known` that `word` most likely meant, for “did you mean …?”.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    near(word, known).into_iter().next()
}

/// The entries of `known` that are a likely mistyping away from `word`, equally near, at most three; those that begin with the
/// same letter come first. Words of more than 64 characters have none.
pub fn near<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let Some(typed) = short(word) else { return Vec::new() };
    let is_like = |meant: &[char]| {
        let further = typed.len().abs_diff(meant.len());
        further <= 1 || further * 10 <= typed.len().max(meant.len()) * 3
    };
    let like = known.into_iter().filter_map(|name| Some((name, short(name).filter(|meant| is_like(meant))?)));
    let mut best = usize::MAX;
    let mut found: Vec<(bool, &str)> = Vec::new();
    let mut seen = HashSet::new();
    for (name, meant) in like.take(MOST_COMPARED) {
        let distance = strsim::generic_damerau_levenshtein(&typed, &meant);
        if distance > best || !is_mistyping(distance, &typed, &meant) || !seen.insert(name) {
            continue;
        }
        if distance < best {
            best = distance;
            found.clear();
        }
        found.push((typed.first() != meant.first(), name));
    }
    found.sort_by_key(|&(other_letter, _)| other_letter);
    found.into_iter().map(|(_, name)| name).take(MOST_NEAR).collect()
}

/// The characters of a word in lower case, unless it is too long to be compared.
fn short(word: &str) -> Option<Vec<char>> {
    let is_short = word.chars().nth(LONGEST_WORD).is_none();
    is_short.then(|| word.chars().flat_map(char::to_lowercase).collect())
}

/// Whether so many slips of the fingers explain a word: one in a word of three letters or more, three in ten, or a letter that
/// stands elsewhere. Another letter in a word of three letters is another word.
fn is_mistyping(distance: usize, typed: &[char], meant: &[char]) -> bool {
    let longest = typed.len().max(meant.len());
    let has_same_letters = || {
        let sorted = |word: &[char]| {
            let mut word = word.to_vec();
            word.sort_unstable();
            word
        };
        sorted(typed) == sorted(meant)
    };
    match distance {
        0 => true,
        1 => longest > 3 || longest == 3 && (typed.len() != meant.len() || has_same_letters()),
        2 if longest > 3 && has_same_letters() => true,
        _ => distance * 10 <= longest * 3,
    }
}

/// Names as alternatives: “a”, “a or b”, “a, b or c”.
pub fn one_of(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
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
    fn a_closed_pipe_is_no_failure() {
        let error = Error::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!(error.exit_code(), EXIT_DONE);
    }

    #[test]
    fn a_count_and_its_noun_agree() {
        let said = [(1, "row"), (0, "row"), (2, "matrix"), (1, "matrix"), (3, "entry"), (2, "key")]
            .map(|(count, noun)| counted(count, noun));
        assert_eq!(said, ["1 row", "0 rows", "2 matrices", "1 matrix", "3 entries", "2 keys"]);
    }

    #[test]
    fn a_misspelt_word_finds_its_neighbour_and_a_strange_one_none() {
        assert_eq!(nearest("racquet", ["bat", "cave", "racket"]), Some("racket"));
        assert_eq!(nearest("xylophone", ["bat", "cave", "racket"]), None);
        assert_eq!(nearest("MASK", ["mask"]), Some("mask"));
        assert_eq!(nearest("wq", ["W_Q", "W_K"]), Some("W_Q"));
        assert_eq!(nearest("hte", ["the"]), Some("the"));
        for (typed, name) in
            [("bananas", "blanks"), ("cat", "bat"), ("x", "y"), ("xyzzy", "fuzzy"), ("ab", "A")]
        {
            assert_eq!(nearest(typed, [name]), None, "{typed}");
        }
    }

    #[test]
    fn of_equally_near_names_at_most_three_are_offered_the_same_first_letter_first() {
        assert_eq!(near("heat", ["seat", "heap", "head", "hear", "beat"]), ["heap", "head", "hear"]);
        assert_eq!(near("paly", ["play", "pale", "quiz"]), ["play", "pale"]);
        assert_eq!(near("maske", ["mask", "masked", "tasks"]), ["mask", "masked"]);
        assert_eq!(one_of(&["a".into(), "b".into(), "c".into()]), "a, b or c");
    }
}
