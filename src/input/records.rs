//! Delimited text cut into records and fields, one after the other: nothing is held of a line but the field at hand.

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

use crate::error::{Error, Place, Result};

use super::comments::{LINE_ENDS, skip_comments};
use super::open::line_and_column;

/// The separator of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delimiter {
    /// One comma, semicolon or tab; fields may be quoted.
    Character(u8),
    /// Any number of blanks.
    Blanks,
}

/// The choice of the separator of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DelimiterChoice {
    /// The file's ending says it.
    By(Delimiter),
    /// The text says it; a tab wins over a comma.
    Detected,
    /// The text says it; a comma wins over a tab, since the ending is `.csv`.
    DetectedCommas,
}

impl DelimiterChoice {
    /// The separator of fields in this text.
    pub(super) fn of(self, text: &str) -> Delimiter {
        match self {
            DelimiterChoice::By(delimiter) => delimiter,
            DelimiterChoice::Detected => Delimiter::detect(text, [b'\t', b',']),
            DelimiterChoice::DetectedCommas => Delimiter::detect(text, [b',', b'\t']),
        }
    }
}

impl Delimiter {
    /// The delimiter that the first line with something in it uses; of comma and tab the first of `order` wins. A semicolon
    /// wins over both, since it is chosen where the comma is taken; what is quoted does not count. Quotation marks belong to
    /// tables with commas.
    fn detect(text: &str, order: [u8; 2]) -> Delimiter {
        let text = text.get(skip_comments(text, 0, char::is_whitespace)..).unwrap_or_default();
        // R prints the numbers of columns and rows so.
        if text.trim_start().starts_with("[,1]") {
            return Delimiter::Blanks;
        }
        let mut found = [false; 2];
        let mut quoted = false;
        let mut marks = false;
        for byte in text.bytes() {
            match byte {
                b'"' => (quoted, marks) = (!quoted, true),
                _ if quoted => {}
                b'\n' | b'\r' => break,
                b';' => return Delimiter::Character(b';'),
                byte if byte == order[0] => found[0] = true,
                byte if byte == order[1] => found[1] = true,
                _ => {}
            }
        }
        match found {
            [true, _] => Delimiter::Character(order[0]),
            [false, true] => Delimiter::Character(order[1]),
            [false, false] if marks => Delimiter::Character(b','),
            [false, false] => Delimiter::Blanks,
        }
    }

    /// True if a line of such characters alone is blank: a tab may stand between two empty fields.
    fn is_blank(self, character: char) -> bool {
        character.is_whitespace() && self != Delimiter::Character(character as u8)
    }
}

/// A field where it stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field<'r> {
    /// Its text without quotation marks around it.
    pub(super) text: &'r str,
    /// Its first byte.
    pub(super) start: usize,
    /// True if it is in quotation marks, which mark it as text.
    pub(super) quoted: bool,
}

/// The records of a text, one after the other. Blank lines and lines that start with `#` are none.
pub(super) struct Records<'t> {
    name: &'t str,
    text: &'t str,
    delimiter: Delimiter,
    csv: Reader,
    /// The byte after the last field and its separator.
    next: usize,
    /// True if the record has ended.
    ended: bool,
    /// The field at hand, without its marks.
    field: Vec<u8>,
}

impl<'t> Records<'t> {
    /// The records from a byte of the text on.
    pub(super) fn new(name: &'t str, text: &'t str, next: usize, delimiter: Delimiter) -> Records<'t> {
        let byte = match delimiter {
            Delimiter::Character(byte) => byte,
            Delimiter::Blanks => b' ',
        };
        let csv = ReaderBuilder::new().delimiter(byte).build();
        Records { name, text, delimiter, csv, next, ended: true, field: vec![0; 64] }
    }

    /// Goes to the next record, whose fields have to be read to its end first, and gives the byte at which it starts; `None` at
    /// the end of the text.
    pub(super) fn start(&mut self) -> Option<usize> {
        let delimiter = self.delimiter;
        self.next = skip_comments(self.text, self.next, |c| delimiter.is_blank(c));
        self.ended = self.next >= self.text.len();
        (!self.ended).then_some(self.next)
    }

    /// The next field of the record; `None` at its end.
    ///
    /// # Errors
    /// If a field is not UTF-8, which cannot happen within a text.
    pub(super) fn field(&mut self) -> Result<Option<Field<'_>>> {
        match self.delimiter {
            _ if self.ended => Ok(None),
            Delimiter::Blanks => Ok(self.word()),
            Delimiter::Character(_) => self.cell().map(Some),
        }
    }

    /// The next word of a line.
    fn word(&mut self) -> Option<Field<'_>> {
        let rest = self.text.get(self.next..)?;
        let is_between = |c: char| c.is_whitespace() && !LINE_ENDS.contains(&c);
        let word = rest.trim_start_matches(is_between);
        let start = self.next + (rest.len() - word.len());
        let word = &word[..word.find(char::is_whitespace).unwrap_or(word.len())];
        self.next = start + word.len();
        self.ended = word.is_empty();
        (!self.ended).then_some(Field { text: word, start, quoted: false })
    }

    /// The next cell of a table.
    fn cell(&mut self) -> Result<Field<'_>> {
        let (start, bytes) = (self.next, self.text.as_bytes());
        let mut length = 0;
        loop {
            let rest = &bytes[self.next..];
            let (found, read, written) = self.csv.read_field(rest, &mut self.field[length..]);
            (self.next, length) = (self.next + read, length + written);
            match found {
                // At the end of the text the next call ends the field.
                ReadFieldResult::InputEmpty => {}
                ReadFieldResult::OutputFull => self.field.resize(2 * self.field.len(), 0),
                ReadFieldResult::Field { record_end } => {
                    self.ended = record_end;
                    break;
                }
                ReadFieldResult::End => {
                    self.ended = true;
                    break;
                }
            }
        }
        let text = str::from_utf8(&self.field[..length]);
        let text = text.map_err(|_| Error::new("this is not UTF-8 text").at(self.place(start)))?;
        Ok(Field { text, start, quoted: bytes.get(start) == Some(&b'"') })
    }

    /// The line and column of a byte.
    pub(super) fn place(&self, at: usize) -> Place {
        let (line, column) = line_and_column(self.text, at);
        Place::Text(self.name.to_string(), line, column)
    }

    /// The line that starts at a byte.
    pub(super) fn line_at(&self, start: usize) -> &'t str {
        self.text[start..].split(LINE_ENDS).next().unwrap_or_default().trim()
    }

    /// The line on which a record starts, from 1.
    pub(super) fn line(&self, start: usize) -> usize {
        line_and_column(self.text, start).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMA: Delimiter = Delimiter::Character(b',');

    fn records(text: &str, delimiter: Delimiter) -> Vec<(usize, Vec<String>)> {
        let mut records = Records::new("x", text, 0, delimiter);
        let mut found = Vec::new();
        while let Some(start) = records.start() {
            let mut fields = Vec::new();
            while let Some(field) = records.field().unwrap() {
                fields.push(field.text.to_string());
            }
            found.push((records.line(start), fields));
        }
        found
    }

    #[test]
    fn the_first_line_decides_on_the_delimiter() {
        for (text, delimiter) in [
            ("1,2\n3;4", COMMA),
            ("1,2\r3;4", COMMA),
            ("1,5;2,5", Delimiter::Character(b';')),
            ("a\t1,2", Delimiter::Character(b'\t')),
            ("1 2", Delimiter::Blanks),
            ("# a;b\n\n\"a;b\",2", COMMA),
            ("# a;b\r\r\"a;b\",2", COMMA),
            ("\"a b\"\n1", COMMA),
            ("", Delimiter::Blanks),
        ] {
            assert_eq!(DelimiterChoice::Detected.of(text), delimiter, "{text:?}");
        }
    }

    #[test]
    fn in_a_csv_file_a_comma_wins_over_a_tab() {
        let tab = Delimiter::Character(b'\t');
        for (text, of_csv, of_others) in [
            ("1,\t2\n3,\t4", COMMA, tab),
            ("\t1,2", COMMA, tab),
            ("1\t2\n3,4\t5", tab, tab),
            ("1,2\n3\t4", COMMA, COMMA),
        ] {
            assert_eq!(DelimiterChoice::DetectedCommas.of(text), of_csv, "{text:?}");
            assert_eq!(DelimiterChoice::Detected.of(text), of_others, "{text:?}");
        }
    }

    #[test]
    fn records_know_their_line_despite_comments_and_blank_lines_whatever_ends_a_line() {
        let expected =
            vec![(3, vec!["1".to_string(), "2".to_string()]), (6, vec!["3".to_string(), "4".to_string()])];
        for newline in ["\n", "\r\n", "\r"] {
            let text = ["# title, \"", "", "1,2", "# in between", "  ", "3,4", ""].join(newline);
            assert_eq!(records(&text, COMMA), expected, "{text:?}");
            assert_eq!(records(&text.replace(',', "  "), Delimiter::Blanks), expected, "{text:?}");
        }
    }

    #[test]
    fn a_field_is_found_behind_quotes_and_letters_of_several_bytes() {
        let text = "1,2\n\"a,\"\"b\"\"\",höhle,x\r\n";
        let mut records = Records::new("x.csv", text, 0, COMMA);
        records.start();
        while records.field().unwrap().is_some() {}
        records.start();
        let mut found = Vec::new();
        while let Some(Field { text, start, quoted }) = records.field().unwrap() {
            found.push((text.to_string(), start, quoted));
        }
        let texts: Vec<&str> = found.iter().map(|(text, ..)| text.as_str()).collect();
        assert_eq!(texts, ["a,\"b\"", "höhle", "x"]);
        let places: Vec<Place> = found.iter().map(|&(_, start, _)| records.place(start)).collect();
        assert_eq!(places, [1, 11, 17].map(|column| Place::Text("x.csv".into(), 2, column)));
        assert_eq!(found.iter().map(|(.., quoted)| *quoted).collect::<Vec<_>>(), [true, false, false]);
    }

    #[test]
    fn an_error_of_a_spreadsheet_begins_a_record_and_no_comment() {
        let text = "# title\n#REF!,1\n#N/A\n#NAME? of a node\n";
        let expected = [(2, vec!["#REF!".to_string(), "1".to_string()]), (3, vec!["#N/A".to_string()])];
        assert_eq!(records(text, COMMA), expected);
    }

    #[test]
    fn empty_fields_have_a_place_too() {
        for text in [",1,", ",1,\n", ",1,\r"] {
            let mut records = Records::new("x", text, 0, COMMA);
            records.start();
            let mut starts = Vec::new();
            while let Some(field) = records.field().unwrap() {
                starts.push(field.start);
            }
            assert_eq!(starts, [0, 1, 3], "{text:?}");
        }
    }

    #[test]
    fn a_long_field_and_one_without_a_closing_mark_are_read_to_their_end() {
        let long = "x".repeat(1000);
        assert_eq!(records(&format!("{long},2"), COMMA), [(1, vec![long, "2".to_string()])]);
        assert_eq!(records("\"a\n1,2", COMMA), [(1, vec!["a\n1,2".to_string()])]);
    }
}
