//! The terminal of this process: its keys and a line that is typed with them, a session with raw mode and signals, a screen of
//! cells, recordings, a pager, and the colour of its background.
//!
//! The lesson player and the explorer are two modes of it. The player prints lines that stay and takes no mouse, so that scrolling
//! back, copying, recording and screen readers work as always; the explorer has a screen of its own.

mod asciicast;
#[cfg(unix)]
mod background;
mod cells;
#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod escapes;
mod keys;
mod pager;
mod session;
mod signals;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use elsewhere::{self as system, inputs};
#[cfg(unix)]
use escapes::inputs;
#[cfg(unix)]
use unix as system;

pub(crate) use asciicast::Asciicast;
#[cfg(unix)]
pub(crate) use background::{ground, settle};
#[cfg(test)]
pub(crate) use cells::Cell;
pub(crate) use cells::{BEGIN, Cells, Display, Rect, Style};
#[cfg(not(unix))]
pub(crate) use elsewhere::{ground, settle};
pub use keys::Key;
pub(crate) use keys::{EditLine, Input, Readiness};
pub(crate) use pager::paged;
pub(crate) use session::{ERASE, Session, Turn, size, unless_gone};
pub(crate) use signals::{DeferredSignals, HUNG_UP, INTERRUPTED, Signals};
pub(crate) use system::{is_running, wait};
