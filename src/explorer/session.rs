//! Exploring on the terminal of this process.

use std::collections::HashMap;
use std::io::{self, Stdout, Write};
use std::time::{Duration, Instant};

use crossterm::terminal;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;

use super::background::{Computed, Worker};
use super::copying;
use super::display::Display;
use super::draw::{Board, Hit, Look, draw};
use super::full_screen::{FullScreen, read_clicks, reads_clicks};
use super::keys::{Action, action_in};
use super::script::{Begun, Line, Script};
use super::steps_of_story::StepsOfStory;
use super::writing::Writer;
use crate::error::{EXIT_DONE, Error, Result};
use crate::explore::{Computation, Event, Message, Mode, Planned, State, plan};
use crate::render::Screen;
use crate::terminal::{
    Guard, HUNG_UP, INTERRUPTED, Input, Key, Readiness, Signals, inputs, unless_gone, wait,
};
use attn_story::live::sentences;

/// The longest time without a look at signals.
const LOOK_AROUND: Duration = Duration::from_secs(1);
/// The longest time without a look whether a change is computed.
const LOOK_FOR_RESULT: Duration = Duration::from_millis(10);

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
    let outcome = unless_gone(on_screen(opened, &mut script));
    script.finish()?;
    outcome
}

fn on_screen(opened: Opened, script: &mut Script) -> Result<u8> {
    let signals = Signals::of_screen().map_err(unusable)?;
    let guard = Guard::new(FullScreen).map_err(unusable)?;
    let display = Display::new(io::stdout(), terminal::size().map_err(unusable)?);
    let Opened { state, told, screen, writer } = opened;
    let worker = Worker::new(told, screen);
    let story = worker.story(&state);
    let look = Look { colour: screen.colour, theme: screen.theme, charset: screen.charset };
    let (hits, said, begun_by) = (Vec::new(), None, Begun::default());
    let mut session =
        Session { state, worker, writer, begun_by, look, story, hits, said, display, guard, signals };
    let outcome = session.run(script);
    if reads_clicks() {
        let _ = read_clicks(false);
    }
    outcome
}

fn unusable(error: io::Error) -> Error {
    Error::new(format!("the terminal cannot be used: {error}")).help("explore line by line instead: --plain")
}

struct Session {
    /// While a change is computed, the state before it.
    state: State,
    worker: Worker,
    writer: Writer,
    /// The place in a recording of the key that began what is being computed.
    begun_by: Begun,
    look: Look,
    story: StepsOfStory,
    hits: Vec<Hit>,
    /// What the last key says that is no event of the state.
    said: Option<String>,
    display: Display<Stdout>,
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
            if self.signals.stopped() {
                self.guard.suspend().map_err(unusable)?;
                self.redraw()?;
            }
            if self.signals.continued() {
                self.guard.renew().map_err(unusable)?;
                self.redraw()?;
            }
            if let Some(computed) = self.worker.result() {
                self.take(computed);
                self.draw()?;
            }
            // The next key of a script, once its pause is over and the change of the last one is computed.
            if script.is_playing() && !self.worker.is_running() && due.is_none_or(|due| due <= Instant::now())
            {
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
            let longest = if self.worker.is_running() { LOOK_FOR_RESULT } else { LOOK_AROUND };
            let pause = due.map_or(longest, |due| due.saturating_duration_since(Instant::now()));
            match wait(pause.min(longest)).map_err(unusable)? {
                Readiness::Gone => return Ok(HUNG_UP),
                Readiness::Nothing if self.worker.is_running() && !self.worker.is_due() => {}
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
                            Input::Click(x, y) => self.click(Position { x, y }, script),
                        }
                    }
                    self.draw()?;
                }
            }
        }
    }

    /// Does what a key means; returns the exit code if it ends the program.
    fn press(&mut self, key: Key, script: &mut Script) -> Result<Option<u8>> {
        self.said = None;
        let action = action_in(self.state.mode(), key);
        // The program goes on while it draws or waits.
        let interrupts = !matches!(action, Some(Action::Redraw | Action::Suspend));
        let computation = if interrupts { self.worker.stop() } else { None };
        let was_stopped = computation.is_some();
        if let Some(computation) = computation {
            let event = if let Some(Action::Do(event)) = &action { Some(event) } else { None };
            if let Some(further) = event.and_then(|event| computation.further(event)) {
                script.record(key);
                self.begin(further);
                return Ok(None);
            }
            self.stop(&computation, script);
            // Who wants to take the change back has done so.
            if matches!(event, Some(Event::Back | Event::Undo)) {
                return Ok(None);
            }
        }
        if !self.worker.is_running() {
            let is_typed = matches!(self.state.mode(), Mode::Typing { .. });
            self.begun_by = script.begun(is_typed.then_some(Key::Escape));
        }
        // A recording ends with `q`, whatever ended the program.
        if action != Some(Action::Interrupt) {
            script.record(key);
        }
        let ended = self.act(action)?;
        if was_stopped {
            self.say_stopped();
        }
        Ok(ended)
    }

    fn act(&mut self, action: Option<Action>) -> Result<Option<u8>> {
        match action {
            None | Some(Action::Number) => {}
            Some(Action::Do(event)) => {
                self.follow(event);
                self.said = self.said.take().or_else(|| self.writer.answer(&self.state));
            }
            Some(Action::CopyCell) => self.copy(copying::cell(&self.state), "number"),
            Some(Action::CopyMatrix) => self.copy(copying::matrix(&self.state), "matrix"),
            Some(Action::Mouse) => {
                read_clicks(!reads_clicks()).map_err(unusable)?;
                let on = "Clicks are read. Shift (on a Mac: Option) selects text; M ends it.";
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
        match plan(self.state.clone(), event) {
            Planned::Computing(computation) => self.begin(*computation),
            Planned::Done(state) => {
                let is_other = !state.has_version_of(&self.state);
                self.state = *state;
                if is_other {
                    self.story = self.worker.story(&self.state);
                }
            }
        }
    }

    /// Begins to compute a change. Until it is computed, the state is the one before.
    fn begin(&mut self, computation: Computation) {
        self.state = computation.before().clone();
        match self.worker.begin(computation) {
            Ok(Some(computed)) => self.take(computed),
            Ok(None) => {}
            Err(error) => self.said = Some(format!("The system has no thread to compute with: {error}")),
        }
    }

    fn take(&mut self, Computed { state, story }: Computed) {
        (self.state, self.story) = (state, story);
    }

    /// Goes back to the state before a change that was stopped; in a recording there is no trace of it.
    fn stop(&mut self, computation: &Computation, script: &mut Script) {
        script.take_back(std::mem::take(&mut self.begun_by));
        self.state = computation.stopped();
    }

    /// Says that a change was stopped, where the key that stopped it has no answer of its own.
    fn say_stopped(&mut self) {
        let has_answer = self.said.is_some() || self.state.message().is_some();
        if !has_answer && *self.state.mode() == Mode::Look && !self.worker.is_running() {
            self.said = Some(sentences::message(&self.state, &Message::Stopped));
        }
    }

    fn click(&mut self, at: Position, script: &mut Script) {
        self.said = None;
        let computation = self.worker.stop();
        if let Some(computation) = &computation {
            self.stop(computation, script);
        }
        let cell = self.hits.iter().find(|hit| hit.area.contains(at)).map(|hit| hit.cell);
        if let Some(cell) = cell {
            self.follow(Event::Point(cell));
        }
        if computation.is_some() {
            self.say_stopped();
        }
    }

    fn copy(&mut self, text: Option<String>, what: &str) {
        self.said = Some(match text {
            None => format!("There is no {what} here that a clipboard could hold."),
            Some(text) => {
                let mut out = io::stdout();
                let sent = out.write_all(copying::escape(&text).as_bytes()).and_then(|()| out.flush());
                match sent {
                    Ok(()) => {
                        format!("The {what} is sent. If it does not arrive, the terminal refuses OSC 52.")
                    }
                    Err(error) => format!("The {what} cannot be copied: {error}"),
                }
            }
        });
    }

    /// Draws everything again, whatever stands on the screen.
    fn redraw(&mut self) -> Result<()> {
        self.display.clear(terminal::size().map_err(unusable)?).map_err(unusable)?;
        self.draw()
    }

    fn draw(&mut self) -> Result<()> {
        let computing = self.worker.said();
        let said = computing.as_deref().or(self.said.as_deref());
        let board = Board { state: &self.state, story: &self.story, look: self.look, said };
        let mut hits = Vec::new();
        let draw = |buffer: &mut Buffer| {
            let (found, cursor) = draw(&board, buffer);
            hits = found;
            cursor
        };
        self.display.show(terminal::size().map_err(unusable)?, draw).map_err(unusable)?;
        self.hits = hits;
        Ok(())
    }
}
