//! Typed input: an answer, a vote, a search, a command, or the number of a step.

use crate::terminal::{EditLine, Key};
use std::time::Duration;

/// The maximum number of saved commands.
const MOST_COMMANDS: usize = 200;
/// Votes that cannot be counted are dropped up to Enter, or up to a pause as long as this.
const SAME_LINE: Duration = Duration::from_secs(2);
/// The highest number of a step that can be typed.
const LARGEST_COUNT: usize = 99_999;

/// The purpose of a typed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinePurpose {
    /// To answer the question.
    Answer,
    /// To vote.
    Hands,
    /// To find a word.
    Search,
    /// To run a command.
    Command,
}

/// A line that is being typed.
#[derive(Clone, Debug)]
pub(super) struct TypedLine {
    pub purpose: LinePurpose,
    pub line: EditLine,
}

impl TypedLine {
    pub(super) fn new(purpose: LinePurpose, text: &str, earlier: Vec<String>) -> TypedLine {
        TypedLine { purpose, line: EditLine::new(text, earlier) }
    }

    /// The mark before the line.
    pub(super) fn label(&self) -> &'static str {
        match self.purpose {
            LinePurpose::Answer => " answer: ",
            LinePurpose::Hands => " hands: ",
            LinePurpose::Search => " search: ",
            LinePurpose::Command => " $ ",
        }
    }
}

/// Votes that cannot be counted, and are typed all the same.
#[derive(Clone, Debug)]
struct DroppedVotes {
    /// When the last key was pressed.
    last: Duration,
    text: String,
}

/// The typed input, and earlier input.
#[derive(Clone, Debug, Default)]
pub(super) struct LineInput {
    /// The line that is being typed.
    pub entry: Option<TypedLine>,
    /// The number that is being typed for `<n>G`.
    pub count: Option<usize>,
    /// The last search, in lower case.
    pub search: String,
    /// The commands that were shown or typed, the last one last.
    pub commands: Vec<String>,
    dropped: Option<DroppedVotes>,
}

impl LineInput {
    /// Whether a line or a number is being typed.
    pub(super) fn is_active(&self) -> bool {
        self.entry.is_some() || self.count.is_some()
    }

    /// Begins a line.
    pub(super) fn begin(&mut self, purpose: LinePurpose, text: &str) {
        let earlier = if purpose == LinePurpose::Command { self.commands.clone() } else { Vec::new() };
        self.entry = Some(TypedLine::new(purpose, text, earlier));
    }

    /// Keeps a command, for the line in which one types one's own.
    pub(super) fn keep_command(&mut self, typed: &str) {
        if self.commands.last().is_none_or(|last| last != typed) {
            self.commands.push(typed.to_string());
            let surplus = self.commands.len().saturating_sub(MOST_COMMANDS);
            self.commands.drain(..surplus);
        }
    }

    /// Whether a key belongs to the number that is being typed; then it has been taken.
    pub(super) fn counts(&mut self, key: Key) -> bool {
        match (key, self.count) {
            (Key::Char(digit @ '0'..='9'), count) => {
                let digit = digit as usize - '0' as usize;
                self.count = Some((count.unwrap_or(0) * 10 + digit).min(LARGEST_COUNT));
                true
            }
            (Key::Backspace, Some(count)) => {
                self.count = Some(count / 10).filter(|&count| count > 0);
                true
            }
            _ => false,
        }
    }

    /// Begins to drop votes that cannot be counted: the following keys are neither an answer nor a jump.
    pub(super) fn drop_votes(&mut self, now: Duration) {
        self.dropped = Some(DroppedVotes { last: now, text: String::new() });
    }

    /// Returns true if a key belongs to the dropped votes: these end with Enter or a pause. Digits before `G` are a jump instead:
    /// `5G`.
    pub(super) fn drops(&mut self, key: Key, now: Duration) -> bool {
        let Some(mut dropped) = self.dropped.take() else { return false };
        if now.saturating_sub(dropped.last) >= SAME_LINE {
            return false;
        }
        let is_vote = |c: char| {
            c.is_ascii_digit() || " ,:".contains(c) || ('A'..='H').contains(&c.to_ascii_uppercase())
        };
        match key {
            Key::Char('G') if dropped.text.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.count = dropped.text.parse().ok();
                return false;
            }
            Key::Char(c) if is_vote(c) => dropped.text.push(c),
            Key::Backspace => drop(dropped.text.pop()),
            Key::Enter => return true,
            _ => return false,
        }
        self.dropped = Some(DroppedVotes { last: now, ..dropped });
        true
    }
}
