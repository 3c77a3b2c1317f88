//! Raw mode of the terminal, which is left on every way out, and the keys that are pressed in it.

use std::io::{self, IsTerminal, Write};
use std::panic::{self, PanicHookInfo};
use std::sync::Arc;

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

#[cfg(not(unix))]
use super::crossterm_keys::inputs;
#[cfg(unix)]
use super::escapes::inputs;
use super::keys::{Input, Key};
use super::signals::suspend;

/// Moves to the start of the line and erases it, and everything below.
pub(crate) const ERASE: &str = "\r\x1b[J";

/// The operations of the guard on a terminal.
pub(crate) trait Terminal: Send + Sync + 'static {
    /// Keys come one by one, and nothing is echoed.
    fn enter(&self) -> io::Result<()>;
    /// Restores the terminal.
    fn leave(&self) -> io::Result<()>;
    /// Restores the terminal and erases the status line, before the message of a panic.
    fn rescue(&self) {
        let _ = self.leave();
    }
}

/// The terminal of this process.
pub(crate) struct OwnTerminal;

impl Terminal for OwnTerminal {
    fn enter(&self) -> io::Result<()> {
        enable_raw_mode()
    }

    fn leave(&self) -> io::Result<()> {
        disable_raw_mode()
    }

    fn rescue(&self) {
        let _ = self.leave();
        let mut err = io::stderr();
        if err.is_terminal() {
            let _ = err.write_all(ERASE.as_bytes());
        }
    }
}

type PanicHook = dyn Fn(&PanicHookInfo<'_>) + Send + Sync;

/// Keeps a terminal in raw mode as long as it lives. A panic restores the terminal before its message is printed.
pub(crate) struct Guard<T: Terminal> {
    terminal: Arc<T>,
    hook: Arc<PanicHook>,
}

impl<T: Terminal> Guard<T> {
    /// Enters raw mode.
    ///
    /// # Errors
    /// If the terminal refuses.
    pub(crate) fn new(terminal: T) -> io::Result<Guard<T>> {
        let terminal = Arc::new(terminal);
        terminal.enter().inspect_err(|_| {
            let _ = terminal.leave();
        })?;
        let hook: Arc<PanicHook> = Arc::from(panic::take_hook());
        let (rescued, before) = (Arc::clone(&terminal), Arc::clone(&hook));
        panic::set_hook(Box::new(move |info| {
            rescued.rescue();
            before(info);
        }));
        Ok(Guard { terminal, hook })
    }

    /// Leaves raw mode for a while.
    ///
    /// # Errors
    /// If the terminal refuses.
    pub(crate) fn pause(&self) -> io::Result<()> {
        self.terminal.leave()
    }

    /// Enters it again.
    ///
    /// # Errors
    /// If the terminal refuses.
    pub(crate) fn resume(&self) -> io::Result<()> {
        self.terminal.enter()
    }

    /// Sets raw mode again, after the shell may have changed the terminal.
    ///
    /// # Errors
    /// If the terminal refuses.
    pub(crate) fn renew(&self) -> io::Result<()> {
        self.pause()?;
        self.resume()
    }

    /// Leaves raw mode, stops the program until the shell continues it, and enters raw mode again.
    ///
    /// # Errors
    /// If the terminal or the system refuses.
    pub(crate) fn suspend(&self) -> io::Result<()> {
        self.pause()?;
        suspend()?;
        self.resume()
    }
}

impl<T: Terminal> Drop for Guard<T> {
    fn drop(&mut self) {
        let _ = self.terminal.leave();
        // A hook cannot be changed while a panic is on its way.
        if !std::thread::panicking() {
            let before = Arc::clone(&self.hook);
            panic::set_hook(Box::new(move |info| before(info)));
        }
    }
}

/// The keys that have been pressed by now, for a program that has no use for a pointer.
///
/// # Errors
/// If the terminal cannot be read.
pub(crate) fn pressed() -> io::Result<Vec<Key>> {
    let keys = inputs()?.into_iter().filter_map(|input| match input {
        Input::Key(key) => Some(key),
        Input::Click(..) => None,
    });
    Ok(keys.collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Records its calls.
    #[derive(Clone, Default)]
    struct RecordingTerminal(Arc<Mutex<Vec<&'static str>>>);

    impl RecordingTerminal {
        fn note(&self, word: &'static str) -> io::Result<()> {
            self.0.lock().unwrap().push(word);
            Ok(())
        }
    }

    impl Terminal for RecordingTerminal {
        fn enter(&self) -> io::Result<()> {
            self.note("enter")
        }

        fn leave(&self) -> io::Result<()> {
            self.note("leave")
        }
    }

    // One test: the hook is the whole process's.
    #[test]
    fn raw_mode_is_left_at_the_end_at_an_error_and_before_a_panic_is_told() {
        let fake = RecordingTerminal::default();
        drop(Guard::new(fake.clone()).unwrap());
        assert_eq!(fake.0.lock().unwrap().drain(..).collect::<Vec<_>>(), ["enter", "leave"]);

        let failing = || -> io::Result<()> {
            let guard = Guard::new(fake.clone())?;
            guard.pause()?;
            guard.resume()?;
            Err(io::Error::other("an error"))
        };
        assert!(failing().is_err());
        let said = fake.0.lock().unwrap().drain(..).collect::<Vec<_>>();
        assert_eq!(said, ["enter", "leave", "enter", "leave"]);

        let own_hook = panic::take_hook();
        let told = fake.clone();
        panic::set_hook(Box::new(move |_| told.note("told").unwrap()));
        let inside = fake.clone();
        let outcome = panic::catch_unwind(move || {
            let _guard = Guard::new(inside).unwrap();
            panic!("on purpose");
        });
        panic::set_hook(own_hook);
        assert!(outcome.is_err());
        let said = fake.0.lock().unwrap().drain(..).collect::<Vec<_>>();
        assert_eq!(said, ["enter", "leave", "told", "leave"]);
    }
}
