//! The terminal as a full screen, which is left on every way out.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};

use crate::terminal::Terminal;

/// Whether clicks are read: a panic has to leave the mouse to the terminal as well.
static READS_CLICKS: AtomicBool = AtomicBool::new(false);

/// The alternate screen in raw mode.
pub(super) struct FullScreen;

impl Terminal for FullScreen {
    fn enter(&self) -> io::Result<()> {
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        if READS_CLICKS.load(Ordering::Relaxed) { execute!(io::stdout(), EnableMouseCapture) } else { Ok(()) }
    }

    fn leave(&self) -> io::Result<()> {
        let mut out = io::stdout();
        let clicks =
            if READS_CLICKS.load(Ordering::Relaxed) { execute!(out, DisableMouseCapture) } else { Ok(()) };
        let left = execute!(out, LeaveAlternateScreen, Show).and_then(|()| out.flush());
        // Whatever cannot be written, the terminal gets its lines back.
        disable_raw_mode().and(clicks).and(left)
    }
}

/// Reads clicks, or leaves the mouse to the terminal.
pub(super) fn read_clicks(reads: bool) -> io::Result<()> {
    READS_CLICKS.store(reads, Ordering::Relaxed);
    if reads {
        execute!(io::stdout(), EnableMouseCapture)
    } else {
        execute!(io::stdout(), DisableMouseCapture)
    }
}

/// Whether clicks are read.
pub(super) fn reads_clicks() -> bool {
    READS_CLICKS.load(Ordering::Relaxed)
}
