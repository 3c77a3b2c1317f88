//! The vector of one word.

use crate::demo::words;
use crate::graph::Origin;

/// The vector of a word, and its origin.
#[derive(Clone)]
pub(super) struct WordVector {
    pub row: Vec<f64>,
    pub origin: Origin,
    /// The built-in word, if it is one.
    pub built_in: Option<&'static words::Word>,
}
