//! The keys of a program that has no use for a pointer.

use super::inputs;
use super::keys::{Input, Key};

/// The keys that have been pressed by now.
///
/// # Errors
/// If the terminal cannot be read.
pub(crate) fn pressed() -> std::io::Result<Vec<Key>> {
    let keys = inputs()?.into_iter().filter_map(|input| match input {
        Input::Key(key) => Some(key),
        Input::Click(..) => None,
    });
    Ok(keys.collect())
}
