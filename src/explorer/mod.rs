//! Walking through a graph in the terminal: the state machine of [`crate::explore`] with keys, a screen and sentences.
//!
//! `keys` is the only list of keys: it dispatches them, fills the help and the hints, and names them in scripts. `draw` writes a
//! state into the cells of a screen, `attn_story` puts facts into words, `session` runs both on a terminal, `background` computes
//! meanwhile, and `plain` does the same line by line.

mod draw;
mod keys;
mod plain;
mod session;
#[cfg(test)]
mod tests;
mod writing;

pub(crate) use draw::Narrator;
pub(crate) use keys::Script;
pub(crate) use plain::{cast, plain};
pub(crate) use session::{Opened, explore};
pub(crate) use writing::{COLUMNS, Writer, command_line};
