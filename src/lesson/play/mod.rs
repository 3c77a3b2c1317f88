//! The player: a lesson step by step, in class.
//!
//! [`Player`] is the whole of it without a terminal: a key leads to lines and to what the terminal does then. [`play`] gives
//! it a terminal, which is left as it was found on every way out; a [`Keeper`] keeps how far the class has come, and tells
//! where it is to those who [`follow`].

mod aside;
mod bars;
mod class;
mod clock;
mod course;
mod event;
mod follow;
mod guard;
mod keys;
mod line;
mod pager;
mod pages;
mod paper;
mod player;
mod position;
mod saving;
mod scripted;
mod session;
pub(super) mod signals;
mod state;
mod stops;
mod terminal_keys;
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
pub use keys::Key;
pub use pager::{paged, rows};
pub use player::Player;
pub use saving::Keeper;
pub use scripted::Scripted;
pub use session::{Manner, play};
pub use state::Window;
pub(in crate::lesson) use transcript::answered;
pub use transcript::transcript;
pub use view::Bottom;
