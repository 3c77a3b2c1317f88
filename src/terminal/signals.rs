//! Signals, and waiting for keys in such a way that a signal or a terminal that is gone ends the wait.

use std::io;
#[cfg(unix)]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use signal_hook::{SigId, flag, low_level};

use crate::error::Result;

/// A shell adds this to the number of the signal that ended a program.
const ENDED_BY: u8 = 128;
/// The exit code after Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;
/// The exit code after the terminal has gone away, as of SIGHUP.
pub(crate) const HUNG_UP: u8 = 129;

/// The signals that end a program and can be waited for; those of a fault cannot. `SIGABRT` can if another process sends it: a
/// program that aborts itself ends in spite of a handler.
#[cfg(unix)]
const ENDING: &[i32] = &[
    signal_hook::consts::SIGINT,
    signal_hook::consts::SIGTERM,
    signal_hook::consts::SIGHUP,
    signal_hook::consts::SIGQUIT,
    signal_hook::consts::SIGABRT,
    signal_hook::consts::SIGALRM,
    signal_hook::consts::SIGUSR1,
    signal_hook::consts::SIGUSR2,
    signal_hook::consts::SIGVTALRM,
    signal_hook::consts::SIGPROF,
    signal_hook::consts::SIGXCPU,
    signal_hook::consts::SIGXFSZ,
];
/// The signals that end a program.
#[cfg(not(unix))]
const ENDING: &[i32] = &[signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];

/// The signals that stop a program that has changed the terminal, and that tell it of another size of the screen.
#[cfg(unix)]
const OF_SCREEN: [Option<i32>; 2] = [Some(signal_hook::consts::SIGTSTP), Some(signal_hook::consts::SIGWINCH)];
#[cfg(not(unix))]
const OF_SCREEN: [Option<i32>; 2] = [None; 2];
/// The signal that calls a stopped program back.
#[cfg(unix)]
const CONTINUES: Option<i32> = Some(signal_hook::consts::SIGCONT);
#[cfg(not(unix))]
const CONTINUES: Option<i32> = None;

/// The number of listeners: a lesson opens the explorer, and listens again when that has ended.
static LISTENERS: AtomicUsize = AtomicUsize::new(0);

/// True if signals have their default effect: always, except while some code handles them.
static BY_DEFAULT: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(true)));
/// Set once [`BY_DEFAULT`] has been registered for the signals.
#[cfg(unix)]
static REGISTERED: OnceLock<()> = OnceLock::new();

/// Notes that a signal has come, until it is dropped.
struct Listener {
    signal: i32,
    come: Arc<AtomicBool>,
    id: SigId,
}

impl Listener {
    fn new(signal: i32) -> io::Result<Listener> {
        let come = Arc::new(AtomicBool::new(false));
        let id = flag::register(signal, Arc::clone(&come))?;
        Ok(Listener { signal, come, id })
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
    stopped: Option<Listener>,
    continued: Option<Listener>,
    /// It ends a wait for keys.
    _resized: Option<Listener>,
}

impl Signals {
    /// Listens from now on.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn new() -> io::Result<Signals> {
        Signals::listening([None; 2])
    }

    /// Listens from now on for a program that has changed the terminal: it gives the terminal back itself before it stops, and a
    /// new size of the screen ends its wait for keys.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn of_screen() -> io::Result<Signals> {
        Signals::listening(OF_SCREEN)
    }

    fn listening([stops, resizes]: [Option<i32>; 2]) -> io::Result<Signals> {
        let listen = |signal: Option<i32>| signal.map(Listener::new).transpose();
        let ending = ENDING.iter().map(|&signal| Listener::new(signal)).collect::<io::Result<_>>()?;
        let [stopped, continued, _resized] = [listen(stops)?, listen(CONTINUES)?, listen(resizes)?];
        LISTENERS.fetch_add(1, Ordering::SeqCst);
        BY_DEFAULT.store(false, Ordering::SeqCst);
        Ok(Signals { ending, stopped, continued, _resized })
    }

    /// Whether the program was asked to stop since this was last asked.
    pub(crate) fn stopped(&self) -> bool {
        self.stopped.as_ref().is_some_and(|stopped| stopped.come.swap(false, Ordering::Relaxed))
    }

    /// The exit code of a signal that ends the program, if one has come.
    pub(crate) fn ending(&self) -> Option<u8> {
        self.ending.iter().find(|one| one.has_come()).map(|one| ENDED_BY + one.signal as u8)
    }

    /// Whether the program was stopped and called back since this was last asked.
    pub(crate) fn continued(&self) -> bool {
        self.continued.as_ref().is_some_and(|continued| continued.come.swap(false, Ordering::Relaxed))
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        if LISTENERS.fetch_sub(1, Ordering::SeqCst) == 1 {
            BY_DEFAULT.store(true, Ordering::SeqCst);
        }
    }
}

/// Defers signals that would end the program until it is dropped, so that the work in between is completed and the terminal is as
/// it was.
#[cfg(unix)]
pub(crate) struct DeferredSignals {
    signals: Vec<Listener>,
    /// True if no other code handles the signals.
    alone: bool,
}

#[cfg(unix)]
impl DeferredSignals {
    /// From now on.
    pub(crate) fn new() -> DeferredSignals {
        REGISTERED.get_or_init(|| {
            for &signal in ENDING {
                let _ = flag::register_conditional_default(signal, Arc::clone(&BY_DEFAULT));
            }
        });
        let signals = ENDING.iter().filter_map(|&signal| Listener::new(signal).ok()).collect();
        DeferredSignals { signals, alone: BY_DEFAULT.swap(false, Ordering::SeqCst) }
    }

    /// Returns true if a signal is pending.
    pub(crate) fn is_pending(&self) -> bool {
        self.signals.iter().any(Listener::has_come)
    }
}

#[cfg(unix)]
impl Drop for DeferredSignals {
    fn drop(&mut self) {
        BY_DEFAULT.store(self.alone, Ordering::SeqCst);
        let come = |one: Listener| one.has_come().then_some(one.signal);
        // Other code that handles the signal has received it too.
        for signal in self.signals.drain(..).filter_map(come).filter(|_| self.alone) {
            let _ = low_level::emulate_default_handler(signal);
        }
    }
}

/// There is nothing to defer.
#[cfg(not(unix))]
pub(crate) struct DeferredSignals;

#[cfg(not(unix))]
impl DeferredSignals {
    /// From now on.
    pub(crate) fn new() -> DeferredSignals {
        DeferredSignals
    }

    /// Returns true if a signal is pending.
    pub(crate) fn is_pending(&self) -> bool {
        false
    }
}

/// The result of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// A key may have come.
    Ready,
    /// The time is up, or a signal has come.
    Nothing,
    /// The terminal is gone.
    Gone,
}

/// Waits for a key on standard input, no longer than this. Asked before any key is read: the reading of keys would wait for
/// ever at a terminal that is gone.
///
/// # Errors
/// If standard input cannot be waited for.
#[cfg(unix)]
pub(crate) fn wait(longest: Duration) -> io::Result<Readiness> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = rustix::stdio::stdin();
    let mut waiting = [PollFd::new(&stdin, PollFlags::IN)];
    let longest = Timespec::try_from(longest).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
    match poll(&mut waiting, Some(&longest)) {
        Err(rustix::io::Errno::INTR) => Ok(Readiness::Nothing),
        Err(error) => Err(error.into()),
        Ok(0) => Ok(Readiness::Nothing),
        Ok(_) if waiting[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => {
            Ok(Readiness::Gone)
        }
        Ok(_) => Ok(Readiness::Ready),
    }
}

/// Waits for a key, no longer than this.
///
/// # Errors
/// If the terminal cannot be waited for.
#[cfg(not(unix))]
pub(crate) fn wait(longest: Duration) -> io::Result<Readiness> {
    Ok(if crossterm::event::poll(longest)? { Readiness::Ready } else { Readiness::Nothing })
}

/// The outcome of what has used a terminal: where that is gone, no error is told, since there is nobody to read it.
pub(crate) fn unless_gone(outcome: Result<u8>) -> Result<u8> {
    let is_gone = || wait(Duration::ZERO).is_ok_and(|readiness| readiness == Readiness::Gone);
    if outcome.is_err() && is_gone() { Ok(HUNG_UP) } else { outcome }
}

/// Stops the program, and all others of its group, until the shell calls them back. Without a shell that could, nothing happens.
///
/// # Errors
/// If the system refuses.
#[cfg(unix)]
pub(crate) fn suspend() -> io::Result<()> {
    use rustix::process::{Signal, getpgrp, getsid, kill_current_process_group};
    // A program that listens to SIGTSTP is not stopped by it. In the group of what began the session there is no shell above.
    if getsid(None)? == getpgrp() { Ok(()) } else { Ok(kill_current_process_group(Signal::STOP)?) }
}

/// There is nothing that could call the program back.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub(crate) fn suspend() -> io::Result<()> {
    Ok(())
}

/// Whether a process still runs; where nobody can tell, it is taken to.
#[cfg(unix)]
pub(crate) fn is_running(process: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH)))
}

/// Whether a process still runs; where nobody can tell, it is taken to.
#[cfg(not(unix))]
pub(crate) fn is_running(_: u32) -> bool {
    true
}
