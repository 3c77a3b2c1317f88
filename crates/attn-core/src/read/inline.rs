//! A matrix typed where a file name could stand: `"1 2; 3 4"`, over several lines, or pasted as Python prints it.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{Error, Place, Result};
use crate::text::{clip, counted};

use super::array::{AllowedNumbers, Array};
use super::lines::{hidden, is_slice};
use super::markup::is_document;
use super::number::{Cells, LINE_ENDS, check_commas, is_cell, is_comment, is_elision};

/// Reads a matrix whose rows end at `;` or at the end of a line, and whose numbers stand apart by spaces or commas. A `;`
/// at the very end is no empty row, nor is an empty line. A single row is a 1×d matrix. In brackets, as Python prints
/// them, these decide the rows.
///
/// # Errors
/// At the row and column of what is no number, or where the rows differ in length.
pub(super) fn rows_in_place(text: &str, allow: AllowedNumbers) -> Result<Array> {
    let name = format!("`{}`", clip(text));
    let text = &*uncommented(text);
    let read = if looks_printed(text) {
        printed(&name, text, allow)
    } else {
        read_rows(&name, text.split(LINE_ENDS), allow)
    };
    read.map_err(|error| error.in_source(name))
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
/// As [`rows_in_place`].
pub(super) fn typed(name: &str, text: &str, allow: AllowedNumbers) -> Result<Array> {
    read_rows(name, lines_with_numbers(text), allow)
}

/// The lines that are neither blank nor comments.
fn lines_with_numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(LINE_ENDS).filter(|line| !line.trim().is_empty() && !is_comment(line))
}

/// The matrix that these lines of numbers make; `name` is what errors call it.
fn read_rows<'t>(name: &str, lines: impl Iterator<Item = &'t str>, allow: AllowedNumbers) -> Result<Array> {
    let wrong = |what: String| {
        Error::new(what).help("separate rows by `;` and numbers by spaces or commas: \"1 2; 3 4\"")
    };
    let mut cells = Cells::new(allow);
    let (mut rows, mut cols) = (0, 0);
    for row in rows_of(lines) {
        rows += 1;
        check_commas(row).map_err(|error| error.in_source(format!("{name}, row {rows}")))?;
        let mut count = 0;
        for cell in split_cells(row) {
            count += 1;
            let read = cells.push(&literal(cell));
            read.map_err(|error| error.at(Place::Cell(name.to_string(), rows, count)))?;
        }
        if rows == 1 {
            cols = count;
        }
        if count != cols || count == 0 {
            let has = counted(count, "number");
            return Err(wrong(format!("row {rows} has {has}, but row 1 has {cols}")));
        }
    }
    if rows == 0 {
        return Err(wrong("there are no numbers".to_string()));
    }
    cells.into_array(vec![rows, cols])
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
pub fn looks_inline(text: &str) -> bool {
    text.contains(';')
        || is_document(text)
        || looks_printed(text)
        || split_cells(text).next().is_some_and(is_cell)
        || text.trim().contains('\n') && text.lines().any(is_row)
}

// Arrays in brackets of any kind, as programs print and write them: `[[1. 2.]` by NumPy, `tensor([[1., 2.]])` by PyTorch,
// `{{1, 2}}` by Mathematica and C, `[1 2; 3 4]` by MATLAB and Julia. What stands before the numbers says what they are.

/// An array has no more dimensions than these.
const MOST_DIMENSIONS: usize = 4;
/// The most lines and bytes before an array in brackets, and the most that are looked at behind a bracket to know what it is.
const MOST_LINES_BEFORE: usize = 64;
const MOST_BEFORE: usize = 1 << 16;
const LOOK_AHEAD: usize = 1 << 12;
/// A line of an array without inner brackets that is longer was broken by NumPy and PyTorch.
const LONGEST_LINE: usize = 60;

const OPENING: [char; 3] = ['[', '{', '('];
const CLOSING: [char; 3] = [']', '}', ')'];

/// True if an array in brackets begins in this text, and no row of numbers stands before it.
pub(super) fn looks_printed(text: &str) -> bool {
    array_start(text).is_some()
}

/// True if a text begins as a list in JSON does. `[CLS],1,2` is a table with labels.
pub(super) fn begins_list(text: &str) -> bool {
    let inside = text.trim_start_matches(|c: char| c == '[' || c.is_whitespace());
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']');
    let first = inside.split(ends).next().unwrap_or_default();
    let is_value = first.starts_with(['"', '{']) || first == "null" || is_cell(first);
    text.starts_with('[') && (is_value || inside.starts_with(']'))
}

/// The byte of the bracket with which an array begins.
pub(super) fn array_start(text: &str) -> Option<usize> {
    let mut start = 0;
    let mut left = MOST_LINES_BEFORE;
    for line in text.split_inclusive(LINE_ENDS) {
        let (begin, end) = (start, start + line.len());
        start = end;
        if line.trim().is_empty() || is_comment(line) || is_slice(line) {
            continue;
        }
        let mut from = begin;
        while let Some(found) = text.get(from..end).and_then(|rest| rest.find(['[', '{', '(', '"'])) {
            let at = from + found;
            if at > MOST_BEFORE {
                return None;
            }
            from = match opening(text, at) {
                Bracket::Array => return Some(at),
                Bracket::Row => return None,
                Bracket::Passed(length) => at + length,
            };
        }
        left -= 1;
        if left == 0 || end > MOST_BEFORE || is_row(line) {
            return None;
        }
    }
    None
}

/// Whether two numbers end a line: it is a row of a table.
pub(super) fn is_row(line: &str) -> bool {
    let mut cells =
        line.rsplit(|c: char| c.is_whitespace() || matches!(c, ',' | ';')).filter(|cell| !cell.is_empty());
    cells.next().is_some_and(is_cell) && cells.next().is_none_or(is_cell)
}

/// The meaning of a bracket, or of a quotation mark.
enum Bracket {
    /// The numbers of an array follow.
    Array,
    /// R has put the number of a row in it: `[1,] 0.5 0.25`.
    Row,
    /// No array; its length in bytes.
    Passed(usize),
}

fn opening(text: &str, at: usize) -> Bracket {
    let rest = &text[at..text.floor_char_boundary(at + LOOK_AHEAD)];
    if let Some(quoted) = rest.strip_prefix('"') {
        return Bracket::Passed(quoted.find('"').map_or(rest.len(), |end| end + 2));
    }
    let first = first_inside(rest);
    if !is_literal(first) && !is_elision(first) {
        // All brackets up to this word have it as their first one.
        return Bracket::Passed(1.max(first.as_ptr() as usize - rest.as_ptr() as usize));
    }
    let closing = rest[1..].find(CLOSING);
    let (before, flat) = (&text[..at], closing.unwrap_or(rest.len() - 1));
    let inside = &rest[1..1 + flat];
    // A name such as `(1` or `(1.5)` is no array.
    if rest.starts_with('(') && (closing.is_none() || !inside.contains([',', ' ', ';', '\n'])) {
        return Bracket::Passed(1);
    }
    let is_attached = before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'));
    if !inside.is_empty() && inside.bytes().all(|b| b.is_ascii_digit() || matches!(b, b',' | b' ')) {
        let behind = rest.get(flat + 2..).unwrap_or_default().trim_start_matches([' ', '\t']);
        if rest.starts_with('[') && is_cell(behind.split(ends_word).next().unwrap_or_default()) {
            return Bracket::Row;
        }
        let is_index =
            rest.starts_with('[') && (is_attached || before.ends_with(']')) && !inside.contains(' ')
                || is_shape(before);
        if is_index || rest.starts_with('(') && !inside.contains(',') {
            return Bracket::Passed(flat + 2);
        }
    }
    // `tensor([[` is a call, and the array is within; `c(1, 2)` is one too.
    let is_call = rest.starts_with('(') && is_attached && !before.ends_with(|c: char| c.is_ascii_digit());
    if is_call && !(before.ends_with('c') && inside.contains(',')) {
        Bracket::Passed(1)
    } else {
        Bracket::Array
    }
}

/// Whether a text ends as the one before a shape does, or before the number of a cell in a notebook.
fn is_shape(before: &str) -> bool {
    const WORDS: [&str; 6] = ["shape", "size", "dims", "dim", "In", "Out"];
    let before = before.trim_end_matches([' ', '\n', '=', ':', '(', '[']);
    WORDS.iter().any(|word| {
        before.len() >= word.len() && {
            let end = before.as_bytes()[before.len() - word.len()..].to_ascii_lowercase();
            end == word.to_ascii_lowercase().as_bytes()
        }
    })
}

/// The first word within brackets, behind the names of calls and macros: of `[vec![1.5, 2.5]]` it is `1.5`.
fn first_inside(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| OPENING.contains(&c) || c.is_whitespace() || c == '&');
        match name_before_bracket(rest) {
            Some(length) => rest = &rest[length..],
            None => return rest.split(ends_word).next().unwrap_or_default(),
        }
    }
}

/// The length of a name that stands before a bracket, such as `vec!` or `List`.
fn name_before_bracket(text: &str) -> Option<usize> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '!' | ':' | '&');
    let length = text.find(|c: char| !is_name(c))?;
    (length > 0 && !text.starts_with(|c: char| c.is_ascii_digit()) && text[length..].starts_with(OPENING))
        .then_some(length)
}

/// A number as a program's text writes it: `0.5f`, `0.5_f32`, `1.0f-6` of Julia, `1.5*^-6` and `0.25`15.9` of Mathematica.
fn literal(word: &str) -> Cow<'_, str> {
    if !word.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '`') || is_cell(word) {
        return Cow::Borrowed(word);
    }
    const TYPES: [&str; 8] = ["_f32", "_f64", "f32", "f64", "f", "F", "L", "`"];
    let bare = TYPES.iter().find_map(|suffix| word.strip_suffix(suffix)).filter(|bare| is_cell(bare));
    if let Some(bare) = bare {
        return Cow::Borrowed(bare);
    }
    let (digits, exponent) = match word.split_once("*^") {
        Some(parts) => parts,
        None => word.split_once(['f', 'd', 'D']).unwrap_or((word, "")),
    };
    let digits = digits.split('`').next().unwrap_or(digits);
    let plain = if exponent.is_empty() { digits.to_string() } else { format!("{digits}e{exponent}") };
    if is_cell(&plain) { Cow::Owned(plain) } else { Cow::Borrowed(word) }
}

fn is_literal(word: &str) -> bool {
    is_cell(&literal(word))
}

/// Reads an array whose brackets decide the rows. Numbers stand apart by blanks or commas; line breaks mean nothing, save in an
/// array without inner brackets as MATLAB and Julia write it, where `;` and line breaks end rows.
///
/// # Errors
/// At the row and column of what is no number; where rows differ in length, brackets do not close, or numbers were left
/// out in printing.
pub(super) fn printed(name: &str, text: &str, allow: AllowedNumbers) -> Result<Array> {
    let (array, Range { end: behind, .. }) = one_printed(name, text, allow)?;
    match text[behind..].trim() {
        "" => Ok(array),
        size if size.starts_with("torch.Size(") && !size.contains(LINE_ENDS) => Ok(array),
        comment if comment.starts_with(['#', '%']) && !comment.contains(LINE_ENDS) => Ok(array),
        behind => Err(wrong_brackets(format!("`{}` stands after the last bracket", clip(behind)))),
    }
}

/// Whether these brackets hold what a function of Python has returned: `(tensor([[1.]]), tensor([[2.]]))`.
fn is_tuple_of_calls(body: &str) -> bool {
    let behind = body.strip_prefix('(').map(str::trim_start).and_then(|inside| {
        let call = &inside[name_before_bracket(inside)?..];
        call.get(length_of_group(call)?..)
    });
    let next = behind.and_then(|behind| behind.trim_start().strip_prefix(','));
    next.is_some_and(|next| name_before_bracket(next.trim_start()).is_some())
}

/// The text with blanks for the comments behind and between the numbers in brackets: `# first row`, `% …`, `// …`, `/* … */`. A line
/// that begins with `#` is none of these.
pub(super) fn uncommented(text: &str) -> Cow<'_, str> {
    if !text.contains(['#', '%', '/']) {
        return Cow::Borrowed(text);
    }
    let mut parts = Vec::new();
    let mut at = array_start(text).unwrap_or(text.len());
    while let Some(found) = text[at..].find(['#', '%', '/']) {
        let start = at + found;
        let (before, rest) = (&text[..start], &text[start..]);
        let is_behind = before.ends_with(|c: char| {
            c.is_whitespace() && !(c == '\n' && rest.starts_with('#'))
                || matches!(c, ',' | ';')
                || OPENING.contains(&c)
                || CLOSING.contains(&c)
        });
        // A percentage has its sign before a comma, a bracket, a number or the end of the line.
        let is_percent = rest.starts_with('%')
            && !rest[1..].trim_start_matches([' ', '\t']).starts_with(char::is_alphabetic);
        let length = match rest.strip_prefix("/*").map(|comment| comment.find("*/")) {
            Some(end) => end.map_or(rest.len(), |end| end + 4),
            None if is_behind && !is_percent && (!rest.starts_with('/') || rest.starts_with("//")) => {
                rest.find(LINE_ENDS).unwrap_or(rest.len())
            }
            None => 0,
        };
        if length > 0 {
            parts.push(start..start + length);
        }
        at = start + length.max(1);
    }
    if parts.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(hidden(text, &parts)) }
}

fn wrong_brackets(what: String) -> Error {
    Error::new(what)
        .help("give one array with all its brackets: [[1, 2], [3, 4]]")
        .and_help("or put a label that begins with a bracket in quotation marks: \"[1\",2,3")
}

/// The first array of a text in brackets, and the bytes from its first bracket to the end of all that belongs to it.
///
/// # Errors
/// As [`printed`].
pub(super) fn one_printed(name: &str, text: &str, allow: AllowedNumbers) -> Result<(Array, Range<usize>)> {
    let Some(start) = array_start(text) else {
        return Err(wrong_brackets("there is no array in brackets".into()));
    };
    let open = open_before(&text[..start])?;
    let body = &text[start..];
    if is_tuple_of_calls(body) {
        return Err(Error::new("this is a tuple of several arrays, but one is needed")
            .help("print the one that you mean: o, a = layer(x, x, x); print(o)"));
    }
    let length = length_of_group(body).ok_or_else(|| wrong_brackets("a bracket is not closed".into()))?;
    let inside = &body[1..length - 1];
    let is_list = next_row(body).is_some();
    let (mut array, end) = if let Some(lines) = lines_of_rows(inside).filter(|_| !is_list) {
        // A row goes on behind the dots of MATLAB.
        (read_rows(name, lines.split(LINE_ENDS), allow)?, length)
    } else {
        Brackets::read(name, body, allow)?
    };
    if !is_list && !inside.contains(';') && lines_of_rows(inside).is_some() {
        array.facts.told.push("rows on lines of their own".into());
    }
    let closed = end + close(&body[end..], open)?;
    array.facts.roundoff = roundoff(&body[end..closed]);
    Ok((array, start..start + closed))
}

/// The unit roundoff of the type of half precision that is named behind an array; 0 for another type, or none.
fn roundoff(behind: &str) -> f64 {
    let word = |word: &str| match word {
        "float16" | "half" | "f2" => Some(1.0 / 2048.0),
        "bfloat16" => Some(1.0 / 256.0),
        _ => None,
    };
    behind.split(|c: char| !c.is_alphanumeric()).find_map(word).unwrap_or(0.0)
}

/// The number of brackets and tags that are open before an array.
///
/// # Errors
/// If the text before it computes with the array, or lays it out in another way.
fn open_before(before: &str) -> Result<usize> {
    let trimmed = before.trim_end();
    // `Transpose[{{`, but `vec![[` and the type before an array of Julia.
    let attached = trimmed.rsplit(|c: char| !c.is_alphabetic() && c != '_').next().unwrap_or_default();
    let is_call = before.len() == trimmed.len() && attached.chars().count() > 3;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '!' | '&');
    // What an array is given to, down to the text before it: `2 * np.array(` computes.
    let (mut rest, mut computes) = (trimmed, is_call && !holds(attached));
    while let Some(call) = rest.strip_suffix(OPENING) {
        let outer = call.trim_end_matches(is_name);
        let name = call[outer.len()..].to_lowercase();
        computes |= !name.is_empty() && !holds(&name);
        rest = outer.trim_end();
    }
    let line = rest.lines().last().unwrap_or_default().trim();
    let is_bullet =
        line == "-" && rest.len() < before.len() && rest.len() == trimmed.len() || rest.ends_with("<-");
    computes |= rest.ends_with(OPERATORS) && !is_bullet || is_cell(line);
    if computes {
        let what = clip(trimmed.lines().last().unwrap_or_default().trim());
        return Err(Error::new(format!("`{what}` stands before the numbers, and nothing is computed here"))
            .help("print the result, and give its numbers row by row: [[1, 2], [3, 4]]"));
    }
    let mut open = 0usize;
    for (at, c) in before.char_indices() {
        let begins_tag = c == '<' && before[at + 1..].starts_with(|c: char| c.is_alphabetic());
        if OPENING.contains(&c) || begins_tag {
            open += 1;
        } else if CLOSING.contains(&c) || c == '>' {
            open = open.saturating_sub(1);
        }
    }
    Ok(open)
}

/// What may stand between a factor and an array.
const OPERATORS: [char; 13] = ['*', '/', '+', '-', '−', '×', '·', '√', '½', '@', '%', '^', '\''];

/// Whether a call of this name changes no number.
fn holds(name: &str) -> bool {
    let name = name.to_lowercase();
    HOLDERS.iter().any(|holder| name.ends_with(holder)) || is_real(&name)
}

/// The ends of the names of calls that change no number of the array that they are given. `matrix` of R, which lays numbers out column
/// by column, is given `c(…)`.
const HOLDERS: [&str; 13] = [
    "tensor",
    "array",
    "matrix",
    "variable",
    "parameter",
    "constant",
    "dataframe",
    "print",
    "repr",
    "from",
    "arr1",
    "arr2",
    "arr3",
];

/// The length of the brackets at the start of a text, with all that is between them.
pub(super) fn length_of_group(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    text.bytes()
        .position(|byte| {
            match byte {
                b'[' | b'{' | b'(' => depth += 1,
                b']' | b'}' | b')' => depth -= 1,
                _ => {}
            }
            depth == 0
        })
        .map(|last| last + 1)
}

/// The rows of numbers between two brackets, if `;` or line breaks part them: with blanks for MATLAB's `...` before a line break.
fn lines_of_rows(inside: &str) -> Option<String> {
    if inside.contains(OPENING) {
        return None;
    }
    let mut text = String::with_capacity(inside.len());
    let mut parts = inside.split("...").peekable();
    let has_semicolons = inside.contains(';');
    while let Some(part) = parts.next() {
        text.push_str(part);
        let Some(next) = parts.peek_mut() else { break };
        let behind = next.trim_start_matches([' ', '\t', '\r']);
        match behind.strip_prefix('\n') {
            Some(rest) if has_semicolons => *next = rest,
            _ => return None,
        }
        text.push(' ');
    }
    if has_semicolons {
        return Some(text);
    }
    // NumPy breaks long lines, and Python may break after a comma.
    let lines: Vec<&str> = text.split(LINE_ENDS).map(str::trim).filter(|line| !line.is_empty()).collect();
    let count = |line: &str| split_cells(line).count();
    let is_rows = lines.len() > 1
        && lines
            .iter()
            .all(|line| line.len() < LONGEST_LINE && !line.ends_with(',') && count(line) == count(lines[0]));
    is_rows.then_some(text)
}

fn ends_word(character: char) -> bool {
    character.is_whitespace()
        || character == ','
        || OPENING.contains(&character)
        || CLOSING.contains(&character)
}

/// The brackets as far as they have been read.
#[derive(Default)]
struct Brackets<'n> {
    name: &'n str,
    cells: Cells,
    /// The number of elements of each open bracket, from the outermost.
    open: Vec<usize>,
    /// The number of elements in brackets of each depth, once one of them is closed.
    lengths: Vec<usize>,
    /// The depth at which numbers stand.
    innermost: Option<usize>,
    /// The number of closed rows.
    rows: usize,
    /// True if an element must follow.
    expects: bool,
}

impl Brackets<'_> {
    /// The array at the start of a text, or several rows of one in brackets of their own, one below the other; and the length of it.
    fn read(name: &str, body: &str, allow: AllowedNumbers) -> Result<(Array, usize)> {
        let mut brackets = Brackets { name, cells: Cells::new(allow), expects: true, ..Brackets::default() };
        let mut rest = body;
        let is_list = next_row(body).is_some();
        if is_list {
            brackets.open()?;
        }
        let mut row = body;
        // The depths at which calls have been opened.
        let mut calls = Vec::new();
        while let Some(character) = rest.chars().next() {
            let length = match character {
                bracket if OPENING.contains(&bracket) => {
                    if brackets.open.len() == usize::from(is_list) {
                        row = rest;
                    }
                    check_commas(
                        rest[1..].split(['[', ']', '{', '}', '(', ')', ';']).next().unwrap_or_default(),
                    )?;
                    brackets.open().map(|()| 1)
                }
                ')' if calls.last() == Some(&brackets.open.len()) => {
                    calls.pop();
                    Ok(1)
                }
                bracket if CLOSING.contains(&bracket) => brackets.close().map(|()| 1),
                ',' => brackets.comma().map(|()| 1),
                blank if blank.is_whitespace() || blank == '&' => Ok(blank.len_utf8()),
                _ => match name_before_bracket(rest) {
                    // `np.float64(0.5)` is a number, and `array([1, 2], dtype=float32)` a row.
                    Some(length) if rest[length..].starts_with('(') && holds(&rest[..length]) => {
                        calls.push(brackets.open.len());
                        Ok(length + 1)
                    }
                    Some(length) => Ok(length),
                    None if !calls.is_empty() && argument_length(rest)?.is_some() => {
                        // The comma before it belongs to the call.
                        brackets.expects = false;
                        Ok(argument_length(rest)?.unwrap_or(rest.len()))
                    }
                    None => {
                        let word = rest.split(ends_word).next().unwrap_or(rest);
                        brackets.number(word).map(|()| word.len())
                    }
                },
            };
            rest = &rest[length?..];
            if is_list && brackets.open.len() == 1 {
                match next_row(row) {
                    Some(next) => rest = next,
                    None => brackets.close()?,
                }
            }
            if brackets.open.is_empty() {
                break;
            }
        }
        let mut array = brackets.cells.into_array(brackets.lengths)?;
        if is_list {
            array.facts.told.push("lists below one another, each a row".into());
        }
        Ok((array, body.len() - rest.len()))
    }

    fn open(&mut self) -> Result<()> {
        if self.open.len() == MOST_DIMENSIONS {
            return Err(self.wrong(format!("the array has more than {MOST_DIMENSIONS} dimensions")));
        }
        if self.innermost.is_some_and(|depth| depth <= self.open.len()) {
            return Err(self.wrong("a row of numbers contains another row".into()));
        }
        if let Some(count) = self.open.last_mut() {
            *count += 1;
        }
        self.open.push(0);
        self.expects = true;
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let Some(count) = self.open.pop() else {
            return Err(self.wrong("there is one closing bracket too many".into()));
        };
        let depth = self.open.len();
        if self.lengths.len() <= depth {
            self.lengths.resize(depth + 1, 0);
        }
        let known = self.lengths[depth];
        let is_row = self.innermost == Some(depth + 1);
        self.rows += usize::from(is_row);
        if count == 0 || (known != 0 && known != count) {
            let what = if is_row {
                format!("row {} has {}, but row 1 has {known}", self.rows, counted(count, "number"))
            } else if count == 0 {
                "two brackets have nothing between them".to_string()
            } else {
                format!("one matrix has {}, and another has {known}", counted(count, "row"))
            };
            return Err(self.wrong(what));
        }
        self.lengths[depth] = count;
        self.expects = false;
        Ok(())
    }

    fn comma(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.expects, true) {
            return Err(self.wrong("a number is missing before a comma".into()));
        }
        Ok(())
    }

    fn number(&mut self, word: &str) -> Result<()> {
        let depth = self.open.len();
        let column = self.open.last().map_or(1, |count| count + 1);
        let place = Place::Cell(self.name.to_string(), self.rows + 1, column);
        if is_elision(word) {
            return self.cells.push(word).map_err(|error| error.at(place));
        }
        if *self.innermost.get_or_insert(depth) != depth {
            return Err(self.wrong("a list contains both a number and a row".into()));
        }
        self.cells.push(&literal(word)).map_err(|error| error.at(place))?;
        if let Some(count) = self.open.last_mut() {
            *count += 1;
        }
        self.expects = false;
        Ok(())
    }

    fn wrong(&self, what: String) -> Error {
        Error::new(what).help("put each row in brackets, all with the same length: [[1, 2], [3, 4]]")
    }
}

/// The text from the next row on, if it is in brackets of its own on a line below those at the start of this text, perhaps behind
/// the dash of a list in YAML.
fn next_row(text: &str) -> Option<&str> {
    let length = length_of_group(text).filter(|&length| !text[1..length - 1].contains(OPENING))?;
    let behind = text[length..].trim_start_matches([',', ' ', '\t']);
    let below = behind.trim_start();
    let row = below.strip_prefix('-').map_or(below, str::trim_start);
    (below.len() < behind.len() && row.starts_with(OPENING) && is_literal(first_inside(row))).then_some(row)
}

// The text after the brackets of an array that `repr` has printed: `, dtype=float32)`, `, grad_fn=<MmBackward0>)`.

/// Arguments between the brackets and the closing parenthesis, as `name=value`. None of them changes a number.
const NAMES: [&str; 13] = [
    "dtype",
    "shape",
    "size",
    "device",
    "grad_fn",
    "requires_grad",
    "layout",
    "names",
    "copy",
    "strides",
    "const ndim",
    "place",
    "stop_gradient",
];

/// The modules in which Python's packages have their types.
const MODULES: [&str; 7] = ["torch.", "np.", "numpy.", "jnp.", "jax.numpy.", "ml_dtypes.", ""];

/// Types of real numbers and truth values as NumPy, PyTorch and JAX name them.
const TYPES: &str = "float float16 float32 float64 float96 float128 float_ half single double longdouble bfloat16 \
    float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e4m3b11fnuz \
    int int8 int16 int32 int64 int_ byte short intc long longlong \
    uint uint8 uint16 uint32 uint64 ubyte ushort uintc ulonglong bool bool_";

/// NumPy's letters for types with another order of bytes, and their sizes in bytes: `'>f8'`.
const LETTERS: &str = "f2 f4 f8 f12 f16 i1 i2 i4 i8 u1 u2 u4 u8 b1";

/// The length of what closes `open` brackets and tags behind an array: `, dtype=float32)>`, `;`, `<NDArray 3x4 @cpu(0)>`.
///
/// # Errors
/// If the numbers are of a type that is not read, such as complex ones; if a bracket is not closed.
fn close(text: &str, mut open: usize) -> Result<usize> {
    let mut rest = text;
    loop {
        let part = rest.trim_start();
        // Rust writes the shape behind the brackets without a parenthesis around both.
        if open == 0
            && !part
                .strip_prefix(", ")
                .is_some_and(|part| part.starts_with("shape=") || rest.len() < text.len())
        {
            break;
        }
        if open > 0 && (part.starts_with(CLOSING) || part.starts_with('>')) {
            (open, rest) = (open - 1, &part[1..]);
            continue;
        }
        let argument = part.strip_prefix(',').map(str::trim_start);
        match argument {
            Some(part) if part.starts_with(CLOSING) => rest = part,
            Some(part) => match argument_length(part)? {
                Some(length) => rest = &part[length..],
                None => break,
            },
            None if part.is_empty() => {
                return Err(wrong_brackets("the parenthesis before the array is not closed".into()));
            }
            None => break,
        }
    }
    let behind = rest.trim_start().trim_start_matches(';').trim_start();
    // MXNet writes the type below the numbers.
    if behind.starts_with('<') && behind.trim_end().ends_with('>') && open == 0 {
        return Ok(text.len());
    }
    Ok(text.len() - behind.len())
}

/// The length of an argument that changes no number: `dtype=float32`, or a type by itself; `None` for another.
fn argument_length(text: &str) -> Result<Option<usize>> {
    let (value, is_type) = match text.split_once('=').filter(|(name, _)| NAMES.contains(&name.trim())) {
        Some((name, value)) => (value.trim_start(), name.trim() == "dtype"),
        None => (text, true),
    };
    let Some(length) = length_of(value) else { return Ok(None) };
    if is_type && !is_real(&value[..length]) {
        if value.len() == text.len() {
            return Ok(None);
        }
        return Err(Error::new(format!("the numbers have the type {}", clip(&value[..length])))
            .help("print real numbers, for example array.real or array.astype(float)"));
    }
    let behind = &value[length..];
    // `layout=Cc (0x5)` of Rust.
    let more = behind
        .trim_start()
        .strip_prefix('(')
        .and_then(|hex| hex.find(')'))
        .map_or(0, |at| behind.len() - behind.trim_start().len() + at + 2);
    Ok(Some(text.len() - behind.len() + more))
}

/// The length of the value at the start of a text: `float32`, `torch.float32`, `'<f4'`, `(2, 3)`, `<AddBackward0>`.
fn length_of(text: &str) -> Option<usize> {
    let until = |end: char| text[1..].find(end).map(|at| at + 1 + end.len_utf8());
    match text.chars().next()? {
        mark @ ('\'' | '"') => until(mark),
        '<' => until('>'),
        '(' => until(')'),
        '[' => until(']'),
        _ => Some(
            text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | ':'))).unwrap_or(text.len()),
        )
        .filter(|&length| length > 0),
    }
}

/// True if a type is one of real numbers or truth values, as a package names it.
fn is_real(dtype: &str) -> bool {
    let bare =
        ['\'', '"'].iter().find_map(|&mark| dtype.strip_prefix(mark)?.strip_suffix(mark)).unwrap_or(dtype);
    let is_one_of = |types: &str, name: &str| types.split(' ').any(|known| known == name);
    let name = MODULES.iter().find_map(|module| bare.strip_prefix(module)).unwrap_or(bare);
    let in_bytes = bare.strip_prefix(['<', '>', '=', '|']).unwrap_or(bare);
    is_one_of(TYPES, name) || is_one_of(LETTERS, in_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Array {
        rows_in_place(text, AllowedNumbers::INFINITE).unwrap()
    }

    fn fails(text: &str) -> String {
        rows_in_place(text, AllowedNumbers::FINITE).unwrap_err().to_string()
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
        assert!(array.facts.boolean);
        assert_eq!(array.values(), [1.0, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn decimals_are_those_written() {
        assert_eq!(read("0.43 1.500").facts.decimals, Some(3));
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

    fn read_printed(text: &str) -> Array {
        assert!(looks_printed(text), "{text}");
        printed("x.txt", text, AllowedNumbers::ANYTHING).unwrap()
    }

    fn fails_as_printed(text: &str) -> String {
        printed("x.txt", text, AllowedNumbers::FINITE).unwrap_err().to_string()
    }

    #[test]
    fn what_numpy_prints_is_read() {
        // print(np.array([[1, 2.5], [-3, 4]])) and so on, NumPy 2.4.6
        let array = read_printed("[[ 1.   2.5]\n [-3.   4. ]]\n");
        assert_eq!((array.dims(), array.values()), (&[2, 2][..], &[1.0, 2.5, -3.0, 4.0][..]));
        assert_eq!(array.facts.decimals, Some(1));
        let wrapped = "[[0.         0.11111111 0.22222222\n  0.33333333]\n [0.5        0.61111111 0.72222222\n  0.83333333]]";
        let array = read_printed(wrapped);
        assert_eq!(
            (array.dims(), array.facts.decimals, array.values()[7]),
            (&[2, 4][..], Some(8), 0.83333333)
        );
        let array = read_printed("[[           nan            inf]\n [          -inf 1.00000000e-10]]");
        assert!(array.values()[0].is_nan() && array.values()[1..3] == [f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!(array.values()[3], 1e-10);
        let stack = read_printed("[[[1. 2.]]\n\n [[3. 4.]]]");
        assert_eq!((stack.dims(), stack.facts.decimals), (&[2, 1, 2][..], Some(0)));
        assert!(read_printed("[[ True False]]").facts.boolean);
    }

    #[test]
    fn what_repr_and_pytorch_print_is_read() {
        // print(torch.tensor([[1, 2.5], [3, 4]])), PyTorch 2.15.0
        for text in [
            "tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]])",
            "tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]], dtype=torch.float64)",
            "tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]], grad_fn=<MmBackward0>)\n",
        ] {
            let array = read_printed(text);
            assert_eq!((array.dims(), array.values()), (&[2, 2][..], &[1.0, 2.5, 3.0, 4.0][..]), "{text}");
            assert_eq!(array.facts.decimals, Some(4));
        }
        let array = read_printed("array([[1. , 2.5],\n       [3. , 4. ]], dtype=float32)");
        assert_eq!((array.dims(), array.facts.decimals), (&[2, 2][..], Some(1)));
        assert_eq!(read_printed("[1, 2, 3]").dims(), [3]);
        assert_eq!(read_printed("[[1, 2,], [3, 4],]").dims(), [2, 2]);
    }

    #[test]
    fn a_printed_type_of_half_precision_has_its_roundoff() {
        for (behind, roundoff) in [
            (", dtype=torch.float16)", 1.0 / 2048.0),
            (", dtype='<f2')", 1.0 / 2048.0),
            (", dtype=torch.bfloat16, grad_fn=<MmBackward0>)", 1.0 / 256.0),
            (", dtype=float32)", 0.0),
            (")", 0.0),
        ] {
            let array = read_printed(&format!("array([[1.2646, 0.5]]{behind}"));
            assert_eq!(array.facts.roundoff, roundoff, "{behind}");
        }
    }

    #[test]
    fn prompts_before_an_array_are_not_part_of_it() {
        for text in [
            ">>> print(o)\n[[1.  2.5]\n [3.  4. ]]\n",
            ">>> o = attend(x)\n>>> o\narray([[1. , 2.5],\n       [3. , 4. ]])",
            "In [3]: o\nOut[3]: \narray([[1. , 2.5],\n       [3. , 4. ]])",
            "Out[3]: tensor([[1.0000, 2.5000],\n        [3.0000, 4.0000]])",
            "O = [[1, 2.5], [3, 4]]",
            "out_1 = np.array([[1, 2.5], [3, 4]])",
        ] {
            assert!(looks_printed(text), "{text}");
            assert_eq!(read_printed(text).values(), [1.0, 2.5, 3.0, 4.0], "{text}");
        }
        assert!(!looks_printed(">>> o.shape\n(2, 2)"));
    }

    #[test]
    fn numbers_that_were_left_out_are_asked_for() {
        for text in ["[[0. 1. ... 2.]\n [3. 4. ... 5.]]", "[...]", "[[1 2]\n ...\n [3 4]]"] {
            let said = fails_as_printed(text);
            assert!(
                looks_printed(text) && said.contains("not printed") && said.contains("np.save"),
                "{said}"
            );
        }
    }

    #[test]
    fn what_is_no_rectangle_is_refused_at_its_place() {
        for (text, said) in [
            ("[[1 2]\n [3]]", "row 2 has 1 number, but row 1 has 2"),
            ("[[1, 2], [3, x]]", "x.txt, row 2, column 2: `x` is not a number"),
            ("[[1,,2]]", "a number is missing"),
            ("[[1, nan]]", "x.txt, row 1, column 2: this is NaN"),
            ("[[1 2]", "is not closed"),
            ("[[1 2]]]", "`]` stands after the last bracket"),
            ("[[1 2]]\n[[3 4]]", "after the last bracket"),
            ("tensor([[1, 2]]", "is not closed"),
            ("tensor([[1, 2]]), tensor([[3, 4]])", "`, tensor([[3, 4]])` stands after the last bracket"),
            ("array([[1, 2]])\narray([[9, 9]])", "`array([[9, 9]])` stands after the last bracket"),
            ("tensor([[1, 2]]) garbage)", "`garbage)` stands after the last bracket"),
            ("tensor([[1, 2]] garbage)", "`garbage)` stands after the last bracket"),
            ("tensor([[1, 2]], dtype=torch.complex64)", "the numbers have the type torch.complex64"),
            ("[[[1]], [[2], [3]]]", "one matrix has 2 rows, and another has 1"),
            ("[[1], 2]", "a list contains both a number and a row"),
            ("[1, [2]]", "a row of numbers contains another row"),
            ("[[1], []]", "row 2 has 0 numbers, but row 1 has 1"),
            ("[[[1]], []]", "nothing between them"),
            ("[[[[[1]]]]]", "more than 4 dimensions"),
        ] {
            assert!(fails_as_printed(text).contains(said), "{text}: {}", fails_as_printed(text));
        }
    }

    #[test]
    fn labels_in_brackets_are_labels() {
        for text in ["[CLS],1,2\n[SEP],3,4", "[[[[", "1 2; 3 4", "tensor", "[]", ""] {
            assert!(!looks_printed(text), "{text}");
        }
    }

    #[test]
    fn what_python_prints_behind_an_array_closes_it() {
        for text in [
            ")",
            " )\n",
            ",)",
            ", dtype=float32)",
            ", dtype='<f4')",
            ", dtype=torch.float64, grad_fn=<MmBackward0>)",
            ", device='cuda:0', dtype=torch.bfloat16,\n       requires_grad=True)",
            ", shape=(1000, 1000), dtype=int64)",
            ", size=(0, 3))",
            ", dtype=bool)",
            ", dtype=np.float16)",
            ", dtype='>f8')",
            ", dtype=torch.float8_e4m3fn)",
            ", dtype=longdouble)",
            ", dtype=torch.long)",
        ] {
            assert_eq!(close(text, 1).unwrap(), text.len(), "{text}");
        }
    }

    #[test]
    fn what_stands_behind_that_is_refused() {
        for text in [
            "), tensor([[3, 4]])",
            ")\narray([[9, 9]])",
            " garbage)",
            "",
            ",",
            ", 3)",
            ", other=3)",
            ", [1, 2])",
            ", dtype=)",
        ] {
            let said = fails_as_printed(&format!("tensor([[1, 2]]{text}"));
            assert!(said.contains("after the last bracket") || said.contains("not closed"), "{text}: {said}");
        }
    }

    #[test]
    fn complex_numbers_and_objects_are_refused() {
        for dtype in ["complex64", "torch.complex128", "'<c16'", "object", "'<U5'", "datetime64"]
            .into_iter()
            // No package has these.
            .chain(["torch1:a.float64", "a.float64", "torch.float65", "float064", "f3", "torch.float8_x"])
        {
            let said = close(&format!(", dtype={dtype})"), 1).unwrap_err().to_string();
            assert!(said.contains("have the type"), "{said}");
        }
    }
}
