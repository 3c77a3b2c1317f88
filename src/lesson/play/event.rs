//! The events of a player, and their effects.

use std::time::Duration;

use crate::lesson::Command;
use crate::terminal::Key;

use super::state::Window;

/// An event of a player.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// When, after the beginning of the class.
    pub at: Duration,
    pub input: Input,
}

/// An event of a player.
#[derive(Clone, Debug)]
pub(super) enum Input {
    /// The lesson begins; the teacher is to know this before.
    Begin(Vec<String>),
    /// A key is pressed.
    Key(Key),
    /// The present page is to be shown once more, on a clean screen.
    Redraw,
    /// The screen has another size.
    Resize(Window),
    /// The next stop is prepared, and keys are read again.
    Ready,
    /// A command of the teacher's own has been run.
    Output {
        /// The command as typed.
        typed: String,
        /// Its output.
        printed: String,
    },
}

/// The effects of an event: first print, then act.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects {
    /// The lines to print; none if nothing is.
    pub lines: Vec<String>,
    /// Whether the screen is scrolled clear before.
    pub clears: bool,
    /// The action after printing.
    pub action: Action,
}

/// An action of the shell.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Action {
    /// Wait for the next event.
    #[default]
    Wait,
    /// Run a command of the teacher's own, and report its output.
    Run(Command),
    /// Give the whole screen to a command of the teacher's own, and report what it has printed.
    Open(Command),
    /// Forget what the lesson's commands have printed, and show the page again.
    RunAgain,
    /// Stop the program until it is called back.
    Suspend,
    /// End: the lesson is left.
    Leave,
    /// End: the lesson is interrupted.
    Interrupt,
}

impl Effects {
    /// Nothing is printed.
    pub(super) fn of(action: Action) -> Effects {
        Effects { action, ..Effects::default() }
    }
}
