//! A text of numbers in any of its forms: JSON, as Python prints it, typed, or a table.

use unicode_categories::UnicodeCategories;

use crate::error::{Error, Result};

use super::array::{AllowedNumbers, Array, Item};
use super::delimited::{Delimiter, DelimiterChoice, delimited};
use super::inline::{begins_list, looks_printed, looks_typed, printed, typed};
use super::json::{Nodes, document, item, parse};
use super::number::{LINE_ENDS, has_decimal_comma, is_meant_as_number, skip_comments};

/// All arrays of a text, each with its name where the text gives names; lists of words are left aside. Anything is let in that is a
/// number, an infinity or NaN.
///
/// # Errors
/// At the line and column of what cannot be read; if there are no arrays.
pub fn arrays(name: &str, text: &str) -> Result<Vec<(Option<String>, Array)>> {
    if !is_json(text.trim_start().as_bytes()) {
        return Ok(vec![(None, table(name, text, DelimiterChoice::Detected, AllowedNumbers::ANYTHING)?)]);
    }
    let placed = |error: Error| error.in_source(name);
    let mut arrays = Vec::new();
    for (entry, json) in document(parse(name, text)?, Nodes::Computed).map_err(placed)? {
        if let Item::Array(array) = item(json).map_err(placed)? {
            arrays.push((entry, array));
        }
    }
    if arrays.is_empty() { Err(Error::new("the text has no arrays").in_source(name)) } else { Ok(arrays) }
}

/// Whether a text that starts like this, after white space, is JSON. Brackets without a comma are an array as NumPy prints it.
pub fn is_json(start: &[u8]) -> bool {
    start.starts_with(b"{")
        || (start.iter().any(|b| b",{\"".contains(b)) && begins_list(&String::from_utf8_lossy(start)))
}

/// The entries of a list: split at commas if there is one, which may leave some empty, else at white space.
pub fn entries(text: &str) -> Vec<&str> {
    if text.contains(',') {
        text.split(',').map(str::trim).collect()
    } else {
        text.split_whitespace().collect()
    }
}

/// True if a character is punctuation, as Unicode has it: of ASCII, all marks that are no mathematical signs.
pub fn is_punctuation(c: char) -> bool {
    // The tables of the crate are older than the Arabic mark that ends a text.
    c == '\u{61d}' || c.is_punctuation()
}

/// A matrix as text: printed by Python, typed with `;` between its rows, or a table.
pub fn table(name: &str, text: &str, delimiting: DelimiterChoice, allow: AllowedNumbers) -> Result<Array> {
    let begin = after_label(text);
    let body = &text[begin..];
    // Python prints no tabs: with them, `[` is a label.
    let first_line = body.split(LINE_ENDS).next().unwrap_or_default();
    let is_table = matches!(delimiting, DelimiterChoice::By(_)) && first_line.contains('\t');
    let delimiter = delimiting.of(body);
    let semicolons = delimiter == Delimiter::Character(b';');
    let read = if !is_table && looks_printed(body) {
        printed(name, body, allow)
    } else if semicolons && looks_typed(body) {
        typed(name, body, allow)
    } else {
        delimited(name, text, begin, delimiter, allow).map_err(|error| {
            if semicolons && first_line.split(';').any(has_decimal_comma) {
                error.and_help("or, if `;` ends a row, put a blank between two numbers: 1 2; 3 4")
            } else {
                error
            }
        })
    };
    read.map_err(|error| error.in_source(name))
}

/// The bytes before the numbers where a line of its own says what they are, as MATLAB, Julia and Python print it: `Q =`, `Q:`,
/// `5×3 Matrix{Float64}:`, `2×2 Array{Float64, 2}:`, `attention weights`; or `sep=;`, which names the separator for spreadsheets.
/// Numbers and separators belong to a table.
fn after_label(text: &str) -> usize {
    let start = skip_comments(text, 0, char::is_whitespace);
    let line = text[start..].split(LINE_ENDS).next().unwrap_or_default();
    let is_label = line.trim_end().ends_with([':', '='])
        && !line.contains([',', ';', '\t', '"'])
        && !line.split_whitespace().any(is_meant_as_number);
    let has_shape = line.split_once(' ').is_some_and(|(shape, kind)| {
        let is_side = |side: &str| !side.is_empty() && side.bytes().all(|byte| byte.is_ascii_digit());
        shape.contains(['x', '×'])
            && shape.split(['x', '×']).all(is_side)
            && kind.trim_start().starts_with(char::is_alphabetic)
    });
    let is_separator = line.len() == 5 && line.to_ascii_lowercase().starts_with("sep=");
    if is_label || has_shape || is_separator || is_title(line) { start + line.len() } else { 0 }
}

/// Whether a line is what people call a whole matrix, and no names of columns: `attention weights`, `masked attention scores`.
fn is_title(line: &str) -> bool {
    const KINDS: &str = "matrix output outputs pattern scores tensor vectors weights";
    const WHOSE: &str = "attention context head input key masked output query scaled softmax value weight";
    let is_one_of = |words: &str, word: &str| words.split(' ').any(|known| known == word);
    let longest = KINDS.len() + WHOSE.len();
    let line = if line.len() > longest { String::new() } else { line.to_lowercase() };
    let mut words = line.split_whitespace().rev();
    let (kind, whose) = (words.next(), words.collect::<Vec<_>>());
    kind.is_some_and(|kind| is_one_of(KINDS, kind))
        && !whose.is_empty()
        && whose.iter().all(|word| is_one_of(WHOSE, word))
}
