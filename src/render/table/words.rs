//! Tables of words.

use crate::text::ScreenWidth;

use super::grid::{Column, boxed, left, right};
use crate::render::Style;
use crate::render::block::Block;
use crate::story::Table;

/// A table of words: columns as wide as their texts, the widest ones wrapped where the screen is too narrow. Where not even
/// that fits, several tables of some columns each, the first column repeated.
pub(in crate::render) fn words(table: &Table, width: usize, style: &Style) -> Vec<Block> {
    let spelled =
        |cells: &Vec<String>| cells.iter().map(|cell| style.charset.spelled(cell).into_owned()).collect();
    let table = &Table {
        header: spelled(&table.header),
        rows: table.rows.iter().map(spelled).collect(),
        numbers: table.numbers.clone(),
        ..Table::default()
    };
    let longest = |j: usize| longest_word(table, j).max(LEAST) + 3;
    let mut parts: Vec<Vec<usize>> = vec![vec![0]];
    let mut used = longest(0) + 1;
    for j in 1..table.header.len() {
        if parts.last().is_some_and(|part| part.len() > 1) && used + longest(j) > width {
            parts.push(vec![0]);
            used = longest(0) + 1;
        }
        used += longest(j);
        if let Some(part) = parts.last_mut() {
            part.push(j);
        }
    }
    parts.iter().map(|columns| words_of(table, columns, width, style)).collect()
}

/// No column of words is made narrower.
const LEAST: usize = 6;

fn longest_word(table: &Table, j: usize) -> usize {
    let cells = table.rows.iter().filter_map(|row| row.get(j)).chain([&table.header[j]]);
    cells.flat_map(|cell| unbreakable(cell)).map(ScreenWidth::width).max().unwrap_or(0)
}

fn words_of(table: &Table, columns: &[usize], width: usize, style: &Style) -> Block {
    let widest = |&j: &usize| {
        let lines = table.rows.iter().filter_map(|row| row.get(j)).flat_map(|cell| cell.lines());
        lines.map(|line| line.width()).chain([table.header[j].width()]).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = columns.iter().map(widest).collect();
    let room = width.saturating_sub(2 + widths.len() * 2 + widths.len().saturating_sub(1));
    narrow(&mut widths, &columns.iter().map(|&j| longest_word(table, j)).collect::<Vec<_>>(), room);
    let numbers: Vec<bool> = columns.iter().map(|j| table.numbers.contains(j)).collect();
    let row_of = |row: &[String]| {
        let cell = |(i, &j): (usize, &usize)| {
            let content = broken(row.get(j).map_or("", String::as_str), widths[i]);
            if numbers[i] { right(content) } else { left(content) }
        };
        columns.iter().enumerate().map(cell).collect::<Vec<_>>()
    };
    let columns = widths.iter().map(|&text| Column { text, left: 1, right: 1, is_ruled: false });
    let rows = table.rows.iter().map(|row| row_of(row));
    boxed(&columns.collect::<Vec<_>>(), Some(row_of(&table.header)), rows, style)
}

/// The pieces of a text that a line break should not cut.
fn unbreakable(text: &str) -> Vec<&str> {
    // A text with spaces or lines is broken there, and the name of a weight behind its points.
    let is_name = !text.contains([' ', '\n']);
    text.split([' ', '\n'])
        .flat_map(|word| if is_name { pieces(word, LONG_PART) } else { vec![word] })
        .collect()
}

/// A part of a name that is longer than this need not stay whole: it can be broken behind `_`.
const LONG_PART: usize = 24;

/// The parts between which a name may be broken: behind points, and in parts longer than `longest` behind `_` too.
fn pieces(name: &str, longest: usize) -> Vec<&str> {
    let finer = |part: &'_ str| part.width() > longest;
    name.split_inclusive('.')
        .flat_map(|part| if finer(part) { part.split_inclusive('_').collect() } else { vec![part] })
        .collect()
}

/// Takes columns from the widest until all fit: first those that have more than their longest word, then any.
fn narrow(widths: &mut [usize], longest_words: &[usize], room: usize) {
    for least in [longest_words.to_vec(), vec![LEAST; widths.len()]] {
        while widths.iter().sum::<usize>() > room {
            let spare = (0..widths.len()).filter(|&j| widths[j] > least[j].max(LEAST));
            let Some(widest) = spare.max_by_key(|&j| widths[j]) else { break };
            widths[widest] -= 1;
        }
    }
}

/// A text without spaces that is too wide, such as the name of a weight, broken between its pieces.
fn broken(cell: &str, width: usize) -> String {
    if cell.width() <= width || cell.contains([' ', '\n']) {
        return cell.to_string();
    }
    let mut lines = vec![String::new()];
    for piece in pieces(cell, width) {
        match lines.last_mut() {
            Some(line) if line.is_empty() || line.width() + piece.width() <= width => line.push_str(piece),
            _ => lines.push(piece.to_string()),
        }
    }
    lines.join("\n")
}
