//! The screen that bytes are for.

use super::{Charset, Theme};

/// The screen that a command writes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Screen {
    /// Its columns.
    pub width: usize,
    /// True if it shows colours.
    pub colour: bool,
    /// The ground that colours stand on.
    pub theme: Theme,
    /// The characters it shows.
    pub charset: Charset,
}

impl Screen {
    /// A screen without colours that shows every character, for comparing the blocks of a lesson.
    pub fn plain(width: usize) -> Screen {
        Screen { width, colour: false, theme: Theme::Unknown, charset: Charset::Utf8 }
    }
}
