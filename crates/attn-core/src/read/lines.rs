//! Numbers in lines as MATLAB, Octave, Julia, R, pandas and old PyTorch print them: with a common factor, the type of each column, and
//! columns in blocks below one another.

use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::matrix::Labels;
use crate::text::{clip, counted};

use super::array::{AllowedNumbers, Array};
use super::delimited::{Delimiter, delimited};
use super::markup::is_type;
use super::number::{LINE_ENDS, has_decimal_comma, is_cell, is_comment, number, shortest_decimal};

/// The most blocks of columns: each is read by itself.
const MOST_BLOCKS: usize = 1024;

/// Reads numbers that stand apart by blanks.
///
/// # Errors
/// As [`delimited`], and if the blocks of columns do not fit each other.
pub(super) fn printed_in_lines(name: &str, text: &str, begin: usize, allow: AllowedNumbers) -> Result<Array> {
    let print = Print::of(text, begin);
    if print.is_cut || print.left_out.as_ref().is_some_and(|line| text[line.clone()].contains("omitted")) {
        return Err(Error::new("not all rows or columns were printed").help(
            "print all of it, in R after options(max.print = 1e6) or print(q, n = Inf, width = Inf), or save it: write.csv(q, \"q.csv\", row.names = FALSE)",
        ));
    }
    if print.is_plain() {
        return delimited(name, text, begin, Delimiter::Blanks, allow);
    }
    if print.blocks.len() > MOST_BLOCKS {
        return Err(Error::new(format!("the numbers are printed in more than {MOST_BLOCKS} blocks of columns"))
            .help("save them in a file instead: writematrix(Q, \"q.csv\") in MATLAB, np.savetxt(\"q.csv\", q, delimiter=\",\") in Python"));
    }
    let shown = hidden(text, &print.hidden);
    if let Some(joined) = joined(&shown[begin..]).filter(|_| print.is_wrapped) {
        let mut array = delimited(name, &joined, 0, Delimiter::Blanks, allow)?;
        array.facts.told.push(format!("columns in {} blocks below one another", print.blocks.len()));
        return Ok(array);
    }
    let mut blocks = Vec::new();
    for (i, &start) in print.blocks.iter().enumerate() {
        let end = print.blocks.get(i + 1).copied().unwrap_or(text.len());
        blocks.push(delimited(name, &shown[..end], start, Delimiter::Blanks, allow)?);
    }
    let mut array = if print.is_stack { stacked(blocks)? } else { beside(blocks)? };
    if let Some((factor, exponent)) = print.factor {
        let scaled = |value: &f64| format!("{value}e{exponent}").parse().unwrap_or(f64::NAN);
        let values = array.values().iter().map(scaled).collect();
        let decimals = array.facts.decimals.map(|count| {
            usize::try_from(i64::try_from(count).unwrap_or(i64::MAX).saturating_sub(exponent)).unwrap_or(0)
        });
        let facts = super::array::ArrayFacts { decimals, ..array.facts.clone() };
        array = Array::new(array.dims().to_vec(), values)?.with(facts);
        array.facts.told.push(format!("numbers times {factor}, as the line above them says"));
    }
    if print.lines_of_vector > 1 {
        array.facts.told.push(format!("one row on {} lines", print.lines_of_vector));
    }
    if let Some(line) = print.left_out {
        array.facts.told.push(format!("a print without its line `{}`", clip(text[line].trim())));
    }
    Ok(array)
}

/// What a print has besides rows of numbers and their names.
#[derive(Default)]
struct Print {
    /// The bytes at which blocks begin.
    blocks: Vec<usize>,
    /// Parts that are no numbers.
    hidden: Vec<Range<usize>>,
    /// The line that says of which type and shape the numbers are.
    left_out: Option<Range<usize>>,
    /// What all numbers are to be multiplied by, and the power of ten that it is.
    factor: Option<(f64, i64)>,
    /// The blocks are matrices of a stack, no columns of one matrix.
    is_stack: bool,
    /// The lines of one row, each with the number of its first element before it.
    lines_of_vector: usize,
    /// Lines end with a mark of pandas: more columns follow below.
    is_wrapped: bool,
    /// It says that numbers were left out.
    is_cut: bool,
}

impl Print {
    fn of(text: &str, begin: usize) -> Print {
        let mut print = Print { blocks: vec![begin], ..Print::default() };
        let mut start = begin;
        // The rows of the block at hand, and the name of the first row of all.
        let (mut rows, mut first_name) = (0usize, None);
        let mut next_element = 1usize;
        let mut follows_blank = false;
        for line in text[begin..].split_inclusive(LINE_ENDS) {
            let at = start..start + line.len();
            start = at.end;
            let mut words = line.split_whitespace();
            let (Some(first), second) = (words.next(), words.next()) else {
                follows_blank = true;
                continue;
            };
            let begins_block = mem::take(&mut follows_blank) && print.is_wrapped;
            if is_comment(line) {
                print.is_cut |=
                    ["more variable", "more row", "more column"].iter().any(|words| line.contains(words));
                continue;
            }
            if line.trim_end().ends_with(" \\") {
                // pandas goes on below.
                let end = at.start + line.trim_end().len();
                print.hidden.push(end - 1..end);
                print.is_wrapped = true;
            }
            let next_block = |print: &mut Print, rows: &mut usize| {
                if mem::take(rows) > 0 {
                    print.blocks.push(at.start);
                }
            };
            if is_cell(first) && second != Some("*") {
                if begins_block {
                    next_block(&mut print, &mut rows);
                }
                rows += 1;
                first_name.get_or_insert(first);
            } else if let Some(label) = number_of_row(line) {
                // R writes the number of the first element before each line of a vector, which is one row.
                let digits = label.trim_matches(['[', ']']);
                if digits.parse() == Ok(next_element) {
                    next_element += line.split_whitespace().filter(|word| is_cell(word)).count();
                    let from = at.start + line.find('[').unwrap_or_default();
                    let before = text[..at.start].trim_end_matches(LINE_ENDS).len();
                    let begins = if print.lines_of_vector > 0 { before } else { at.start };
                    print.hidden.push(begins..from + label.len());
                    print.lines_of_vector += 1;
                }
                rows += 1;
                first_name.get_or_insert(first);
            } else if second == Some("*")
                && line.split_whitespace().count() == 2
                && power_of_ten(first).is_some()
                && print.factor.is_none()
            {
                print.factor = power_of_ten(first);
                print.hidden.push(at);
            } else if is_slice(line) {
                next_block(&mut print, &mut rows);
                print.is_stack = true;
                print.hidden.push(at);
            } else if matches!(first, "Columns" | "Column" | "columns")
                && second.is_some_and(|word| word.trim_end_matches(':').parse::<u32>().is_ok())
            {
                next_block(&mut print, &mut rows);
                print.hidden.push(at);
            } else if line.split_whitespace().all(is_type) || is_rule(line, rows > 0) {
                print.hidden.push(at);
            } else if rows > 0
                && !line.split_whitespace().any(is_cell)
                && first_name.is_some()
                && first_name == next_name(&text[at.end..])
            {
                next_block(&mut print, &mut rows);
            } else if rows > 0
                && first.starts_with('[')
                && line.trim_end().ends_with(']')
                && !is_cell(last(line))
            {
                print.hidden.push(at.clone());
                print.left_out.get_or_insert(at);
            } else if is_cell(last(line)) {
                rows += 1;
                first_name.get_or_insert(first);
            }
        }
        print
    }

    /// Whether there are only rows of numbers and their names.
    fn is_plain(&self) -> bool {
        self.blocks.len() == 1 && self.hidden.is_empty()
    }
}

/// A frame of pandas whose columns are numbers, wrapped into blocks, with each row on one line.
fn joined(text: &str) -> Option<String> {
    let mut rows: Vec<String> = Vec::new();
    let (mut at, mut follows_blank) = (0, false);
    for line in text.lines() {
        let mut words = line.split_whitespace().peekable();
        if words.peek().is_none() {
            follows_blank = true;
            continue;
        }
        if std::mem::take(&mut follows_blank) {
            at = 0;
        }
        // Column names stand alone, and each row has its number before it.
        if at == 0 && !words.clone().all(is_cell) {
            return None;
        }
        match rows.get_mut(at) {
            Some(row) => {
                if at > 0 && row.split_whitespace().next() != words.next() {
                    return None;
                }
                words.for_each(|word| {
                    row.push(' ');
                    row.push_str(word);
                });
            }
            None => rows.push(line.to_string()),
        }
        at += 1;
    }
    Some(rows.join("\n"))
}

/// The last word of a line.
fn last(line: &str) -> &str {
    line.split_whitespace().next_back().unwrap_or_default()
}

/// The first word of the next line that is not blank, where numbers stand behind it.
fn next_name(text: &str) -> Option<&str> {
    let line = text.split(LINE_ENDS).find(|line| !line.trim().is_empty())?;
    let line = line.trim_end().strip_suffix('\\').unwrap_or(line);
    is_cell(last(line)).then(|| line.split_whitespace().next())?
}

/// The number in brackets with which R begins a line of numbers: `[1,]` or `[1]`.
fn number_of_row(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let (number, numbers) = line.strip_prefix('[')?.split_once(']')?;
    let digits = number.strip_suffix(',').unwrap_or(number);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_row = is_number && numbers.split_whitespace().next().is_some_and(is_cell);
    is_row.then(|| &line[..number.len() + 2])
}

/// What numbers are multiplied by, and the power of ten that it is.
fn power_of_ten(word: &str) -> Option<(f64, i64)> {
    let factor = number(word).ok()?.value;
    let exponent = (-300..=300).find(|exponent| format!("1e{exponent}").parse() == Ok(factor))?;
    Some((factor, exponent))
}

/// Whether a line says which matrix of a stack follows: `ans(:,:,1) =`, `[:, :, 1] =`, `(0 ,.,.) =`.
pub(super) fn is_slice(line: &str) -> bool {
    let squeezed: String = line.split_whitespace().collect();
    squeezed.ends_with('=') && [":,:,", ",.,."].iter().any(|mark| squeezed.contains(mark))
        || squeezed.starts_with("[:,:,")
}

/// Whether a line only draws; below rows R's data tables write `---` for rows that they leave out.
fn is_rule(line: &str, below_rows: bool) -> bool {
    let line = line.trim();
    line.len() > 2
        && line.bytes().all(|byte| matches!(byte, b'=' | b' ') || !below_rows && matches!(byte, b'-' | b'_'))
}

/// The text with blanks for some of its parts: whatever stands behind them keeps its place.
pub(super) fn hidden(text: &str, parts: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for part in parts {
        out.push_str(&text[from..part.start]);
        // A line stays a line, but for the breaks with which a part begins.
        let mut leads = part.start > 0;
        out.extend(text[part.clone()].bytes().map(|byte| {
            let is_break = matches!(byte, b'\n' | b'\r');
            leads &= is_break;
            if is_break && !leads { char::from(byte) } else { ' ' }
        }));
        from = part.end;
    }
    out.push_str(&text[from..]);
    out
}

/// Blocks of columns as one matrix.
fn beside(blocks: Vec<Array>) -> Result<Array> {
    if blocks.len() == 1 {
        return blocks.into_iter().next().ok_or_else(|| Error::new("there are no numbers"));
    }
    let count = blocks.len();
    let rows = blocks[0].dims()[0];
    for (i, block) in blocks.iter().enumerate() {
        if block.dims()[0] != rows || block.row_labels() != blocks[0].row_labels() {
            let (has, first) = (counted(block.dims()[0], "row"), counted(rows, "row"));
            return Err(Error::new(format!(
                "block {} of columns has {has}, but the first has {first}, or other names",
                i + 1
            ))
            .help("give one matrix alone, or all of its columns"));
        }
    }
    let width = |block: &Array| block.dims()[1];
    let row = |i: usize| {
        blocks.iter().flat_map(move |block| &block.values()[i * width(block)..(i + 1) * width(block)])
    };
    let values = (0..rows).flat_map(row).copied().collect();
    let cols: Option<Vec<String>> = blocks
        .iter()
        .map(|block| block.col_labels().map(|labels| labels.to_vec()))
        .collect::<Option<Vec<_>>>()
        .map(|all| all.concat());
    let mut facts = blocks[0].facts.clone();
    facts.decimals = blocks.iter().filter_map(|block| block.facts.decimals).max();
    facts.col_labels = cols.map(Labels::from);
    facts.told.push(format!("columns in {count} blocks below one another"));
    Ok(Array::new(vec![rows, blocks.iter().map(width).sum()], values)?.with(facts))
}

/// Blocks of the same shape as a stack.
fn stacked(blocks: Vec<Array>) -> Result<Array> {
    let dims = blocks[0].dims().to_vec();
    if let Some(other) = blocks.iter().position(|block| block.dims() != dims) {
        return Err(Error::new(format!(
            "matrix {} of the stack has another shape than the first",
            other + 1
        ))
        .help("give one matrix alone, or all of the same shape"));
    }
    let mut facts = blocks[0].facts.clone();
    facts.decimals = blocks.iter().filter_map(|block| block.facts.decimals).max();
    facts.told.push(format!("a stack of {} below one another", blocks.len()));
    let values = blocks.iter().flat_map(|block| block.values()).copied().collect();
    Ok(Array::new([&[blocks.len()], &dims[..]].concat(), values)?.with(facts))
}

// Text of spreadsheets: decimal commas, and a separator behind the last cell of each row.

/// The text with decimal points for decimal commas, where another sign stands between the cells, and without a separator at the end of
/// every row; and what to say of it.
///
/// # Errors
/// If numbers have commas and points.
pub(super) fn tidied(
    text: &str,
    begin: usize,
    delimiter: Delimiter,
) -> Result<(Cow<'_, str>, Option<String>)> {
    let Delimiter::Character(mark) = delimiter else { return Ok((Cow::Borrowed(text), None)) };
    let body = &text[begin..];
    let separator = char::from(mark);
    let mut edits: Vec<(usize, u8)> = Vec::new();
    let ends = |line: &str| line.trim_end_matches([' ', '\r']).ends_with(separator);
    let rows = || body.split('\n').filter(|line| !line.trim().is_empty() && !is_comment(line));
    if body.contains('\n') && rows().all(ends) && rows().any(|line| line.trim_end().len() > 1) {
        let mut start = begin;
        for line in body.split_inclusive('\n') {
            if !line.trim().is_empty() && !is_comment(line) {
                edits.extend(line.rfind(separator).map(|at| (start + at, b' ')));
            }
            start += line.len();
        }
    }
    let (mut commas, mut points) = (None, None);
    // Where some numbers stand without quotation marks, those within are names.
    let are_names = body.split('"').step_by(2).any(|bare| bare.contains(|c: char| c.is_ascii_digit()));
    if body.contains(',') && (mark != b',' || body.contains('"') && !are_names) {
        let mut start = begin;
        let mut is_quoted = false;
        let parts: &[char] = if mark == b',' { &['"'] } else { &[separator, '\n', '\r', '"'] };
        for field in body.split_inclusive(parts) {
            let cell = field.trim_end_matches(parts);
            if if is_quoted { !are_names } else { mark != b',' } {
                if has_decimal_comma(cell) {
                    commas.get_or_insert(cell);
                    edits.extend(cell.find(',').map(|at| (start + at, b'.')));
                } else if cell.contains('.') && is_cell(cell) {
                    points.get_or_insert(cell);
                }
            }
            is_quoted ^= field.ends_with('"');
            start += field.len();
        }
    }
    if let (Some(comma), Some(point)) = (commas, points) {
        let what = format!(
            "`{}` has a decimal comma, but `{}` has a decimal point",
            clip(comma.trim()),
            clip(point.trim())
        );
        return Err(
            Error::new(what).help("write a decimal point in all numbers, and nothing between thousands")
        );
    }
    if edits.is_empty() {
        return Ok((Cow::Borrowed(text), None));
    }
    edits.sort_unstable();
    let mut bytes = text.as_bytes().to_vec();
    edits.iter().for_each(|&(at, byte)| bytes[at] = byte);
    // A separator and a comma are a byte each, and so is what replaces them.
    let tidied = String::from_utf8(bytes).map_err(|_| Error::new("this is not UTF-8 text"))?;
    let between = match mark {
        b';' => "`;`",
        b'\t' => "tabs",
        _ => "commas",
    };
    Ok((
        Cow::Owned(tidied),
        commas.map(|_| format!("numbers with decimal commas, and {between} between them")),
    ))
}

/// What to say of an array that was read from a text in a form that had to be guessed: its shape, its first and last row.
pub fn told(name: &str, array: &Array) -> Vec<String> {
    let mut notes = Vec::new();
    if array.facts.short_header {
        notes.push(format!(
            "The first column of {name} is taken for the names of the rows: the header has one name fewer than there are columns."
        ));
    }
    if !array.facts.told.is_empty() {
        const MOST: usize = 4;
        let width = array.dims().last().copied().unwrap_or(1).max(1);
        let row = |row: &[f64]| {
            let cells: Vec<String> = row.iter().take(MOST).map(|&x| shortest_decimal(x)).collect();
            cells.join(" ") + if row.len() > MOST { " …" } else { "" }
        };
        let (values, shape) =
            (array.values(), array.dims().iter().map(usize::to_string).collect::<Vec<_>>().join("×"));
        let first = row(&values[..width.min(values.len())]);
        let last = row(&values[values.len() - width.min(values.len())..]);
        let rows = if values.len() <= width {
            format!("its row is {first}")
        } else {
            format!("its first row is {first}, its last {last}")
        };
        notes.push(format!("{name} is taken for {}: {shape}, {rows}.", array.facts.told.join(", ")));
    }
    notes
}
