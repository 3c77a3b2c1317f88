//! The state of a player: plain data. [`update`](super::update) changes it, [`view`](super::view) shows it.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::lesson::{Progress, Question};
use crate::render::Screen;

use super::class::Class;
use super::clock::{Pace, Plan};
use super::course::Course;
use super::overlay::Overlay;
use super::pages::PageStart;
use super::stops::{StopKind, commands};
use super::timing::Timing;
use super::typing::LineInput;

/// The rows below the text: an empty line and the status line.
const BELOW: usize = 2;
/// The minimum number of lines that are shown at once, even on a smaller screen.
const LEAST_ROWS: usize = 4;

/// The screen, and how tall it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The screen that commands and text are formatted for.
    pub screen: Screen,
    /// Its rows.
    pub rows: usize,
}

/// The page that is shown.
#[derive(Clone, Debug, Default)]
pub(super) struct CurrentPage {
    /// The stop; after the last one at the end.
    pub stop: usize,
    /// The beginning of the page, and of the next page of the stop.
    pub from: PageStart,
    pub next: Option<PageStart>,
}

/// The state of a player: its position, its input, and the answers of the class.
pub(super) struct State {
    pub window: Window,
    pub page: CurrentPage,
    pub overlay: Overlay,
    pub typing: LineInput,
    pub class: Class,
    pub timing: Timing,
    /// Whether the page that is about to be printed begins a clean screen: an answer above it would give its question away.
    pub is_clean: bool,
    /// Whether the screen is left empty, for the class to look at its teacher.
    pub is_blank: bool,
}

impl State {
    /// The state before a lesson is begun, or one of its steps.
    pub(super) fn new(course: &Course<'_>, window: Window, first: Option<usize>) -> State {
        let is_first = |first| course.stops.iter().position(|stop| stop.step == Some(first));
        let stop = first.and_then(is_first).unwrap_or(0);
        let mut state = State {
            window,
            page: CurrentPage { stop, ..CurrentPage::default() },
            overlay: Overlay::default(),
            typing: LineInput::default(),
            class: Class::beginning_at(first.unwrap_or(0)),
            timing: Timing::default(),
            is_clean: false,
            is_blank: false,
        };
        for stop in &course.stops[..stop] {
            commands(stop, course.lesson).into_iter().for_each(|typed| state.typing.keep_command(typed));
        }
        state
    }

    /// The rows that text may take.
    pub(super) fn height(&self) -> usize {
        self.window.rows.max(LEAST_ROWS + BELOW) - BELOW
    }

    /// Whether the lesson is over.
    pub(super) fn is_over(&self, course: &Course<'_>) -> bool {
        self.page.stop >= course.stops.len()
    }

    /// Whether all of a command's story has been shown: it has no page at its end.
    pub(super) fn is_end_of_story(&self, course: &Course<'_>) -> bool {
        course.lesson.story.is_some() && self.page.stop + 1 == course.stops.len() && self.page.next.is_none()
    }

    /// The step that is shown: `None` before the first one, the last one at the end.
    pub(super) fn step(&self, course: &Course<'_>) -> Option<usize> {
        course.stops.get(self.page.stop).or(course.stops.last()).and_then(|stop| stop.step)
    }

    /// The question that waits for an answer: asked, and all of it shown.
    pub(super) fn asking<'a>(&self, course: &Course<'a>) -> Option<&'a Question> {
        let stop = course.stops.get(self.page.stop)?;
        let is_asked = stop.kind == StopKind::Asked && self.page.next.is_none();
        if is_asked { stop.question(course.lesson) } else { None }
    }

    /// The question that is asked, or has just been answered.
    pub(super) fn question<'a>(&self, course: &Course<'a>) -> Option<&'a Question> {
        course.stops.get(self.page.stop).and_then(|stop| stop.question(course.lesson))
    }

    /// When the present step is planned.
    pub(super) fn plan(&self, course: &Course<'_>) -> Plan {
        Plan::of(course.lesson, self.class.first, self.step(course))
    }

    /// The time spent and planned.
    pub(super) fn pace(&self, course: &Course<'_>, now: Duration) -> Pace {
        self.plan(course).pace(now.as_secs())
    }

    /// The time at which the player goes on by itself; `None` while something is typed.
    pub(super) fn due(&self, course: &Course<'_>) -> Option<Duration> {
        if self.typing.is_active() || self.is_blank {
            return None;
        }
        let unanswered = self.asking(course).filter(|question| !self.class.has_tried(question));
        Some(self.timing.due(unanswered))
    }

    /// The progress of the class.
    pub(super) fn progress(&self, course: &Course<'_>) -> Progress {
        let id = |step: usize| course.lesson.steps[step].id.clone();
        // A class that only sees the title keeps its saved place.
        let shown = self.step(course).map(id).or_else(|| self.class.left.clone());
        Progress {
            step: shown.filter(|_| !self.is_over(course)),
            done: self.class.done.iter().copied().map(id).collect(),
            answers: self.class.answers(),
            votes: self.class.votes(),
            quiz: None,
        }
    }

    /// Restores the progress of earlier lessons.
    pub(super) fn restore(&mut self, course: &Course<'_>, progress: &Progress) {
        let steps = course.lesson.steps.iter().enumerate();
        let done = steps.filter(|(_, step)| progress.done.contains(&step.id)).map(|(at, _)| at);
        self.class.done = done.collect::<BTreeSet<usize>>();
        self.class.left.clone_from(&progress.step);
    }

    /// The screen has another size. The following pages are laid out for it, and a page that was cut begins again.
    pub(super) fn resize(&mut self, window: Window) {
        if window.screen.width != self.window.screen.width {
            self.page.next = self.page.next.map(|next| PageStart { piece: 0, ..next });
            self.overlay.rest.clear();
        }
        self.window = window;
    }
}
