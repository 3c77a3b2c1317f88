//! Walking through a graph in the terminal: the state machine of [`crate::explore`] with keys, a screen and sentences.
//!
//! `keys` is the only list of keys: it dispatches them, fills the help and the hints, and names them in scripts. `draw` writes a
//! state into the cells of a screen, `attn_story` puts facts into words, `session` runs both on a terminal, `background` computes
//! meanwhile, and `plain` does the same line by line.

mod background;
mod cast;
mod copying;
mod display;
mod draw;
mod full_screen;
mod keys;
mod plain;
mod script;
mod session;
mod steps_of_story;
#[cfg(test)]
mod tests;
mod writing;

pub(crate) use cast::cast;
pub(crate) use plain::plain;
pub(crate) use script::Script;
pub(crate) use session::{Opened, explore};
pub(crate) use writing::{COLUMNS, Writer};
