//! Limits of typed answers, and letters of options, for all kinds of question.

use crate::error::{Error, Result};

/// No answer is longer than this, in bytes.
pub(super) const LONGEST: usize = 200;
/// The alphabet of options.
pub(super) const MOST_OPTIONS: usize = 26;

/// The letter of the last of this many options.
pub(super) fn last_letter(letters: usize) -> char {
    ('A'..='Z').nth(letters.clamp(1, MOST_OPTIONS) - 1).unwrap_or('Z')
}

/// The position of the option that a letter names.
pub(super) fn option_of(letter: char, letters: usize) -> Option<usize> {
    ('A'..='Z').take(letters).position(|known| known == letter.to_ascii_uppercase())
}

/// Whether one of the names begins with this character, capital or not.
pub(super) fn begins_one(typed: char, names: &[String]) -> bool {
    let begins = |name: &String| {
        name.chars().next().is_some_and(|first| first.to_lowercase().eq(typed.to_lowercase()))
    };
    names.iter().any(begins)
}

/// The error of an answer of another type than the key computes. Keys are read so that it does not come up.
pub(super) fn other_answer<T>() -> Result<T> {
    Err(Error::new("the right answer is of another kind"))
}
