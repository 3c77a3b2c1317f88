//! Signals, which end a wait for keys.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::{SigId, flag, low_level};

use super::system::{CONTINUES, ENDING, OF_SCREEN, STOPS};

/// A shell adds this to the number of the signal that ended a program.
const ENDED_BY: u8 = 128;
/// The exit code after Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;
/// The exit code after the terminal has gone away, as of SIGHUP.
pub(crate) const HUNG_UP: u8 = 129;

/// The number of those that listen: a lesson opens the explorer, and listens again when that has ended.
static LISTENING: AtomicUsize = AtomicUsize::new(0);

/// True if signals have their default effect: always, except while some code handles them.
static BY_DEFAULT: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| {
    let by_default = Arc::new(AtomicBool::new(true));
    for &signal in ENDING {
        let _ = flag::register_conditional_default(signal, Arc::clone(&by_default));
    }
    by_default
});

/// Notes that a signal has come, until it is dropped.
struct Listener {
    signal: i32,
    come: Arc<AtomicBool>,
    id: SigId,
}

impl Listener {
    fn new(signal: &i32) -> io::Result<Listener> {
        let come = Arc::new(AtomicBool::new(false));
        Ok(Listener { signal: *signal, id: flag::register(*signal, Arc::clone(&come))?, come })
    }

    fn has_come(&self) -> bool {
        self.come.load(Ordering::SeqCst)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        low_level::unregister(self.id);
    }
}

/// Signals that have come since they were last asked for.
pub(crate) struct Signals {
    ending: Vec<Listener>,
    of_screen: Vec<Listener>,
}

impl Signals {
    /// Listens from now on.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn new() -> io::Result<Signals> {
        Signals::with(&[])
    }

    /// Listens from now on for a program that has changed the terminal: it gives the terminal back itself before it stops, and a
    /// new size of the screen ends its wait for keys.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn of_screen() -> io::Result<Signals> {
        Signals::with(OF_SCREEN)
    }

    fn with(of_screen: &[i32]) -> io::Result<Signals> {
        let listen = |signals: &[i32]| signals.iter().map(Listener::new).collect::<io::Result<_>>();
        let (ending, of_screen) = (listen(ENDING)?, listen(of_screen)?);
        LISTENING.fetch_add(1, Ordering::SeqCst);
        BY_DEFAULT.store(false, Ordering::SeqCst);
        Ok(Signals { ending, of_screen })
    }

    /// The exit code of a signal that ends the program, if one has come.
    pub(crate) fn ending(&self) -> Option<u8> {
        self.ending.iter().find(|one| one.has_come()).map(|one| ENDED_BY + one.signal as u8)
    }

    /// Whether the program was asked to stop since this was last asked.
    pub(crate) fn stopped(&self) -> bool {
        self.take(STOPS)
    }

    /// Whether the program was stopped and called back since this was last asked.
    pub(crate) fn continued(&self) -> bool {
        self.take(CONTINUES)
    }

    fn take(&self, signal: i32) -> bool {
        self.of_screen.iter().any(|one| one.signal == signal && one.come.swap(false, Ordering::SeqCst))
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        if LISTENING.fetch_sub(1, Ordering::SeqCst) == 1 {
            BY_DEFAULT.store(true, Ordering::SeqCst);
        }
    }
}

/// Defers signals that would end the program until it is dropped, so that the work in between is completed and the terminal is as
/// it was.
pub(crate) struct DeferredSignals(Option<Signals>);

impl DeferredSignals {
    /// From now on.
    pub(crate) fn new() -> DeferredSignals {
        DeferredSignals(Signals::new().ok())
    }

    /// Returns true if a signal is pending.
    pub(crate) fn is_pending(&self) -> bool {
        self.0.as_ref().is_some_and(|signals| signals.ending().is_some())
    }
}

impl Drop for DeferredSignals {
    fn drop(&mut self) {
        let come = self
            .0
            .take()
            .and_then(|signals| signals.ending.iter().find(|one| one.has_come()).map(|one| one.signal));
        // Other code that listens has received it too.
        if let Some(signal) = come.filter(|_| LISTENING.load(Ordering::SeqCst) == 0) {
            let _ = low_level::emulate_default_handler(signal);
        }
    }
}
