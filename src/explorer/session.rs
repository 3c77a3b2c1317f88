//! Exploring on the terminal of this process.

use std::collections::HashMap;
use std::io::{self, Stdout, Write};
use std::time::{Duration, Instant};

use crossterm::execute;
use crossterm::terminal::{Clear, ClearType};
use ratatui::Terminal as Display;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Position;

use super::copying;
use super::draw::{Board, Hit, Look, draw};
use super::full_screen::{FullScreen, read_clicks, reads_clicks};
use super::keys::{Action, action_in};
use super::script::{Line, Script};
use super::steps_of_story::StepsOfStory;
use super::writing::Writer;
use crate::error::{EXIT_DONE, Error, Result};
use crate::explore::{Event, State, update};
use crate::hint::Hint;
use crate::render::Screen;
use crate::terminal::{Guard, INTERRUPTED, Input, Key, Readiness, Signals, inputs, wait};

/// The exit code after the terminal has gone away, as of SIGHUP.
const HUNG_UP: u8 = 129;
/// The longest time without a look at signals.
const LOOK_AROUND: Duration = Duration::from_secs(1);

/// What is explored.
pub(crate) struct Opened {
    /// The state at the start.
    pub state: State,
    /// The sentences of a demo, by the names of nodes.
    pub told: HashMap<String, String>,
    /// The screen.
    pub screen: Screen,
    /// Writes states.
    pub writer: Writer,
}

/// Explores until the end; returns the exit code. The terminal is left as it was found.
///
/// # Errors
/// If the terminal cannot be used, or a recording not be written.
pub(crate) fn explore(opened: Opened, mut script: Script) -> Result<u8> {
    // The answer of the terminal to the query for its colours is not a key.
    crate::terminal::settle();
    let outcome = on_screen(opened, &mut script);
    script.finish()?;
    outcome
}

fn on_screen(opened: Opened, script: &mut Script) -> Result<u8> {
    let signals = Signals::new().map_err(unusable)?;
    let guard = Guard::new(FullScreen).map_err(unusable)?;
    let display = Display::new(CrosstermBackend::new(io::stdout())).map_err(unusable)?;
    let Opened { state, told, screen, writer } = opened;
    let story = StepsOfStory::of(&state, &told, screen);
    let look = Look { colour: screen.colour, theme: screen.theme, charset: screen.charset };
    let mut session = Session {
        state,
        told,
        screen,
        writer,
        look,
        story,
        hits: Vec::new(),
        said: None,
        display,
        guard,
        signals,
    };
    let outcome = session.run(script);
    if reads_clicks() {
        let _ = read_clicks(false);
    }
    outcome
}

fn unusable(error: io::Error) -> Error {
    Error::new(format!("the terminal cannot be used: {error}"))
        .help(format!("explore line by line instead: {}", Hint::Plain))
}

struct Session {
    state: State,
    told: HashMap<String, String>,
    screen: Screen,
    writer: Writer,
    look: Look,
    story: StepsOfStory,
    hits: Vec<Hit>,
    /// What the last key says that is no event of the state.
    said: Option<String>,
    display: Display<CrosstermBackend<Stdout>>,
    guard: Guard<FullScreen>,
    signals: Signals,
}

impl Session {
    fn run(&mut self, script: &mut Script) -> Result<u8> {
        self.draw()?;
        let mut due: Option<Instant> = None;
        loop {
            if let Some(code) = self.signals.ending() {
                return Ok(code);
            }
            if self.signals.continued() {
                self.guard.renew().map_err(unusable)?;
                self.redraw()?;
            }
            // The next key of a script, once its pause is over.
            if script.is_playing() && due.is_none_or(|due| due <= Instant::now()) {
                due = None;
                match script.next() {
                    Some(Line::Wait(pause)) => due = Some(Instant::now() + pause),
                    Some(Line::Key(key)) => {
                        if let Some(code) = self.press(key, script)? {
                            return Ok(code);
                        }
                        self.draw()?;
                    }
                    None => {}
                }
                if due.is_none()
                    && script.is_playing()
                    && wait(Duration::ZERO).map_err(unusable)? == Readiness::Nothing
                {
                    continue;
                }
            }
            let longest =
                due.map_or(LOOK_AROUND, |due| due.saturating_duration_since(Instant::now())).min(LOOK_AROUND);
            match wait(longest).map_err(unusable)? {
                Readiness::Gone => return Ok(HUNG_UP),
                // The window may have another size: drawing asks for it.
                Readiness::Nothing => self.draw()?,
                Readiness::Ready => {
                    for input in inputs().map_err(unusable)? {
                        match input {
                            Input::Key(key) => {
                                if let Some(code) = self.press(key, script)? {
                                    return Ok(code);
                                }
                            }
                            Input::Click(x, y) => self.click(Position { x, y }),
                            Input::Resized => {}
                        }
                    }
                    self.draw()?;
                }
            }
        }
    }

    /// Does what a key means; returns the exit code if it ends the program.
    fn press(&mut self, key: Key, script: &mut Script) -> Result<Option<u8>> {
        script.record(key);
        self.said = None;
        match action_in(self.state.mode(), key) {
            None | Some(Action::Number) => {}
            Some(Action::Do(event)) => {
                self.follow(event);
                self.said = self.writer.answer(&self.state);
            }
            Some(Action::CopyCell) => self.copy(copying::cell(&self.state), "number"),
            Some(Action::CopyMatrix) => self.copy(copying::matrix(&self.state), "matrix"),
            Some(Action::Mouse) => {
                read_clicks(!reads_clicks()).map_err(unusable)?;
                let on = "Clicks are read. Hold Shift (Option on a Mac) to select text; M leaves the mouse to the terminal.";
                self.said =
                    Some(if reads_clicks() { on } else { "The mouse is the terminal's." }.to_string());
            }
            Some(Action::Redraw) => self.redraw()?,
            Some(Action::Suspend) => {
                self.guard.suspend().map_err(unusable)?;
                self.redraw()?;
            }
            Some(Action::Interrupt) => return Ok(Some(INTERRUPTED)),
            Some(Action::Quit) => return Ok(Some(EXIT_DONE)),
        }
        Ok(None)
    }

    fn follow(&mut self, event: Event) {
        let before = self.state.undoable();
        let changes = self.state.changes().clone();
        let state = self.state.clone();
        self.state = update(state, event);
        if self.state.undoable() != before || *self.state.changes() != changes {
            self.story = StepsOfStory::of(&self.state, &self.told, self.screen);
        }
    }

    fn click(&mut self, at: Position) {
        let cell = self.hits.iter().find(|hit| hit.area.contains(at)).map(|hit| hit.cell);
        if let Some(cell) = cell {
            self.follow(Event::Point(cell));
        }
    }

    fn copy(&mut self, text: Option<String>, what: &str) {
        self.said = Some(match text {
            None => format!("There is no {what} here that a clipboard could hold."),
            Some(text) => {
                let mut out = io::stdout();
                let sent = out.write_all(copying::escape(&text).as_bytes()).and_then(|()| out.flush());
                match sent {
                    Ok(()) => format!(
                        "The {what} is sent to the clipboard. If it does not arrive, the terminal refuses OSC 52."
                    ),
                    Err(error) => format!("The {what} cannot be copied: {error}"),
                }
            }
        });
    }

    /// Draws everything again. A new display knows nothing of what stands on the screen; to ask the terminal for the place of its
    /// cursor, as the old one would, is in vain where it does not answer.
    fn redraw(&mut self) -> Result<()> {
        execute!(io::stdout(), Clear(ClearType::All)).map_err(unusable)?;
        self.display = Display::new(CrosstermBackend::new(io::stdout())).map_err(unusable)?;
        self.draw()
    }

    fn draw(&mut self) -> Result<()> {
        let board =
            Board { state: &self.state, story: &self.story, look: self.look, said: self.said.as_deref() };
        let mut hits = Vec::new();
        self.display
            .draw(|frame| {
                let (found, cursor) = draw(&board, frame.buffer_mut());
                hits = found;
                if let Some(position) = cursor {
                    frame.set_cursor_position(position);
                }
            })
            .map_err(unusable)?;
        self.hits = hits;
        Ok(())
    }
}
