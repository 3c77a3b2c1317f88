//! Exploring on the terminal of this process.

use std::io;
use std::io::{Stdout, Write};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use attn_story::live::sentences;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use crossterm::style::{
    Attribute, Color as TerminalColor, Colors, Print, SetAttribute, SetBackgroundColor, SetColors,
    SetForegroundColor, SetUnderlineColor,
};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue, terminal};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::{Color, Modifier};

use crate::error::{EXIT_DONE, Error, Result};
use crate::explore::{Computation, Event, Message, Mode, Planned, Progress, State, plan};
use crate::graph::Watch;
use crate::memory;
use crate::render::{base64, numpy};
use crate::terminal::{
    Guard, HUNG_UP, INTERRUPTED, Input, Key, Readiness, Signals, Terminal, inputs, unless_gone, wait,
};

use super::draw::{Board, Hit, Narrator, StepsOfStory, draw};
use super::keys::{Action, Begun, Line, Script, action_in};
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
    let Opened { state, narrator, writer } = opened;
    let story = narrator.of(&state);
    let worker = Worker { narrator, running: None, stopping: None };
    let (hits, said, begun_by) = (Vec::new(), None, Begun::default());
    let mut session = Session { state, worker, writer, begun_by, story, hits, said, display, guard, signals };
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
                (self.state, self.story) = computed;
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
            Some(Action::CopyCell) => {
                self.copy(self.state.value().map(|value| value.to_string()), "number");
            }
            Some(Action::CopyMatrix) => {
                let text = self.state.graph()[self.state.cursor().node].matrix().map(numpy::array_lines);
                self.copy(text.filter(|text| text.len() <= MOST_COPIED), "matrix");
            }
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

    /// Draws everything again, whatever stands on the screen.
    fn redraw(&mut self) -> Result<()> {
        self.display.clear(terminal::size().map_err(unusable)?).map_err(unusable)?;
        self.draw()
    }

    fn draw(&mut self) -> Result<()> {
        let computing = self.worker.said();
        let said = computing.as_deref().or(self.said.as_deref());
        let board = Board::new(&self.state, &self.story, said);
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

// A screen of cells, of which only those are written that have changed.

/// The most columns and rows that are drawn: each cell takes memory, and a terminal may say that it has 65,535 of both.
const MOST_SIZE: (u16, u16) = (1000, 500);

/// The screen of a terminal, or of a recording. Unlike that of ratatui it writes nothing when it is dropped: the terminal may be gone.
pub(super) struct Display<W: Write> {
    pub out: W,
    /// What stands on the screen.
    shown: Buffer,
}

impl<W: Write> Display<W> {
    /// An empty screen of this size.
    pub fn new(out: W, size: (u16, u16)) -> Display<W> {
        Display { out, shown: Buffer::empty(area(size)) }
    }

    /// Shows what is drawn on a screen of this size; the cursor stands where the drawing says, or is hidden.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn show(
        &mut self,
        size: (u16, u16),
        draw: impl FnOnce(&mut Buffer) -> Option<Position>,
    ) -> io::Result<()> {
        let mut next = Buffer::empty(area(size));
        if next.area != self.shown.area {
            self.clear(size)?;
        }
        let cursor = draw(&mut next);
        self.write_cells(&next)?;
        match cursor {
            None => queue!(self.out, Hide)?,
            Some(Position { x, y }) => queue!(self.out, Show, MoveTo(x, y))?,
        }
        self.shown = next;
        self.out.flush()
    }

    /// Writes the cells that are otherwise on the next screen.
    fn write_cells(&mut self, next: &Buffer) -> io::Result<()> {
        let (mut colours, mut modifier) = ([Color::Reset; 2], Modifier::empty());
        let mut follows = None;
        for (x, y, cell) in self.shown.diff(next) {
            if follows != Some((x, y)) {
                queue!(self.out, MoveTo(x, y))?;
            }
            follows = Some((x + 1, y));
            if cell.modifier != modifier {
                self.write_modifier(modifier, cell.modifier)?;
                modifier = cell.modifier;
            }
            if [cell.fg, cell.bg] != colours {
                colours = [cell.fg, cell.bg];
                queue!(self.out, SetColors(Colors::new(of_terminal(cell.fg), of_terminal(cell.bg))))?;
            }
            queue!(self.out, Print(cell.symbol()))?;
        }
        let reset = TerminalColor::Reset;
        queue!(
            self.out,
            SetForegroundColor(reset),
            SetBackgroundColor(reset),
            SetUnderlineColor(reset),
            SetAttribute(Attribute::Reset)
        )
    }

    /// Writes what leads from the modifiers of a cell to those of the next one. Bold and dim end together.
    fn write_modifier(&mut self, from: Modifier, to: Modifier) -> io::Result<()> {
        let (removed, added) = (from - to, to - from);
        let intensity = Modifier::BOLD | Modifier::DIM;
        let starts_again = removed.intersects(intensity);
        let ends = [
            (removed.contains(Modifier::REVERSED), Attribute::NoReverse),
            (starts_again, Attribute::NormalIntensity),
            (starts_again && to.contains(Modifier::DIM), Attribute::Dim),
            (starts_again && to.contains(Modifier::BOLD), Attribute::Bold),
            (removed.contains(Modifier::ITALIC), Attribute::NoItalic),
            (removed.contains(Modifier::UNDERLINED), Attribute::NoUnderline),
        ];
        let begins = [
            (added.contains(Modifier::REVERSED), Attribute::Reverse),
            (added.contains(Modifier::BOLD) && !starts_again, Attribute::Bold),
            (added.contains(Modifier::ITALIC), Attribute::Italic),
            (added.contains(Modifier::UNDERLINED), Attribute::Underlined),
            (added.contains(Modifier::DIM) && !starts_again, Attribute::Dim),
        ];
        for (_, attribute) in ends.into_iter().chain(begins).filter(|(is_written, _)| *is_written) {
            queue!(self.out, SetAttribute(attribute))?;
        }
        Ok(())
    }

    /// Clears the screen, whatever stands there.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn clear(&mut self, size: (u16, u16)) -> io::Result<()> {
        self.shown = Buffer::empty(area(size));
        execute!(self.out, Clear(ClearType::All))
    }
}

/// The colour for the terminal: only its own and those with a number are drawn.
fn of_terminal(colour: Color) -> TerminalColor {
    match colour {
        Color::Indexed(number) => TerminalColor::AnsiValue(number),
        _ => TerminalColor::Reset,
    }
}

/// The part of a screen that is drawn.
fn area((columns, rows): (u16, u16)) -> Rect {
    Rect { x: 0, y: 0, width: columns.min(MOST_SIZE.0), height: rows.min(MOST_SIZE.1) }
}

// The terminal as a full screen, which is left on every way out.

/// Whether clicks are read: a panic has to leave the mouse to the terminal as well.
static READS_CLICKS: AtomicBool = AtomicBool::new(false);

/// The alternate screen in raw mode.
pub(super) struct FullScreen;

impl Terminal for FullScreen {
    fn enter(&self) -> io::Result<()> {
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        if reads_clicks() { execute!(io::stdout(), EnableMouseCapture) } else { Ok(()) }
    }

    fn leave(&self) -> io::Result<()> {
        let mut out = io::stdout();
        let clicks = if reads_clicks() { execute!(out, DisableMouseCapture) } else { Ok(()) };
        let left = execute!(out, LeaveAlternateScreen, Show).and_then(|()| out.flush());
        // Whatever cannot be written, the terminal gets its lines back.
        disable_raw_mode().and(clicks).and(left)
    }
}

/// Reads clicks, or leaves the mouse to the terminal.
pub(super) fn read_clicks(reads: bool) -> io::Result<()> {
    READS_CLICKS.store(reads, Ordering::Relaxed);
    if reads {
        execute!(io::stdout(), EnableMouseCapture)
    } else {
        execute!(io::stdout(), DisableMouseCapture)
    }
}

/// Whether clicks are read.
pub(super) fn reads_clicks() -> bool {
    READS_CLICKS.load(Ordering::Relaxed)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_screen_is_drawn_in_part_and_what_has_not_changed_is_not_written_again() {
        let mut out = Vec::new();
        let mut display = Display::new(&mut out, (u16::MAX, u16::MAX));
        assert_eq!((display.shown.area.width, display.shown.area.height), MOST_SIZE);
        for _ in 0..2 {
            let draw = |buffer: &mut Buffer| {
                buffer[(3, 4)].set_symbol("x");
                None
            };
            display.show((u16::MAX, u16::MAX), draw).unwrap();
        }
        let text = String::from_utf8(out).unwrap();
        assert!(text.matches('x').count() == 1 && text.len() < 100, "{text:?}");
    }
}
