//! Keys over runs with numbers that are read off by eye, for the tests of this folder.

use crate::lesson::key::sample_runs::runs;
use crate::lesson::key::{Key, ParseError};

use super::{Answer, Kind, kind_named};

pub(super) fn kind(word: &str) -> Kind {
    kind_named(word).expect(word)
}

pub(super) fn key(word: &str, text: &str) -> Key {
    kind(word).key(text).unwrap()
}

/// The error of a key.
pub(super) fn refused(word: &str, text: &str) -> ParseError {
    kind(word).key(text).expect_err(text)
}

pub(super) fn answer(word: &str, text: &str) -> Answer {
    kind(word).evaluate(&key(word, text), &runs()).unwrap()
}

/// The error of a student's answer.
pub(super) fn refusal(text: &str, right: &Answer, letters: usize) -> String {
    right.read(text, letters).expect_err(text).to_string()
}

pub(super) fn is_right(text: &str, right: &Answer) -> bool {
    right.accepts(&right.read(text, 3).unwrap())
}

/// Every printable character that an answer may begin with.
pub(super) fn beginnings(word: &str, right: &Answer, letters: usize) -> String {
    ('!'..='~').filter(|&typed| kind(word).may_begin(typed, right, letters)).collect()
}
