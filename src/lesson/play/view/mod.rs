//! What a player shows: lines of a state. Nothing here changes it.

mod overlay;
mod page;
mod sentences;
mod status;

pub(super) use overlay::{contents, help};
pub(super) use page::{above, chunks, ending, right_letter};
pub(super) use sentences::{farewell, sentence};
pub use status::Bottom;
pub(super) use status::{bottom, key_typed};
