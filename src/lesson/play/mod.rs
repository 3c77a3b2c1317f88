//! The player: a lesson step by step, in class.
//!
//! A player is a `state` of plain data. `update` changes it at each `event`, without a clock, a terminal or a file, and
//! returns the [`Effects`] that are to be carried out; `view` shows it as lines. [`Player`] is the thin shell that runs
//! commands. [`play`] gives it a terminal, which is left as it was found on every way out; a [`ProgressSaver`] keeps how far
//! the class has come, and writes where it is for those who [`follow`].

mod bars;
mod class;
mod clock;
mod course;
mod event;
mod follow;
mod keys;
mod overlay;
mod pages;
mod player;
mod position;
mod printer;
mod progress_saver;
mod scripted;
mod session;
mod state;
mod stops;
mod timing;
mod transcript;
mod typing;
mod update;
mod view;

#[cfg(test)]
pub(super) mod sample;
#[cfg(test)]
mod tests;

pub use event::{Action, Effects};
pub use follow::{follow, present};
pub use player::{FullScreenCommands, Player};
pub use progress_saver::ProgressSaver;
pub use scripted::ScriptedAnswers;
pub use session::{PlayOptions, play};
pub use state::Window;
pub(in crate::lesson) use transcript::answered;
pub use transcript::transcript;
pub use view::StatusLine;

pub use crate::terminal::Key;
