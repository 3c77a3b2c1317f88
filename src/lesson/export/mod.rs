//! Exports of a whole lesson to one file.

mod cast;
mod html;
mod md;

use serde::Deserialize;

use crate::render::{Screen, Theme};

use super::model::{Lesson, Question};
use super::run::Runner;
use super::show::LessonView;

pub use cast::cast;
pub use html::{LIVE_SCRIPT, LIVE_STYLE, html, html_main, length};
pub use md::markdown;

/// Whether a link leads to a page, to a mailbox, or into the text itself.
fn is_harmless(address: &str) -> bool {
    ["https://", "http://", "mailto:", "#"].iter().any(|start| address.starts_with(start))
}

/// The treatment of answers in a handout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answers {
    /// They are folded; shown in formats that cannot fold.
    #[default]
    Folded,
    /// They are left out.
    Hidden,
    /// They are shown.
    Shown,
}

/// The number of lines for a handwritten answer after the first: an open question has three.
fn more_lines(question: &Question) -> usize {
    if question.kind.is_graded() { 0 } else { 3 }
}

/// A lesson to be exported, with options.
#[derive(Clone, Copy)]
pub struct Handout<'a> {
    /// The lesson.
    pub lesson: &'a Lesson,
    /// The runner of its commands.
    pub runner: &'a Runner<'a>,
    /// The treatment of answers.
    pub answers: Answers,
    /// Whether the teacher's notes are in it.
    pub notes: bool,
    /// Whether a page computes for itself.
    pub live: bool,
}

impl<'a> Handout<'a> {
    /// The lesson on the screen that it is written for.
    pub fn show(&self, colour: bool) -> LessonView<'a> {
        // A recording is played on a dark ground.
        let screen = Screen { colour, theme: Theme::Dark, ..Screen::plain(self.lesson.size.columns) };
        let mut show = LessonView::new(self.lesson, self.runner, screen);
        show.notes = self.notes;
        show
    }
}

// The transcript of a lesson.

/// The whole lesson on the screen that it is written for, as plain text.
pub fn transcript(handout: &Handout<'_>) -> String {
    handout.show(false).transcript(handout.answers != Answers::Hidden)
}
