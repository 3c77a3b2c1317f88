//! Tables of words.

/// A table of text; every row has as many cells as the header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The column heads.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// The indices of the columns that hold numbers: they are aligned to the right, and JSON writes them as numbers.
    pub numbers: Vec<usize>,
}

impl Table {
    /// A table from texts.
    pub fn new(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Table {
        let header = header.iter().map(|text| text.to_string()).collect();
        Table { header, rows: rows.into_iter().collect(), numbers: Vec::new() }
    }

    /// This table with the columns under these heads marked as numbers.
    pub fn with_numbers(mut self, heads: &[&str]) -> Table {
        self.numbers = (0..self.header.len()).filter(|&j| heads.contains(&self.header[j].as_str())).collect();
        self
    }
}
