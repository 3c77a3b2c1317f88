//! The player: a lesson step by step, in class.
//!
//! [`Player`] is the whole of it without a terminal: a key leads to lines and to what the terminal does then. [`play`] gives
//! it a terminal, which is left as it was found on every way out; a [`Keeper`] keeps how far the class has come, and tells
//! where it is to those who [`follow`].

pub(super) mod answers;
mod aside;
mod asking;
mod auto;
mod bottom;
mod clock;
mod entry;
mod follow;
mod guard;
mod keys;
mod line;
mod moves;
mod pager;
mod pages;
mod paper;
mod player;
mod position;
mod press;
mod session;
pub(super) mod signals;
mod state;
mod stops;
mod terminal_keys;
mod transcript;
mod votes;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

pub use answers::Scripted;
pub use bottom::Bottom;
pub use follow::{follow, present};
pub use keys::Key;
pub use pager::{paged, rows};
pub use player::{Player, Then, Told, Window};
pub use session::{Manner, play};
pub use state::Keeper;
pub(in crate::lesson) use transcript::answered;
pub use transcript::transcript;
