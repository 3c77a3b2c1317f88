//! Delimited text cut into records, and the places of their fields.

use csv::{ReaderBuilder, StringRecord};

use crate::error::{Error, Place, Result};

use super::open::line_and_column;

/// What stands between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delimiter {
    /// One comma, semicolon or tab; fields may be quoted.
    Character(u8),
    /// Any number of blanks.
    Blanks,
}

impl Delimiter {
    /// The delimiter that the first line with something in it uses. A semicolon wins over a comma, since it is chosen
    /// where the comma is taken; what is quoted does not count. Quotation marks belong to tables with commas.
    pub(super) fn detect(text: &str) -> Delimiter {
        let mut found = Delimiter::Blanks;
        let mut quoted = false;
        let mut marks = false;
        for byte in text.get(skip_comments(text, 0)..).unwrap_or_default().bytes() {
            match byte {
                b'"' => (quoted, marks) = (!quoted, true),
                _ if quoted => {}
                b'\n' => break,
                b';' => return Delimiter::Character(b';'),
                b'\t' => found = Delimiter::Character(b'\t'),
                b',' if found == Delimiter::Blanks => found = Delimiter::Character(b','),
                _ => {}
            }
        }
        if marks && found == Delimiter::Blanks { Delimiter::Character(b',') } else { found }
    }
}

/// A field where it stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// Its first byte.
    pub(super) start: usize,
    /// Whether it is in quotation marks, which make text of it.
    pub(super) quoted: bool,
}

/// The records of a text, one after the other. Blank lines and lines that start with `#` are none.
pub(super) struct Records<'t> {
    name: &'t str,
    text: &'t str,
    delimiter: Delimiter,
    csv: csv::Reader<&'t [u8]>,
    /// The byte after the last line, where there is no csv reader to know.
    next: usize,
}

impl<'t> Records<'t> {
    pub(super) fn new(name: &'t str, text: &'t str, delimiter: Delimiter) -> Records<'t> {
        let byte = match delimiter {
            Delimiter::Character(byte) => byte,
            Delimiter::Blanks => b' ',
        };
        let csv = ReaderBuilder::new()
            .delimiter(byte)
            .has_headers(false)
            .flexible(true)
            .comment(Some(b'#'))
            .from_reader(text.as_bytes());
        Records { name, text, delimiter, csv, next: 0 }
    }

    /// Fills `record` with the next record and gives the byte at which it starts; `None` at the end.
    ///
    /// # Errors
    /// If the csv reader gives up.
    pub(super) fn read(&mut self, record: &mut StringRecord) -> Result<Option<usize>> {
        match self.delimiter {
            Delimiter::Blanks => Ok(self.read_blanks(record)),
            Delimiter::Character(_) => self.read_csv(record),
        }
    }

    fn read_blanks(&mut self, record: &mut StringRecord) -> Option<usize> {
        let start = skip_comments(self.text, self.next);
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let line = rest.split('\n').next().unwrap_or(rest);
        self.next = start + line.len() + 1;
        record.clear();
        line.split_whitespace().for_each(|field| record.push_field(field));
        Some(start)
    }

    fn read_csv(&mut self, record: &mut StringRecord) -> Result<Option<usize>> {
        loop {
            // The position before a record is that of the comments and blank lines before it.
            let before = usize::try_from(self.csv.position().byte()).unwrap_or(usize::MAX);
            let more = self.csv.read_record(record);
            if !more.map_err(|error| Error::new(error.to_string()).in_source(self.name))? {
                return Ok(None);
            }
            let start = skip_comments(self.text, before);
            // A line of nothing but blanks is a blank line too, unless there are marks around them.
            let blank = record.iter().all(|field| field.trim().is_empty());
            if record.len() > 1 || !blank || self.text.as_bytes().get(start) == Some(&b'"') {
                return Ok(Some(start));
            }
        }
    }

    /// The fields of the record that starts at a byte, as they stand in the text.
    pub(super) fn spots(&self, start: usize) -> Vec<Spot> {
        let rest = self.text.get(start..).unwrap_or_default();
        let mut spots = Vec::new();
        let mut field_starts = true;
        let mut quoted = false;
        for (at, byte) in rest.bytes().enumerate() {
            let separates = match self.delimiter {
                Delimiter::Character(delimiter) => byte == delimiter,
                Delimiter::Blanks => byte.is_ascii_whitespace() && byte != b'\n',
            };
            if !quoted && (byte == b'\n' || byte == b'\r' && self.delimiter != Delimiter::Blanks) {
                break;
            }
            if !quoted && separates {
                if field_starts && self.delimiter != Delimiter::Blanks {
                    spots.push(Spot { start: start + at, quoted: false });
                }
                field_starts = true;
                continue;
            }
            if field_starts {
                let quote = byte == b'"' && self.delimiter != Delimiter::Blanks;
                spots.push(Spot { start: start + at, quoted: quote });
                field_starts = false;
                quoted = quote;
            } else if byte == b'"' && spots.last().is_some_and(|spot| spot.quoted) {
                // A doubled quotation mark closes and opens again.
                quoted = !quoted;
            }
        }
        if field_starts && self.delimiter != Delimiter::Blanks {
            spots.push(Spot {
                start: self.text.len().min(start + rest.find(['\n', '\r']).unwrap_or(rest.len())),
                quoted: false,
            });
        }
        spots
    }

    /// The line and column of a field of the record that starts at a byte.
    pub(super) fn place(&self, start: usize, field: usize) -> Place {
        let spots = self.spots(start);
        let at = spots.get(field).or(spots.last()).map_or(start, |spot| spot.start);
        let (line, column) = line_and_column(self.text, at);
        Place::Text(self.name.to_string(), line, column)
    }

    /// The line on which a record starts, from 1.
    pub(super) fn line(&self, start: usize) -> usize {
        line_and_column(self.text, start).0
    }
}

/// The first byte from `from` on that belongs to a record: after blank lines and comment lines.
fn skip_comments(text: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let line = rest.split_inclusive('\n').next().unwrap_or(rest);
        // A tab may be an empty first field, so that only spaces and line ends make a blank line.
        if !(line.starts_with('#') || line.trim().is_empty()) {
            break;
        }
        at += line.len();
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMA: Delimiter = Delimiter::Character(b',');

    fn starts(text: &str, delimiter: Delimiter) -> Vec<(usize, Vec<String>)> {
        let mut records = Records::new("x", text, delimiter);
        let mut record = StringRecord::new();
        let mut found = Vec::new();
        while let Some(start) = records.read(&mut record).unwrap() {
            found.push((records.line(start), record.iter().map(str::to_string).collect()));
        }
        found
    }

    #[test]
    fn the_first_line_decides_on_the_delimiter() {
        for (text, delimiter) in [
            ("1,2\n3;4", COMMA),
            ("1,5;2,5", Delimiter::Character(b';')),
            ("a\t1,2", Delimiter::Character(b'\t')),
            ("1 2", Delimiter::Blanks),
            ("# a;b\n\n\"a;b\",2", COMMA),
            ("\"a b\"\n1", COMMA),
            ("", Delimiter::Blanks),
        ] {
            assert_eq!(Delimiter::detect(text), delimiter, "{text:?}");
        }
    }

    #[test]
    fn records_know_their_line_despite_comments_and_blank_lines() {
        let expected =
            vec![(3, vec!["1".to_string(), "2".to_string()]), (6, vec!["3".to_string(), "4".to_string()])];
        for newline in ["\n", "\r\n"] {
            let text = ["# title", "", "1,2", "# in between", "  ", "3,4", ""].join(newline);
            assert_eq!(starts(&text, COMMA), expected, "{text:?}");
            assert_eq!(starts(&text.replace(',', "  "), Delimiter::Blanks), expected, "{text:?}");
        }
    }

    #[test]
    fn a_field_is_found_behind_quotes_and_letters_of_several_bytes() {
        let text = "1,2\n\"a,\"\"b\"\"\",höhle,x\r\n";
        let mut records = Records::new("x.csv", text, COMMA);
        let mut record = StringRecord::new();
        records.read(&mut record).unwrap();
        let start = records.read(&mut record).unwrap().unwrap();
        assert_eq!(&record[0], "a,\"b\"");
        assert_eq!(records.place(start, 0), Place::Text("x.csv".into(), 2, 1));
        assert_eq!(records.place(start, 1), Place::Text("x.csv".into(), 2, 11));
        assert_eq!(records.place(start, 2), Place::Text("x.csv".into(), 2, 17));
        let quoted: Vec<bool> = records.spots(start).iter().map(|spot| spot.quoted).collect();
        assert_eq!(quoted, [true, false, false]);
    }

    #[test]
    fn empty_fields_have_a_place_too() {
        let text = ",1,\n";
        let records = Records::new("x", text, COMMA);
        let starts: Vec<usize> = records.spots(0).iter().map(|spot| spot.start).collect();
        assert_eq!(starts, [0, 1, 3]);
    }
}
