//! The colour of the terminal's background. The answer to the query for it arrives like keys, so it is read before keys are.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::getpgrp;
use rustix::stdio::stdin;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};

use super::keys::Readiness;
use super::signals::DeferredSignals;
use super::unix::wait;

/// Asks for the background colour (OSC 11), and then for the terminal's identity (DA1): every terminal answers the second,
/// so that its answer shows that none to the first will come any more.
const QUESTION: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";
/// The maximum time to wait for colours.
const ANSWER_WITHIN: Duration = Duration::from_millis(50);
/// The time after which a late answer is no longer removed.
const SETTLE_WITHIN: Duration = Duration::from_millis(400);

/// Returns true if the answer ends with the terminal's identification: `ESC [ ? 6 4 ; 1 c`.
fn is_complete(heard: &[u8]) -> bool {
    let mut starts = heard.windows(3).enumerate().filter(|(_, bytes)| bytes == b"\x1b[?");
    starts.any(|(at, _)| {
        let rest = heard[at + 3..].iter();
        rest.copied().find(|byte| !byte.is_ascii_digit() && *byte != b';') == Some(b'c')
    })
}

/// The colour in `ESC ] 11 ; rgb:1e1e/1e1e/1e1e ESC \`; each part has one to four digits.
fn ground_of(heard: &[u8]) -> Option<[f64; 3]> {
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

static GROUND: OnceLock<Option<[f64; 3]>> = OnceLock::new();
/// True if an answer may still come.
static OUTSTANDING: AtomicBool = AtomicBool::new(false);

/// The red, green and blue of the terminal's ground, each from 0 to 1, if standard input is a terminal that says so within 50
/// milliseconds. It is asked once; later calls give the same answer.
pub(crate) fn ground() -> Option<[f64; 3]> {
    *GROUND.get_or_init(|| ask().ok().flatten())
}

fn ask() -> io::Result<Option<[f64; 3]>> {
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

/// Reads an answer that has not come in time, so that the next reader of keys does not get it. Does nothing if no answer is
/// outstanding.
pub(crate) fn settle() {
    if OUTSTANDING.swap(false, Ordering::Relaxed) {
        let _held = DeferredSignals::new();
        if let Ok(_quiet) = RawInput::enter() {
            let _ = listen(SETTLE_WITHIN);
        }
    }
}

/// The terminal's answer, read until it is complete or the time is up.
fn listen(longest: Duration) -> io::Result<Vec<u8>> {
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
            Err(error) => return Err(error.into()),
        }
    }
    Ok(heard)
}

/// Returns true if there is something to read within a time; a signal ends the wait.
fn is_ready(longest: Duration) -> io::Result<bool> {
    Ok(wait(longest)? != Readiness::Nothing)
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
