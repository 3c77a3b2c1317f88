//! Matrices as delimited text: `.csv`, `.tsv`, and numbers set apart by blanks.

use crate::error::{Error, Result};
use crate::matrix::Labels;
use crate::memory;
use crate::text::{clip, counted};

use super::allowed_numbers::AllowedNumbers;
use super::array::Array;
use super::cells::Cells;
use super::delimited_labels::{Layout, Row, label};
use super::records::{Delimiter, Records};

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
            .in_source(name)
            .help("write one row of numbers on each line: 1, 2"));
    };
    let second = Row::read(&mut records)?;
    let layout = Layout::detect(&first, second.as_ref());
    let mut records = Records::new(name, text, begin, delimiter);
    let mut table = Table::new(layout, allow);
    if layout.header {
        let Some(second) = second else {
            return Err(Error::new("there are no numbers under the header row")
                .in_source(name)
                .help("a first row of text is read as a header: write the rows of numbers below it"));
        };
        // A header may name the column of labels or leave that name out.
        let skipped = usize::from(layout.first_column && first.fields == second.fields);
        table.header(&mut records, skipped)?;
    }
    while let Some(start) = records.start() {
        table.row(&mut records, start)?;
    }
    table.into_array().map_err(|error| error.in_source(name))
}

/// A table on its way to an array.
struct Table {
    layout: Layout,
    cells: Cells,
    rows: usize,
    /// Numbers a row, and the line that decided so.
    width: Option<(usize, usize)>,
    row_labels: Vec<String>,
    /// The byte at which the header starts.
    header: usize,
    col_labels: Option<Vec<String>>,
}

impl Table {
    fn new(layout: Layout, allow: AllowedNumbers) -> Table {
        Table {
            layout,
            cells: Cells::new(allow),
            rows: 0,
            width: None,
            row_labels: Vec::new(),
            header: 0,
            col_labels: None,
        }
    }

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
            push_name(&mut self.row_labels, label(field.text, field.quoted))?;
        }
        let most = self.width.map_or(usize::MAX, |(width, _)| width);
        let (mut numbers, mut wrong) = (0, None);
        while let Some(field) = records.field()? {
            numbers += 1;
            if wrong.is_none() && numbers <= most {
                let (at, read) = (field.start, self.cells.push(field.text));
                wrong = read.err().map(|error| (error, at, numbers));
            }
        }
        let (width, decided) = match self.width {
            Some(width) => width,
            None => *self.width.insert((numbers, records.line(start))),
        };
        let named = self.col_labels.as_ref().map_or(width, Vec::len);
        if numbers != width || named != width {
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
        let error = Error::new(format!(
            "{has}, but the text above it, `{}`, names {}",
            clip(line),
            counted(names, "column")
        ))
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
        let array = self.cells.into_array(vec![self.rows, width])?;
        let array = array.with_short_header(self.layout.short_header);
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

#[cfg(test)]
mod tests {
    use super::super::records::DelimiterChoice;
    use super::*;

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
        assert_eq!((array.row_labels(), array.col_labels(), array.decimals()), (None, None, Some(1)));
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
        assert!(array.is_boolean() && array.decimals().is_none());
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
}
