//! A long text on a terminal, one screen at a time.

use std::io::Write;
use std::time::Duration;

use terminal_size::terminal_size_of;

use crate::error::{EXIT_DONE, Error, Result};

use super::guard::{ERASE, Guard, OwnTerminal, pressed};
use super::keys::Key;
use super::signals::{HUNG_UP, INTERRUPTED, Readiness, Signals, unless_gone, wait};

/// The time of one wait for a key, after which signals are checked.
const LOOK: Duration = Duration::from_millis(500);

/// The action of a key in the pager.
enum Turn {
    /// This many more lines.
    More(usize),
    Leave(u8),
    Stop,
}

/// The number of rows of the terminal of standard output, if known.
pub(crate) fn rows() -> Option<usize> {
    terminal_size_of(std::io::stdout()).map(|(_, rows)| usize::from(rows.0)).filter(|&rows| rows > 0)
}

/// Writes a text one screen at a time: space shows the next screen, Enter the next line, `q` ends. Returns the exit code.
///
/// # Errors
/// If the terminal cannot be read or written.
pub(crate) fn paged(text: &str, out: &mut dyn Write) -> Result<u8> {
    unless_gone(turned(text, out))
}

fn turned(text: &str, out: &mut dyn Write) -> Result<u8> {
    let unreadable = |error: std::io::Error| {
        Error::new(format!("the terminal cannot be used: {error}"))
            .help("pipe the output into another pager, such as less")
    };
    let lines: Vec<&str> = text.lines().collect();
    let signals = Signals::of_screen().map_err(unreadable)?;
    let guard = Guard::new(OwnTerminal).map_err(unreadable)?;
    let mut at = 0;
    let mut more = page();
    loop {
        let next = lines.len().min(at + more);
        for line in &lines[at..next] {
            write!(out, "{line}\r\n")?;
        }
        at = next;
        if at == lines.len() {
            out.flush()?;
            return Ok(EXIT_DONE);
        }
        let percent = 100 * at / lines.len();
        write!(out, "-- {percent}%   space: go on   Enter: one line   q: end --")?;
        out.flush()?;
        let turn = loop {
            if let Some(code) = signals.ending() {
                break Turn::Leave(code);
            }
            if signals.stopped() {
                break Turn::Stop;
            }
            match wait(LOOK).map_err(unreadable)? {
                Readiness::Gone => break Turn::Leave(HUNG_UP),
                Readiness::Nothing => {}
                Readiness::Ready => {
                    let keys = pressed().map_err(unreadable)?;
                    if let Some(turn) = keys.first().and_then(|key| turn(key, lines.len())) {
                        break turn;
                    }
                }
            }
        };
        write!(out, "{ERASE}")?;
        more = match turn {
            Turn::More(lines) => lines,
            Turn::Leave(code) => {
                out.flush()?;
                return Ok(code);
            }
            Turn::Stop => {
                out.flush()?;
                guard.suspend().map_err(unreadable)?;
                signals.continued();
                0
            }
        };
    }
}

/// The lines of a screen, of which the last is the pager's own.
fn page() -> usize {
    rows().map_or(23, |rows| rows.saturating_sub(1)).max(1)
}

fn turn(key: &Key, rest: usize) -> Option<Turn> {
    Some(match key {
        Key::Char(' ' | 'f' | 'n') | Key::PageDown | Key::Right => Turn::More(page()),
        Key::Enter | Key::Down | Key::Char('j') => Turn::More(1),
        Key::Char('G') | Key::End => Turn::More(rest),
        Key::Char('q' | 'Q') | Key::Escape => Turn::Leave(EXIT_DONE),
        Key::Control('c') => Turn::Leave(INTERRUPTED),
        Key::Control('z') => Turn::Stop,
        _ => return None,
    })
}
