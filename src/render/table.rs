//! Matrices as boxes of lines: each by itself, or those of the same tokens in one frame.

use std::borrow::Cow;
use std::iter::once;
use std::ops::Range;

use colored::{Color, Colorize};
use comfy_table::Color::AnsiValue;
use comfy_table::{
    Attribute, Cell as GridCell, CellAlignment, ColumnConstraint, ContentLineStyle, LineStyle, Table as Grid,
    TableStyle, Width,
};

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

/// Stands between two columns until it is a rule or air; no text has it, since controls are written as escapes.
const JUNCTION: char = '\u{1f}';

/// Round corners, and a rule below the head.
const BOX: TableStyle = TableStyle::new()
    .top_border(LineStyle::new('╭', '─', JUNCTION, '╮'))
    .header_lines(ContentLineStyle::new('│', JUNCTION, '│'))
    .header_separator(LineStyle::new('├', '─', JUNCTION, '┤'))
    .content_lines(ContentLineStyle::new('│', JUNCTION, '│'))
    .bottom_border(LineStyle::new('╰', '─', JUNCTION, '╯'));

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
    /// The side on which its texts stand.
    alignment: CellAlignment,
}

impl Column {
    /// Texts on the left, with air around them.
    fn of_words(text: usize) -> Column {
        Column { text, left: 1, right: 1, is_ruled: false, alignment: CellAlignment::Left }
    }

    fn width(&self) -> usize {
        self.left + self.text + self.right
    }
}

/// A box without rows.
fn new_grid(style: &Style) -> Grid {
    let mut grid = Grid::new();
    grid.load_style(BOX).force_no_tty();
    if style.colour {
        grid.enforce_styling();
    }
    grid
}

/// The columns of a matrix behind a rule, this far apart; the first one with more air before it.
fn number_columns(widths: &[usize], gap: usize, spare: usize) -> impl Iterator<Item = Column> {
    let last = widths.len().saturating_sub(1);
    widths.iter().enumerate().map(move |(j, &text)| Column {
        text,
        left: if j == 0 { 1 + spare } else { gap.saturating_sub(2) },
        right: usize::from(gap > 1 || j == last),
        is_ruled: j == 0,
        alignment: CellAlignment::Right,
    })
}

/// A number, shaded.
fn shaded(cell: &Cell, style: &Style) -> GridCell {
    let number = GridCell::new(&cell.text);
    let Some(look) = cell.shade.look(style.theme) else { return number };
    let number = number.fg(AnsiValue(look.ink)).bg(AnsiValue(look.ground));
    if look.bold { number.add_attribute(Attribute::Bold) } else { number }
}

/// The lines of a box with columns of these widths.
fn boxed(mut grid: Grid, columns: &[Column]) -> Block {
    let narrow = |width: usize| u16::try_from(width).unwrap_or(u16::MAX);
    for (drawn, column) in grid.column_iter_mut().zip(columns) {
        // A text has a column of the screen even where it is empty: one of the spaces behind it.
        let right = column.right.saturating_sub(usize::from(column.text == 0));
        drawn.set_padding((narrow(column.left), narrow(right)));
        drawn.set_constraint(ColumnConstraint::Absolute(Width::Fixed(narrow(column.width()))));
        drawn.set_cell_alignment(column.alignment);
    }
    let lines = grid.lines().map(|line| ruled(&line, columns)).collect();
    Block { lines, width: columns.iter().map(|column| column.width() + 1).sum::<usize>() + 1 }
}

/// The line with rules between some of its columns, and bold type before the colours of a cell.
fn ruled(line: &str, columns: &[Column]) -> String {
    const BOLD: &str = "\x1b[1m";
    let (rule, air) = match line.chars().next() {
        Some('╭') => ('┬', '─'),
        Some('├') => ('┼', '─'),
        Some('╰') => ('┴', '─'),
        _ => ('│', ' '),
    };
    let mut out = String::with_capacity(line.len() + 2 * columns.len());
    for (j, (cell, column)) in line.split(JUNCTION).zip(columns).enumerate() {
        if j > 0 {
            out.push(if column.is_ruled { rule } else { air });
        }
        match cell.split_once(BOLD) {
            Some((colours, text)) => out.extend([BOLD, colours, text]),
            None => out.push_str(cell),
        }
    }
    out
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
    let mut grid = new_grid(style);
    if !views.iter().all(|view| view.has_plain_columns()) {
        let names = views.iter().flat_map(|view| &view.cols);
        grid.set_header(once("").chain(names.map(String::as_str)));
    }
    let names = views.first().map_or(&[][..], |view| &view.rows);
    grid.add_rows(names.iter().enumerate().map(|(i, name)| {
        let cells = views.iter().flat_map(move |view| &view.cells[i]);
        once(GridCell::new(name)).chain(cells.map(|cell| shaded(cell, style)))
    }));
    let columns = views.iter().flat_map(|view| {
        let spare = part_width(view, gap) - view.columns_width(gap);
        number_columns(view.column_widths(), gap, spare)
    });
    let first = Column::of_words(label_width(views));
    let mut block = boxed(grid, &once(first).chain(columns).collect::<Vec<_>>());
    if let Some(top) = block.lines.first_mut() {
        *top = upper_edge(views, gap);
    }
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
    let mut grid = new_grid(style);
    grid.set_header(once(&view.name).chain(&view.cols[places.clone()]));
    grid.add_rows(view.rows.iter().zip(&view.cells).map(|(label, cells)| {
        once(GridCell::new(label)).chain(cells[places.clone()].iter().map(|cell| shaded(cell, style)))
    }));
    let label = Column::of_words(view.label_width());
    let columns = once(label).chain(number_columns(&view.column_widths()[places.clone()], gap, 0));
    let block = boxed(grid, &columns.collect::<Vec<_>>());
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
    let row_of = |row: &[String]| {
        let cell = |(&j, &width): (&usize, &usize)| broken_name(row.get(j).map_or("", String::as_str), width);
        columns.iter().zip(&widths).map(cell).collect::<Vec<_>>()
    };
    let mut grid = new_grid(style);
    grid.set_header(row_of(&table.header)).add_rows(table.rows.iter().map(|row| row_of(row)));
    let column = |(j, &text)| {
        let words = Column::of_words(text);
        if table.numbers.contains(j) { Column { alignment: CellAlignment::Right, ..words } } else { words }
    };
    boxed(grid, &columns.iter().zip(&widths).map(column).collect::<Vec<_>>())
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
        let word = padded(row.verdict, VERDICT);
        let word = match colour {
            Some(colour) if self.colour => word.color(colour).to_string(),
            _ => word,
        };
        let gap = " ".repeat(GAP_OF_COLUMNS);
        let [file, place] =
            [padded(&spelled(&visible(&row.file)), self.file), padded(&spelled(&row.place), self.place)];
        let head = format!("{file}{gap}{word}{gap}{place}{gap}");
        let (mistake, confidence) = (spelled(&row.mistake), spelled(&row.confidence));
        let Some(room) = self.mistake else {
            let confidence = if mistake.is_empty() || confidence.is_empty() {
                confidence
            } else {
                format!(" ({confidence})")
            };
            let indent = INDENT.min(self.width / 4);
            let below = wrapped_text(&format!("{mistake}{confidence}"), self.width - indent);
            let below = below.iter().filter(|part| !part.is_empty());
            let below = below.map(|part| format!("\n{}{part}", " ".repeat(indent)));
            return format!("{}{}", head.trim_end(), below.collect::<String>());
        };
        let column = self.file + VERDICT + self.place + 3 * GAP_OF_COLUMNS;
        let mut parts = wrapped_text(&mistake, room).into_iter();
        let first = padded(&parts.next().unwrap_or_default(), room);
        let mut text = format!("{head}{first}{gap}{confidence}").trim_end().to_string();
        for part in parts {
            text.push_str(&format!("\n{}{part}", " ".repeat(column)));
        }
        text
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

/// A text in exactly this many columns.
fn padded(text: &str, width: usize) -> String {
    let text = cut(text, width);
    let space = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(space))
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
            let mut grid = new_grid(&style());
            grid.add_row([text]);
            let lines = boxed(grid, &[Column::of_words(width)]).lines;
            let texts = lines[1..lines.len() - 1].iter().map(|line| line.trim_matches(['│', ' ']));
            texts.collect::<Vec<_>>().join("|")
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
