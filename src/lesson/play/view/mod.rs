//! The view of a player: lines of a state. It does not change the state.

mod overlay;
mod page;
mod sentences;
mod status;

pub(super) use overlay::{contents, help};
pub(super) use page::{above, chunks, ending, right_letter};
pub(super) use sentences::{farewell, sentence};
pub use status::StatusLine;
pub(super) use status::{bottom, key_typed};
