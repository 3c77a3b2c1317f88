//! Ctrl-C in a quiz: it ends the quiz, but not the program: the score is still shown.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::terminal::{Readiness, Signals, wait};

/// The interval at which signals are checked.
const LOOK: Duration = Duration::from_millis(500);

/// Listens for Ctrl-C, as long as it lives.
pub struct Interrupt(Signals);

impl Interrupt {
    /// Listens from now on.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new() -> Result<Interrupt> {
        let refused = |error: std::io::Error| {
            Error::new(format!("the terminal cannot be used: {error}"))
                .help("pipe the answers in, line by line: attn lesson quiz NAME < answers.txt")
        };
        Signals::new().map(Interrupt).map_err(refused)
    }

    /// Waits until a line can be read; `false` if a signal ends the program, or the terminal is gone.
    pub fn waits(&self) -> bool {
        loop {
            if self.0.ending().is_some() {
                return false;
            }
            match wait(LOOK) {
                Ok(Readiness::Nothing) => {}
                Ok(Readiness::Ready) => return true,
                Ok(Readiness::Gone) | Err(_) => return false,
            }
        }
    }

    /// The exit code of the signal that ended it, if one did.
    pub fn code(&self) -> Option<u8> {
        self.0.ending()
    }
}
