//! The interface of a kind of question for the player, the check, the quiz and the exports.

use std::fmt;
use std::ops::Deref;

use crate::answer::Answer;
use crate::error::Result;
use crate::lesson::key::{self, Key, ParseError, Values};
use crate::text::clip;

/// A kind of question. `letters` is the number of options that the question offers under letters, 0 where it has none.
pub trait QuestionKind: Sync {
    /// The word that a lesson has for it: `kind=choice`.
    fn word(&self) -> &'static str;

    /// The form of its key, as the help of an error.
    fn key_help(&self) -> &'static str;

    /// A key, and a typed answer.
    fn example(&self) -> Example;

    /// The fault of a key of another form, as the predicate of a sentence about it: “has no tolerance”.
    fn fault(&self, key: &Key) -> Option<String>;

    /// The right answer.
    ///
    /// # Errors
    /// As [`Expression::evaluate`](crate::lesson::key::Expression::evaluate); ties among them.
    fn evaluate(&self, key: &Key, values: &dyn Values) -> Result<Answer> {
        key.expression.evaluate(values).map(Answer::exact)
    }

    /// Whether an answer may begin with this character, capital or not.
    fn may_begin(&self, typed: char, right: &Answer, letters: usize) -> bool;

    /// The prompt of the quiz: “A, B or C”; `None` for ungraded questions. `letters` are those of the options.
    fn quiz_prompt(&self, letters: &[char]) -> Option<String>;

    /// The hint in the player's status line: “A B C answers”; `None` for ungraded questions.
    fn status_hint(&self, letters: usize) -> Option<String>;

    /// Whether answers are right or wrong.
    fn is_graded(&self) -> bool {
        true
    }

    /// Whether the answer is the letter of an option. Then the question must offer some, and hands can be counted.
    fn is_chosen_by_letter(&self) -> bool {
        false
    }

    /// Whether the options list the columns of a row, and are no answers themselves.
    fn options_are_columns(&self) -> bool {
        false
    }
}

/// An example of a key and its answer.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// A key.
    pub key: &'static str,
    /// The typed answer.
    pub typed: &'static str,
}

/// One of [`KINDS`](super::KINDS).
#[derive(Clone, Copy)]
pub struct Kind(&'static dyn QuestionKind);

impl Kind {
    /// The kind that behaves so.
    pub const fn new(kind: &'static dyn QuestionKind) -> Kind {
        Kind(kind)
    }

    /// Reads the key of a question of this kind.
    ///
    /// # Errors
    /// If it cannot be read, is not written as this kind wants it, or reads no run: then it is not computed. The error tells the
    /// column within the text.
    pub fn key(self, text: &str) -> std::result::Result<Key, ParseError> {
        let blanks = text.len() - text.trim_start().len();
        let wrong = |what: String| Err(ParseError::new(text, blanks, what, self.key_help()));
        let quoted = clip(text.trim());
        if !self.is_graded() {
            return wrong(format!("an {} question has no key", self.word()));
        }
        if is_bare_answer(text) {
            return wrong(format!("the key `{quoted}` is typed, not computed"));
        }
        let key = key::parse_key(text, self.key_help())?;
        if key.runs().is_empty() {
            return wrong(format!("the key `{quoted}` is typed, not computed: it reads no run"));
        }
        match self.fault(&key) {
            Some(fault) => wrong(format!("`{quoted}` {fault}")),
            None => Ok(key),
        }
    }
}

impl Deref for Kind {
    type Target = dyn QuestionKind;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Kind) -> bool {
        self.word() == other.word()
    }
}

impl Eq for Kind {}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The fault of a key that another kind of question may have.
pub(super) fn of_another_kind(kind: &dyn QuestionKind) -> Option<String> {
    Some(format!("is not a key for a {} question", kind.word()))
}

/// A letter, a word or words without anything that computes: `C`, `bat cave`.
fn is_bare_answer(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphabetic() || c.is_whitespace();
    !text.trim().is_empty() && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::KINDS;
    use super::super::sample::{answer, kind, refusal, refused};

    #[test]
    fn a_key_that_is_not_computed_is_refused_with_the_form_that_is() {
        for (word, text, form) in [
            ("choice", "C", "C iff count(RUN:A[bat], == 0) == 2"),
            ("choice", " C ", "C iff "),
            ("choice", "C iff 1 == 1", "C iff "),
            ("number", "0.3 ± 0.005", "± 0.005"),
            ("number", "0.3", "RUN:A[bat,cave] ± 0.005"),
            ("order", "bat cave", "rank(RUN:A[bat])"),
        ] {
            let error = refused(word, text);
            assert!(error.what.contains("typed, not computed"), "{text}: {}", error.what);
            assert!(error.help.is_some_and(|help| help.contains(form)), "{text}");
        }
        assert_eq!(refused("choice", "  C").column, 3);
    }

    #[test]
    fn a_key_of_another_kind_is_refused() {
        for (word, text) in [
            ("choice", "plain:A[bat,cave] ± 0.1"),
            ("choice", "count(plain:A, == 0) == 2"),
            ("choice", "C iff sum(plain:A)"),
            ("choice", "C iff sum(plain:A) == 1 ± 0.1"),
            ("number", "argmax(plain:A) ± 0.1"),
            ("number", "C iff len(plain:A) == 9"),
            ("cell", "rank(plain:A[bat])"),
            ("cell", "argmax(plain:A) ± 0.1"),
            ("order", "argmax(plain:A)"),
            ("open", "argmax(plain:A)"),
            ("number", "plain:A[bat,cave] ± -0.1"),
            ("number", "plain:A[bat,cave] ± inf"),
        ] {
            assert_eq!(refused(word, text).help.as_deref(), Some(kind(word).key_help()), "{text}");
        }
        assert_eq!(refused("choice", "C if sum(plain:A) == 3").column, 3);
    }

    #[test]
    fn the_example_of_each_kind_is_a_key_of_it() {
        for kind in KINDS.into_iter().filter(|kind| kind.is_graded()) {
            assert!(kind.key(kind.example().key).is_ok(), "{kind:?}");
        }
    }

    #[test]
    fn an_error_repeats_no_escape_sequence() {
        let cell = answer("cell", "argmax(plain:A)");
        for text in ["\u{1b}]0;title\u{7}bta,bat", "b\u{1b}[31mta,bat", "bat,b\u{9b}2Jta"] {
            let error = refusal(text, &cell, 0);
            assert!(!error.contains(['\u{1b}', '\u{9b}', '\u{7}']) && error.contains("\\u{"), "{error:?}");
        }
    }

    #[test]
    fn an_answer_is_shown_as_it_is_typed() {
        for (word, key) in [("cell", "argmax(plain:A)"), ("order", "rank(plain:A[bat])")] {
            let right = answer(word, key);
            let typed = right.read(&right.typed(), 0).unwrap();
            assert!(right.accepts(&typed), "{}", right.typed());
        }
        assert_eq!(answer("cell", "argmax(plain:A)").typed(), "cave,cave");
    }

    #[test]
    fn what_is_too_long_is_refused_unread() {
        for (word, key) in [("cell", "argmax(plain:A)"), ("number", "sum(plain:A) ± 0")] {
            let long = refusal(&"1".repeat(10_000_000), &answer(word, key), 3);
            assert!(long.contains("too long for an answer"));
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,40}|[abct0-9 ,./%#>\\[\\]()-]{0,30}") {
            for (word, key) in [
                ("number", "sum(plain:A) ± 1"),
                ("choice", "A iff sum(plain:A) > 1"),
                ("cell", "argmax(plain:A)"),
                ("cell", "argmin(odd:repeated[the#2])"),
                ("order", "rank(odd:column)"),
            ] {
                let right = answer(word, key);
                if let Ok(typed) = right.read(&text, 3) {
                    right.accepts(&typed);
                }
            }
        }
    }
}
