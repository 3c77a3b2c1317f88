//! The shell around the state of a player: it runs what the teacher types, and hands everything else on.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use terminal_size::terminal_size_of;

use crate::lesson::{Command, Lesson, Progress, Run};
use crate::render::Screen;
use crate::terminal::Key;

use super::answers::ScriptedAnswers;
use super::state::{Action, Course, Effects, Input, State, Window};
use super::update::update;
use super::view::{self, StatusLine};

/// The rows of a terminal that does not say.
const USUAL_ROWS: usize = 24;

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

/// A lesson that is being played: its state, and what can be looked up about it.
pub struct Player<'a> {
    pub(super) course: Course<'a>,
    pub(super) state: State,
    /// Runs the commands that the teacher types.
    by_hand: &'a Run<'a>,
    /// Runs those of them that fill the screen.
    on_screen: Option<FullScreenCommands<'a>>,
}

/// The commands that read keys and fill the screen, as the explorer does.
#[derive(Clone, Copy)]
pub struct FullScreenCommands<'a> {
    /// Whether a command is one of them.
    pub has: fn(&[String]) -> bool,
    /// Runs one: it takes the terminal, and leaves it as it was.
    pub run: &'a Run<'a>,
}

impl<'a> Player<'a> {
    /// A player at the beginning of a lesson, or of one of its steps.
    pub fn new(lesson: &'a Lesson, run: &'a Run<'a>, window: Window, first: Option<usize>) -> Player<'a> {
        let course = Course::new(lesson, run);
        let state = State::new(&course, window, first);
        Player { course, state, by_hand: run, on_screen: None }
    }

    /// The same player with another `run` for the commands that the teacher types: they may do more than those of a lesson.
    pub fn with_commands_by(mut self, by_hand: &'a Run<'a>) -> Player<'a> {
        self.by_hand = by_hand;
        self
    }

    /// The same player, which gives the screen to some of the commands that the teacher types.
    pub fn with_full_screen(mut self, commands: FullScreenCommands<'a>) -> Player<'a> {
        self.on_screen = Some(commands);
        self
    }

    /// Gives the whole screen to a command that the teacher has typed; the lesson goes on below what it has printed.
    pub fn open(&mut self, command: &Command, now: impl Fn() -> Duration) -> Effects {
        let run = self.on_screen.map_or(self.by_hand, |commands| commands.run);
        let printed = run(&command.args, self.state.window.screen).shown();
        self.take(Input::Output { typed: command.typed.clone(), printed }, now())
    }

    /// The same player, with or without the teacher's notes in the text.
    pub fn with_notes(mut self, notes: bool) -> Player<'a> {
        self.course.notes = notes;
        self
    }

    /// The same player, which gives these answers to the questions.
    pub fn with_answers(mut self, scripted: ScriptedAnswers) -> Player<'a> {
        self.state.class.scripted = scripted;
        self
    }

    /// The same player with the progress of earlier lessons.
    pub fn with_progress(mut self, progress: &Progress) -> Player<'a> {
        self.state.restore(&self.course, progress);
        self
    }

    /// The first page, below notices for the teacher.
    pub fn begin(&mut self, notices: &[String], now: Duration) -> Effects {
        self.take(Input::Begin(notices.to_vec()), now)
    }

    /// Handles a key, `now` after the beginning.
    pub fn press(&mut self, key: Key, now: Duration) -> Effects {
        self.take(Input::Key(key), now)
    }

    /// The present page once more, on a clean screen.
    pub fn again(&mut self, now: Duration) -> Effects {
        self.take(Input::Redraw, now)
    }

    /// The screen has another size.
    pub fn resize(&mut self, window: Window, now: Duration) {
        self.take(Input::Resize(window), now);
    }

    /// The player takes keys again, after it has prepared what comes next.
    pub fn ready(&mut self, now: Duration) {
        self.take(Input::Ready, now);
    }

    /// Handles an event and runs the commands that it asks for; other effects are left to the terminal.
    fn take(&mut self, input: Input, now: Duration) -> Effects {
        let effects = update(&self.course, &mut self.state, input, now);
        match effects.action {
            Action::Run(command) if self.on_screen.is_some_and(|commands| (commands.has)(&command.args)) => {
                Effects::of(Action::Open(command))
            }
            Action::Run(command) => {
                // Not through the cache of the course: the files that it reads may have changed.
                let printed = (self.by_hand)(&command.args, self.state.window.screen).shown();
                self.take(Input::Output { typed: command.typed, printed }, now)
            }
            Action::RunAgain => {
                self.course.forget_outputs();
                self.take(Input::Redraw, now)
            }
            _ => effects,
        }
    }

    /// Runs the commands of the next stop ahead of time, so that it appears at once.
    pub fn prepare(&self) {
        if let Some(next) = self.course.stops.get(self.state.page.stop + 1) {
            view::chunks(&self.course, &self.state, next);
        }
    }

    /// The line at the bottom, `now` after the beginning.
    pub fn bottom(&self, now: Duration) -> StatusLine {
        view::bottom(&self.course, &self.state, now)
    }

    /// The line below a lesson that was left before its end; `asked` is the name or path that it was opened by.
    pub fn farewell(&self, asked: &str) -> Option<String> {
        view::farewell(&self.course, &self.state, asked)
    }

    /// The time at which the player goes on by itself; `None` while something is typed.
    pub fn due(&self) -> Option<Duration> {
        self.state.due(&self.course)
    }

    /// The step that is shown: `None` before the first one, the last one at the end.
    pub fn step(&self) -> Option<usize> {
        self.state.step(&self.course)
    }

    /// Whether the lesson is over.
    pub fn is_over(&self) -> bool {
        self.state.is_over(&self.course)
    }

    /// The steps that have been shown to their end, by position.
    pub fn done(&self) -> &BTreeSet<usize> {
        &self.state.class.done
    }

    /// The progress of the class.
    pub fn progress(&self) -> Progress {
        self.state.progress(&self.course)
    }
}
