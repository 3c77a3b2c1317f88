//! The player on a terminal.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use terminal_size::terminal_size_of;

use crate::error::{EXIT_DONE, Error, Result};
use crate::lesson::Command;
use crate::render::Screen;
use crate::terminal::{
    Guard, HUNG_UP, INTERRUPTED, Key, OwnTerminal, Readiness, Signals, pressed, suspend, unless_gone, wait,
};

use super::event::{Action, Effects};
use super::player::Player;
use super::printer::Printer;
use super::progress_saver::ProgressSaver;
use super::state::Window;
use super::view::sentence;

/// The bottom line shows seconds.
const TICK: Duration = Duration::from_secs(1);
/// A window that has not changed for this long has been let go.
const QUIET: Duration = Duration::from_millis(100);
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

/// Plays a lesson on the terminal of this process, which is left as it was found; returns the exit code. `asked` is the name or
/// path that the lesson was opened by.
///
/// # Errors
/// If the terminal cannot be read or written.
pub fn play(
    player: &mut Player<'_>,
    asked: &str,
    notices: &[String],
    options: PlayOptions,
    saver: ProgressSaver,
    out: &mut dyn Write,
) -> Result<u8> {
    // The answer of the terminal to the query for its colours is not a key.
    crate::terminal::settle();
    let signals = Signals::of_screen().map_err(unreadable)?;
    let guard = options.keys.then(|| Guard::new(OwnTerminal).map_err(unreadable)).transpose()?;
    let printer = Printer::new(out, player.state.window.screen);
    let mut session =
        Session { player, options, saver, printer, guard, signals, began: Instant::now(), widened: None };
    let outcome = session.run(notices);
    let cleaned = session.printer.erase().and_then(|()| match outcome {
        Ok(EXIT_DONE | INTERRUPTED) => session.say_farewell(asked),
        _ => Ok(()),
    });
    session.saver.leave(session.player, session.began.elapsed());
    let outcome = outcome.and_then(|code| cleaned.map(|()| code));
    if options.keys { unless_gone(outcome) } else { outcome }
}

fn unreadable(error: io::Error) -> Error {
    Error::new(format!("the terminal cannot be used: {error}"))
        .help("print the whole lesson instead, with --no-input")
}

struct Session<'a, 'p> {
    player: &'a mut Player<'p>,
    options: PlayOptions,
    saver: ProgressSaver,
    printer: Printer<'a>,
    guard: Option<Guard<OwnTerminal>>,
    signals: Signals,
    began: Instant,
    /// When the window was made wider or narrower, if the page has not been laid out for it yet.
    widened: Option<Duration>,
}

impl Session<'_, '_> {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Plays up to the end; returns the exit code.
    fn run(&mut self, notices: &[String]) -> Result<u8> {
        let effects = self.player.begin(notices, Duration::ZERO);
        self.show(&effects)?;
        loop {
            match self.signals.ending() {
                Some(code) => return Ok(code),
                None if self.signals.stopped() => self.stop()?,
                None if self.signals.continued() => self.come_back()?,
                None => {}
            }
            let keys = match self.wait()? {
                Readiness::Gone => return Ok(HUNG_UP),
                Readiness::Nothing => self.due_keys(),
                Readiness::Ready => pressed().map_err(unreadable)?,
            };
            // The size is read before anything is written, because a key may arrive together with a new size.
            self.heed_size()?;
            self.redraw(!keys.is_empty())?;
            for key in keys {
                if let Some(code) = self.press(key)? {
                    return Ok(code);
                }
            }
            self.printer.rewrite(self.player.bottom(self.now()))?;
            self.saver.tick(self.player, self.now());
        }
    }

    /// Waits for keys, up to the next second, or until it goes on by itself.
    fn wait(&self) -> Result<Readiness> {
        let now = self.now();
        let second = TICK - Duration::from_nanos(u64::from(now.subsec_nanos()));
        let due = self.due().map_or(second, |due| due.saturating_sub(now).min(second));
        let due = self.widened.map_or(due, |since| due.min((since + QUIET).saturating_sub(now)));
        if self.options.keys {
            return wait(due).map_err(unreadable);
        }
        std::thread::sleep(due.min(TICK / 10));
        Ok(Readiness::Nothing)
    }

    fn due(&self) -> Option<Duration> {
        if self.options.auto { self.player.due() } else { None }
    }

    /// The key that is taken as pressed when it is time to go on.
    fn due_keys(&self) -> Vec<Key> {
        let is_due = self.due().is_some_and(|due| self.now() >= due);
        if is_due { vec![Key::PageDown] } else { Vec::new() }
    }

    /// Handles a key; returns the exit code if it ends the lesson.
    fn press(&mut self, key: Key) -> Result<Option<u8>> {
        let effects = self.player.press(key, self.now());
        match effects.action {
            Action::Leave => return Ok(Some(EXIT_DONE)),
            Action::Interrupt => return Ok(Some(INTERRUPTED)),
            Action::Suspend => self.stop()?,
            Action::Open(command) => self.open(&command)?,
            // Commands have been run by the player itself.
            Action::Wait | Action::Run(_) | Action::RunAgain => self.show(&effects)?,
        }
        Ok(None)
    }

    /// Shows the effects, then saves progress, then prepares the next stop.
    fn show(&mut self, effects: &Effects) -> Result<()> {
        let bottom = self.player.bottom(self.now());
        if effects.lines.is_empty() {
            return self.printer.rewrite(bottom);
        }
        if effects.clears {
            self.printer.push(self.player.state.window.rows)?;
        }
        self.printer.print(&effects.lines, bottom)?;
        let complaint = self.saver.keep(self.player, self.now());
        self.player.prepare();
        self.player.ready(self.began.elapsed());
        match complaint {
            Some(complaint) => {
                let lines = sentence(&complaint, self.player.state.window.screen);
                self.printer.print(&lines, self.player.bottom(self.now()))
            }
            None => Ok(()),
        }
    }

    /// Adapts to the current size of the screen.
    fn heed_size(&mut self) -> Result<()> {
        let window = self.options.window();
        if window != self.player.state.window {
            if window.screen.width != self.player.state.window.screen.width {
                self.widened = Some(self.now());
            }
            self.player.resize(window, self.now());
            self.printer.resize(window.screen)?;
            self.printer.rewrite(self.player.bottom(self.now()))?;
        }
        Ok(())
    }

    /// Shows the page at the new width, as soon as the window has been let go, or a key is pressed.
    fn redraw(&mut self, has_keys: bool) -> Result<()> {
        match self.widened {
            Some(since) if has_keys || self.now().saturating_sub(since) >= QUIET => {
                self.widened = None;
                let effects = self.player.again(self.now());
                self.show(&effects)
            }
            _ => Ok(()),
        }
    }

    /// Gives the screen to a command that reads keys itself; what it prints at its end stands in the lesson.
    fn open(&mut self, command: &Command) -> Result<()> {
        self.printer.erase()?;
        if let Some(guard) = &self.guard {
            guard.pause().map_err(unreadable)?;
        }
        let began = self.began;
        let effects = self.player.open(command, || began.elapsed());
        if let Some(guard) = &self.guard {
            guard.renew().map_err(unreadable)?;
        }
        // It may have been stopped and called back, and the window may have another size.
        self.signals.stopped();
        self.signals.continued();
        self.show(&effects)?;
        self.heed_size()
    }

    /// Prints how to resume the lesson.
    fn say_farewell(&mut self, asked: &str) -> Result<()> {
        match self.player.farewell(asked) {
            Some(line) => self.printer.last_line(&line),
            None => Ok(()),
        }
    }

    /// Stops until the shell calls back.
    fn stop(&mut self) -> Result<()> {
        self.printer.erase()?;
        if let Some(guard) = &self.guard {
            guard.pause().map_err(unreadable)?;
        }
        suspend().map_err(unreadable)?;
        self.come_back()
    }

    /// The program runs again; the shell may have written and changed the terminal.
    fn come_back(&mut self) -> Result<()> {
        if let Some(guard) = &self.guard {
            guard.renew().map_err(unreadable)?;
        }
        self.signals.continued();
        self.heed_size()?;
        self.widened = None;
        let effects = self.player.again(self.now());
        self.show(&effects)
    }
}
