//! Matrices as delimited text: `.csv`, `.tsv`, and numbers set apart by blanks.

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};

use crate::error::{Error, Place, Result};
use crate::matrix::Labels;
use crate::memory;
use crate::text::{clip, counted};

use super::array::{AllowedNumbers, Array};
use super::number::{
    Cells, LINE_ENDS, is_cell, is_elision, is_meant_as_number, is_mistyped, line_and_column, skip_comments,
};

/// The most rows or columns with names: a name takes more memory than a number.
const MOST_NAMES: usize = 1 << 20;

/// Bytes of a name besides its characters: in the list of names, in the labels of the matrix, and on the heap.
const A_NAME: u64 = 72;

/// Reads a table, with a header row and a first column of labels where the table has them:
///
/// - an empty top left cell means both;
/// - a first row of text alone is a header, a first cell of text in the first row of numbers a column of labels;
/// - where labels are quoted and numbers are not, a quoted number is a label.
///
/// It begins at a byte of the text; what is before it only counts lines.
///
/// # Errors
/// At the line and column of what is no number, or at the line that is longer or shorter than the others.
pub(super) fn delimited(
    name: &str,
    text: &str,
    begin: usize,
    delimiter: Delimiter,
    allow: AllowedNumbers,
) -> Result<Array> {
    let mut records = Records::new(name, text, begin, delimiter);
    let Some(first) = Row::read(&mut records)? else {
        return Err(Error::new("the file has no numbers, only blank lines and comments")
            .help("write one row of numbers on each line: 1, 2"));
    };
    let second = Row::read(&mut records)?;
    let layout = Layout::detect(&first, second.as_ref());
    let mut records = Records::new(name, text, begin, delimiter);
    let mut table = Table { layout, cells: Cells::new(allow), ..Table::default() };
    if layout.header {
        let Some(second) = second else {
            return Err(Error::new("there are no numbers under the header row")
                .help("a first row of text is read as a header: write the rows of numbers below it"));
        };
        // A header may name the column of labels or leave that name out.
        let skipped = usize::from(layout.first_column && first.fields == second.fields);
        table.header(&mut records, skipped)?;
    }
    while let Some(start) = records.start() {
        table.row(&mut records, start)?;
    }
    table.into_array()
}

/// A table on its way to an array.
#[derive(Default)]
struct Table {
    layout: Layout,
    cells: Cells,
    rows: usize,
    /// Numbers a row, and the line that decided so.
    width: Option<(usize, usize)>,
    row_labels: Vec<String>,
    /// The number of names that are numbers, where words in the first row are taken for names.
    numbers_as_names: usize,
    /// The byte at which the header starts.
    header: usize,
    col_labels: Option<Vec<String>>,
}

impl Table {
    /// Takes the names of the columns from the next record, from a field on.
    fn header(&mut self, records: &mut Records<'_>, skipped: usize) -> Result<()> {
        self.header = records.start().unwrap_or_default();
        let (mut labels, mut count) = (Vec::new(), 0);
        while let Some(field) = records.field()? {
            count += 1;
            if count > skipped {
                push_name(&mut labels, label(field.text, field.quoted))?;
            }
        }
        self.col_labels = Some(labels);
        Ok(())
    }

    /// Takes the record that starts at a byte.
    fn row(&mut self, records: &mut Records<'_>, start: usize) -> Result<()> {
        let row = self.rows + 1;
        if self.layout.first_column
            && let Some(field) = records.field()?
        {
            let is_counted = self.layout.counted.filter(|_| !is_elision(field.text));
            if is_counted.is_some_and(|first| field.text.trim() != (first + row - 1).to_string()) {
                // The first column does not count the rows after all.
                self.layout.first_column = false;
                let names = self.col_labels.as_ref().map_or(0, Vec::len);
                let has = format!("this line has {}", counted(names + 1, "number"));
                let error = self.no_header(&has, names + 1, records.line_at(self.header));
                return Err(error.at(records.place(start)));
            }
            if !field.quoted && self.layout.by_words && is_mistyped(field.text) && !is_cell(field.text) {
                let (at, read) = (field.start, self.cells.push(field.text));
                read.map_err(|error| located(error.at(records.place(at)), row, 1))?;
                return Ok(());
            }
            // A line of words above the numbers may look like the first of rows with names.
            if !field.quoted && self.layout.by_words && is_meant_as_number(field.text) {
                self.numbers_as_names += 1;
            }
            push_name(&mut self.row_labels, label(field.text, field.quoted))?;
        }
        let most = self.width.map_or(usize::MAX, |(width, _)| width);
        let (mut numbers, mut wrong, mut is_cut) = (0, None, false);
        while let Some(field) = records.field()? {
            numbers += 1;
            if wrong.is_none() && numbers <= most {
                is_cut |= is_elision(field.text.trim());
                let (at, read) = (field.start, self.cells.push(field.text));
                wrong = read.err().map(|error| (error, at, numbers));
            }
        }
        let (width, decided) = match self.width {
            Some(width) => width,
            None => *self.width.insert((numbers, records.line(start))),
        };
        let named = self.col_labels.as_ref().map_or(width, Vec::len);
        if (numbers != width || named != width) && !is_cut {
            let has = format!("this line has {}", counted(numbers, "number"));
            let error = if numbers != width || named == width {
                Error::new(format!("{has}, but line {decided} has {width}"))
                    .help("give every row the same number of columns")
            } else {
                self.no_header(&has, numbers, records.line_at(self.header))
            };
            return Err(error.at(records.place(start)));
        }
        self.rows = row;
        match wrong {
            Some((error, at, column)) => Err(located(error.at(records.place(at)), row, column)),
            None => Ok(()),
        }
    }

    /// The error for a line of text above the numbers that names more or fewer columns than there are.
    fn no_header(&self, has: &str, numbers: usize, line: &str) -> Error {
        let names = self.col_labels.as_ref().map_or(0, Vec::len);
        let (line, columns) = (clip(line), counted(names, "column"));
        let error = Error::new(format!("{has}, but the text above it, `{line}`, names {columns}"))
            .help("begin a title with #, or give each column a name");
        if names + 1 == numbers && !self.layout.first_column {
            error.and_help(
                "if the first column names the rows by numbers, separate columns by commas and begin the header with a comma",
            )
        } else {
            error
        }
    }

    fn into_array(self) -> Result<Array> {
        let width = self.width.map_or(0, |(width, _)| width);
        if 2 * self.numbers_as_names > self.rows {
            return Err(Error::new("the first column has a word in its first row, and numbers below")
                .help("begin a title with #, or give each row a name; names that are numbers stand in quotation marks"));
        }
        let mut array = self.cells.into_array(vec![self.rows, width])?;
        if self.numbers_as_names > 0 {
            let names = counted(self.numbers_as_names, "number");
            array.facts.told.push(format!("rows with names in the first column, {names} among them"));
        }
        array.facts.short_header = self.layout.short_header;
        let rows: Option<Labels> = self.layout.first_column.then(|| self.row_labels.into());
        Ok(array.labelled(rows, self.col_labels.map(Labels::from)))
    }
}

/// # Errors
/// If there are too many names already.
fn push_name(names: &mut Vec<String>, name: String) -> Result<()> {
    if names.len() == MOST_NAMES {
        return Err(Error::new(format!("there are more than {MOST_NAMES} names of rows or of columns"))
            .help("leave the names out, or save the numbers as .npy"));
    }
    // Beyond the bytes of its text, which are charged already.
    memory::hold(A_NAME)?.keep();
    names.push(name);
    Ok(())
}

/// The same error, which also counts in the matrix: labels and comments make lines and rows differ.
fn located(error: Error, row: usize, column: usize) -> Error {
    match error {
        Error::Unusable(mut problem) => {
            problem.what = format!("{} (row {row}, column {column} of the matrix)", problem.what);
            Error::Unusable(problem)
        }
        other => other,
    }
}

// Which labels a table of delimited text has: judged by its first two records.

/// The properties of the first or second record that decide on the labels.
#[derive(Clone, Copy, Default)]
pub(super) struct Row {
    /// The number of its fields.
    pub(super) fields: usize,
    first: Kind,
    last: Kind,
    /// True if every field is a word.
    words: bool,
    /// True if every field is a word or in quotation marks.
    texts: bool,
    /// The number from which its fields count, 0 or 1.
    counts: Option<usize>,
    /// The first field, if it is the number 0 or 1.
    begins: Option<usize>,
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
}

impl Row {
    /// The next record, read to its end.
    pub(super) fn read(records: &mut Records<'_>) -> Result<Option<Row>> {
        if records.start().is_none() {
            return Ok(None);
        }
        let mut row = Row { words: true, texts: true, ..Row::default() };
        while let Some(field) = records.field()? {
            row.last = Kind::of(field);
            let digit =
                [0, 1].into_iter().find(|digit| field.text.trim() == ["0", "1"][*digit] && !field.quoted);
            if row.fields == 0 {
                row.first = row.last;
                (row.counts, row.begins) = (digit, digit);
            }
            row.counts = row.counts.filter(|first| field.text.trim() == (first + row.fields).to_string());
            row.fields += 1;
            row.words &= row.last.word;
            row.texts &= row.last.word || row.last.quoted;
        }
        Ok(Some(row))
    }
}

/// A label as it is kept: blanks around it count in quotation marks alone.
pub(super) fn label(text: &str, quoted: bool) -> String {
    if quoted { text } else { text.trim() }.to_string()
}

/// The labels of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) header: bool,
    pub(super) first_column: bool,
    /// True if the header has no name for the column of labels.
    pub(super) short_header: bool,
    /// The number from which the first column counts the rows, where it does and only the header says that these are names.
    pub(super) counted: Option<usize>,
    /// True if only a word in the first row says that there is a column of labels.
    by_words: bool,
}

impl Layout {
    pub(super) fn detect(first: &Row, second: Option<&Row>) -> Layout {
        // The last field of the second record is a number in every table that can be read.
        let quotes_tell = !second.unwrap_or(first).last.quoted;
        if first.first.blank && first.fields > 1 {
            return Layout { header: true, first_column: true, ..Layout::default() };
        }
        // pandas and R number the rows: one field more than the header has, and it counts.
        if let Some(second) = second
            && let Some(begins) = second.begins
            && first.fields + 1 == second.fields
            && (first.words || first.counts.is_some_and(|_| first.fields > 1))
        {
            let layout = Layout { header: true, first_column: true, short_header: true, ..Layout::default() };
            return Layout { counted: Some(begins), ..layout };
        }
        let header = if quotes_tell { first.texts } else { first.words };
        let data = if header { second } else { Some(first) };
        // A number is no name: under a line of one word less there may be one number more.
        let first_column =
            data.is_some_and(|row| row.fields > 1 && (row.first.word || quotes_tell && row.first.quoted));
        let is_shorter = data.is_some_and(|row| first.fields + 1 == row.fields);
        Layout {
            header,
            first_column,
            short_header: header && first_column && is_shorter,
            counted: None,
            by_words: first_column && !header,
        }
    }
}

// Delimited text cut into records and fields, one after the other: nothing is held of a line but the field at hand.

/// The separator of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// One comma, semicolon or tab; fields may be quoted.
    Character(u8),
    /// Any number of blanks.
    Blanks,
}

/// The choice of the separator of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelimiterChoice {
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

/// Whether the first line has numbers with bars between them.
fn is_row_of_bars(text: &str) -> bool {
    let line = text.split(LINE_ENDS).next().unwrap_or_default();
    line.split('|').all(is_cell)
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
        let (mut found, mut bars, mut blanks) = ([false; 2], false, false);
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
                b'|' => bars = true,
                b' ' => blanks = true,
                _ => {}
            }
        }
        match found {
            [true, _] => Delimiter::Character(order[0]),
            [false, true] => Delimiter::Character(order[1]),
            [false, false] if marks => Delimiter::Character(b','),
            // A bar may also be a name: only numbers tell.
            [false, false] if bars && !blanks && is_row_of_bars(text) => Delimiter::Character(b'|'),
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
        self.ended = loop {
            let rest = &bytes[self.next..];
            let (found, read, written) = self.csv.read_field(rest, &mut self.field[length..]);
            (self.next, length) = (self.next + read, length + written);
            match found {
                // At the end of the text the next call ends the field.
                ReadFieldResult::InputEmpty => {}
                ReadFieldResult::OutputFull => self.field.resize(2 * self.field.len(), 0),
                ReadFieldResult::Field { record_end } => break record_end,
                ReadFieldResult::End => break true,
            }
        };
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

/// The records of a text with commas between its fields, as spreadsheets and forms write it; empty ones are left out.
///
/// # Errors
/// If a quotation does not end.
pub fn records(name: &str, text: &str) -> Result<Vec<Vec<String>>> {
    let mut reader = Records::new(name, text, 0, Delimiter::Character(b','));
    let mut records = Vec::new();
    while reader.start().is_some() {
        let mut record = Vec::new();
        while let Some(field) = reader.field()? {
            record.push(field.text.to_string());
        }
        records.push(record);
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::{DelimiterChoice, *};

    const COMMA: Delimiter = Delimiter::Character(b',');

    fn read(text: &str) -> Array {
        delimited("x.csv", text, 0, DelimiterChoice::Detected.of(text), AllowedNumbers::INFINITE).unwrap()
    }

    fn fails(text: &str) -> String {
        delimited("x.csv", text, 0, COMMA, AllowedNumbers::FINITE).unwrap_err().to_string()
    }

    fn labels(labels: Option<&Labels>) -> Vec<&str> {
        labels.map(|labels| labels.iter().map(String::as_str).collect()).unwrap_or_default()
    }

    #[test]
    fn numbers_alone_have_no_labels() {
        let array = read("1,2.5\n-inf,\u{2212}4\n");
        assert_eq!((array.dims(), array.values()), (&[2, 2][..], &[1.0, 2.5, f64::NEG_INFINITY, -4.0][..]));
        assert_eq!((array.row_labels(), array.col_labels(), array.facts.decimals), (None, None, Some(1)));
    }

    #[test]
    fn labels_are_found_in_the_first_row_the_first_column_or_both() {
        for (text, rows, cols) in [
            ("x,y\n1,2\n3,4", vec![], vec!["x", "y"]),
            ("bat,1,2\ncave,3,4", vec!["bat", "cave"], vec![]),
            (",x,y\nbat,1,2\ncave,3,4", vec!["bat", "cave"], vec!["x", "y"]),
            ("token,x,y\nbat,1,2\ncave,3,4", vec!["bat", "cave"], vec!["x", "y"]),
            ("x,y\nbat,1,2\ncave,3,4", vec!["bat", "cave"], vec!["x", "y"]),
            (",0,1\n0,1,2\n1,3,4", vec!["0", "1"], vec!["0", "1"]),
            ("\"1\",\"2\"\n1,2\n3,4", vec![], vec!["1", "2"]),
            ("\"1\",1,2\n\"2\",3,4", vec!["1", "2"], vec![]),
            ("\"\",1,2\n\" the\",3,4", vec!["", " the"], vec![]),
            ("x y\n1 2\n3 4", vec![], vec!["x", "y"]),
            ("bat 1 2\ncave 3 4", vec!["bat", "cave"], vec![]),
            ("\"1\",\"2\"\n\"3\",\"4\"", vec![], vec![]),
            ("a;b\n1;2\n3;4", vec![], vec!["a", "b"]),
            ("\tx\ty\nbat\t1\t2\n", vec!["bat"], vec!["x", "y"]),
        ] {
            let array = read(text);
            assert_eq!((labels(array.row_labels()), labels(array.col_labels())), (rows, cols), "{text:?}");
            assert_eq!(array.values()[..2], [1.0, 2.0], "{text:?}");
        }
    }

    #[test]
    fn labels_keep_their_characters() {
        let array = read("\u{1b}[31mbat\u{1b}[0m,1\ncave,2");
        assert_eq!(labels(array.row_labels()), ["\u{1b}[31mbat\u{1b}[0m", "cave"]);
    }

    #[test]
    fn truth_values_make_a_boolean_array() {
        let array = read("true,false\nTRUE,False");
        assert!(array.facts.boolean && array.facts.decimals.is_none());
        assert!(fails("true,1").starts_with("x.csv:1:6: this mixes numbers with true and false"));
    }

    #[test]
    fn text_where_a_number_belongs_is_named_with_line_and_column() {
        let said = fails("# title\n1,2\n\n3.25,abc\n");
        assert!(
            said.starts_with("x.csv:4:6: `abc` is not a number (row 2, column 2 of the matrix)"),
            "{said}"
        );
        let said = fails(",a,b\nx,1,\ny,3,4");
        assert!(said.starts_with("x.csv:2:5: a number is missing (row 1, column 2"), "{said}");
    }

    #[test]
    fn a_row_that_is_half_numbers_is_no_header() {
        assert!(fails("bat,3,x3\ncave,4,0").starts_with("x.csv:1:7: `x3` is not a number"));
    }

    #[test]
    fn a_ragged_row_is_an_error_that_names_both_lines() {
        let said = fails("1,2\n# note\n3,4\n5,6,7\n");
        assert!(said.starts_with("x.csv:4:1: this line has 3 numbers, but line 1 has 2"), "{said}");
        let said = fails("x,y,z\n1,2\n");
        assert!(
            said.starts_with(
                "x.csv:2:1: this line has 2 numbers, but the text above it, `x,y,z`, names 3 columns"
            ),
            "{said}"
        );
    }

    #[test]
    fn what_may_not_stand_in_a_matrix_is_refused_with_its_place() {
        assert!(fails("1,2\nnan,3").starts_with("x.csv:2:1: this is NaN"), "{}", fails("1,2\nnan,3"));
        assert!(fails("1,-inf").starts_with("x.csv:1:3: `-inf`"));
    }

    #[test]
    fn nothing_but_comments_or_a_header_is_an_error() {
        assert!(fails("# only\n\n").contains("no numbers"));
        assert!(fails("a,b\n").contains("no numbers under the header row"));
        assert!(fails("\n").contains("no numbers"));
    }

    #[test]
    fn a_quotation_mark_that_never_closes_is_no_silent_label() {
        let said = fails("1,\"2\n3,4\n");
        assert!(said.starts_with("x.csv:1:3: "), "{said}");
    }

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
