//! The terminal of this process: keys, raw mode, signals, a line that is edited, a pager, and the colour of its background. The
//! answer to the query for that colour arrives like keys, so it is read before keys are.

#[cfg_attr(not(unix), allow(dead_code, reason = "only Unix asks"))]
mod answer;
mod asciicast;
#[cfg(not(unix))]
mod crossterm_keys;
mod edit_line;
#[cfg(unix)]
mod escapes;
mod guard;
mod keys;
mod pager;
mod pressed;
mod signals;

pub(crate) use asciicast::Asciicast;
#[cfg(not(unix))]
pub(crate) use crossterm_keys::inputs;
pub(crate) use edit_line::EditLine;
#[cfg(unix)]
pub(crate) use escapes::inputs;
pub(crate) use guard::{ERASE, Guard, OwnTerminal, Terminal};
pub(crate) use keys::Input;
pub use keys::Key;
pub(crate) use pager::{paged, rows};
pub(crate) use pressed::pressed;
pub(crate) use signals::{HUNG_UP, INTERRUPTED, Readiness, Signals, is_running, suspend, unless_gone, wait};

/// The red, green and blue of the terminal's ground, each from 0 to 1, if standard input is a terminal that says so within 50
/// milliseconds. It is asked once; later calls give the same answer.
pub(crate) fn ground() -> Option<[f64; 3]> {
    own::ground()
}

/// Reads an answer that has not come in time, so that the next reader of keys does not get it. Does nothing if no answer is
/// outstanding.
pub(crate) fn settle() {
    own::settle();
}

/// Sets if some code handles the signals that end a program. While it does, they do not end this one.
pub(crate) fn signals_are_handled(handled: bool) {
    own::signals_are_handled(handled);
}

/// The signals that end a program and can be waited for; those of a fault cannot. `SIGABRT` can if another process sends it: a
/// program that aborts itself ends in spite of a handler.
#[cfg(unix)]
pub(crate) const ENDING: &[i32] = &[
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
pub(crate) const ENDING: &[i32] = &[signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];

/// Defers signals that would end the program until it is dropped, so that the work in between is completed.
pub(crate) struct DeferredSignals(own::DeferredSignals);

impl DeferredSignals {
    /// From now on.
    pub(crate) fn new() -> DeferredSignals {
        DeferredSignals(own::DeferredSignals::new())
    }

    /// Returns true if a signal is pending.
    pub(crate) fn is_pending(&self) -> bool {
        self.0.is_pending()
    }
}

#[cfg(not(unix))]
mod own {
    pub(super) struct DeferredSignals;

    impl DeferredSignals {
        pub(super) fn new() -> DeferredSignals {
            DeferredSignals
        }

        pub(super) fn is_pending(&self) -> bool {
            false
        }
    }

    pub(super) fn ground() -> Option<[f64; 3]> {
        None
    }

    pub(super) fn settle() {}

    pub(super) fn signals_are_handled(_: bool) {}
}

#[cfg(unix)]
mod own {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, LazyLock, OnceLock};
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::getpgrp;
    use rustix::stdio::stdin;
    use rustix::termios::{
        LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
    };
    use signal_hook::{SigId, flag, low_level};

    use super::ENDING;
    use super::answer::{ANSWER_WITHIN, QUESTION, SETTLE_WITHIN, ground_of, is_complete};

    static GROUND: OnceLock<Option<[f64; 3]>> = OnceLock::new();
    /// True if an answer may still come.
    static OUTSTANDING: AtomicBool = AtomicBool::new(false);
    /// True if signals have their default effect: always, except while some code handles them.
    static BY_DEFAULT: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(true)));
    /// Set once [`BY_DEFAULT`] has been registered for the signals.
    static REGISTERED: OnceLock<()> = OnceLock::new();

    pub(super) fn ground() -> Option<[f64; 3]> {
        *GROUND.get_or_init(|| ask().ok().flatten())
    }

    fn ask() -> rustix::io::Result<Option<[f64; 3]>> {
        // Keys typed before this belong to another reader, and a program in the background may not ask.
        if is_ready(Duration::ZERO)? || tcgetpgrp(stdin())? != getpgrp() {
            return Ok(None);
        }
        let _held = DeferredSignals::new();
        let _quiet = RawInput::enter()?;
        let mut question = QUESTION;
        while !question.is_empty() {
            question = &question[rustix::io::write(stdin(), question)?..];
        }
        let heard = listen(ANSWER_WITHIN)?;
        OUTSTANDING.store(!is_complete(&heard), Ordering::Relaxed);
        Ok(ground_of(&heard))
    }

    pub(super) fn settle() {
        if OUTSTANDING.swap(false, Ordering::Relaxed) {
            let _held = DeferredSignals::new();
            if let Ok(_quiet) = RawInput::enter() {
                let _ = listen(SETTLE_WITHIN);
            }
        }
    }

    pub(super) fn signals_are_handled(handled: bool) {
        BY_DEFAULT.store(!handled, Ordering::SeqCst);
    }

    /// The terminal's answer, read until it is complete or the time is up.
    fn listen(longest: Duration) -> rustix::io::Result<Vec<u8>> {
        let end = Instant::now() + longest;
        let mut heard = Vec::new();
        while !is_complete(&heard) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || !is_ready(left)? {
                break;
            }
            let mut bytes = [0; 256];
            match rustix::io::read(stdin(), &mut bytes) {
                Ok(0) => break,
                Ok(count) => heard.extend_from_slice(&bytes[..count]),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(heard)
    }

    /// Returns true if there is something to read within a time; a signal ends the wait.
    fn is_ready(longest: Duration) -> rustix::io::Result<bool> {
        let input = stdin();
        let mut waiting = [PollFd::new(&input, PollFlags::IN)];
        let longest = Timespec::try_from(longest).unwrap_or(Timespec { tv_sec: 0, tv_nsec: 0 });
        match poll(&mut waiting, Some(&longest)) {
            Err(rustix::io::Errno::INTR) => Ok(false),
            ready => Ok(ready? > 0),
        }
    }

    /// Keys come one by one and are not echoed, until it is dropped.
    struct RawInput(Termios);

    impl RawInput {
        fn enter() -> rustix::io::Result<RawInput> {
            let before = tcgetattr(stdin())?;
            let mut quiet = before.clone();
            quiet.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
            quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
            quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
            tcsetattr(stdin(), OptionalActions::Now, &quiet)?;
            Ok(RawInput(before))
        }
    }

    impl Drop for RawInput {
        fn drop(&mut self) {
            let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
        }
    }

    /// Signals that would end the program wait until it is dropped: the terminal is as it was by then.
    pub(super) struct DeferredSignals {
        signals: Vec<(i32, Arc<AtomicBool>, SigId)>,
        /// True if no other code handles the signals.
        alone: bool,
    }

    impl DeferredSignals {
        pub(super) fn new() -> DeferredSignals {
            REGISTERED.get_or_init(|| {
                for &signal in ENDING {
                    let _ = flag::register_conditional_default(signal, Arc::clone(&BY_DEFAULT));
                }
            });
            let listen = |signal: i32| {
                let come = Arc::new(AtomicBool::new(false));
                let id = flag::register(signal, Arc::clone(&come)).ok()?;
                Some((signal, come, id))
            };
            let signals = ENDING.iter().copied().filter_map(listen).collect();
            DeferredSignals { signals, alone: BY_DEFAULT.swap(false, Ordering::SeqCst) }
        }

        pub(super) fn is_pending(&self) -> bool {
            self.signals.iter().any(|(_, come, _)| come.load(Ordering::SeqCst))
        }
    }

    impl Drop for DeferredSignals {
        fn drop(&mut self) {
            BY_DEFAULT.store(self.alone, Ordering::SeqCst);
            for (signal, come, id) in self.signals.drain(..) {
                low_level::unregister(id);
                // Other code that handles the signal has received it too.
                if self.alone && come.load(Ordering::SeqCst) {
                    let _ = low_level::emulate_default_handler(signal);
                }
            }
        }
    }
}
