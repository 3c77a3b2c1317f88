//! A line that is being typed, and what for.

use super::line::Line;

/// What a line is typed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To answer the question.
    Answer,
    /// To count hands.
    Hands,
    /// To find a word.
    Search,
    /// To run a command.
    Command,
}

/// A line that is being typed.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub purpose: Purpose,
    pub line: Line,
}

impl Entry {
    pub(super) fn new(purpose: Purpose, text: &str, earlier: Vec<String>) -> Entry {
        Entry { purpose, line: Line::new(text, earlier) }
    }

    /// What stands before the line.
    pub(super) fn label(&self) -> &'static str {
        match self.purpose {
            Purpose::Answer => " answer: ",
            Purpose::Hands => " hands: ",
            Purpose::Search => " search: ",
            Purpose::Command => " $ ",
        }
    }
}
