//! A program at a terminal: raw mode, which is left on every way out, and what comes meanwhile: keys, signals, the end of the
//! terminal.

use std::io::{self, IsTerminal, Write};
use std::panic::{self, PanicHookInfo};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use terminal_size::terminal_size_of;

use crate::error::{Error, Result};

use super::cells::{BEGIN, END, write};
use super::keys::{Input, Readiness};
use super::signals::{HUNG_UP, Signals};
use super::system::{put_raw, read_clicks, suspend, wait};
use super::{inputs, settle};

/// Moves to the start of the line and erases it, and everything below.
pub(crate) const ERASE: &str = "\r\x1b[J";

/// The columns and rows of the terminal of standard output, if they are known.
pub(crate) fn size() -> Option<(u16, u16)> {
    terminal_size_of(io::stdout()).map(|(columns, rows)| (columns.0, rows.0))
}

type PanicHook = dyn Fn(&PanicHookInfo<'_>) + Send + Sync;

/// Takes a terminal as long as it lives. A panic gives it back before its message is printed.
struct Guard {
    /// Takes the terminal, or gives it back.
    put: Arc<dyn Fn(bool) -> io::Result<()> + Send + Sync>,
    hook: Arc<PanicHook>,
}

impl Guard {
    fn new(put: impl Fn(bool) -> io::Result<()> + Send + Sync + 'static) -> io::Result<Guard> {
        put(true).inspect_err(|_| {
            let _ = put(false);
        })?;
        let guard = Guard { put: Arc::new(put), hook: Arc::from(panic::take_hook()) };
        let (put, hook) = (Arc::clone(&guard.put), Arc::clone(&guard.hook));
        panic::set_hook(Box::new(move |info| {
            let _ = put(false);
            // The message takes the place of a status line.
            let mut err = io::stderr();
            if err.is_terminal() {
                let _ = err.write_all(ERASE.as_bytes());
            }
            hook(info);
        }));
        Ok(guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = (self.put)(false);
        // A hook cannot be changed while a panic is on its way.
        if !std::thread::panicking() {
            let before = Arc::clone(&self.hook);
            panic::set_hook(Box::new(move |info| before(info)));
        }
    }
}

/// Takes the terminal with a screen of its own, in which clicks may be read, or gives it back.
fn put_full_screen(takes: bool, has_clicks: bool) -> io::Result<()> {
    let clicks = || if has_clicks { read_clicks(takes) } else { Ok(()) };
    if takes {
        put_raw(true)?;
        write(BEGIN)?;
        return clicks();
    }
    let left = clicks().and(write(END));
    // Whatever cannot be written, the terminal gets its lines back.
    put_raw(false).and(left)
}

/// What a program at a terminal has to do next.
pub(crate) enum Turn {
    /// Take these keys and clicks.
    Take(Vec<Input>),
    /// Go on: the time is up, or the window has another size.
    GoOn,
    /// Stop until the shell calls back, by [`Session::suspend`].
    Stop,
    /// Draw again: it was stopped and is called back.
    DrawAgain,
    /// End with this exit code.
    End(u8),
}

/// A program that has a terminal in raw mode, as long as it lives.
pub(crate) struct Session {
    /// None where no keys are read.
    guard: Option<Guard>,
    has_clicks: Arc<AtomicBool>,
    signals: Signals,
    /// What helps where the terminal cannot be used.
    help: &'static str,
}

impl Session {
    /// A program that prints lines which stay, and takes no mouse; without keys, it listens to signals alone.
    ///
    /// # Errors
    /// If the terminal or the system refuses.
    pub fn inline(has_keys: bool, help: &'static str) -> Result<Session> {
        Session::new(has_keys.then_some(put_raw), Arc::default(), help)
    }

    /// A program with a screen of its own.
    ///
    /// # Errors
    /// If the terminal or the system refuses.
    pub fn full_screen(help: &'static str) -> Result<Session> {
        let clicks = Arc::new(AtomicBool::new(false));
        let has_clicks = Arc::clone(&clicks);
        let put = move |takes: bool| put_full_screen(takes, clicks.load(Ordering::Relaxed));
        Session::new(Some(put), has_clicks, help)
    }

    fn new(
        put: Option<impl Fn(bool) -> io::Result<()> + Send + Sync + 'static>,
        has_clicks: Arc<AtomicBool>,
        help: &'static str,
    ) -> Result<Session> {
        // The answer of the terminal to the query for its colours is not a key.
        settle();
        let taken = || Ok((Signals::of_screen()?, put.map(Guard::new).transpose()?));
        let (signals, guard) = taken().map_err(|error| unusable(&error, help))?;
        Ok(Session { guard, has_clicks, signals, help })
    }

    /// Reads clicks from now on, or leaves the mouse to the terminal; returns which.
    ///
    /// # Errors
    /// If the terminal refuses.
    pub fn toggle_clicks(&self) -> Result<bool> {
        let reads = !self.has_clicks.fetch_xor(true, Ordering::Relaxed);
        self.usable(read_clicks(reads))?;
        Ok(reads)
    }

    /// Waits for what comes next, no longer than this.
    ///
    /// # Errors
    /// If the terminal cannot be used.
    pub fn next(&self, longest: Duration) -> Result<Turn> {
        if let Some(code) = self.signals.ending() {
            return Ok(Turn::End(code));
        }
        if self.signals.stopped() {
            return Ok(Turn::Stop);
        }
        if self.signals.continued() {
            // The shell may have changed the terminal.
            self.pause()?;
            self.resume()?;
            return Ok(Turn::DrawAgain);
        }
        if self.guard.is_none() {
            std::thread::sleep(longest.min(LOOK_AROUND));
            return Ok(Turn::GoOn);
        }
        Ok(match self.usable(wait(longest))? {
            Readiness::Gone => Turn::End(HUNG_UP),
            Readiness::Nothing => Turn::GoOn,
            Readiness::Ready => Turn::Take(self.usable(inputs())?),
        })
    }

    /// Leaves the terminal for a while.
    ///
    /// # Errors
    /// If the terminal refuses.
    pub fn pause(&self) -> Result<()> {
        self.usable(self.guard.as_ref().map_or(Ok(()), |guard| (guard.put)(false)))
    }

    /// Takes it again. That the program was stopped and called back meanwhile is no news then.
    ///
    /// # Errors
    /// If the terminal refuses.
    pub fn resume(&self) -> Result<()> {
        self.usable(self.guard.as_ref().map_or(Ok(()), |guard| (guard.put)(true)))?;
        self.signals.stopped();
        self.signals.continued();
        Ok(())
    }

    /// Leaves the terminal, stops the program until the shell calls it back, and takes the terminal again.
    ///
    /// # Errors
    /// If the terminal or the system refuses.
    pub fn suspend(&self) -> Result<()> {
        self.pause()?;
        self.usable(suspend())?;
        self.resume()
    }

    /// The outcome of something that was done to the terminal.
    ///
    /// # Errors
    /// If it failed.
    pub fn usable<R>(&self, outcome: io::Result<R>) -> Result<R> {
        outcome.map_err(|error| unusable(&error, self.help))
    }
}

/// The longest time without a look at signals, where no key can end the wait.
const LOOK_AROUND: Duration = Duration::from_millis(100);

fn unusable(error: &io::Error, help: &str) -> Error {
    Error::new(format!("the terminal cannot be used: {error}")).help(help)
}

/// The outcome of what has used a terminal: where that is gone, no error is told, since there is nobody to read it.
pub(crate) fn unless_gone(outcome: Result<u8>) -> Result<u8> {
    let is_gone = || wait(Duration::ZERO).is_ok_and(|readiness| readiness == Readiness::Gone);
    if outcome.is_err() && is_gone() { Ok(HUNG_UP) } else { outcome }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    type Calls = Arc<Mutex<Vec<&'static str>>>;

    /// Records its calls.
    fn recording(calls: &Calls) -> impl Fn(bool) -> io::Result<()> + Send + Sync + 'static {
        let calls = Arc::clone(calls);
        move |enters| {
            calls.lock().unwrap().push(if enters { "enter" } else { "leave" });
            Ok(())
        }
    }

    // One test: the hook is the whole process's.
    #[test]
    fn raw_mode_is_left_at_the_end_at_an_error_and_before_a_panic_is_told() {
        let calls = Calls::default();
        drop(Guard::new(recording(&calls)).unwrap());
        assert_eq!(calls.lock().unwrap().drain(..).collect::<Vec<_>>(), ["enter", "leave"]);

        let failing = || -> Result<()> {
            let session = Session::new(Some(recording(&calls)), Arc::default(), "")?;
            session.pause()?;
            session.resume()?;
            Err(Error::new("an error"))
        };
        assert!(failing().is_err());
        let said = calls.lock().unwrap().drain(..).collect::<Vec<_>>();
        assert_eq!(said, ["enter", "leave", "enter", "leave"]);

        let own_hook = panic::take_hook();
        let told = Arc::clone(&calls);
        panic::set_hook(Box::new(move |_| told.lock().unwrap().push("told")));
        let inside = recording(&calls);
        let outcome = panic::catch_unwind(move || {
            let _guard = Guard::new(inside).unwrap();
            panic!("on purpose");
        });
        panic::set_hook(own_hook);
        assert!(outcome.is_err());
        let said = calls.lock().unwrap().drain(..).collect::<Vec<_>>();
        assert_eq!(said, ["enter", "leave", "told", "leave"]);
    }
}
