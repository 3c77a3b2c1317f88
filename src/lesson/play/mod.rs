//! The player: a lesson step by step, in class.
//!
//! A [`Player`] is a `state` of plain data. `update` changes it at each key, without a clock, a terminal or a file, and
//! returns the [`Effects`] that are to be carried out; `keys` is the only list of its keys, and `view` shows it as lines.
//! [`play`] gives it a terminal, which is left as it was found on every way out; a [`ProgressSaver`] keeps how far the class
//! has come, and writes where it is for those who [`follow`].

mod answers;
mod follow;
mod keys;
mod session;
mod state;
mod stops;
mod update;
mod view;

#[cfg(test)]
pub(super) mod tests;

pub use crate::terminal::Key;
pub(super) use answers::answered;
pub use answers::{ScriptedAnswers, transcript};
pub use follow::{follow, present};
pub use session::{ProgressSaver, play};
pub use state::{Action, Effects, PlayOptions, Player, Window};
pub use view::StatusLine;
