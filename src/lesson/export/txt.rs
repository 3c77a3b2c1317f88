//! The transcript of a lesson.

use super::{Answers, Handout};

/// The whole lesson on the screen that it is written for, as plain text.
pub fn transcript(handout: &Handout<'_>) -> String {
    handout.show(false).transcript(handout.answers != Answers::Hidden)
}
