//! `open`: any answer; it is discussed in class and not graded.

use crate::answer::Answer;
use crate::lesson::key::Key;

use super::kind::{Example, QuestionKind, of_another_kind};

/// Any answer; it is not graded and has no key.
pub(super) struct OpenKind;

impl QuestionKind for OpenKind {
    fn word(&self) -> &'static str {
        "open"
    }

    fn key_help(&self) -> &'static str {
        "remove the key, or give the question another kind"
    }

    fn example(&self) -> Example {
        Example { key: "none; a note says what to listen for", typed: "anything" }
    }

    fn fault(&self, _: &Key) -> Option<String> {
        of_another_kind(self)
    }

    fn may_begin(&self, _: char, _: &Answer, _: usize) -> bool {
        false
    }

    fn quiz_prompt(&self, _: &[char]) -> Option<String> {
        None
    }

    fn status_hint(&self, _: usize) -> Option<String> {
        None
    }

    fn is_graded(&self) -> bool {
        false
    }
}
