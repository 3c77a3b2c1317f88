//! A table of Markdown, drawn as every other table is.

use crate::render::{self, Format, Screen, Style};
use crate::story::Table;

/// A table while it is read.
#[derive(Default)]
pub(super) struct Grid {
    /// The columns that are aligned on the right.
    pub right: Vec<bool>,
    /// The head, and the rows below it.
    pub rows: Vec<Vec<String>>,
}

impl Grid {
    /// Its lines on a screen.
    pub(super) fn drawn(self, screen: Screen) -> Vec<String> {
        let mut rows = self.rows.into_iter();
        let Some(header) = rows.next() else { return Vec::new() };
        let numbers = (0..header.len()).filter(|&j| self.right.get(j).copied().unwrap_or(false)).collect();
        let table = Table { header, rows: rows.collect(), numbers, ..Table::default() };
        let style = Style::on(screen, Format::Table);
        let mut drawn = Vec::new();
        // Writing to memory does not fail.
        let _ = render::tables(&[(String::new(), table)], "lesson", &style, &mut drawn);
        String::from_utf8_lossy(&drawn).lines().map(str::to_string).collect()
    }
}
