//! The terminal of this process: keys, raw mode, signals, a line that is edited, a pager, and the colour of its background. The
//! answer to the query for that colour arrives like keys, so it is read before keys are.

mod edit_line;
mod guard;
mod keys;
mod pager;
mod signals;

pub(crate) use edit_line::EditLine;
pub(crate) use guard::{ERASE, Guard, OwnTerminal};
pub use keys::Key;
pub(crate) use keys::pressed;
pub(crate) use pager::{paged, rows};
pub(crate) use signals::{INTERRUPTED, Readiness, Signals, is_running, suspend, wait};

/// The red, green and blue of the terminal's ground, each from 0 to 1, if standard input is a terminal that says so within 50
/// milliseconds. It is asked once; later calls give the same answer.
pub(crate) fn ground() -> Option<[f64; 3]> {
    own::ground()
}

/// Takes in an answer that has not come in time, before somebody else reads it. Where nothing is outstanding nothing happens.
pub(crate) fn settle() {
    own::settle();
}

/// Whether somebody listens to the signals that end a program. Until it is over they do not end this one.
pub(crate) fn signals_are_handled(handled: bool) {
    own::signals_are_handled(handled);
}

/// The signals that end a program and can be waited for; a core that a fault leaves cannot. `SIGABRT` can where somebody sends it:
/// a program that aborts itself ends whoever listens.
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

/// Signals that would end the program wait until it is dropped: what must not be left half done is done by then.
pub(crate) struct Held(own::Held);

impl Held {
    /// From now on.
    pub(crate) fn new() -> Held {
        Held(own::Held::new())
    }

    /// Whether a signal waits.
    pub(crate) fn is_awaited(&self) -> bool {
        self.0.is_awaited()
    }
}

#[cfg(not(unix))]
mod own {
    pub(super) struct Held;

    impl Held {
        pub(super) fn new() -> Held {
            Held
        }

        pub(super) fn is_awaited(&self) -> bool {
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
    /// Whether an answer may still come.
    static OUTSTANDING: AtomicBool = AtomicBool::new(false);
    /// Whether a signal does what it does to any program: set but for the moments in which somebody listens.
    static BY_DEFAULT: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(true)));
    /// Whether [`BY_DEFAULT`] has been given to the signals.
    static REGISTERED: OnceLock<()> = OnceLock::new();

    pub(super) fn ground() -> Option<[f64; 3]> {
        *GROUND.get_or_init(|| ask().ok().flatten())
    }

    fn ask() -> rustix::io::Result<Option<[f64; 3]>> {
        // What has been typed already belongs to somebody else, and a program in the background may not ask.
        if is_ready(Duration::ZERO)? || tcgetpgrp(stdin())? != getpgrp() {
            return Ok(None);
        }
        let _held = Held::new();
        let _quiet = Quiet::enter()?;
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
            let _held = Held::new();
            if let Ok(_quiet) = Quiet::enter() {
                let _ = listen(SETTLE_WITHIN);
            }
        }
    }

    pub(super) fn signals_are_handled(handled: bool) {
        BY_DEFAULT.store(!handled, Ordering::SeqCst);
    }

    /// What the terminal says until its answer is complete or the time is up.
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

    /// Whether there is something to read within a time; a signal ends the wait.
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
    struct Quiet(Termios);

    impl Quiet {
        fn enter() -> rustix::io::Result<Quiet> {
            let before = tcgetattr(stdin())?;
            let mut quiet = before.clone();
            quiet.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
            quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
            quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
            tcsetattr(stdin(), OptionalActions::Now, &quiet)?;
            Ok(Quiet(before))
        }
    }

    impl Drop for Quiet {
        fn drop(&mut self) {
            let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
        }
    }

    /// Signals that would end the program wait until it is dropped: the terminal is as it was by then.
    pub(super) struct Held {
        signals: Vec<(i32, Arc<AtomicBool>, SigId)>,
        /// Whether nobody else listens.
        alone: bool,
    }

    impl Held {
        pub(super) fn new() -> Held {
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
            Held { signals, alone: BY_DEFAULT.swap(false, Ordering::SeqCst) }
        }

        pub(super) fn is_awaited(&self) -> bool {
            self.signals.iter().any(|(_, come, _)| come.load(Ordering::SeqCst))
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            BY_DEFAULT.store(self.alone, Ordering::SeqCst);
            for (signal, come, id) in self.signals.drain(..) {
                low_level::unregister(id);
                // Whoever else listens has heard it too.
                if self.alone && come.load(Ordering::SeqCst) {
                    let _ = low_level::emulate_default_handler(signal);
                }
            }
        }
    }
}

/// The question and its answer.
#[cfg_attr(not(unix), allow(dead_code, reason = "only Unix asks"))]
mod answer {
    use std::time::Duration;

    /// The colour of the ground (OSC 11), and then what the terminal is (DA1): every terminal answers the second, so that its
    /// answer says that none to the first will come any more.
    pub(super) const QUESTION: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";
    /// Nobody waits longer for colours.
    pub(super) const ANSWER_WITHIN: Duration = Duration::from_millis(50);
    /// What comes later than this is let go.
    pub(super) const SETTLE_WITHIN: Duration = Duration::from_millis(400);

    /// Whether the terminal has said what it is: `ESC [ ? 6 4 ; 1 c`.
    pub(super) fn is_complete(heard: &[u8]) -> bool {
        let mut starts = heard.windows(3).enumerate().filter(|(_, bytes)| bytes == b"\x1b[?");
        starts.any(|(at, _)| {
            let rest = heard[at + 3..].iter();
            rest.copied().find(|byte| !byte.is_ascii_digit() && *byte != b';') == Some(b'c')
        })
    }

    /// The colour in `ESC ] 11 ; rgb:1e1e/1e1e/1e1e ESC \`; each part has one to four digits.
    pub(super) fn ground_of(heard: &[u8]) -> Option<[f64; 3]> {
        let text = String::from_utf8_lossy(heard);
        let (_, after) = text.split_once("\x1b]11;")?;
        let (_, colour) = after.split_once("rgb").and_then(|(_, rest)| rest.split_once(':'))?;
        let colour = &colour[..colour.find(['\x07', '\x1b'])?];
        let part = |text: &str| {
            let digits = u32::try_from(text.len()).ok().filter(|digits| (1..=4).contains(digits))?;
            let number = u32::from_str_radix(text, 16).ok().filter(|_| !text.starts_with('+'))?;
            Some(f64::from(number) / f64::from(16_u32.pow(digits) - 1))
        };
        let mut parts = colour.split('/').map(part);
        Some([parts.next()??, parts.next()??, parts.next()??])
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn colours_are_read_as_terminals_write_them() {
            for (heard, colour) in [
                ("\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;c", Some([1.0, 1.0, 1.0])),
                ("\x1b]11;rgb:00/ff/00\x07\x1b[?6c", Some([0.0, 1.0, 0.0])),
                ("x\x1b]11;rgba:0000/0000/ffff/ffff\x1b\\", Some([0.0, 0.0, 1.0])),
                ("\x1b]11;rgb:0/f/0\x07", Some([0.0, 1.0, 0.0])),
                ("\x1b]11;rgb:ffff/ffff", None),
                ("\x1b]11;rgb:ffff/ffff\x07", None),
                ("\x1b]11;rgb:fffff/0/0\x07", None),
                ("\x1b]11;rgb:+f/0/0\x07", None),
                ("\x1b[?62;c", None),
                ("", None),
            ] {
                assert_eq!(ground_of(heard.as_bytes()), colour, "{heard:?}");
            }
        }

        #[test]
        fn an_answer_is_complete_when_the_terminal_has_said_what_it_is() {
            for (heard, complete) in [
                ("\x1b[?62;22c", true),
                ("\x1b[?6c", true),
                ("\x1b]11;rgb:00/00/00\x07\x1b[?1;2c", true),
                ("\x1b[?62;22", false),
                ("\x1b[?1u", false),
                ("\x1b]11;rgb:cc/cc/cc\x07", false),
                ("c", false),
            ] {
                assert_eq!(is_complete(heard.as_bytes()), complete, "{heard:?}");
            }
        }
    }
}
