//! Exploring on the terminal of this process.

use std::io;
use std::io::{Stdout, Write};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use attn_story::live::sentences;

use crate::error::{EXIT_DONE, Result};
use crate::explore::{Computation, Event, Message, Mode, Planned, Progress, State, plan};
use crate::graph::Watch;
use crate::memory;
use crate::render::{base64, numpy};
use crate::terminal::{Cells, Display, INTERRUPTED, Input, Key, Session, Turn, size, unless_gone};

use super::draw::{Board, Hit, Narrator, StepsOfStory, draw};
use super::keys::{Action, Line, Script, action_in};
use super::writing::Writer;

/// The longest time without a look at signals.
const LOOK_AROUND: Duration = Duration::from_secs(1);
/// The most bytes that a terminal takes for its clipboard: xterm's limit.
const MOST_COPIED: usize = 74_000;
/// The longest time without a look whether a change is computed.
const LOOK_FOR_RESULT: Duration = Duration::from_millis(10);

/// What is explored.
pub(crate) struct Opened {
    /// The state at the start.
    pub state: State,
    /// Puts states into sentences.
    pub narrator: Narrator,
    /// Writes states.
    pub writer: Writer,
    /// The most columns, if they are asked for; otherwise those of the terminal.
    pub columns: Option<u16>,
}

/// Explores until the end; returns the exit code. The terminal is left as it was found.
///
/// # Errors
/// If the terminal cannot be used, or a recording not be written.
pub(crate) fn explore(opened: Opened, mut script: Script) -> Result<u8> {
    let outcome = unless_gone(on_screen(opened, &mut script));
    script.finish()?;
    outcome
}

fn on_screen(opened: Opened, script: &mut Script) -> Result<u8> {
    let session = Session::full_screen("explore line by line instead: --plain")?;
    let Opened { state, narrator, writer, columns } = opened;
    let mut exploration = Exploration {
        story: narrator.of(&state),
        worker: Worker { narrator, running: None, stopping: None },
        hits: Vec::new(),
        said: None,
        display: Display::new(io::stdout(), window(columns)),
        columns,
        state,
        writer,
        session,
    };
    exploration.run(script)
}

/// The columns and rows of the screen, with at most these columns; of a terminal that does not say, the usual ones.
fn window(most: Option<u16>) -> (u16, u16) {
    let (columns, rows) = size().unwrap_or((80, 24));
    (most.map_or(columns, |most| most.min(columns)), rows)
}

/// A state that is explored on a screen.
struct Exploration {
    /// While a change is computed, the state before it.
    state: State,
    worker: Worker,
    writer: Writer,
    story: StepsOfStory,
    hits: Vec<Hit>,
    /// What the last key says that is no event of the state.
    said: Option<String>,
    display: Display<Stdout>,
    columns: Option<u16>,
    session: Session,
}

impl Exploration {
    fn run(&mut self, script: &mut Script) -> Result<u8> {
        self.draw()?;
        let mut due: Option<Instant> = None;
        loop {
            if let Some(computed) = self.worker.result() {
                (self.state, self.story) = computed;
                self.draw()?;
            }
            // The next key of a script, once its pause is over and the change of the last one is computed.
            if !self.worker.is_running() && due.is_none_or(|due| due <= Instant::now()) {
                due = match script.next() {
                    None => None,
                    Some(Line::Wait(pause)) => Some(Instant::now() + pause),
                    Some(Line::Key(key)) => {
                        if let Some(code) = self.press(key, script)? {
                            return Ok(code);
                        }
                        // Between two keys of a script there is a look at signals and at typed keys.
                        Some(Instant::now())
                    }
                };
            }
            let pause = match due {
                _ if self.worker.is_running() => LOOK_FOR_RESULT,
                Some(due) => due.saturating_duration_since(Instant::now()).min(LOOK_AROUND),
                None => LOOK_AROUND,
            };
            match self.session.next(pause)? {
                Turn::End(code) => return Ok(code),
                Turn::Stop => self.suspend()?,
                Turn::DrawAgain => self.redraw()?,
                Turn::GoOn if self.worker.is_running() && !self.worker.is_due() => {}
                // The window may have another size: drawing asks for it.
                Turn::GoOn => self.draw()?,
                Turn::Take(inputs) => {
                    for input in inputs {
                        match input {
                            Input::Key(key) => {
                                if let Some(code) = self.press(key, script)? {
                                    return Ok(code);
                                }
                            }
                            Input::Click(x, y) => self.click((x, y), script),
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
            script.begin(is_typed.then_some(Key::Escape));
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
            Some(Action::CopyCell) => {
                self.copy(self.state.value().map(|value| value.to_string()), "number");
            }
            Some(Action::CopyMatrix) => {
                let text = self.state.graph()[self.state.cursor().node].matrix().map(numpy::array_lines);
                self.copy(text.filter(|text| text.len() <= MOST_COPIED), "matrix");
            }
            Some(Action::Mouse) => {
                let reads = self.session.toggle_clicks()?;
                let on = "Clicks are read. Shift (on a Mac: Option) selects text; M ends it.";
                self.said = Some(if reads { on } else { "The mouse is the terminal's." }.to_string());
            }
            Some(Action::Redraw) => self.redraw()?,
            Some(Action::Suspend) => self.suspend()?,
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
                    self.story = self.worker.narrator.of(&self.state);
                }
            }
        }
    }

    /// Begins to compute a change. Until it is computed, the state is the one before.
    fn begin(&mut self, computation: Computation) {
        self.state = computation.before().clone();
        match self.worker.begin(computation) {
            Ok(Some(computed)) => (self.state, self.story) = computed,
            Ok(None) => {}
            Err(error) => self.said = Some(format!("The system has no thread to compute with: {error}")),
        }
    }

    /// Goes back to the state before a change that was stopped; in a recording there is no trace of it.
    fn stop(&mut self, computation: &Computation, script: &mut Script) {
        script.take_back();
        self.state = computation.stopped();
    }

    /// Says that a change was stopped, where the key that stopped it has no answer of its own.
    fn say_stopped(&mut self) {
        let has_answer = self.said.is_some() || self.state.message().is_some();
        if !has_answer && *self.state.mode() == Mode::Look && !self.worker.is_running() {
            self.said = Some(sentences::message(&self.state, &Message::Stopped));
        }
    }

    fn click(&mut self, at: (u16, u16), script: &mut Script) {
        self.said = None;
        let computation = self.worker.stop();
        if let Some(computation) = &computation {
            self.stop(computation, script);
        }
        let cell = self.hits.iter().find(|(area, _)| area.contains(at)).map(|(_, cell)| *cell);
        if let Some(cell) = cell {
            self.follow(Event::Point(cell));
        }
        if computation.is_some() {
            self.say_stopped();
        }
    }

    /// Copies a number with every digit, or a matrix as NumPy prints it, through the terminal.
    fn copy(&mut self, text: Option<String>, what: &str) {
        self.said = Some(match text {
            None => format!("There is no {what} here that a clipboard could hold."),
            Some(text) => {
                // The escape that puts a text into the clipboard (OSC 52).
                let mut out = io::stdout();
                let sent = write!(out, "\x1b]52;c;{}\x07", base64(text.as_bytes()));
                match sent.and_then(|()| out.flush()) {
                    Ok(()) => {
                        format!("The {what} is sent. If it does not arrive, the terminal refuses OSC 52.")
                    }
                    Err(error) => format!("The {what} cannot be copied: {error}"),
                }
            }
        });
    }

    /// Stops until the shell calls back.
    fn suspend(&mut self) -> Result<()> {
        self.session.suspend()?;
        self.redraw()
    }

    /// Draws everything again, whatever stands on the screen.
    fn redraw(&mut self) -> Result<()> {
        self.session.usable(self.display.clear(window(self.columns)))?;
        self.draw()
    }

    fn draw(&mut self) -> Result<()> {
        let computing = self.worker.said();
        let said = computing.as_deref().or(self.said.as_deref());
        let board = Board::new(&self.state, &self.story, said);
        let draw = |cells: &mut Cells| {
            let (hits, cursor) = draw(&board, cells);
            self.hits = hits;
            cursor
        };
        self.session.usable(self.display.show(window(self.columns), draw))
    }
}

// A change that is computed on another thread, while the screen stays alive.

/// A computation that is complete by then is not told about: the screen would flicker.
const AT_ONCE: Duration = Duration::from_millis(30);
/// The time between two signs of life.
const TURN: Duration = Duration::from_millis(120);
/// The signs of life, which need no colour.
const SIGNS: [char; 4] = ['|', '/', '-', '\\'];

/// A state that has been computed, with its sentences.
type Computed = (State, StepsOfStory);

/// What computes for a session, one change at a time.
pub(super) struct Worker {
    narrator: Narrator,
    running: Option<Running>,
    /// The thread of a change that was stopped. It ends after its step; until then the next one waits, so that there is only one.
    stopping: Option<JoinHandle<()>>,
}

/// A change that is being computed.
struct Running {
    computation: Computation,
    watch: StopsWhenDropped,
    begun: Instant,
    /// The signs of life that have been shown.
    turns: u32,
    results: Receiver<(Option<Computed>, memory::Lent)>,
    thread: JoinHandle<()>,
}

/// Nobody waits for the result any more once this is dropped.
struct StopsWhenDropped(Watch);

impl Drop for StopsWhenDropped {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Worker {
    /// Begins to compute; returns the result if it is there at once.
    ///
    /// # Errors
    /// If the system has no thread for it.
    pub fn begin(&mut self, computation: Computation) -> io::Result<Option<Computed>> {
        let (send, results) = sync_channel(1);
        let narrator = self.narrator.clone();
        let watch = Watch::default();
        let (own, seen, before) = (computation.clone(), watch.clone(), self.stopping.take());
        // The memory of the command belongs to its thread.
        let lent = memory::lent();
        let work = move || {
            if let Some(before) = before {
                // It was stopped: how it ended does not matter.
                let _ = before.join();
            }
            let _account = lent.enter();
            let computed = own.run(&seen).map(|state| {
                let story = narrator.of(&state);
                (state, story)
            });
            // Nobody may wait any more.
            let _ = send.send((computed, memory::lent()));
        };
        let thread = Builder::new().name("computation".into()).spawn(work)?;
        let (watch, begun) = (StopsWhenDropped(watch), Instant::now());
        self.running = Some(Running { computation, watch, begun, turns: 0, results, thread });
        Ok(self.result_within(AT_ONCE))
    }

    /// Whether something is being computed.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// The result, once it is there.
    pub fn result(&mut self) -> Option<Computed> {
        self.result_within(Duration::ZERO)
    }

    fn result_within(&mut self, longest: Duration) -> Option<Computed> {
        let received = self.running.as_ref()?.results.recv_timeout(longest);
        match received {
            Err(RecvTimeoutError::Timeout) => None,
            Ok((computed, lent)) => {
                self.running = None;
                lent.take_back();
                computed
            }
            Err(RecvTimeoutError::Disconnected) => {
                // It has panicked: so does the session, as if it had computed itself.
                if let Some(Err(panic)) = self.running.take().map(|running| running.thread.join()) {
                    resume_unwind(panic);
                }
                None
            }
        }
    }

    /// Stops what is being computed, and returns it.
    pub fn stop(&mut self) -> Option<Computation> {
        let Running { computation, thread, .. } = self.running.take()?;
        self.stopping = Some(thread);
        Some(computation)
    }

    /// Whether it is time for the next sign of life.
    pub fn is_due(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.begun.elapsed() >= TURN * running.turns)
    }

    /// How far it is, in one line, with a sign of life.
    pub fn said(&mut self) -> Option<String> {
        let running = self.running.as_mut()?;
        let turn = (running.begun.elapsed().as_millis() / TURN.as_millis()) as u32;
        running.turns = turn + 1;
        let sign = SIGNS[turn as usize % SIGNS.len()];
        let Progress { steps: [done, all], layer } = running.computation.progress(&running.watch.0);
        let place = match layer {
            Some([layer, last]) => format!("layer {layer} of {last}"),
            None => format!("step {} of {all}", (done + 1).min(all)),
        };
        Some(format!("{sign} Recomputing: {place}. Any key stops it."))
    }
}
