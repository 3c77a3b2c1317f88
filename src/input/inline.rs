//! A matrix typed where a file name could stand: `"1 2; 3 4"`, over several lines, or pasted as Python prints it.

use crate::error::{Error, Place, Result};
use crate::text::{clip, counted};

use super::allowed_numbers::AllowedNumbers;
use super::array::Array;
use super::cells::Cells;
use super::comments::{LINE_ENDS, is_comment};
use super::number::{check_commas, is_cell};
use super::printed::{looks_printed, printed};

/// Reads a matrix whose rows end at `;` or at the end of a line, and whose numbers stand apart by spaces or commas. A `;`
/// at the very end is no empty row, nor is an empty line. A single row is a 1×d matrix. In brackets, as Python prints
/// them, these decide the rows.
///
/// # Errors
/// At the row and column of what is no number, or where the rows differ in length.
pub fn inline(text: &str, allow: AllowedNumbers) -> Result<Array> {
    let name = format!("`{}`", clip(text));
    if looks_printed(text) {
        return printed(&name, text, allow);
    }
    read_rows(&name, text.split(LINE_ENDS), allow)
}

/// True if a text in a file or on standard input is typed as on the command line: `1 2; 3 4`. Its first line has a `;`, and a
/// blank between two numbers.
pub(super) fn looks_typed(text: &str) -> bool {
    let is_row = |piece: &str| {
        let words = || piece.split_whitespace().map(|word| word.trim_end_matches(','));
        words().count() > 1 && words().all(is_cell)
    };
    let first = lines_with_numbers(text).next().unwrap_or_default();
    first.contains(';') && first.split(';').any(is_row)
}

/// Reads a text that [`looks_typed`].
///
/// # Errors
/// As [`inline`].
pub(super) fn typed(name: &str, text: &str, allow: AllowedNumbers) -> Result<Array> {
    read_rows(name, lines_with_numbers(text), allow)
}

/// The lines that are neither blank nor comments.
fn lines_with_numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(LINE_ENDS).filter(|line| !line.trim().is_empty() && !is_comment(line))
}

/// The matrix that these lines of numbers make; `name` is what errors call it.
fn read_rows<'t>(name: &str, lines: impl Iterator<Item = &'t str>, allow: AllowedNumbers) -> Result<Array> {
    let mut cells = Cells::new(allow);
    let (mut rows, mut cols) = (0, 0);
    for row in rows_of(lines) {
        rows += 1;
        check_commas(row).map_err(|error| error.in_source(format!("{name}, row {rows}")))?;
        let mut count = 0;
        for cell in split_cells(row) {
            count += 1;
            cells.push(cell).map_err(|error| error.at(Place::Cell(name.to_string(), rows, count)))?;
        }
        if rows == 1 {
            cols = count;
        }
        if count != cols || count == 0 {
            return Err(Error::new(format!(
                "row {rows} has {}, but row 1 has {cols}",
                counted(count, "number")
            ))
            .in_source(name)
            .help("separate rows by `;` and numbers by spaces or commas: \"1 2; 3 4\""));
        }
    }
    if rows == 0 {
        return Err(Error::new("there are no numbers")
            .in_source(name)
            .help("separate rows by `;` and numbers by spaces or commas: \"1 2; 3 4\""));
    }
    cells.into_array(vec![rows, cols]).map_err(|error| error.in_source(name))
}

/// The rows: a `;` ends one, and so does a line. Both together end one row.
fn rows_of<'t>(lines: impl Iterator<Item = &'t str>) -> impl Iterator<Item = &'t str> {
    let mut has_row = false;
    lines.flat_map(|line| line.split_inclusive(';')).filter_map(move |piece| {
        let (row, ends) = piece.strip_suffix(';').map_or((piece, false), |row| (row, true));
        let is_row = !row.trim().is_empty() || ends && !has_row;
        has_row = !ends && (has_row || is_row);
        is_row.then_some(row)
    })
}

/// The cells of one row. Between two commas a cell is missing, between two spaces none is.
fn split_cells(row: &str) -> impl Iterator<Item = &str> {
    let commas = row.contains(',');
    row.split(move |c: char| if commas { c == ',' } else { c.is_whitespace() })
        .flat_map(move |piece| {
            let mut words = piece.split_whitespace().peekable();
            let missing = commas && words.peek().is_none();
            missing.then_some("").into_iter().chain(words)
        })
        .filter(move |cell| commas || !cell.is_empty())
}

/// True if somebody who typed this meant a matrix rather than a file: it has rows, or its first cell is a number.
pub(super) fn looks_inline(text: &str) -> bool {
    text.contains(';') || looks_printed(text) || split_cells(text).next().is_some_and(is_cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Array {
        inline(text, AllowedNumbers::INFINITE).unwrap()
    }

    fn fails(text: &str) -> String {
        inline(text, AllowedNumbers::FINITE).unwrap_err().to_string()
    }

    #[test]
    fn rows_end_at_semicolons_and_numbers_at_spaces_or_commas() {
        for text in [
            "1 2; 3 4",
            "[[1, 2], [3, 4]]",
            "tensor([[1., 2.], [3., 4.]])",
            "1,2;3,4",
            " 1, 2 ;\t3 , 4; ",
            "1  2;3  4",
            "1 2;\n3 4",
            "1 2\n3 4",
            "\n1 2\r\n\n3 4\n",
            "1,2\n3,4;",
        ] {
            let array = read(text);
            assert_eq!((array.dims(), array.values()), (&[2, 2][..], &[1.0, 2.0, 3.0, 4.0][..]), "{text:?}");
        }
    }

    #[test]
    fn rows_in_a_text_are_typed_ones_only_where_blanks_part_their_numbers() {
        for text in ["1 2; 3 4\n", "# two rows\n1 2;\n3 4\n", "1, 2; 3, 4", "1;2 3", "-1 2; 3"] {
            assert!(looks_typed(text), "{text:?}");
        }
        for text in ["1;2\n3;4", "1,5;2,5", "a b;c d\n1;2", "bat;1;2", "1 2\n3 4", ""] {
            assert!(!looks_typed(text), "{text:?}");
        }
        let array = typed("x.txt", "# two rows\n1 2;\n3 4\n", AllowedNumbers::FINITE).unwrap();
        assert_eq!((array.dims(), array.values()), (&[2, 2][..], &[1.0, 2.0, 3.0, 4.0][..]));
    }

    #[test]
    fn a_minus_sign_of_either_kind_and_infinity_are_read() {
        let array = read("\u{2212}1 -2; -inf \u{2212}∞");
        assert_eq!(array.values(), [-1.0, -2.0, f64::NEG_INFINITY, f64::NEG_INFINITY]);
    }

    #[test]
    fn truth_values_make_a_boolean_matrix() {
        let array = read("true false; TRUE True");
        assert!(array.is_boolean());
        assert_eq!(array.values(), [1.0, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn decimals_are_those_written() {
        assert_eq!(read("0.43 1.500").decimals(), Some(3));
    }

    #[test]
    fn what_is_no_number_is_named_with_its_row_and_column() {
        assert!(fails("1 2; 3 x").starts_with("`1 2; 3 x`, row 2, column 2: `x` is not a number"));
        assert!(fails("1,,2").starts_with("`1,,2`, row 1, column 2: a number is missing"));
        assert!(fails("1 nan").contains("row 1, column 2: this is NaN"));
    }

    #[test]
    fn ragged_and_empty_rows_are_refused_with_both_counts() {
        assert!(fails("1 2; 3").contains("row 2 has 1 number, but row 1 has 2"));
        assert!(fails("1 2;; 3 4").contains("row 2 has 0 numbers"));
        assert!(fails(";").contains("row 1 has 0 numbers"));
        assert!(fails("").contains("there are no numbers"));
    }

    #[test]
    fn a_name_does_not_look_like_a_matrix() {
        for text in ["1 2", "-1", "[[1, 2], [3, 4]]", "1 2; 3 x", "a; b", "true false"] {
            assert!(looks_inline(text), "{text}");
        }
        for text in ["scores.csv", "scores", "1.csv", ""] {
            assert!(!looks_inline(text), "{text}");
        }
    }
}
