//! The settings of the appearance of a story.

use std::io::Write;

use super::{Charset, Heat, Screen, Theme};
use crate::error::Result;
use crate::graph::Convention;
use crate::story::{Digits, Story};

/// The output formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Sentences, equations and tables for a terminal; rounded.
    #[default]
    Table,
    /// The graph, every digit.
    Json,
    /// Arrays as NumPy prints them.
    Numpy,
    /// Markdown; rounded.
    Markdown,
    /// LaTeX; rounded.
    Latex,
    /// Comma-separated values, every digit.
    Csv,
    /// An HTML page, whose cells show their sources; rounded.
    Html,
    /// An HTML page that computes for itself: its numbers can be changed.
    LiveHtml,
}

/// The columns of what is drawn in characters in a document.
const COLUMNS_OF_DOCUMENT: usize = 80;

impl Format {
    /// Returns true for formats that people read; programs read the others.
    pub fn is_for_people(self) -> bool {
        matches!(self, Format::Table | Format::Markdown | Format::Latex | Format::Html | Format::LiveHtml)
    }
}

/// All settings of the appearance of a story.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// The output format.
    pub format: Format,
    /// The number of decimals, if the user sets it.
    pub places: Option<usize>,
    /// Columns of the screen.
    pub width: usize,
    /// True if escapes for colours may be written.
    pub colour: bool,
    /// The ground that colours stand on.
    pub theme: Theme,
    /// The characters that may be written.
    pub charset: Charset,
    /// The setting for shades of weights and scores.
    pub heat: Heat,
    /// The convention: tokens as rows or as columns.
    pub convention: Convention,
}

impl Style {
    /// A format on a screen, with the default digits, heat and convention.
    pub fn on(screen: Screen, format: Format) -> Style {
        let Screen { width, colour, theme, charset } = screen;
        let (heat, convention) = (Heat::Auto, Convention::Rows);
        Style { format, places: None, width, colour, theme, charset, heat, convention }
    }

    /// The digits of a story under this style.
    pub fn digits(&self, story: &Story) -> Digits {
        self.places.map_or(story.digits, Digits::Places)
    }

    /// Returns true if a matrix that is too wide may have fewer decimals.
    pub fn may_round_further(&self) -> bool {
        self.places.is_none() && self.format == Format::Table
    }

    /// This style for a document, which is the same whatever screen it is written from; for a screen it stays.
    pub fn of_document(&self) -> Style {
        let Screen { width, colour, theme, charset } = Screen::plain(COLUMNS_OF_DOCUMENT);
        match self.format {
            Format::Table => *self,
            _ => Style { width, colour, theme, charset, ..*self },
        }
    }

    /// Writes text in the characters that may be written.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write(&self, text: &str, out: &mut dyn Write) -> Result<()> {
        // Spaces that no line was to be broken at have done their work.
        let text = text.replace('\u{a0}', " ");
        out.write_all(self.charset.spelled(&text).as_bytes())?;
        Ok(())
    }
}
