//! A lesson that is being played: what is shown and typed, and what the class has answered.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use terminal_size::terminal_size_of;

use crate::lesson::show::LessonView;
use crate::lesson::{Command, Lesson, Progress, Question, Run, Runner};
use crate::render::Screen;

use super::answers::ScriptedAnswers;
use super::state::{Action, Class, LineInput, Overlay, Plan, Timing};
use super::stops::{PageStart, Stop, StopKind, commands, stops};

/// The rows of a terminal that does not say.
const USUAL_ROWS: usize = 24;
/// The rows below the text: an empty line and the status line.
const BELOW: usize = 2;
/// The minimum number of lines that are shown at once, even on a smaller screen.
const LEAST_ROWS: usize = 4;

/// The options of playing a lesson.
#[derive(Clone, Copy, Debug)]
pub struct PlayOptions {
    /// The screen, as far as options decide; its width is that of the terminal where `width` is not given.
    pub screen: Screen,
    /// The width that was asked for.
    pub width: Option<usize>,
    /// Whether the lesson advances by itself.
    pub auto: bool,
    /// Whether there are keys: standard input is a terminal.
    pub keys: bool,
}

impl PlayOptions {
    /// The present window.
    pub fn window(&self) -> Window {
        let size = terminal_size_of(io::stdout());
        let columns = size.map(|(columns, _)| usize::from(columns.0)).filter(|&columns| columns > 0);
        let rows = size.map(|(_, rows)| usize::from(rows.0)).filter(|&rows| rows > 0);
        let width = self.width.or(columns).unwrap_or(self.screen.width);
        Window { screen: Screen { width, ..self.screen }, rows: rows.unwrap_or(USUAL_ROWS) }
    }
}

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

/// A lesson that is being played. The methods that change it take the time, and read neither a clock, a terminal nor a file:
/// `update` has those for keys, and `view` those that show it as lines.
pub struct Player<'a> {
    pub(super) lesson: &'a Lesson,
    pub(super) stops: Vec<Stop>,
    pub(super) run: &'a Run<'a>,
    /// Runs the commands of the lesson, each once.
    pub(super) runner: Runner<'a>,
    /// Runs the commands that the teacher types: they may do more than those of a lesson.
    pub by_hand: &'a Run<'a>,
    /// Runs those of them that fill the screen: it takes the terminal, and leaves it as it was.
    pub full_screen: Option<&'a Run<'a>>,
    /// Whether the teacher's notes are shown among the text.
    pub notes: bool,
    /// Answers that are given when their questions are asked.
    pub scripted: ScriptedAnswers,
    pub(super) window: Window,
    pub(super) page: CurrentPage,
    pub(super) overlay: Overlay,
    pub(super) typing: LineInput,
    pub(super) class: Class,
    pub(super) timing: Timing,
    /// Whether the page that is about to be printed begins a clean screen: an answer above it would give its question away.
    pub(super) is_clean: bool,
    /// Whether the screen is left empty, for the class to look at its teacher.
    pub(super) is_blank: bool,
    /// What the terminal is to do after the lines are printed.
    pub(super) action: Action,
    /// The time of the last key.
    pub(super) now: Duration,
}

impl<'a> Player<'a> {
    /// A player at the beginning of a lesson, or of one of its steps.
    pub fn new(lesson: &'a Lesson, run: &'a Run<'a>, window: Window, first: Option<usize>) -> Player<'a> {
        let stops = stops(lesson);
        let stop =
            first.and_then(|first| stops.iter().position(|stop| stop.step == Some(first))).unwrap_or(0);
        let mut typing = LineInput::default();
        for typed in stops[..stop].iter().flat_map(|stop| commands(stop, lesson)) {
            typing.keep_command(typed);
        }
        Player {
            lesson,
            stops,
            run,
            runner: Runner::new(run),
            by_hand: run,
            full_screen: None,
            notes: false,
            scripted: ScriptedAnswers::default(),
            window,
            page: CurrentPage { stop, ..CurrentPage::default() },
            overlay: Overlay::default(),
            typing,
            class: Class { first: first.unwrap_or(0), ..Class::default() },
            timing: Timing::default(),
            is_clean: false,
            is_blank: false,
            action: Action::Wait,
            now: Duration::ZERO,
        }
    }

    /// The lesson, formatted for the present screen.
    pub(super) fn show(&self) -> LessonView<'_> {
        LessonView { notes: self.notes, ..LessonView::new(self.lesson, &self.runner, self.window.screen) }
    }

    /// The rows that text may take.
    pub(super) fn height(&self) -> usize {
        self.window.rows.max(LEAST_ROWS + BELOW) - BELOW
    }

    /// Whether the lesson is over.
    pub fn is_over(&self) -> bool {
        self.page.stop >= self.stops.len()
    }

    /// Whether all of a command's story has been shown: it has no page at its end.
    pub(super) fn is_end_of_story(&self) -> bool {
        self.lesson.story.is_some() && self.page.stop + 1 == self.stops.len() && self.page.next.is_none()
    }

    /// The step that is shown: `None` before the first one, the last one at the end.
    pub fn step(&self) -> Option<usize> {
        self.stops.get(self.page.stop).or(self.stops.last()).and_then(|stop| stop.step)
    }

    /// The steps that have been shown to their end, by position.
    pub fn done(&self) -> &BTreeSet<usize> {
        &self.class.done
    }

    /// The question that waits for an answer: asked, and all of it shown.
    pub(super) fn asking(&self) -> Option<&'a Question> {
        let is_shown = self.page.next.is_none();
        let stop = self.stops.get(self.page.stop).filter(|stop| stop.kind == StopKind::Asked && is_shown);
        stop.and_then(|stop| stop.question(self.lesson))
    }

    /// The question that is asked, or has just been answered.
    pub(super) fn question(&self) -> Option<&'a Question> {
        self.stops.get(self.page.stop).and_then(|stop| stop.question(self.lesson))
    }

    /// When the present step is planned.
    pub(super) fn plan(&self) -> Plan {
        Plan::of(self.lesson, self.class.first, self.step())
    }

    /// The time at which the player goes on by itself; `None` while something is typed.
    pub fn due(&self) -> Option<Duration> {
        if self.typing.is_active() || self.is_blank {
            return None;
        }
        Some(self.timing.due(self.asking().filter(|question| !self.class.has_tried(question))))
    }

    /// The progress of the class.
    pub fn progress(&self) -> Progress {
        let id = |step: usize| self.lesson.steps[step].id.clone();
        // A class that only sees the title keeps its saved place.
        let shown = self.step().map(id).or_else(|| self.class.left.clone());
        Progress {
            step: shown.filter(|_| !self.is_over()),
            done: self.class.done.iter().copied().map(id).collect(),
            answers: self.class.answers(),
            votes: self.class.votes(),
            quiz: None,
        }
    }

    /// Restores the progress of earlier lessons.
    pub fn restore(&mut self, progress: &Progress) {
        let steps = self.lesson.steps.iter().enumerate();
        let done = steps.filter(|(_, step)| progress.done.contains(&step.id)).map(|(at, _)| at);
        self.class.done = done.collect();
        self.class.left.clone_from(&progress.step);
    }

    /// The screen has another size. The following pages are laid out for it, and a page that was cut begins again.
    pub fn resize(&mut self, window: Window) {
        if window.screen.width != self.window.screen.width {
            self.page.next = self.page.next.map(|next| PageStart { piece: 0, ..next });
            self.overlay.rest.clear();
        }
        self.window = window;
    }

    /// The player takes keys again, after it has prepared what comes next.
    pub fn ready(&mut self, now: Duration) {
        self.timing.ready(now);
    }

    /// Gives the whole screen to a command that the teacher has typed; returns what it has printed.
    pub fn run_full_screen(&self, command: &Command) -> String {
        let run = self.full_screen.unwrap_or(self.by_hand);
        run(&command.args, self.window.screen).shown()
    }
}
