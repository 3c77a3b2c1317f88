//! Blocks of lines, drawn with comfy-table: the one file that touches it.

use std::ops::Range;

use comfy_table::{
    Attribute, Cell as TableCell, CellAlignment, Color, ColumnConstraint, ContentArrangement, Table as Grid,
};
use comfy_table::{ContentLineStyle, LineStyle, TableStyle};
use unicode_width::UnicodeWidthStr;

use super::block::{Block, Level, rows};
use super::heat::Shade;
use super::view::{FRAME, View};
use super::{Charset, Style};
use crate::story::Table;

mod joint;

/// A box with a rule under its head, and air instead of lines between the columns.
const BOX: TableStyle = TableStyle::new()
    .top_border(LineStyle::new('╭', '─', '─', '╮'))
    .header_lines(ContentLineStyle::new('│', ' ', '│'))
    .header_separator(LineStyle::new('├', '─', '─', '┤'))
    .content_lines(ContentLineStyle::new('│', ' ', '│'))
    .bottom_border(LineStyle::new('╰', '─', '─', '╯'));

/// A matrix as boxes: one, or several bands of whole columns with the row labels repeated, none wider than `width`. Columns
/// move closer together where that saves a band.
pub(super) fn matrix(view: &View, width: usize, style: &Style) -> Vec<Block> {
    apart(&[view], width, style)
}

/// Several matrices as boxes to be set from left to right; those of the same tokens share a frame where that saves lines.
pub(super) fn matrices(views: &[&View], width: usize, style: &Style) -> Vec<Block> {
    let height = |blocks: &[Block]| {
        let rows = rows(&blocks.iter().map(|block| block.width).collect::<Vec<_>>(), width);
        let tallest = |row: Range<usize>| blocks[row].iter().map(|block| block.lines.len()).max();
        rows.into_iter().filter_map(tallest).sum::<usize>()
    };
    let (apart, joint) = (apart(views, width, style), joint::blocks(views, width, style));
    let (lines_apart, lines_joint) = (height(&apart), height(&joint));
    // Names of tokens say that it is the same tokens; mere numbers do not.
    let are_tokens = !views.iter().any(|view| view.has_plain_rows());
    if lines_joint < lines_apart || (lines_joint == lines_apart && are_tokens) { joint } else { apart }
}

/// The columns of a view as rows of a frame without a head, the last row, their sums, in a part of its own; nothing if that
/// does not fit or is no shorter.
pub(super) fn rows_and_sum(view: &View, width: usize, style: &Style) -> Option<Block> {
    let (rows, sums) = view.as_rows();
    let parts: Vec<&View> = std::iter::once(&rows).chain(&sums).collect();
    let block = joint::frame_within(&parts, width, style)?;
    (block.lines.len() < view.rows.len() + 4).then_some(block)
}

/// Returns true if a matrix has no head: its rows have names, and its columns only numbers.
fn is_headless(view: &View) -> bool {
    view.has_plain_columns() && !view.has_plain_rows() && view.notes.is_empty()
}

/// Returns true if the name of a matrix stands in the upper edge, as in a frame of several: the name is so much longer than
/// those of the rows that the box would be too wide.
fn is_framed(view: &View, width: usize, gap: usize) -> bool {
    view.notes.is_empty()
        && !view.cols.is_empty()
        && view.box_width(gap) > width
        && joint::total(&[view], gap) <= width
}

/// The fewest columns in which a matrix is whole.
pub(super) fn least_width(view: &View) -> usize {
    let boxed = view.box_width(1) + note_width(view);
    if view.notes.is_empty() { boxed.min(joint::total(&[view], 1)) } else { boxed }
}

/// Each matrix in its own boxes. Their columns move closer together where that saves a band, or lets more boxes stand in a row.
fn apart(views: &[&View], width: usize, style: &Style) -> Vec<Block> {
    let views: Vec<View> = views.iter().map(|view| with_notes_that_fit(view, width, style.charset)).collect();
    let rows = |gap| {
        let widths = views.iter().flat_map(|view| bands(view, width, gap)).map(|band| band.width);
        rows(&widths.collect::<Vec<_>>(), width).len()
    };
    let fewest = rows(1);
    let gap = [3, 2, 1].into_iter().find(|&gap| rows(gap) == fewest).unwrap_or(1);
    let bands_of = |view: &View| {
        let is_framed = is_framed(view, width, gap);
        bands(view, width, gap)
            .into_iter()
            .map(|at| {
                if is_framed {
                    joint::frame(&[view], gap, style)
                } else {
                    band(view, at.from, at.to, gap, style)
                }
            })
            .collect::<Vec<_>>()
    };
    views.iter().flat_map(bands_of).collect()
}

/// The columns of a band, from and up to, and its width.
struct ColumnBand {
    from: usize,
    to: usize,
    width: usize,
}

/// The bands of a matrix: as few as possible, and about equally many columns in each, so that none stands alone.
fn bands(view: &View, width: usize, gap: usize) -> Vec<ColumnBand> {
    if is_framed(view, width, gap) {
        return vec![ColumnBand { from: 0, to: view.cols.len(), width: joint::total(&[view], gap) }];
    }
    let widths: Vec<usize> = (0..view.cols.len()).map(|j| view.column_width(j)).collect();
    let filled = |most: usize| filled(view, &widths, width, gap, most);
    let fewest = filled(widths.len()).len();
    // If columns differ in width, equally many of them need not fit. The fewest that do are found by halving, since bands with
    // more columns are fewer.
    let (mut least, mut enough) = (widths.len().div_ceil(fewest.max(1)), widths.len());
    while least < enough {
        let most = least.midpoint(enough);
        if filled(most).len() == fewest { enough = most } else { least = most + 1 }
    }
    let mut bands = filled(enough);
    if let [whole] = &mut bands[..]
        && is_headless(view)
    {
        whole.width = joint::total(&[view], gap);
    }
    bands
}

/// The bands of a matrix with columns of these widths, each as wide as there is room for, with a limit on its columns.
fn filled(view: &View, widths: &[usize], width: usize, gap: usize, most: usize) -> Vec<ColumnBand> {
    let mut bands: Vec<ColumnBand> = Vec::new();
    let frame = view.label_width() + FRAME;
    let width = width.saturating_sub(note_width(view));
    let (mut start, mut used) = (0, frame);
    for (j, &wide) in widths.iter().enumerate() {
        if j > start && (used + gap + wide > width || j - start == most) {
            bands.push(ColumnBand { from: start, to: j, width: used });
            (start, used) = (j, frame);
        }
        used += if j > start { gap + wide } else { wide };
    }
    bands.push(ColumnBand { from: start, to: view.cols.len(), width: used });
    bands.into_iter().map(|band| ColumnBand { width: band.width + note_width(view), ..band }).collect()
}

/// The view, without its notes if not even one column has room next to them, and squeezed if a column has no room at all.
fn with_notes_that_fit(view: &View, width: usize, charset: Charset) -> View {
    let widest = (0..view.cols.len()).map(|j| view.column_width(j)).max().unwrap_or(0);
    let fits = view.label_width() + FRAME + widest + note_width(view) <= width;
    let view = View { notes: if fits { view.notes.clone() } else { Vec::new() }, ..view.clone() };
    if !view.cols.is_empty() && joint::total(&[&view], 1) <= width {
        view
    } else {
        view.squeezed(width, charset)
    }
}

/// The width that notes beside the rows add to a box.
fn note_width(view: &View) -> usize {
    view.notes.iter().map(|note| note.width() + 1).max().unwrap_or(0)
}

fn band(view: &View, from: usize, to: usize, gap: usize, style: &Style) -> Block {
    if to - from == view.cols.len() && is_headless(view) {
        return joint::frame(&[view], gap, style);
    }
    let mut grid = new_grid(style);
    let header =
        std::iter::once(text(&view.name)).chain(view.cols[from..to].iter().map(|label| right(label)));
    grid.set_header(header.collect::<Vec<_>>());
    for (label, cells) in view.rows.iter().zip(&view.cells) {
        let cells = cells[from..to].iter().map(|cell| shaded(right(&cell.text), cell.shade, style));
        grid.add_row(std::iter::once(text(label)).chain(cells).collect::<Vec<_>>());
    }
    let label = ColumnWidth { text: view.label_width(), left: 1, right: 1 };
    let number = |j: usize| ColumnWidth {
        text: view.column_width(j),
        left: if j == from { 1 } else { gap.saturating_sub(2) },
        right: usize::from(gap > 1 || j + 1 == to),
    };
    let widths: Vec<ColumnWidth> = std::iter::once(label).chain((from..to).map(number)).collect();
    let mut block = fixed(grid, &widths);
    block.lines = block.lines.iter().map(|line| ruled(line, &[label.text + 3])).collect();
    noted(block, &view.notes)
}

/// A box with notes to the right of its rows, which begin on the fourth line.
fn noted(block: Block, notes: &[String]) -> Block {
    const ABOVE: usize = 3;
    if notes.is_empty() {
        return block;
    }
    let note =
        |line: usize| line.checked_sub(ABOVE).and_then(|row| notes.get(row)).cloned().unwrap_or_default();
    let lines = (0..block.lines.len()).map(note).collect();
    Block::beside(&[block, Block::plain(lines)], 1, Level::Tops)
}

/// The line with the escape for bold type before those for colours: a shaded cell is its ground, its ink and then its text.
fn bold_first(line: &str) -> String {
    let (bold, ground) = ("\x1b[1m", "\x1b[48;5;");
    let mut out = String::with_capacity(line.len());
    for piece in line.split_inclusive(bold) {
        match piece.strip_suffix(bold).and_then(|before| before.rfind(ground)) {
            Some(at) => {
                let colours = piece[at..].trim_end_matches(bold);
                out.extend([&piece[..at], bold, colours]);
            }
            None => out.push_str(piece),
        }
    }
    out
}

/// The line with a rule at each of these places, counted in columns of the screen. Escapes for colours have no width.
fn ruled(line: &str, places: &[usize]) -> String {
    let (rule, mut in_escape) = (rule_of(line), false);
    let mut places = places.iter().copied().peekable();
    let (mut out, mut before) = (String::with_capacity(line.len() + 2 * places.len()), String::new());
    for character in line.chars() {
        in_escape |= character == '\x1b';
        if in_escape {
            in_escape = character != 'm';
            out.push(character);
            continue;
        }
        // The width of a text is not the sum of the widths of its characters: 👩‍👩‍👧 is two columns wide.
        let is_place = places.peek().is_some_and(|&place| before.width() >= place);
        out.push(if is_place { rule } else { character });
        before.push(character);
        if is_place {
            places.next();
        }
    }
    out
}

/// The vertical rule for a line of a box.
fn rule_of(line: &str) -> char {
    match line.chars().next() {
        Some('╭') => '┬',
        Some('├') => '┼',
        Some('╰') => '┴',
        _ => '│',
    }
}

/// A table of words: columns as wide as their texts, the widest ones wrapped where the screen is too narrow. Where not even
/// that fits, several tables of some columns each, the first column repeated.
pub(super) fn words(table: &Table, width: usize, style: &Style) -> Vec<Block> {
    let spelled =
        |cells: &Vec<String>| cells.iter().map(|cell| style.charset.spelled(cell).into_owned()).collect();
    let table = &Table {
        header: spelled(&table.header),
        rows: table.rows.iter().map(spelled).collect(),
        numbers: table.numbers.clone(),
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
    cells.flat_map(|cell| unbreakable(cell)).map(UnicodeWidthStr::width).max().unwrap_or(0)
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
            if numbers[i] { right(&content) } else { text(&content) }
        };
        columns.iter().enumerate().map(cell).collect::<Vec<_>>()
    };
    let mut grid = new_grid(style);
    grid.set_header(row_of(&table.header));
    for row in &table.rows {
        grid.add_row(row_of(row));
    }
    let widths: Vec<ColumnWidth> =
        widths.into_iter().map(|text| ColumnWidth { text, left: 1, right: 1 }).collect();
    fixed(grid, &widths)
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

fn new_grid(style: &Style) -> Grid {
    let mut grid = Grid::new();
    grid.load_style(BOX).force_no_tty().set_content_arrangement(ContentArrangement::Dynamic);
    if style.colour {
        grid.enforce_styling();
    }
    grid
}

/// The width of a column: its text, and the air on both sides of it.
#[derive(Clone, Copy)]
struct ColumnWidth {
    text: usize,
    left: usize,
    right: usize,
}

/// The grid's lines, each column at its width: comfy-table decides nothing about widths itself.
fn fixed(mut grid: Grid, widths: &[ColumnWidth]) -> Block {
    let total = widths.iter().map(|width| width.left + width.text + width.right + 1).sum::<usize>() + 1;
    let narrow = |width: usize| width.min(u16::MAX as usize) as u16;
    grid.set_width(narrow(total));
    let constraint = |width: &ColumnWidth| {
        ColumnConstraint::Absolute(comfy_table::Width::Fixed(narrow(width.left + width.text + width.right)))
    };
    grid.set_constraints(widths.iter().map(constraint));
    for (column, width) in grid.column_iter_mut().zip(widths) {
        column.set_padding((narrow(width.left), narrow(width.right)));
    }
    Block { lines: grid.lines().map(|line| bold_first(&line)).collect(), width: total }
}

fn text(content: &str) -> TableCell {
    TableCell::new(content)
}

fn right(content: &str) -> TableCell {
    TableCell::new(content).set_alignment(CellAlignment::Right)
}

fn shaded(cell: TableCell, shade: Shade, style: &Style) -> TableCell {
    match shade.look(style.theme) {
        Some(look) if style.colour => {
            let cell = cell.fg(Color::AnsiValue(look.ink)).bg(Color::AnsiValue(look.ground));
            if look.bold { cell.add_attribute(Attribute::Bold) } else { cell }
        }
        _ => cell,
    }
}
