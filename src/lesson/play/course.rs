//! The lesson that is played, with its stops and the output of its commands.

use crate::lesson::show::LessonView;
use crate::lesson::{Lesson, Run, Runner};
use crate::render::Screen;

use super::stops::{Stop, stops};

/// A lesson as it is played. It does not change; the output of each command is cached after its first run.
pub(super) struct Course<'a> {
    pub lesson: &'a Lesson,
    pub stops: Vec<Stop>,
    /// Whether the teacher's notes are shown among the text.
    pub notes: bool,
    run: &'a Run<'a>,
    runner: Runner<'a>,
}

impl<'a> Course<'a> {
    pub(super) fn new(lesson: &'a Lesson, run: &'a Run<'a>) -> Course<'a> {
        Course { lesson, stops: stops(lesson), notes: false, run, runner: Runner::new(run) }
    }

    /// The lesson, formatted for a screen.
    pub(super) fn show(&self, screen: Screen) -> LessonView<'_> {
        let mut show = LessonView::new(self.lesson, &self.runner, screen);
        show.notes = self.notes;
        show
    }

    /// Clears the cached outputs: each command is run again when it is shown next.
    pub(super) fn forget_outputs(&mut self) {
        self.runner = Runner::new(self.run);
    }
}
