//! A text of numbers in any of its forms: JSON, as Python prints it, typed, or a table.

use std::borrow::Cow;
use std::slice;

use unicode_categories::UnicodeCategories;

use crate::error::{Error, Place, Result};
use crate::memory;
use crate::text::clip;

use super::array::{
    AllowedNumbers, Array, ArrayFacts, Item, MOST_CELLS, NamedArray, checked_cells, shape_text,
};
use super::delimited::{Delimiter, DelimiterChoice, delimited};
use super::inline::{
    array_start, begins_list, is_row, length_of_group, looks_printed, looks_typed, one_printed, printed,
    rows_in_place, typed, uncommented,
};
use super::json::{Nodes, document, item, parse};
use super::lines::{hidden, is_slice, printed_in_lines, tidied};
use super::markup;
use super::names::own;
use super::number::{
    Cells, LINE_ENDS, check_commas, has_decimal_comma, is_cell, is_meant_as_number, line_and_column,
    skip_comments,
};
use super::r_code::r_code;

/// All arrays of a text, each with its name where the text gives names; lists of words are left aside. Anything is let in that is a
/// number, an infinity or NaN.
///
/// # Errors
/// At the line and column of what cannot be read; if there are no arrays.
pub fn arrays(name: &str, text: &str) -> Result<Vec<NamedArray>> {
    let text = text.trim_start_matches('\u{feff}');
    if !is_json(text.trim_start().as_bytes()) {
        return tables(name, text, DelimiterChoice::Detected, AllowedNumbers::ANYTHING);
    }
    let json = match parse(name, text) {
        // What begins as a list in JSON may be one of another program.
        Err(_) if looks_printed(text) => {
            return tables(name, text, DelimiterChoice::Detected, AllowedNumbers::ANYTHING);
        }
        json => json?,
    };
    let placed = |error: Error| error.in_source(name);
    let mut arrays = Vec::new();
    for (entry, json) in document(json, Nodes::Computed).map_err(placed)? {
        if let Item::Array(array) = item(json).map_err(placed)? {
            arrays.push((entry, array));
        }
    }
    if arrays.is_empty() { Err(Error::new("the text has no arrays").in_source(name)) } else { Ok(arrays) }
}

/// Whether a text that starts like this, after white space, is JSON. Brackets without a comma are an array as NumPy prints it.
pub fn is_json(start: &[u8]) -> bool {
    let object = start.strip_prefix(b"{").map(|inside| inside.trim_ascii_start());
    object.is_some_and(|inside| {
        !inside.starts_with(b"{") && !inside.first().is_some_and(|b| b"+-.0123456789".contains(b))
    }) || (start.iter().any(|b| b",{\"".contains(b)) && begins_list(&String::from_utf8_lossy(start)))
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

/// A matrix typed in place: rows, brackets, a table of a document, or code of R.
///
/// # Errors
/// As [`table`], or at the row and column of what is no number.
pub fn inline(text: &str, allow: AllowedNumbers) -> Result<Array> {
    let name = format!("`{}`", clip(text));
    if markup::is_document(text) || r_code(&name, text, allow).is_some() {
        return table(&name, text, DelimiterChoice::Detected, allow);
    }
    rows_in_place(text, allow)
}

/// A matrix as text: in brackets, as a table of a document, typed with `;` between its rows, or in lines.
///
/// # Errors
/// At the line and column, or the row and column, of what cannot be read; if the text has several matrices.
pub fn table(name: &str, text: &str, delimiting: DelimiterChoice, allow: AllowedNumbers) -> Result<Array> {
    let mut all = tables(name, text, delimiting, allow)?;
    match (all.pop(), all.len()) {
        (Some((_, array)), 0) => Ok(array),
        (_, others) => Err(Error::new(format!("the text has {} matrices, but one is needed", others + 1))
            .in_source(name)
            .help("give the one that you mean alone")),
    }
}

/// All matrices of a text: several where each has a name, as in what `attn` writes.
///
/// # Errors
/// As [`table`].
pub fn tables(
    name: &str,
    text: &str,
    delimiting: DelimiterChoice,
    allow: AllowedNumbers,
) -> Result<Vec<NamedArray>> {
    let text = &*without_prompts(text);
    let text = &*uncommented(text);
    let read = if let Some(tables) = markup::tables(name, text, allow) {
        tables
    } else if let Some(several) = several(name, text, delimiting, allow) {
        Ok(several)
    } else {
        one_table(name, text, delimiting, allow).map(|array| vec![(None, array)])
    };
    let tables = read.map_err(|error| error.in_source(name))?;
    match (&tables[..], declared(text)) {
        ([(_, array)], Some(said)) if !fits(array, &said) => {
            let (said, has) = (shape_text(&said), shape_text(array.dims()));
            Err(Error::new(format!("the text says that the shape is {said}, but its numbers are {has}"))
                .in_source(name)
                .help("give all rows and columns, or leave out the line that says the shape"))
        }
        _ => Ok(tables),
    }
}

/// The text without what was typed at the prompt of a program: `>> Q`, `julia> Q`, `In [3]: Q`. Where a name was typed, it stands above
/// what the program answered. Where nothing was answered, only the prompts are left out.
fn without_prompts(text: &str) -> Cow<'_, str> {
    let first = text.trim_start_matches(LINE_ENDS);
    if prompt_of(first).is_none() {
        return Cow::Borrowed(text);
    }
    let (mut answers, mut is_typed) = (false, false);
    let [mut shown, mut bare] = [(); 2].map(|()| String::with_capacity(text.len()));
    for line in text.split_inclusive(LINE_ENDS) {
        let body = line.trim_end_matches(LINE_ENDS);
        let end = &line[body.len()..];
        let goes_on = |mark: &&str| body.trim_start().strip_prefix(mark);
        let prompt = prompt_of(body);
        let more = is_typed.then(|| ["...: ", "... ", "+ "].iter().find_map(goes_on)).flatten();
        let typed = prompt.map(|length| body[length..].trim()).or(more);
        is_typed = typed.is_some();
        match typed {
            Some(typed) if prompt.is_some_and(|_| body.starts_with("Out")) => {
                answers |= !typed.is_empty();
                [&mut shown, &mut bare].iter_mut().for_each(|text| text.push_str(typed));
            }
            Some(typed) if typed.split_whitespace().all(is_cell) && !typed.is_empty() => {
                // Numbers are never left out.
                shown.push_str(body);
                bare.push_str(typed);
            }
            Some(typed) => {
                let call = typed.strip_prefix("print(").and_then(|inside| inside.strip_suffix(')'));
                let typed_name = call.unwrap_or(typed);
                // MATLAB and Octave write the name themselves.
                if is_identifier(typed_name) && !body.starts_with(">> ") && !body.starts_with("octave") {
                    shown.push_str(typed_name);
                    shown.push(':');
                }
                bare.push_str(typed);
            }
            None => {
                answers |= !body.trim().is_empty();
                [&mut shown, &mut bare].iter_mut().for_each(|text| text.push_str(body));
            }
        }
        [&mut shown, &mut bare].iter_mut().for_each(|text| text.push_str(end));
    }
    Cow::Owned(if answers { shown } else { bare })
}

/// The length of a program's prompt at the start of a line.
fn prompt_of(line: &str) -> Option<usize> {
    let line = line.split(LINE_ENDS).next().unwrap_or_default();
    let numbered = |before: &str, behind: &str| {
        let digits = line.strip_prefix(before)?;
        let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
        (rest.len() < digits.len() && rest.starts_with(behind))
            .then(|| line.len() - rest.len() + behind.len())
    };
    let plain = |prompt: &&str| line == prompt.trim_end() || line.starts_with(*prompt);
    let found = [">>> ", ">> ", "> ", "julia> ", "sage: "].into_iter().find(plain);
    found
        .map(|prompt| prompt.len().min(line.len()))
        .or_else(|| numbered("In [", "]:"))
        .or_else(|| numbered("Out[", "]:"))
        .or_else(|| numbered("octave:", ">"))
}

/// The shape that a print gives besides its numbers: `shape=(2, 3)`, `torch.Size([2, 3])`, `2×3 Matrix{Float64}:`, `[2 rows x 3 columns]`.
fn declared(text: &str) -> Option<Vec<usize>> {
    const MARKS: [&str; 7] =
        ["shape=(", "shape=[", "shape: (", "torch.Size([", "Tensor of size ", "A tibble: ", "NDArray "];
    const PART: usize = 600;
    let end = |c: char| !(c.is_ascii_digit() || matches!(c, ',' | ' ' | 'x' | '×'));
    let sides = |text: &str| -> Option<Vec<usize>> {
        let text = text.split(end).next().unwrap_or_default();
        let words = text.split([',', ' ', 'x', '×']).filter(|word| !word.is_empty());
        let sides: Vec<usize> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
        (!sides.is_empty()).then_some(sides)
    };
    let head = &text[..text.floor_char_boundary(PART)];
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(PART))..];
    for part in [head, tail] {
        let by_mark = |mark: &&str| {
            let at = part.find(mark)? + mark.len();
            sides(&part[at..])
        };
        if let Some(said) = MARKS.iter().find_map(by_mark) {
            return Some(said);
        }
        for line in part.lines().map(str::trim) {
            if let Some(frame) = line.strip_prefix('[').and_then(|line| line.strip_suffix(" columns]")) {
                return sides(&frame.replace(" rows", ""));
            }
            if line.ends_with(':') && says_shape(line) {
                return sides(line.split(' ').next()?);
            }
        }
    }
    None
}

/// Whether an array has the shape that its text gives. A print counts a column of names; Julia gives the matrices of a stack last.
fn fits(array: &Array, said: &[usize]) -> bool {
    let many = |dims: &[usize]| dims.iter().copied().filter(|&side| side != 1).collect::<Vec<_>>();
    let (mut said, mut has) = (many(said), many(array.dims()));
    let are_words = array.row_labels().is_some_and(|names| !names.iter().all(|name| is_cell(name)));
    let with_names = |has: &[usize]| {
        are_words && has.len() == 2 && said.len() == 2 && said[0] == has[0] && said[1] == has[1] + 1
    };
    if with_names(&has) {
        return true;
    }
    if has.len() > 2 {
        said.sort_unstable();
        has.sort_unstable();
    }
    said == has
}

/// The most matrices of a text.
const MOST_MATRICES: usize = 64;

/// Several matrices below one another, each with its name before it: `Q = [[…]]`, `K:` on a line of its own, or `# A` as `attn` writes
/// it; `None` for any other text.
fn several(
    name: &str,
    text: &str,
    delimiting: DelimiterChoice,
    allow: AllowedNumbers,
) -> Option<Vec<NamedArray>> {
    let mut found: Vec<NamedArray> = Vec::new();
    if looks_printed(text) {
        // Without a name before the first, or anything behind it, there is one.
        let start = array_start(text)?;
        name_over(&text[..start])?;
        looks_printed(&text[start + length_of_group(&text[start..])?..]).then_some(())?;
        let mut rest = text;
        while !rest.trim().is_empty() {
            let (array, at) = one_printed(name, rest, allow).ok()?;
            found.push((Some(name_over(&rest[..at.start])?.to_string()), array));
            rest = &rest[at.end..];
            (found.len() < MOST_MATRICES).then_some(())?;
        }
    } else {
        let mut starts: Vec<(usize, &str)> = Vec::new();
        let (mut start, mut follows_blank) = (0, true);
        for line in text.split_inclusive(LINE_ENDS) {
            let is_comment = line.starts_with('#');
            let whole = line.trim().trim_start_matches(['#', ' ']);
            let is_label = whole.ends_with(['=', ':']) && !is_comment
                || follows_blank && !whole.contains(char::is_whitespace) && !is_cell(whole);
            let bare = whole.trim_end_matches(['=', ':', ' ']);
            if is_label && is_identifier(bare) {
                starts.push((start, bare));
            } else if starts.is_empty() && !line.trim().is_empty() {
                return None;
            }
            follows_blank = line.trim().is_empty();
            start += line.len();
        }
        (2..=MOST_MATRICES).contains(&starts.len()).then_some(())?;
        for (i, &(start, label)) in starts.iter().enumerate() {
            let end = starts.get(i + 1).map_or(text.len(), |&(next, _)| next);
            let array =
                one_table(name, &hidden(&text[..end], slice::from_ref(&(0..start))), delimiting, allow)
                    .ok()?;
            found.push((Some(label.to_string()), array));
        }
    }
    let is_new = |(i, (name, _)): (usize, &NamedArray)| found[..i].iter().all(|(other, _)| other != name);
    (found.len() > 1 && found.iter().enumerate().all(is_new)).then_some(found)
}

/// The name of an array at the end of the text before it; over `array(` it may stand alone.
fn name_over(before: &str) -> Option<&str> {
    let mut lines = before.lines().rev().filter(|line| !line.trim().is_empty());
    let line = lines.next()?;
    let above = line.trim_end().ends_with('(').then(|| lines.next()).flatten();
    name_before(line).or_else(|| name_before(above?))
}

/// The name of the array behind a line: `q = tensor(`, `Q:`, `# O (2×2) = A (2×2) · V (2×2)`.
fn name_before(line: &str) -> Option<&str> {
    let bare = line.trim_start().trim_start_matches(['#', '>', ' ']);
    let end = bare.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(bare.len());
    let behind = bare[end..].trim_start();
    let names = behind.starts_with([':', '='])
        || line.starts_with('#') && (behind.is_empty() || behind.starts_with('('));
    (names && is_identifier(&bare[..end])).then(|| &bare[..end])
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic()) && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn one_table(name: &str, text: &str, delimiting: DelimiterChoice, allow: AllowedNumbers) -> Result<Array> {
    if text.trim_start().starts_with("attn-demo:") {
        let error = Error::new("this is a demo, not numbers")
            .help("run it and give what it computes: attn demo FILE --format json");
        return Err(error);
    }
    if let Some(array) = matrix_market(name, text, allow).or_else(|| r_code(name, text, allow)) {
        return array;
    }
    let begin = after_label(text);
    let body = &text[begin..];
    // Python prints no tabs: with them, `[` is a label.
    let first_line = body.split(LINE_ENDS).find(|line| !line.trim().is_empty()).unwrap_or_default();
    let is_table = matches!(delimiting, DelimiterChoice::By(_)) && first_line.contains('\t');
    if !is_table && looks_printed(text) {
        return printed(name, text, allow);
    }
    if let Some(rows) = rows_of_bullets(body) {
        return typed(name, &rows, allow);
    }
    let delimiter = delimiting.of(body);
    let is_typed = delimiter == Delimiter::Character(b';') && looks_typed(body);
    let in_blocks = |mut array: Array| {
        let least = if is_typed { 1 } else { 2 };
        if let Some(blocks) = blocks_of_rows(body, least).filter(|_| array.facts.told.is_empty()) {
            array.facts.told.push(format!("one matrix in {blocks} parts with blank lines between them"));
        }
        array
    };
    if is_typed {
        return typed(name, body, allow).map(in_blocks);
    }
    if delimiter == Delimiter::Blanks || is_slice(first_line) {
        return printed_in_lines(name, text, begin, allow).map(in_blocks);
    }
    if delimiter == Delimiter::Character(b',')
        && first_line.split_whitespace().all(|word| has_decimal_comma(word) || is_cell(word))
    {
        let (line, _) = line_and_column(text, begin + body.find(first_line).unwrap_or_default());
        check_commas(first_line).map_err(|error| error.at(Place::Text(name.to_string(), line, 1)))?;
    }
    let (text, told) = tidied(text, begin, delimiter)?;
    let mut array = in_blocks(delimited(name, &text, begin, delimiter, allow)?);
    array.facts.told.extend(told);
    Ok(array)
}

/// The number of parts between blank lines; `None` if there is one, or the first has fewer lines than `least`.
fn blocks_of_rows(body: &str, least: usize) -> Option<usize> {
    let (mut blocks, mut lines, mut first) = (0, 0, 0);
    for line in body.lines().filter(|line| line.trim().is_empty() || is_row(line)) {
        let is_blank = line.trim().is_empty();
        blocks += usize::from(!is_blank && lines == 0);
        lines = if is_blank { 0 } else { lines + 1 };
        first = if blocks == 1 { first.max(lines) } else { first };
    }
    (blocks > 1 && first >= least).then_some(blocks)
}

/// The rows of a list of lists as YAML writes them, a number on each line: `- - 1.5`, and `  - 2.5` below it.
fn rows_of_bullets(body: &str) -> Option<String> {
    let mut rows = String::new();
    for line in body.split(LINE_ENDS).filter(|line| !line.trim().is_empty()) {
        let item = line.trim().strip_prefix("- ")?;
        let (begins, number) = item.strip_prefix("- ").map_or((false, item), |number| (true, number));
        if begins && !rows.is_empty() {
            rows.push('\n');
        }
        rows.push_str(Some(number).filter(|number| is_cell(number))?);
        rows.push(' ');
    }
    (!rows.is_empty()).then_some(rows)
}

/// A dense or sparse matrix as Matrix Market writes it, column by column.
fn matrix_market(name: &str, text: &str, allow: AllowedNumbers) -> Option<Result<Array>> {
    let header = text.strip_prefix("%%MatrixMarket")?.split(LINE_ENDS).next()?.to_lowercase();
    let kind: Vec<&str> = header.split_whitespace().collect();
    Some(match kind[..] {
        ["matrix", layout @ ("array" | "coordinate"), "real" | "integer", "general"] => {
            of_matrix_market(text, layout == "coordinate", allow).map_err(|error| error.in_source(name))
        }
        _ => {
            Err(Error::new(format!("a Matrix Market file of the kind `{}` is not read", clip(header.trim())))
                .in_source(name)
                .help("save it as real and general: scipy.io.mmwrite(\"q.mtx\", q, symmetry=\"general\")"))
        }
    })
}

/// The most cells of a sparse matrix.
const MOST_SPARSE: usize = 1 << 20;

fn of_matrix_market(text: &str, is_sparse: bool, allow: AllowedNumbers) -> Result<Array> {
    let lines = text.split(LINE_ENDS).filter(|line| !line.starts_with('%') && !line.trim().is_empty());
    let mut lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    let wrong = || {
        Error::new("the Matrix Market file is damaged").help("write it again: scipy.io.mmwrite(\"q.mtx\", q)")
    };
    let side = |word: &&str| word.parse::<usize>().map_err(|_| wrong());
    let sides: Vec<usize> = lines.next().unwrap_or_default().iter().map(side).collect::<Result<_>>()?;
    let (rows, cols, stored) = match sides[..] {
        [rows, cols, stored] if is_sparse => (rows, cols, stored),
        [rows, cols] if !is_sparse => (rows, cols, checked_cells(&[rows, cols], MOST_CELLS)?),
        _ => return Err(wrong()),
    };
    // The zeros are not in the text, so a header alone would take their memory.
    let count = checked_cells(&[rows, cols], if is_sparse { MOST_SPARSE } else { MOST_CELLS })?;
    let mut cells = Cells::new(allow);
    let mut places = Vec::new();
    for line in lines {
        match (is_sparse, &line[..]) {
            (false, [cell]) => cells.push(cell)?,
            (true, [row, col, cell]) => {
                let (row, col) = (side(row)?, side(col)?);
                if !(1..=rows).contains(&row) || !(1..=cols).contains(&col) {
                    return Err(wrong());
                }
                places.push((row - 1, col - 1));
                cells.push(cell)?;
            }
            _ => return Err(wrong()),
        }
    }
    let read = cells.into_array(vec![stored])?;
    if !is_sparse {
        let facts = ArrayFacts { fortran: true, ..read.facts.clone() };
        return Ok(Array::new(vec![rows, cols], read.values().to_vec())?.with(facts).row_by_row());
    }
    let mut values = memory::reserved(count)?;
    values.resize(count, 0.0);
    places.iter().zip(read.values()).for_each(|(&(row, col), value)| values[row * cols + col] = *value);
    let mut facts = read.facts.clone();
    facts.told.push("a sparse matrix, with 0 where nothing is stored".into());
    Ok(Array::new(vec![rows, cols], values)?.with(facts))
}

/// The bytes before the numbers where a line of its own says what they are, as MATLAB, Julia and Python print it: `Q =`, `Q:`,
/// `5×3 Matrix{Float64}:`, `2×2 Array{Float64, 2}:`, `attention weights`; or `sep=;`, which names the separator for spreadsheets.
/// Numbers and separators belong to a table.
fn after_label(text: &str) -> usize {
    // MATLAB writes the type on a second line.
    const MOST_LABELS: usize = 3;
    (0..MOST_LABELS).fold(0, |begin, _| behind_label(text, begin))
}

/// The same for one line, from a byte on.
fn behind_label(text: &str, begin: usize) -> usize {
    let start = skip_comments(text, begin, char::is_whitespace);
    let line = text[start..].split(LINE_ENDS).next().unwrap_or_default();
    let mut words = line.split_whitespace();
    let is_label = line.trim_end().ends_with([':', '='])
        && !line.contains([',', ';', '\t', '"'])
        && !words.next().is_some_and(is_meant_as_number)
        && words.filter(|word| is_meant_as_number(word)).count() < 2
        || line.starts_with("shape: (");
    let has_shape = says_shape(line.trim_start());
    let is_separator = line.len() == 5 && line.to_ascii_lowercase().starts_with("sep=");
    if is_label || has_shape || is_separator || is_title(line) || is_name_above(&text[start..]) {
        start + line.len()
    } else {
        begin
    }
}

/// Whether a line begins with a shape, as Julia prints it: `2×3 Matrix{Float64}:`. A row of a table may begin so too: `3x3 conv,0.5`.
fn says_shape(line: &str) -> bool {
    let is_row = line.contains([',', ';', '\t']) || line.split_whitespace().any(is_cell);
    (line.trim_end().ends_with(':') || !is_row)
        && line.split_once(' ').is_some_and(|(shape, kind)| {
            let is_side = |side: &str| !side.is_empty() && side.bytes().all(|byte| byte.is_ascii_digit());
            shape.contains(['x', '×'])
                && shape.split(['x', '×']).all(is_side)
                && kind.trim_start().starts_with(char::is_alphabetic)
        })
}

/// Whether a text begins with the name of a matrix on a line alone, above rows of more numbers than a column and its index have.
fn is_name_above(text: &str) -> bool {
    let mut lines = text.split(LINE_ENDS).filter(|line| !line.trim().is_empty());
    let is_name = lines.next().is_some_and(|line| own(line.trim()).is_some());
    let row = |line: &str| line.split_whitespace().all(is_cell).then(|| line.split_whitespace().count());
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let begins =
        |line: &str, words: &[&str]| line.split_whitespace().next().is_some_and(|word| words.contains(&word));
    let counts = begins(first, &["0"]) && begins(second, &["1", ""])
        || begins(first, &["1"]) && begins(second, &["2"]);
    is_name && row(first).is_some_and(|count| count > 2 || count == 2 && !counts && row(second) == Some(2))
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
