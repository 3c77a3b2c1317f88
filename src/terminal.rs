//! The terminal of this process: keys, raw mode, signals, a line that is edited, a pager, and the colour of its background. The
//! answer to the query for that colour arrives like keys, so it is read before keys are.

mod asciicast;
#[cfg(unix)]
mod background;
#[cfg(not(unix))]
mod crossterm_keys;
#[cfg(unix)]
mod escapes;
mod guard;
mod keys;
mod pager;
mod signals;

pub(crate) use asciicast::Asciicast;
#[cfg(unix)]
pub(crate) use background::{ground, settle};
#[cfg(not(unix))]
pub(crate) use crossterm_keys::inputs;
#[cfg(unix)]
pub(crate) use escapes::inputs;
pub(crate) use guard::{ERASE, Guard, OwnTerminal, Terminal, pressed};
pub use keys::Key;
pub(crate) use keys::{EditLine, Input};
pub(crate) use pager::{paged, rows};
pub(crate) use signals::{
    DeferredSignals, HUNG_UP, INTERRUPTED, Readiness, Signals, is_running, suspend, unless_gone, wait,
};

/// Only on Unix the terminal is asked for the colour of its ground.
#[cfg(not(unix))]
pub(crate) fn ground() -> Option<[f64; 3]> {
    None
}

/// Nothing was asked.
#[cfg(not(unix))]
pub(crate) fn settle() {}
