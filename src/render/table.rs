//! Matrices as boxes of lines: each by itself, or those of the same tokens in one frame.

use std::borrow::Cow;
use std::iter::once;
use std::ops::Range;

use attn_story::render::heat::Shade;
use colored::{Color, Colorize};

use crate::foreign::visible;
use crate::graph::{CellId, Graph, address_of};
use crate::story::Table;
use crate::story::diagnosis::FileRow;
use crate::text::ScreenWidth;

use super::view::{Cell, FRAME, View};
use super::{Charset, Style, plane};

/// Matrices as boxes to be set from left to right, none wider than `width`: one each, or several bands of whole columns with the row
/// labels repeated; those of the same tokens share a frame where that saves lines. Columns move closer together where that saves a band.
pub(super) fn matrices(views: &[&View], width: usize, style: &Style) -> Vec<Block> {
    if views.len() < 2 {
        return apart(views, width, style);
    }
    let height = |blocks: &[Block]| {
        let rows = rows(&blocks.iter().map(|block| block.width).collect::<Vec<_>>(), width, GAP);
        let tallest = |row: Range<usize>| blocks[row].iter().map(|block| block.lines.len()).max();
        rows.into_iter().filter_map(tallest).sum::<usize>()
    };
    let (apart, joint) = (apart(views, width, style), joint(views, width, style));
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
    let block = (frame_width(&parts, 1) <= width).then(|| widest(&parts, width, style))?;
    (block.lines.len() < view.rows.len() + 4).then_some(block)
}

/// The fewest columns in which a matrix is whole.
pub(super) fn least_width(view: &View) -> usize {
    let boxed = view.box_width(1) + note_width(view);
    if view.notes.is_empty() { boxed.min(frame_width(&[view], 1)) } else { boxed }
}

/// Blocks for matrices to be set from left to right: neighbours whose rows have the same names share a frame, as many as
/// there is room for.
fn joint(views: &[&View], width: usize, style: &Style) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut rest = views;
    while let Some(first) = rest.first() {
        let has_notes = |count: &usize| rest[..=*count].iter().any(|view| !view.notes.is_empty());
        let fits = |count: &usize| {
            rest[*count].rows == first.rows && !has_notes(count) && frame_width(&rest[..=*count], 1) <= width
        };
        let count = (1..rest.len()).take_while(fits).last().map_or(1, |last| last + 1);
        let (together, others) = rest.split_at(count);
        match together {
            [_] => blocks.extend(apart(together, width, style)),
            _ => blocks.push(widest(together, width, style)),
        }
        rest = others;
    }
    blocks
}

// Boxes of lines: columns of texts, a rule below the head, and rules between some of the columns.

/// A column: its text, the air on both sides of it, and what stands before it.
#[derive(Clone, Copy)]
struct Column {
    /// The width of its texts; wider ones are broken.
    text: usize,
    /// The space before them.
    left: usize,
    /// The space after them.
    right: usize,
    /// True if a rule stands before it, in place of air.
    is_ruled: bool,
    /// True if its texts stand on the right, as numbers do.
    is_right: bool,
}

impl Column {
    /// Texts on the left, with air around them.
    fn of_words(text: usize) -> Column {
        Column { text, left: 1, right: 1, is_ruled: false, is_right: false }
    }

    fn width(&self) -> usize {
        self.left + self.text + self.right
    }

    /// A line of a text in all of the column.
    fn filled(&self, line: &str) -> String {
        let rest = self.text.saturating_sub(line.width());
        let (before, after) = if self.is_right { (rest, 0) } else { (0, rest) };
        format!("{0:1$}{line}{0:2$}", "", self.left + before, self.right + after)
    }
}

/// The columns of a matrix behind a rule, this far apart; the first one with more air before it.
fn number_columns(widths: &[usize], gap: usize, spare: usize) -> impl Iterator<Item = Column> {
    let last = widths.len().saturating_sub(1);
    widths.iter().enumerate().map(move |(j, &text)| Column {
        text,
        left: if j == 0 { 1 + spare } else { gap.saturating_sub(2) },
        right: usize::from(gap > 1 || j == last),
        is_ruled: j == 0,
        is_right: true,
    })
}

/// A text of a box, and its shade.
type Shaded<'a> = (Cow<'a, str>, Shade);

fn unshaded<'a>(text: impl Into<Cow<'a, str>>) -> Shaded<'a> {
    (text.into(), Shade::None)
}

fn shaded(cells: &[Cell]) -> impl Iterator<Item = Shaded<'_>> {
    cells.iter().map(|cell| (cell.text.as_str().into(), cell.shade))
}

/// Rows of texts in columns of these widths, with round corners, and a rule below the head.
fn boxed<'a>(
    head: Option<Vec<Shaded<'a>>>,
    rows: impl Iterator<Item = Vec<Shaded<'a>>>,
    columns: &[Column],
    style: &Style,
) -> Block {
    let rule = |left: char, crossing: char, right: char| {
        let column = |(j, column): (usize, &Column)| {
            let before = match j {
                0 => left,
                _ if column.is_ruled => crossing,
                _ => '─',
            };
            format!("{before}{}", "─".repeat(column.width()))
        };
        columns.iter().enumerate().map(column).collect::<String>() + &right.to_string()
    };
    let mut lines = vec![rule('╭', '┬', '╮')];
    if let Some(head) = head {
        lines.extend(row_lines(&head, columns, style));
        lines.push(rule('├', '┼', '┤'));
    }
    lines.extend(rows.flat_map(|row| row_lines(&row, columns, style)));
    lines.push(rule('╰', '┴', '╯'));
    Block { lines, width: columns.iter().map(|column| column.width() + 1).sum::<usize>() + 1 }
}

/// The lines of a row: as many as its highest text has.
fn row_lines(row: &[Shaded<'_>], columns: &[Column], style: &Style) -> Vec<String> {
    let broken = |((text, _), column): (&Shaded<'_>, &Column)| -> Vec<String> {
        text.split('\n').flat_map(|line| broken(line, column.text.max(1))).collect()
    };
    let texts: Vec<Vec<String>> = row.iter().zip(columns).map(broken).collect();
    let line = |i: usize| {
        let mut out = String::new();
        for (j, ((text, (_, shade)), column)) in texts.iter().zip(row).zip(columns).enumerate() {
            out.push(if j == 0 || column.is_ruled { '│' } else { ' ' });
            match text.get(i) {
                Some(text) => out.push_str(&coloured(column.filled(text), *shade, style)),
                None => out.push_str(&column.filled("")),
            }
        }
        out + "│"
    };
    (0..texts.iter().map(Vec::len).max().unwrap_or(0)).map(line).collect()
}

/// A text in the colours of its shade.
fn coloured(text: String, shade: Shade, style: &Style) -> String {
    let Some(look) = shade.look(style.theme).filter(|_| style.colour) else { return text };
    let (bold, end) = if look.bold { ("\x1b[1m", "\x1b[0m") } else { ("", "\x1b[49m\x1b[39m") };
    format!("{bold}\x1b[48;5;{}m\x1b[38;5;{}m{text}{end}", look.ground, look.ink)
}

/// A text in lines of this width, broken between words, and within one that is wider than a line.
fn broken(text: &str, width: usize) -> Vec<String> {
    /// A line with no more room than this is full.
    const LITTLE: usize = 2;
    if text.width() <= width {
        return vec![text.to_string()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for mut word in text.split(' ') {
        loop {
            let gap = usize::from(!line.is_empty());
            let room = width.saturating_sub(line.width() + gap);
            let fits = word.width() <= room;
            if !fits && gap > 0 && (room <= LITTLE || word.width() <= width) {
                lines.push(std::mem::take(&mut line));
                continue;
            }
            // At least one character, so that it comes to an end.
            let first = word.chars().next().map_or(0, char::len_utf8);
            let length = if fits { word.len() } else { plane::cut(word, room).len().max(first) };
            line.extend([&" "[..gap], &word[..length]]);
            word = &word[length..];
            if !fits || line.width() > width.saturating_sub(LITTLE) {
                lines.push(std::mem::take(&mut line));
            }
            if fits {
                break;
            }
        }
    }
    lines.extend(Some(line).filter(|line| !line.is_empty()));
    lines
}

// Matrices about the same tokens in one frame: the names of the rows are written once, the names of the matrices in the
// frame's upper edge.

/// The width of a matrix within the frame, without the spaces on both sides: its name has to fit above it.
fn part_width(view: &View, gap: usize) -> usize {
    let name = if view.name.is_empty() { 0 } else { view.name_width() + 2 };
    view.columns_width(gap).max(name)
}

fn label_width(views: &[&View]) -> usize {
    views.first().map_or(0, |view| view.rows_width())
}

/// The width of the frame.
fn frame_width(views: &[&View], gap: usize) -> usize {
    label_width(views) + 4 + views.iter().map(|view| part_width(view, gap) + 3).sum::<usize>()
}

/// The frame, its columns as far apart as there is room for.
fn widest(views: &[&View], width: usize, style: &Style) -> Block {
    let gap = [3, 2, 1].into_iter().find(|&gap| frame_width(views, gap) <= width).unwrap_or(1);
    frame(views, gap, style)
}

/// The frame, the columns of each matrix this far apart.
fn frame(views: &[&View], gap: usize, style: &Style) -> Block {
    let has_head = !views.iter().all(|view| view.has_plain_columns());
    let heads = once("").chain(views.iter().flat_map(|view| &view.cols).map(String::as_str));
    let names = views.first().map_or(&[][..], |view| &view.rows);
    let rows = names.iter().enumerate().map(|(i, name)| {
        once(unshaded(name)).chain(views.iter().flat_map(|view| shaded(&view.cells[i]))).collect()
    });
    let columns = views.iter().flat_map(|view| {
        let spare = part_width(view, gap) - view.columns_width(gap);
        number_columns(view.column_widths(), gap, spare)
    });
    let columns: Vec<Column> = once(Column::of_words(label_width(views))).chain(columns).collect();
    let mut block = boxed(has_head.then(|| heads.map(unshaded).collect()), rows, &columns, style);
    block.lines[0] = upper_edge(views, gap);
    block
}

/// `╭─────┬─ S ────┬─ A ────╮`.
fn upper_edge(views: &[&View], gap: usize) -> String {
    let mut line = format!("╭{}", "─".repeat(label_width(views) + 2));
    for view in views {
        let name = if view.name.is_empty() { String::new() } else { format!("─ {} ", view.name) };
        let rest = (part_width(view, gap) + 2).saturating_sub(name.width());
        line += &format!("┬{name}{}", "─".repeat(rest));
    }
    line + "╮"
}

// Matrices in boxes of their own: as many bands of columns as the width of the screen needs.

/// Returns true if a matrix has no head: its rows have names, and its columns only numbers.
fn is_headless(view: &View) -> bool {
    view.has_plain_columns() && !view.has_plain_rows() && view.notes.is_empty() && !view.keeps_heads
}

/// Returns true if the name of a matrix stands in the upper edge, as in a frame of several: the name is so much longer than
/// those of the rows that the box would be too wide.
fn is_framed(view: &View, width: usize, gap: usize) -> bool {
    view.notes.is_empty()
        && !view.cols.is_empty()
        && !view.keeps_heads
        && view.box_width(gap) > width
        && frame_width(&[view], gap) <= width
}

/// Each matrix in its own boxes. Their columns move closer together where that saves a band, or lets more boxes stand in a row.
fn apart(views: &[&View], width: usize, style: &Style) -> Vec<Block> {
    let views: Vec<Cow<'_, View>> =
        views.iter().map(|view| with_notes_that_fit(view, width, style.charset)).collect();
    let rows = |gap| {
        let widths = views.iter().flat_map(|view| bands(view, width, gap)).map(|band| band.width);
        rows(&widths.collect::<Vec<_>>(), width, GAP).len()
    };
    let fewest = rows(1);
    let gap = [3, 2, 1].into_iter().find(|&gap| rows(gap) == fewest).unwrap_or(1);
    let boxes = |view: &Cow<'_, View>| -> Vec<Block> {
        if is_framed(view, width, gap) {
            return vec![frame(&[view], gap, style)];
        }
        bands(view, width, gap).into_iter().map(|at| band(view, at.from..at.to, gap, style)).collect()
    };
    views.iter().flat_map(boxes).collect()
}

/// The box of a matrix that needs no more than one.
pub(in crate::render) fn only_box(view: &View, width: usize, style: &Style) -> Option<Block> {
    let is_whole = bands(&with_notes_that_fit(view, width, style.charset), width, 1).len() == 1;
    is_whole.then(|| apart(&[view], width, style).pop()).flatten()
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
        return vec![ColumnBand { from: 0, to: view.cols.len(), width: frame_width(&[view], gap) }];
    }
    let widths = view.column_widths();
    let filled = |most: usize| filled(view, widths, width, gap, most);
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
        whole.width = frame_width(&[view], gap);
    }
    bands
}

/// The bands of a matrix with columns of these widths, each as wide as there is room for, with a limit on its columns.
fn filled(view: &View, widths: &[usize], width: usize, gap: usize, most: usize) -> Vec<ColumnBand> {
    let mut bands: Vec<ColumnBand> = Vec::new();
    let frame = view.label_width() + FRAME + note_width(view);
    let (mut start, mut used) = (0, frame);
    for (j, &wide) in widths.iter().enumerate() {
        if j > start && (used + gap + wide > width || j - start == most) {
            bands.push(ColumnBand { from: start, to: j, width: used });
            (start, used) = (j, frame);
        }
        used += if j > start { gap + wide } else { wide };
    }
    bands.push(ColumnBand { from: start, to: view.cols.len(), width: used });
    bands
}

/// The view, without its notes if not even one column has room next to them, and squeezed if a column has no room at all.
fn with_notes_that_fit(view: &View, width: usize, charset: Charset) -> Cow<'_, View> {
    let mut view = Cow::Borrowed(view);
    if !view.notes.is_empty() && view.least_box_width() + note_width(&view) > width {
        view.to_mut().notes.clear();
    }
    let is_framed = !view.cols.is_empty() && !view.keeps_heads && frame_width(&[&view], 1) <= width;
    if is_framed || view.least_box_width() <= width {
        view
    } else {
        Cow::Owned(view.into_owned().squeezed(width, charset))
    }
}

/// The width that notes beside the rows add to a box.
fn note_width(view: &View) -> usize {
    view.notes.iter().map(|note| note.width() + 1).max().unwrap_or(0)
}

fn band(view: &View, places: Range<usize>, gap: usize, style: &Style) -> Block {
    if places.len() == view.cols.len() && is_headless(view) {
        return frame(&[view], gap, style);
    }
    let head = once(&view.name).chain(&view.cols[places.clone()]).map(unshaded).collect();
    let rows = view
        .rows
        .iter()
        .zip(&view.cells)
        .map(|(label, cells)| once(unshaded(label)).chain(shaded(&cells[places.clone()])).collect());
    let label = Column::of_words(view.label_width());
    let columns = once(label).chain(number_columns(&view.column_widths()[places.clone()], gap, 0));
    let block = boxed(Some(head), rows, &columns.collect::<Vec<_>>(), style);
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

// Tables of words.

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
    let row_of = |row: &Vec<String>| -> Vec<Shaded<'_>> {
        let cell = |(&j, &width): (&usize, &usize)| {
            unshaded(broken_name(row.get(j).map_or("", String::as_str), width))
        };
        columns.iter().zip(&widths).map(cell).collect()
    };
    let column = |(j, &text)| Column { is_right: table.numbers.contains(j), ..Column::of_words(text) };
    let drawn: Vec<Column> = columns.iter().zip(&widths).map(column).collect();
    boxed(Some(row_of(&table.header)), table.rows.iter().map(row_of), &drawn, style)
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
fn broken_name(cell: &str, width: usize) -> String {
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

// Blocks of lines, and their arrangement next to each other.

/// Lines of equal width on the screen.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The lines; escapes for colours have no width.
    pub lines: Vec<String>,
    /// Their width in columns of the screen.
    pub width: usize,
}

/// The lines at which blocks next to each other are aligned.
#[derive(Clone, Copy, Debug)]
pub(super) enum Level {
    /// The first lines, as of things in a row.
    Tops,
    /// The middles, as in an equation.
    Middles,
}

impl Block {
    /// A block of plain lines.
    pub(super) fn plain(lines: Vec<String>) -> Block {
        let width = lines.iter().map(|line| line.width()).max().unwrap_or(0);
        Block::coloured(lines, width)
    }

    /// A block of lines that may hold escapes for colours, padded to this width.
    pub(super) fn coloured(lines: Vec<String>, width: usize) -> Block {
        let pad = |line: String| {
            let missing = width.saturating_sub(visible_width(&line));
            format!("{line}{}", " ".repeat(missing))
        };
        Block { lines: lines.into_iter().map(pad).collect(), width }
    }

    /// Blocks next to each other, their tops level, or the shorter ones centred.
    pub(super) fn beside(blocks: &[Block], gap: usize, level: Level) -> Block {
        let height = blocks.iter().map(|block| block.lines.len()).max().unwrap_or(0);
        let line_of = |block: &Block, line: usize| {
            let above = match level {
                Level::Tops => 0,
                Level::Middles => (height - block.lines.len()) / 2,
            };
            let own = line.checked_sub(above).and_then(|line| block.lines.get(line));
            own.cloned().unwrap_or_else(|| " ".repeat(block.width))
        };
        let gap_text = " ".repeat(gap);
        let lines = (0..height)
            .map(|line| blocks.iter().map(|block| line_of(block, line)).collect::<Vec<_>>().join(&gap_text))
            .collect();
        let width =
            blocks.iter().map(|block| block.width).sum::<usize>() + gap * blocks.len().saturating_sub(1);
        Block { lines, width }
    }
}

/// The width of a line on the screen, without its escapes.
pub(super) fn visible_width(line: &str) -> usize {
    if !line.contains('\x1b') {
        return line.width();
    }
    let mut inside = false;
    let shown = |c: &char| {
        let was = inside;
        inside = (inside && *c != 'm') || *c == '\x1b';
        !was && *c != '\x1b'
    };
    line.chars().filter(shown).collect::<String>().width()
}

/// The distance between boxes next to each other.
pub(super) const GAP: usize = 2;

/// Boxes of these widths from left to right at this distance, as many in a row as there is room for: the places of each row.
pub(super) fn rows(widths: &[usize], room: usize, gap: usize) -> Vec<Range<usize>> {
    let mut rows: Vec<Range<usize>> = Vec::new();
    let mut used = 0;
    for (i, width) in widths.iter().enumerate() {
        match rows.last_mut() {
            Some(row) if used + gap + width <= room => {
                row.end = i + 1;
                used += gap + width;
            }
            _ => {
                rows.push(i..i + 1);
                used = *width;
            }
        }
    }
    rows
}

// The rows of a batch on the screen: each can be written before the next file is read.

/// The heads of the columns.
const HEAD_OF_FILES: [&str; 5] = ["file", "result", "where", "mistake", "how sure"];
/// Blanks between two columns.
const GAP_OF_COLUMNS: usize = 2;
/// The width of the longest verdict.
const VERDICT: usize = "unusable".len();
/// The width of the longest text in the last column.
const CONFIDENCE: usize = "to all digits".len();
/// Names of files are cut to no less than this.
const LEAST_FILE: usize = 12;
/// Addresses are cut to this, and to the less where there is no room.
const MOST_PLACE: usize = 16;
const LEAST_PLACE: usize = 8;
/// The least width of the column of mistakes; where there is less room, they have lines of their own.
const LEAST_MISTAKE: usize = 24;
/// The maximum width of the column of mistakes.
const MOST_MISTAKE: usize = 56;
/// The indentation of the lines below a file's first one.
const INDENT: usize = 4;

/// The widths of the columns.
pub struct FileRows {
    file: usize,
    place: usize,
    /// The width of the mistakes; `None` where they have lines of their own.
    mistake: Option<usize>,
    width: usize,
    colour: bool,
    charset: Charset,
}

impl FileRows {
    /// Columns for files of these names and the nodes of the right answer: names are shortened before the mistakes are.
    pub fn of<'n>(names: impl Iterator<Item = &'n str>, right: &Graph, style: &Style) -> FileRows {
        let longest = names.map(|name| style.charset.spelled(&visible(name)).width()).max().unwrap_or(0);
        let longest_place = longest_address(right, style.charset).clamp(HEAD_OF_FILES[2].len(), MOST_PLACE);
        let wanted = longest.clamp(HEAD_OF_FILES[0].len(), (style.width / 3).max(LEAST_FILE));
        let least = wanted.min(LEAST_FILE);
        let room = |file: usize, place: usize| {
            let others = file + VERDICT + place + CONFIDENCE + 4 * GAP_OF_COLUMNS;
            style.width.checked_sub(others).filter(|&room| room >= LEAST_MISTAKE)
        };
        let files = (least..=wanted).rev().map(|file| (file, longest_place));
        let places = (LEAST_PLACE.min(longest_place)..longest_place).rev().map(|place| (least, place));
        let fitting = files.chain(places).find(|&(file, place)| room(file, place).is_some());
        let (file, place) = fitting.unwrap_or((least, longest_place));
        FileRows {
            file,
            place,
            mistake: room(file, place).map(|room| room.min(MOST_MISTAKE)),
            width: style.width,
            colour: style.colour,
            charset: style.charset,
        }
    }

    /// The head of all rows.
    pub fn head(&self) -> String {
        let [file, _, place, mistake, confidence] = HEAD_OF_FILES.map(String::from);
        let row = FileRow { file, verdict: HEAD_OF_FILES[1], place, ..FileRow::default() };
        let row = if self.mistake.is_some() { FileRow { mistake, confidence, ..row } } else { row };
        self.written(&row, None)
    }

    /// The lines of one file: one, or several where the mistakes are too long for it.
    pub fn row(&self, row: &FileRow) -> String {
        let colour = match row.verdict {
            "right" => Color::Green,
            "wrong" => Color::Red,
            _ => Color::Yellow,
        };
        self.written(row, Some(colour))
    }

    fn written(&self, row: &FileRow, colour: Option<Color>) -> String {
        let spelled = |cell: &str| self.charset.spelled(cell).into_owned();
        let cell = |text: &str, width| Block::coloured(vec![cut(&spelled(text), width)], width);
        let mut verdict = cell(row.verdict, VERDICT);
        if let Some(colour) = colour.filter(|_| self.colour) {
            verdict.lines[0] = verdict.lines[0].color(colour).to_string();
        }
        let mut cells = vec![cell(&visible(&row.file), self.file), verdict, cell(&row.place, self.place)];
        let (mistake, confidence) = (spelled(&row.mistake), spelled(&row.confidence));
        let mut below = Vec::new();
        if let Some(room) = self.mistake {
            let mistake = Block::coloured(wrapped_text(&mistake, room), room);
            cells.extend([mistake, Block::plain(vec![confidence])]);
        } else {
            let indent = INDENT.min(self.width / 4);
            let text = match (&*mistake, &*confidence) {
                ("", _) | (_, "") => mistake + &confidence,
                _ => format!("{mistake} ({confidence})"),
            };
            let lines = wrapped_text(&text, self.width - indent).into_iter().filter(|line| !line.is_empty());
            below.extend(lines.map(|line| format!("{}{line}", " ".repeat(indent))));
        }
        let lines = Block::beside(&cells, GAP_OF_COLUMNS, Level::Tops).lines.into_iter().chain(below);
        lines.map(|line| line.trim_end().to_string()).collect::<Vec<_>>().join("\n")
    }
}

/// The width of the longest address of a computed cell: that of a last row and a last column, with the longest label.
fn longest_address(right: &Graph, charset: Charset) -> usize {
    let of_node = |(node, value): (_, &crate::graph::Node)| {
        let (rows, cols) = (value.shape().rows, value.shape().cols);
        let addresses =
            (0..rows).map(move |row| address_of(right, CellId { node, row, col: cols.saturating_sub(1) }));
        addresses.map(|address| charset.spelled(&address).width()).max().unwrap_or(0)
    };
    right.nodes().filter(|(_, node)| !node.op.is_given()).map(of_node).max().unwrap_or(0)
}

/// A text in lines of at most this many columns, words left whole.
pub fn wrapped_text(text: &str, width: usize) -> Vec<String> {
    let options = textwrap::Options::new(width.max(1))
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}

/// A text in at most this many columns, two or more; two dots stand for what is left out.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    format!("{}..", plane::cut(text, width.saturating_sub(2)))
}

#[cfg(test)]
mod tests {
    use crate::render::{Charset, Format, Heat};

    use super::*;

    fn style() -> Style {
        Style {
            format: Format::Table,
            places: None,
            width: 80,
            colour: false,
            charset: Charset::Utf8,
            heat: Heat::Never,
            theme: crate::render::Theme::Light,
            convention: crate::graph::Convention::Rows,
        }
    }

    fn view(name: &str, rows: &[&str], cols: &[&str]) -> View {
        let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<String>>();
        let cell =
            |i: usize, j: usize| Cell { text: format!("{i}.{j}"), shade: Default::default(), of: None };
        let cells = (0..rows.len()).map(|i| (0..cols.len()).map(|j| cell(i, j)).collect()).collect();
        View::new(name.into(), owned(rows), owned(cols), cells)
    }

    #[test]
    fn matrices_of_the_same_tokens_share_a_frame_and_its_names() {
        let (s, a) = (view("S", &["the", "art"], &["the", "art"]), view("A_masked", &["the", "art"], &["1"]));
        let blocks = joint(&[&s, &a], 40, &style());
        assert_eq!(blocks.len(), 1);
        let lines: Vec<&str> = blocks[0].lines.iter().map(String::as_str).collect();
        assert_eq!(
            lines,
            [
                "╭─────┬─ S ───────┬─ A_masked ─╮",
                "│     │ the   art │          1 │",
                "├─────┼───────────┼────────────┤",
                "│ the │ 0.0   0.1 │        0.0 │",
                "│ art │ 1.0   1.1 │        1.0 │",
                "╰─────┴───────────┴────────────╯",
            ]
        );
        assert_eq!(blocks[0].width, 32);
    }

    #[test]
    fn a_table_keeps_its_heads_where_its_columns_move_together_or_stand_in_bands() {
        let heads: Vec<String> = (1..=12).map(|head| head.to_string()).collect();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let grid = View { keeps_heads: true, ..view("layer", &["1", "2"], &heads) };
        for width in [40, 60, 70, 80, 81, 200] {
            let blocks = matrices(&[&grid], width, &style());
            let lines: Vec<&String> = blocks.iter().flat_map(|block| &block.lines).collect();
            let mut shown: Vec<&str> = Vec::new();
            for line in lines.iter().filter(|line| line.starts_with("│ layer │")) {
                shown.extend(line.split([' ', '│']).filter(|head| !head.is_empty() && *head != "layer"));
            }
            assert_eq!(shown, heads, "{width}: {lines:#?}");
            assert!(blocks.iter().all(|block| block.width <= width), "{width}: {lines:#?}");
        }
    }

    #[test]
    fn columns_that_only_count_have_no_head_and_other_tokens_another_frame() {
        let views = [
            view("Q", &["the"], &["1", "2"]),
            view("K", &["the"], &["1", "2"]),
            view("V", &["of"], &["1", "2"]),
        ];
        let views: Vec<&View> = views.iter().collect();
        let blocks = joint(&views, 60, &style());
        assert_eq!(blocks.len(), 2);
        assert_eq!(
            blocks[0].lines,
            [
                "╭─────┬─ Q ───────┬─ K ───────╮",
                "│ the │ 0.0   0.1 │ 0.0   0.1 │",
                "╰─────┴───────────┴───────────╯"
            ]
        );
        assert!(blocks[1].lines[0].starts_with("╭────┬"), "{:?}", blocks[1].lines);
    }

    #[test]
    fn a_text_is_broken_between_words_and_a_word_without_room_between_characters() {
        let lines = |text: &str, width| {
            let lines = row_lines(&[unshaded(text)], &[Column::of_words(width)], &style());
            lines.iter().map(|line| line.trim_matches(['│', ' '])).collect::<Vec<_>>().join("|")
        };
        assert_eq!(lines("the bat sleeps", 20), "the bat sleeps");
        assert_eq!(lines("the bat sleeps", 7), "the bat|sleeps");
        assert_eq!(lines("a\nb", 7), "a|b");
        assert_eq!(lines("a b abcdefghijk", 8), "a b abcd|efghijk");
        assert_eq!(lines("abcde abcdefghijk", 8), "abcde|abcdefgh|ijk");
        assert_eq!(lines("洞穴洞穴", 4), "洞穴|洞穴");
        assert_eq!(lines("洞穴", 1), "洞|穴");
        assert_eq!(lines(&"e\u{301}".repeat(3), 2), "e\u{301}e\u{301}|e\u{301}");
    }
}
