//! A long text on a terminal, one screen at a time.

use std::collections::VecDeque;
use std::io::Write;
use std::time::Duration;

use crate::error::{EXIT_DONE, Result};

use super::keys::{Input, Key};
use super::session::{ERASE, Session, Turn, size, unless_gone};
use super::signals::INTERRUPTED;

/// The time of one wait for a key, after which signals are checked.
const LOOK: Duration = Duration::from_millis(500);

/// The action of a key in the pager.
enum Step {
    /// This many more lines.
    More(usize),
    Leave(u8),
    Stop,
}

/// Writes a text one screen at a time: space shows the next screen, Enter the next line, `q` ends. Returns the exit code.
///
/// # Errors
/// If the terminal cannot be read or written.
pub(crate) fn paged(text: &str, out: &mut dyn Write) -> Result<u8> {
    unless_gone(turned(text, out))
}

fn turned(text: &str, out: &mut dyn Write) -> Result<u8> {
    let lines: Vec<&str> = text.lines().collect();
    let session = Session::inline(true, "pipe the output into another pager, such as less")?;
    let (mut at, mut more) = (0, page());
    let mut keys: VecDeque<Key> = VecDeque::new();
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
        let step = loop {
            if let Some(key) = keys.pop_front() {
                match step(key, lines.len()) {
                    Some(step) => break step,
                    None => continue,
                }
            }
            let step = match session.next(LOOK)? {
                Turn::GoOn => None,
                Turn::DrawAgain => Some(Step::More(0)),
                Turn::Stop => Some(Step::Stop),
                Turn::End(code) => Some(Step::Leave(code)),
                Turn::Take(inputs) => {
                    keys.extend(inputs.into_iter().filter_map(Input::key));
                    None
                }
            };
            if let Some(step) = step {
                break step;
            }
        };
        write!(out, "{ERASE}")?;
        out.flush()?;
        more = match step {
            Step::More(lines) => lines,
            Step::Leave(code) => return Ok(code),
            Step::Stop => {
                session.suspend()?;
                0
            }
        };
    }
}

/// The lines of a screen, of which the last is the pager's own.
fn page() -> usize {
    size().map_or(23, |(_, rows)| usize::from(rows).saturating_sub(1)).max(1)
}

fn step(key: Key, rest: usize) -> Option<Step> {
    Some(match key {
        Key::Char(' ' | 'f' | 'n') | Key::PageDown | Key::Right => Step::More(page()),
        Key::Enter | Key::Down | Key::Char('j') => Step::More(1),
        Key::Char('G') | Key::End => Step::More(rest),
        Key::Char('q' | 'Q') | Key::Escape => Step::Leave(EXIT_DONE),
        Key::Control('c') => Step::Leave(INTERRUPTED),
        Key::Control('z') => Step::Stop,
        _ => return None,
    })
}
