//! Which labels a table of delimited text has: judged by its first two records.

use csv::StringRecord;

use crate::error::Result;

use super::number::{has_decimal_comma, is_cell};
use super::records::{Records, Spot};

/// One of the first two records, looked at closely.
pub(super) struct Row {
    pub(super) start: usize,
    pub(super) fields: StringRecord,
    spots: Vec<Spot>,
}

impl Row {
    pub(super) fn read(records: &mut Records<'_>, record: &mut StringRecord) -> Result<Option<Row>> {
        Ok(records.read(record)?.map(|start| Row {
            start,
            fields: record.clone(),
            spots: records.spots(start),
        }))
    }

    fn is_quoted(&self, field: usize) -> bool {
        self.spots.get(field).is_some_and(|spot| spot.quoted)
    }

    /// Whether a field is text: no number, or a number in quotation marks where marks tell text from numbers. What is a number
    /// but for its decimal comma is none: as a label it would silently be missing among the numbers.
    fn is_text(&self, field: usize, quotes_tell: bool) -> bool {
        let is_word = |text: &str| !is_cell(text) && !has_decimal_comma(text);
        self.fields.get(field).is_some_and(is_word) || (quotes_tell && self.is_quoted(field))
    }

    /// Whether a field is empty, without marks around nothing.
    fn is_blank(&self, field: usize) -> bool {
        self.fields.get(field).is_some_and(|text| text.trim().is_empty()) && !self.is_quoted(field)
    }

    pub(super) fn label(&self, field: usize) -> String {
        label(self.fields.get(field).unwrap_or_default(), self.is_quoted(field))
    }
}

/// A label as it is kept: blanks around it count in quotation marks alone.
pub(super) fn label(text: &str, quoted: bool) -> String {
    if quoted { text } else { text.trim() }.to_string()
}

/// Which labels a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) header: bool,
    pub(super) first_column: bool,
}

impl Layout {
    pub(super) fn detect(first: &Row, second: Option<&Row>) -> Layout {
        // The last field of the second record is a number in every table that can be read.
        let quotes_tell = second.unwrap_or(first);
        let quotes_tell = !quotes_tell.is_quoted(quotes_tell.fields.len().saturating_sub(1));
        if first.is_blank(0) && first.fields.len() > 1 {
            return Layout { header: true, first_column: true };
        }
        let width = first.fields.len();
        let header = (0..width).all(|field| first.is_text(field, quotes_tell));
        let data = if header { second } else { Some(first) };
        let first_column = data.is_some_and(|row| {
            let shorter_header = header && first.fields.len() + 1 == row.fields.len();
            row.fields.len() > 1 && (row.is_text(0, quotes_tell) || shorter_header)
        });
        Layout { header, first_column }
    }
}
