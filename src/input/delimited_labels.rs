//! Which labels a table of delimited text has: judged by its first two records.

use crate::error::Result;

use super::number::is_meant_as_number;
use super::records::{Field, Records};

/// The properties of the first or second record that decide on the labels.
#[derive(Clone, Copy, Default)]
pub(super) struct Row {
    /// The number of its fields.
    pub(super) fields: usize,
    first: Kind,
    last: Kind,
    /// True if every field is text, the quoted ones too where marks tell text from numbers, and where they do not.
    is_text: [bool; 2],
}

/// The properties of a field that decide on the labels.
#[derive(Clone, Copy, Default)]
struct Kind {
    quoted: bool,
    /// Empty, without marks around nothing.
    blank: bool,
    /// No number, nor meant as one: as a label it would silently be missing among the numbers.
    word: bool,
}

impl Kind {
    fn of(field: Field<'_>) -> Kind {
        let blank = field.text.trim().is_empty() && !field.quoted;
        Kind { quoted: field.quoted, blank, word: !is_meant_as_number(field.text) }
    }

    /// True if this is text: a word, or a number in quotation marks where marks tell text from numbers.
    fn is_text(self, quotes_tell: bool) -> bool {
        self.word || (quotes_tell && self.quoted)
    }
}

impl Row {
    /// The next record, read to its end.
    pub(super) fn read(records: &mut Records<'_>) -> Result<Option<Row>> {
        if records.start().is_none() {
            return Ok(None);
        }
        let mut row = Row { is_text: [true; 2], ..Row::default() };
        while let Some(field) = records.field()? {
            row.last = Kind::of(field);
            if row.fields == 0 {
                row.first = row.last;
            }
            row.fields += 1;
            for (quotes_tell, all) in [false, true].into_iter().zip(&mut row.is_text) {
                *all &= row.last.is_text(quotes_tell);
            }
        }
        Ok(Some(row))
    }
}

/// A label as it is kept: blanks around it count in quotation marks alone.
pub(super) fn label(text: &str, quoted: bool) -> String {
    if quoted { text } else { text.trim() }.to_string()
}

/// The labels of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) header: bool,
    pub(super) first_column: bool,
    /// True if the header has no name for the column of labels.
    pub(super) short_header: bool,
}

impl Layout {
    pub(super) fn detect(first: &Row, second: Option<&Row>) -> Layout {
        // The last field of the second record is a number in every table that can be read.
        let quotes_tell = !second.unwrap_or(first).last.quoted;
        if first.first.blank && first.fields > 1 {
            return Layout { header: true, first_column: true, short_header: false };
        }
        let header = first.is_text[usize::from(quotes_tell)];
        let data = if header { second } else { Some(first) };
        // A number is no name: under a line of one word less there may be one number more.
        let first_column = data.is_some_and(|row| row.fields > 1 && row.first.is_text(quotes_tell));
        let is_shorter = data.is_some_and(|row| first.fields + 1 == row.fields);
        Layout { header, first_column, short_header: header && first_column && is_shorter }
    }
}
