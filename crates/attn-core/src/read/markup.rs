//! Tables in Markdown, LaTeX and HTML, and tables drawn with lines: what `attn` itself writes, and what others copy from pages.

use crate::error::{Error, Place, Result};
use crate::matrix::Labels;
use crate::memory;
use crate::text::{clip, counted};

use super::array::{AllowedNumbers, Array, NamedArray};
use super::number::{Cells, LINE_ENDS, has_decimal_comma, is_cell, is_mistyped};

/// A table as a document has it.
#[derive(Default)]
struct Grid {
    /// The name of the matrix, where the document gives one.
    name: Option<String>,
    rows: Vec<Vec<String>>,
    /// The document marks the first row as a header.
    header: bool,
    /// The document marks the first column as names.
    labels: bool,
    /// What stands beside the matrix and would change its numbers.
    beside: Option<String>,
}

/// Whether a text that is typed in place is a table of a document.
pub fn is_document(text: &str) -> bool {
    let bare = text.trim();
    bare.contains("\\begin{")
        || bare.starts_with("<t")
        || bare.len() > 2 && bare.starts_with('|') && bare.ends_with('|')
}

/// The tables of a text, each with its name where it has one; `None` if it is no document with tables.
///
/// # Errors
/// At the row and column of a table that are no number, or where its rows differ in length.
pub(super) fn tables(name: &str, text: &str, allow: AllowedNumbers) -> Option<Result<Vec<NamedArray>>> {
    let (kind, grids) = if text.trim_start().starts_with('<') {
        ("HTML", html(text))
    } else if text.contains("\\begin{") {
        ("LaTeX", latex(text))
    } else {
        drawn(text)
    };
    if grids.is_empty() {
        return None;
    }
    let _cells = match memory::hold((text.len() as u64).saturating_mul(BYTES_PER_BYTE)) {
        Ok(charge) => charge,
        Err(error) => return Some(Err(error)),
    };
    let mut tables: Vec<NamedArray> = Vec::new();
    for grid in grids {
        let own = grid.name.clone();
        match grid.into_array(name, allow) {
            // A page may show a matrix twice.
            Ok(array)
                if tables.iter().any(|(other, first)| *other == own && first.values() == array.values()) => {}
            Ok(mut array) => {
                array.facts.told.insert(0, format!("a table in {kind}"));
                tables.push((own, array));
            }
            Err(error) => return Some(Err(error)),
        }
    }
    Some(Ok(tables))
}

impl Grid {
    /// The matrix of a table, with its names. A first row without numbers is a header; so is a first column of words, or of the
    /// numbers 1, 2, 3 … below a header of such numbers.
    fn into_array(self, name: &str, allow: AllowedNumbers) -> Result<Array> {
        let Grid { mut rows, header, labels, beside, .. } = self;
        if let Some(beside) = beside {
            return Err(Error::new(format!(
                "`{}` stands beside the matrix, and nothing is computed here",
                clip(&beside)
            ))
            .help("write the numbers of the result"));
        }
        rows.retain(|row| row.iter().any(|cell| !cell.is_empty()) && !row.iter().all(|cell| is_type(cell)));
        while rows.len() > 1
            && rows.iter().all(|row| row.len() > 1 && row.last().is_some_and(String::is_empty))
        {
            rows.iter_mut().for_each(|row| drop(row.pop()));
        }
        let mut commas = false;
        for cell in rows.iter_mut().flatten().filter(|cell| has_decimal_comma(cell)) {
            *cell = cell.replace(',', ".");
            commas = true;
        }
        let words = |row: &[String]| !row.iter().any(|cell| is_cell(cell) || is_mistyped(cell));
        let has_header = rows.len() > 1
            && (header
                || rows[0].get(1..).is_some_and(|row| !row.is_empty() && words(row)) && words(&rows[0]));
        let col_names = has_header.then(|| rows.remove(0));
        let counts = |cells: &mut dyn Iterator<Item = &String>| {
            let cells: Vec<&String> = cells.collect();
            (0..2).any(|first| {
                (first..).zip(&cells).all(|(number, cell): (usize, _)| **cell == number.to_string())
            })
        };
        let mut first = rows.iter().filter_map(|row| row.first());
        let has_labels = rows.iter().all(|row| row.len() > 1)
            && (labels
                || col_names.as_ref().and_then(|names| names.first()).is_some_and(String::is_empty)
                || first.clone().any(|cell| !cell.is_empty() && !is_cell(cell) && !is_mistyped(cell))
                || col_names
                    .as_ref()
                    .is_some_and(|names| counts(&mut names.iter().skip(1)) && !is_cell(&names[0]))
                    && counts(&mut first));
        let skipped = usize::from(has_labels);
        let width = rows.first().map_or(0, |row| row.len() - skipped.min(row.len()));
        let mut cells = Cells::new(allow);
        for (i, row) in rows.iter().enumerate() {
            if row.len() - skipped.min(row.len()) != width {
                let has = counted(row.len() - skipped, "number");
                return Err(Error::new(format!("row {} has {has}, but row 1 has {width}", i + 1))
                    .help("give every row the same number of columns"));
            }
            for (j, cell) in row.iter().skip(skipped).enumerate() {
                cells.push(cell).map_err(|error| error.at(Place::Cell(name.to_string(), i + 1, j + 1)))?;
            }
        }
        if rows.is_empty() || width == 0 {
            return Err(
                Error::new("the table has no numbers").help("write the rows of numbers below the header")
            );
        }
        let mut array = cells.into_array(vec![rows.len(), width])?;
        if commas {
            array.facts.told.push("numbers with decimal commas".into());
        }
        let names = |names: &mut dyn Iterator<Item = String>| names.collect::<Vec<_>>().into();
        let row_names: Option<Labels> = has_labels.then(|| names(&mut rows.iter().map(|row| row[0].clone())));
        let col_names = col_names.map(|row| {
            let surplus = row.len().saturating_sub(width);
            row.into_iter().skip(surplus).collect::<Vec<_>>()
        });
        let col_names = col_names.filter(|names| names.len() == width).map(Labels::from);
        Ok(array.labelled(row_names, col_names))
    }
}

/// The matrix of a table that is cut into cells, with the names of its rows and columns.
///
/// # Errors
/// At the row and column of what is no number; if the rows differ in length.
pub fn cells(name: &str, rows: Vec<Vec<String>>, allow: AllowedNumbers) -> Result<Array> {
    Grid { rows, ..Grid::default() }.into_array(name, allow)
}

/// Whether a cell names the type of its column, as Polars and tibbles write it below the names.
pub(super) fn is_type(cell: &str) -> bool {
    let bare = cell.trim_matches(['<', '>']);
    ["dbl", "int", "num", "f32", "f64", "i32", "i64", "u32", "u64", "str", "chr", "---"].contains(&bare)
}

// Markdown, and tables drawn with `|` and the lines of boxes.

/// What stands between two cells.
const BARS: [char; 9] = ['|', '│', '┃', '║', '┆', '┊', '⎢', '⎥', '┋'];
/// The most lines before a table, and the most that are looked at for one.
const MOST_LINES_BEFORE: usize = 64;

/// The tables of Markdown, each a run of lines with bars; a rule below the first makes it a header.
fn drawn(text: &str) -> (&'static str, Vec<Grid>) {
    // A token `|` may name a row of numbers.
    let starts = |line: &str| {
        let begins = line.trim_start().starts_with(|c| BARS.contains(&c) || is_of_box(c));
        begins && (line.contains(is_of_box) || line.matches(BARS).nth(1).is_some())
            || is_rule(line) && line.contains(['|', '+'])
    };
    let lines = || text.split(LINE_ENDS);
    if !text.contains(BARS) || !lines().take(MOST_LINES_BEFORE).any(starts) {
        return ("", Vec::new());
    }
    let (mut grids, mut grid, mut is_markdown) = (Vec::new(), Grid::default(), true);
    let apart = side_by_side(text);
    for line in apart.as_deref().unwrap_or(text).split(LINE_ENDS) {
        let is_part = starts(line) || line.contains(" | ");
        if is_rule(line) && (is_part || line.contains("--")) {
            // The first rule of a box has nothing above it.
            is_markdown &= !line.starts_with('+');
            grid.header |= grid.rows.len() == 1;
        } else if is_part {
            is_markdown &= line.contains('|') && !line.starts_with('+');
            grid.rows.push(cells_of(line));
        }
        if !is_part && !is_rule(line) && !grid.rows.is_empty() {
            grids.push(std::mem::take(&mut grid));
        }
    }
    grids.push(grid);
    grids.retain(|grid| grid.rows.len() > 1 || grid.rows.iter().flatten().any(|cell| is_cell(cell)));
    for grid in &mut grids {
        let name = grid.rows[0].first().filter(|name| grid.header && !name.is_empty() && !is_cell(name));
        grid.name = name.cloned();
    }
    (if is_markdown { "Markdown" } else { "lines" }, grids)
}

/// The text with boxes that stand side by side one below the other; `None` if none do.
fn side_by_side(text: &str) -> Option<String> {
    let corners = |line: &str, corner: &str| line.matches(|c| corner.contains(c)).count();
    let is_joined = |line: &str| corners(line, "╭┌") == 1 && line.contains(char::is_alphanumeric);
    text.split(LINE_ENDS).find(|line| corners(line, "╭┌") > 1 || is_joined(line))?;
    let (mut out, mut lines) = (String::with_capacity(text.len()), text.split(LINE_ENDS));
    while let Some(line) = lines.next() {
        if corners(line, "╭┌") < 2 && !is_joined(line) {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let at = |corner: &str| {
            line.chars()
                .enumerate()
                .filter(|(_, c)| corner.contains(*c))
                .map(|(at, _)| at)
                .collect::<Vec<_>>()
        };
        let mut rows = vec![line];
        for row in lines.by_ref() {
            rows.push(row);
            if row.contains(['╰', '└']) || row.trim().is_empty() {
                break;
            }
        }
        if is_joined(line) {
            // Several matrices share the names of their rows; the line above them has their own names.
            let bars = at("╭┬╮");
            for piece in bars.windows(2).skip(1) {
                let part =
                    |row: &str| row.chars().skip(piece[0]).take(piece[1] + 1 - piece[0]).collect::<String>();
                let name = part(line).trim_matches(|c: char| is_of_box(c) || c == ' ').to_string();
                for (i, row) in rows.iter().enumerate().skip(1) {
                    let names =
                        if i == 1 { format!("│ {name} ") } else { row.chars().take(bars[1]).collect() };
                    out.push_str(&names);
                    out.push_str(&part(row));
                    out.push('\n');
                }
                out.push('\n');
            }
            continue;
        }
        for (left, right) in at("╭┌").into_iter().zip(at("╮┐")) {
            for row in &rows {
                out.extend(row.chars().skip(left).take((right + 1).saturating_sub(left)));
                out.push('\n');
            }
            out.push('\n');
        }
    }
    Some(out)
}

/// A line that only draws: `|---|---:|`, `├───┼───┤`, `+---+`.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.chars().count() > 2
        && line.chars().all(|c| is_of_box(c) || BARS.contains(&c) || matches!(c, '-' | '=' | '+' | ':' | ' '))
        && line.contains(|c| is_of_box(c) && !BARS.contains(&c) || matches!(c, '-' | '='))
}

/// A line of a box, or a corner of one or of a tall bracket.
fn is_of_box(c: char) -> bool {
    matches!(c, '\u{2500}'..='\u{257f}' | '⎡' | '⎣' | '⎤' | '⎦')
}

/// The cells of a line. Within the bars of a box several numbers may stand.
fn cells_of(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut escaped = false;
    let is_box = line.contains(|c| is_of_box(c) || c != '|' && BARS.contains(&c));
    for c in line.trim().chars() {
        match c {
            _ if escaped => {
                escaped = false;
                cells.last_mut().expect("there is one").push(c);
            }
            '\\' => escaped = true,
            c if BARS.contains(&c) || is_of_box(c) => cells.push(String::new()),
            '*' | '`' => {}
            c => cells.last_mut().expect("there is one").push(c),
        }
    }
    let starts = line.trim_start().starts_with(|c| BARS.contains(&c) || is_of_box(c));
    let ends = line.trim_end().ends_with(|c| BARS.contains(&c) || is_of_box(c));
    let count = cells.len() - usize::from(ends && cells.len() > 1);
    let cells = cells.into_iter().take(count).skip(usize::from(starts));
    let split = |cell: String| -> Vec<String> {
        let words: Vec<String> = cell.split_whitespace().map(str::to_string).collect();
        let apart: Vec<String> = cell
            .trim()
            .split("  ")
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(str::to_string)
            .collect();
        match (is_box && words.len() > 1, words.iter().all(|word| is_cell(word))) {
            (true, true) => words,
            (true, false) => apart,
            (false, _) => vec![decoded(cell.trim())],
        }
    };
    cells.flat_map(split).collect()
}

// HTML.

/// The tables of a page. Scripts are left out.
fn html(text: &str) -> Vec<Grid> {
    let mut grids: Vec<Grid> = Vec::new();
    let (mut rest, mut cell, mut all_heads): (&str, Option<String>, bool) = (text, None, false);
    while let Some(at) = rest.find('<') {
        if let Some(cell) = &mut cell {
            cell.push_str(&rest[..at]);
        }
        rest = &rest[at..];
        let Some(end) = rest.find('>') else { break };
        let tag = rest[1..end].trim_end_matches('/').to_ascii_lowercase();
        let (tag, closes) = tag.strip_prefix('/').map_or((tag.as_str(), false), |tag| (tag, true));
        let kind = tag.split(|c: char| c.is_whitespace()).next().unwrap_or_default().to_string();
        rest = &rest[end + 1..];
        if !closes && matches!(kind.as_str(), "script" | "style") {
            let close = format!("</{kind}");
            rest = rest.find(&close).map_or("", |at| &rest[at..]);
            continue;
        }
        let ends_cell = matches!(kind.as_str(), "td" | "th" | "tr" | "table");
        if ends_cell
            && let (Some(text), Some(row)) =
                (cell.take(), grids.last_mut().and_then(|grid| grid.rows.last_mut()))
        {
            row.push(decoded(text.split_whitespace().collect::<Vec<_>>().join(" ").as_str()));
        }
        let Some(grid) = grids.last_mut().filter(|_| kind != "table" || closes) else {
            if kind == "table" && !closes {
                grids.push(Grid::default());
            }
            continue;
        };
        match (kind.as_str(), closes) {
            ("tr", false) => {
                grid.rows.push(Vec::new());
                all_heads = true;
            }
            ("tr", true) => {
                grid.header |= grid.rows.len() == 1 && all_heads;
                all_heads = false;
            }
            ("td", false) => {
                all_heads = false;
                cell = Some(String::new());
            }
            ("th", false) => {
                let is_first = grid.rows.last().is_some_and(Vec::is_empty);
                grid.labels |= is_first && grid.rows.len() > 1;
                cell = Some(String::new());
            }
            // What is raised or lowered belongs to no number before it.
            ("sup", false) => cell.iter_mut().for_each(|cell| cell.push('^')),
            ("sub", false) => cell.iter_mut().for_each(|cell| cell.push('_')),
            _ => {}
        }
    }
    grids.retain(|grid| grid.rows.iter().flatten().any(|cell| is_cell(cell) || has_decimal_comma(cell)));
    for grid in &mut grids {
        grid.name =
            grid.rows[0].first().filter(|name| grid.header && grid.labels && !name.is_empty()).cloned();
    }
    grids
}

/// The longest reference, and the longest text in brackets of a command of LaTeX.
const LONGEST_REFERENCE: usize = 10;
const LONGEST_GROUP: usize = 256;
/// Bytes of memory of a table for a byte of its text.
const BYTES_PER_BYTE: u64 = 24;

/// A text with characters for the references of HTML.
fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(LONGEST_REFERENCE).position(|byte| byte == b';');
        let name = end.map_or("", |end| &rest[1..end]);
        let number = |digits: &str, base| u32::from_str_radix(digits, base).ok().and_then(char::from_u32);
        let character = match name {
            "nbsp" | "thinsp" | "ensp" => Some(' '),
            "minus" => Some('-'),
            "times" => Some('×'),
            "middot" | "sdot" => Some('·'),
            "hellip" => Some('…'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "amp" => Some('&'),
            "quot" => Some('"'),
            "infin" => Some('∞'),
            _ => match name.strip_prefix('#') {
                Some(code) => {
                    code.strip_prefix(['x', 'X']).map_or_else(|| number(code, 10), |hex| number(hex, 16))
                }
                None => None,
            },
        };
        let taken = if character.is_some() { end.map_or(1, |end| end + 1) } else { 1 };
        match character {
            Some(c) => out.push(c),
            None => out.push('&'),
        }
        rest = &rest[taken..];
    }
    out.push_str(rest);
    out.trim().to_string()
}

// LaTeX.

/// The matrices, arrays and tables of a text.
fn latex(text: &str) -> Vec<Grid> {
    let mut grids = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\begin{") {
        let before = &rest[..at];
        rest = &rest[at + "\\begin{".len()..];
        let Some((kind, body)) = rest.split_once('}') else { break };
        let is_table = ["matrix", "array", "tabular", "table"].iter().any(|known| kind.contains(known));
        let end = format!("\\end{{{kind}}}");
        if !is_table {
            continue;
        }
        let Some(length) = body.find(&end) else { break };
        // A table floats around the one with the numbers.
        let body = &body[..length];
        if body.contains("\\begin{") {
            continue;
        }
        rest = &rest[kind.len() + 1 + length..];
        let rows: Vec<Vec<String>> = rows_of_latex(body);
        let mut grid = Grid { rows, ..Grid::default() };
        let names = grid.rows.first().filter(|row| row.len() > 1);
        let has_header = names.is_some_and(|row| !is_cell(&row[0]) && !has_decimal_comma(&row[0])) && {
            let cells = || grid.rows.iter().skip(1).filter_map(|row| row.get(1));
            cells().next().is_some()
                && (body.contains("\\hline")
                    || body.contains("rule")
                    || !names.is_some_and(|row| is_cell(&row[1])))
        };
        let assigned = before
            .trim_end()
            .strip_suffix('=')
            .and_then(|before| before.split([' ', '\n', '$', '[', '(']).rfind(|word| !word.is_empty()));
        grid.name = if has_header { Some(grid.rows[0][0].clone()) } else { assigned.map(of_tex) };
        grid.name = grid.name.filter(|name| !name.is_empty());
        grid.header = has_header;
        grid.beside = beside(before, &rest[end.len()..]);
        grids.push(grid);
    }
    grids.retain(|grid| grid.rows.iter().flatten().any(|cell| is_cell(cell) || has_decimal_comma(cell)));
    grids
}

/// A factor before a matrix, or a transposition or another matrix behind it.
fn beside(before: &str, behind: &str) -> Option<String> {
    let line = before
        .trim_end()
        .trim_end_matches(['[', '(', '\\', '|', '.'])
        .trim_end_matches("left")
        .trim_end_matches('\\');
    let factor = line.rsplit(['\n', '=', '$', '[', '&']).next().unwrap_or_default().trim();
    let is_factor = factor.contains(|c: char| c.is_ascii_digit())
        || factor.ends_with(['-', '+'])
        || factor.ends_with("\\cdot");
    let behind = behind
        .trim_start()
        .trim_start_matches("\\right")
        .trim_start_matches([']', ')', '|', '.'])
        .trim_start();
    let changes = behind.starts_with(['^', '+', '-', '/', '\''])
        || behind.starts_with("\\cdot")
        || behind.starts_with("\\times");
    if is_factor {
        return Some(factor.to_string());
    }
    changes.then(|| behind.split_whitespace().next().unwrap_or_default().to_string())
}

fn rows_of_latex(body: &str) -> Vec<Vec<String>> {
    // `{l|rr}` and `[t]` behind the name.
    let mut body = body.trim_start();
    while let Some(length) = body.starts_with(['{', '[']).then(|| body.find(['}', ']'])).flatten() {
        body = body[length + 1..].trim_start();
    }
    let uncommented: Vec<&str> = body
        .split(LINE_ENDS)
        .map(|line| match line.find('%') {
            Some(at) if !line[..at].ends_with('\\') => &line[..at],
            _ => line,
        })
        .collect();
    let body = uncommented.join(" ").replace("\\tabularnewline", "\\\\").replace("\\cr", "\\\\");
    body.split("\\\\")
        .map(|row| row.split('&').map(of_tex).collect::<Vec<_>>())
        .filter(|row| row.iter().any(|cell| !cell.is_empty()))
        .collect()
}

/// A cell as plain text: `\frac{1}{2}` is `1/2`, `1.5 \cdot 10^{-3}` is `1.5e-3`; commands of layout are left out.
fn of_tex(cell: &str) -> String {
    const LAYOUT: [&str; 12] = [
        "hline",
        "toprule",
        "midrule",
        "bottomrule",
        "left",
        "right",
        "displaystyle",
        "phantom",
        "hphantom",
        "bf",
        "quad",
        "rm",
    ];
    let mut out = String::new();
    let mut rest = cell.trim();
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '\\' {
            if !matches!(c, '{' | '}' | '$' | '~') {
                out.push(c);
            }
            continue;
        }
        let length = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let name = &rest[..length.max(rest.chars().next().map_or(0, char::len_utf8).min(if length == 0 {
            4
        } else {
            0
        }))];
        rest = &rest[name.len()..];
        let group = rest.strip_prefix('{').and_then(|inside| {
            let end = inside.bytes().take(LONGEST_GROUP).position(|byte| byte == b'}')?;
            Some((&inside[..end], &inside[end + 1..]))
        });
        match name {
            "frac" | "tfrac" | "dfrac" => {
                if let Some((top, behind)) = group
                    && let Some(inside) = behind.strip_prefix('{')
                    && let Some(end) = inside.find('}')
                {
                    out.push_str(&format!("{}/{}", top.trim(), inside[..end].trim()));
                    rest = &inside[end + 1..];
                } else {
                    // `\frac12`: a digit each.
                    match rest.trim_start().as_bytes() {
                        [top @ b'0'..=b'9', bottom @ b'0'..=b'9', ..] => {
                            out.push_str(&format!("{}/{}", char::from(*top), char::from(*bottom)));
                            rest = &rest.trim_start()[2..];
                        }
                        _ => out.push_str(name),
                    }
                }
            }
            "cdot" | "times" => {
                if let Some(power) = rest.trim_start().strip_prefix("10^") {
                    out = out.trim_end().to_string();
                    out.push('e');
                    rest = power;
                }
            }
            "infty" => out.push_str("inf"),
            "cdots" | "vdots" | "ddots" | "ldots" | "dots" => out.push('…'),
            "%" | "_" | "#" | "&" => out.push_str(name),
            "phantom" | "hphantom" | "cline" | "cmidrule" => rest = group.map_or(rest, |(_, behind)| behind),
            name if LAYOUT.contains(&name) || length == 0 => {}
            // `\text{bat}`, `\mathbf{0.5}`: what is in the brackets counts; `\alpha` and `\sqrt{4}` are words, and no numbers.
            name if group.is_some() && (name.starts_with("text") || name.starts_with("math")) => {}
            "num" | "bm" | "boldsymbol" | "mbox" | "hbox" | "operatorname" if group.is_some() => {}
            name if group.is_some() => out.push_str(&format!("\\{name}")),
            name => out.push_str(name),
        }
    }
    // `−\frac{1}{2}`, `- 0.5`.
    let plain = out.trim().replace('\u{2212}', "-");
    match plain.strip_prefix('-').map(str::trim_start) {
        Some(number) if is_cell(number) => format!("-{number}"),
        _ => plain,
    }
}
