//! Text that is shown in place of the lesson, a page at a time.

use super::pages::{self, Chunk};

/// The text shown in place of the lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    /// The contents; a number goes to a step.
    Contents,
    /// The list of keys.
    Keys,
    /// The output of a command that the teacher typed.
    Output,
}

/// Text in place of the lesson; any key returns to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlay {
    /// None where the lesson itself is shown.
    pub topic: Option<Topic>,
    /// The text that is not shown yet.
    pub rest: Vec<Chunk>,
}

impl Overlay {
    /// Begins to show lines on pages of this height; returns the first page.
    pub(super) fn begin(&mut self, lines: &[String], height: usize) -> Vec<String> {
        self.rest = pages::chunks(0, lines, height);
        self.more(height)
    }

    /// The next page.
    pub(super) fn more(&mut self, height: usize) -> Vec<String> {
        let end = pages::pages(&self.rest, height).first().map_or(0, |page| page.end);
        let shown: Vec<Chunk> = self.rest.drain(..end).collect();
        pages::lines(&shown)
    }
}
