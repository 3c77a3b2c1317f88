//! One entry of a file that holds several, whatever the format of the file.

use crate::error::Error;
use crate::text::clip;

use super::array::Array;

/// One entry of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item<T = f64> {
    Array(Array<T>),
    /// A list of strings, such as tokens.
    Words(Vec<String>),
}

/// The error for words where numbers are needed.
pub(super) fn words(name: &str) -> Error {
    Error::new("this holds words, but numbers are needed").in_source(name)
}

/// The name of an entry in errors: `weights.npz, W_Q`.
pub(super) fn entry_name(file: &str, entry: &str) -> String {
    format!("{file}, {}", clip(entry))
}
