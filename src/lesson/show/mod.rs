//! A lesson as lines for a terminal: prose wrapped, questions set off, commands run live.
//!
//! Nothing here waits or reads: the player, the transcript and the recording decide when a line is shown. A line ends without
//! a newline; with colours it is the same line without them, and escapes around its words.

mod console;
mod grid;
mod headings;
mod markdown;
mod questions;
mod spans;
mod transcript;

use super::model::{Block, Lesson, Note};
use super::run::Runner;
use crate::render::Screen;
pub(in crate::lesson) use headings::minutes;
pub(in crate::lesson) use markdown::inline;
pub use questions::BLANK;
pub(in crate::lesson) use questions::escaped;
pub(in crate::lesson) use spans::{Ink, Text, Tone};
use spans::{PROSE_WIDTH, joined};

/// A lesson, and the screen that it is shown on.
#[derive(Clone, Copy)]
pub struct LessonView<'a> {
    /// The lesson.
    pub lesson: &'a Lesson,
    /// The runner of its commands.
    pub runner: &'a Runner<'a>,
    /// The screen.
    pub screen: Screen,
    /// Whether the teacher's notes are shown among the other blocks.
    pub notes: bool,
}

impl<'a> LessonView<'a> {
    /// A lesson on a screen, without its notes.
    pub fn new(lesson: &'a Lesson, runner: &'a Runner<'a>, screen: Screen) -> LessonView<'a> {
        LessonView { lesson, runner, screen, notes: false }
    }

    /// The lines of a block: of a question without its answer, and of a note only if notes are shown.
    pub fn block(&self, block: &Block) -> Vec<String> {
        match block {
            Block::Prose(prose) => markdown::lines(&prose.markdown, self.screen),
            Block::Console(console) => self.console(console),
            Block::Literal(literal) => self.literal(literal),
            Block::Note(note) if self.notes => self.note(note),
            Block::Note(_) => Vec::new(),
            Block::Question(question) => self.question(question),
        }
    }

    /// The lines of blocks, an empty one between any two.
    pub fn blocks(&self, blocks: &[Block]) -> Vec<String> {
        joined(blocks.iter().map(|block| self.block(block)))
    }

    /// The lines of a note, whether notes are shown among the blocks or not.
    pub fn note(&self, note: &Note) -> Vec<String> {
        let mut text = Text::of("Note  ", Ink { bold: true, ..Ink::of(Tone::Note) }, self.screen);
        text.extend(&markdown::inline(&note.text, self.screen));
        text.wrapped(self.prose_width(), ["      ", "            "], self.screen)
    }

    fn prose_width(&self) -> usize {
        self.screen.width.min(PROSE_WIDTH)
    }
}
