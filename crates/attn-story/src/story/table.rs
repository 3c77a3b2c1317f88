//! Tables of words.

use serde::{Deserialize, Serialize};

/// A table of text; every row has as many cells as the header.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The column heads.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// The indices of the columns that hold numbers: they are aligned to the right, and JSON writes them as numbers.
    pub numbers: Vec<usize>,
    /// For each row and column a share from 0 to 1 that a terminal shades the cell by; empty for a table without shades.
    pub shares: Vec<Vec<Option<f64>>>,
    /// What there is to notice in it, below the table, or alone where there are no columns; only people are told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl Table {
    /// A table from texts.
    pub fn new(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Table {
        let header = header.iter().map(|text| text.to_string()).collect();
        Table { header, rows: rows.into_iter().collect(), ..Table::default() }
    }

    /// This table with the columns under these heads marked as numbers.
    pub fn with_numbers(mut self, heads: &[&str]) -> Table {
        self.numbers = (0..self.header.len()).filter(|&j| heads.contains(&self.header[j].as_str())).collect();
        self
    }

    /// This table with sentences below it.
    pub fn noticing(mut self, notices: impl IntoIterator<Item = String>) -> Table {
        self.notices.extend(notices);
        self
    }

    /// This table with its cells shaded by shares from 0 to 1.
    pub fn shaded_by(mut self, shares: Vec<Vec<Option<f64>>>) -> Table {
        self.shares = shares;
        self
    }
}
