//! One matrix: its name, frozen labels, and as many rows and columns around the marked ones as there is room for.

use std::collections::BTreeMap;
use std::iter::repeat;
use std::ops::Range;

use attn_story::render::heat::{Shade, ShadeColours, shades};
use attn_story::render::view::{Cell, View};
use attn_story::render::{digits, number_alone};

use crate::foreign::visible;
use crate::graph::{CellId, Graph, NodeId};
use crate::matrix::{Labels, Matrix};
use crate::story::Digits;
use crate::terminal::{Cells, Rect, Style};
use crate::text::{CUT, ScreenWidth};

use super::{BOLD, Board, Hit, Mark, PLAIN};

/// The rows above the numbers of a matrix: its name, and the labels of its columns.
pub(super) const HEAD: usize = 2;
/// The most columns of a label.
const LONGEST_LABEL: usize = 12;
/// The most columns that are looked at for the width of a number.
const MOST_MEASURED: usize = 24;
/// From this height on there is room for a rule.
const HEIGHT_WITH_RULE: usize = 8;
/// The columns of the marks of a number, before it and behind it.
const MARKS: usize = 2;
/// What stands before the old numbers of a row: without colour, too, they can be told from those of today.
const WAS: &str = "was";

/// A matrix in a place of the wall.
pub(super) struct Shown<'a> {
    pub board: &'a Board<'a>,
    pub graph: &'a Graph,
    pub node: NodeId,
    /// Whether it is shown transposed, as in `Q · Kᵀ`.
    pub turned: bool,
    /// The name above it.
    pub title: String,
    /// Whether it is of the state that is shown beside this one, which has nodes of its own.
    pub is_beside: bool,
}

/// The widths of a matrix on the screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Widths {
    label: usize,
    number: usize,
    columns: usize,
    title: usize,
}

impl Widths {
    /// The width in which this many columns fit.
    pub fn with(self, columns: usize) -> usize {
        (self.label + columns.min(self.columns) * (self.number + MARKS)).max(self.title)
    }

    /// The width in which all columns fit.
    pub fn whole(self) -> usize {
        self.with(self.columns)
    }

    /// Where a column begins.
    fn start(self, column: usize) -> usize {
        self.label + column * (self.number + MARKS)
    }

    /// The number of columns that fit.
    pub fn fitting(self, width: usize) -> usize {
        (width.saturating_sub(self.label) / (self.number + MARKS)).clamp(1, self.columns.max(1))
    }
}

impl Shown<'_> {
    /// Rows and columns as they are shown.
    pub fn size(&self) -> (usize, usize) {
        let shape = self.graph[self.node].shape();
        if self.turned { (shape.cols, shape.rows) } else { (shape.rows, shape.cols) }
    }

    /// The line in the middle of its numbers, where a sign beside it stands; of many rows the third one.
    pub fn middle(&self, height: usize) -> usize {
        let rows = self.size().0;
        let head = head(height, rows);
        head + (rows.min(height.saturating_sub(head)).saturating_sub(1) / 2).min(2)
    }

    /// The place of the marked cell as it is shown.
    fn focus(&self) -> (usize, usize) {
        let marks = &self.board.marks;
        let cell = if self.is_beside { Some(marks.cursor) } else { marks.focus(self.node) };
        let (row, col) = cell.map_or((0, 0), |cell| (cell.row, cell.col));
        if self.turned { (col, row) } else { (row, col) }
    }

    /// The numbers in these rows and columns, with their labels; a question mark for each where there is none.
    fn window(&self, rows: Range<usize>, cols: Range<usize>) -> View {
        let (rows, cols) = if self.turned { (cols, rows) } else { (rows, cols) };
        let (node, charset) = (&self.graph[self.node], self.board.screen().charset);
        let named = |labels: Option<&Labels>, range: &Range<usize>| {
            let name = |at: usize| {
                let label = labels.and_then(|labels| labels.get(at)).cloned();
                charset.spelled(&visible(&label.unwrap_or_else(|| (at + 1).to_string()))).into_owned()
            };
            range.clone().map(name).collect()
        };
        let texts = match node.tensor().filter(|tensor| !tensor.is_stored()) {
            Some(tensor) => {
                let at = |i, j| tensor.number(rows.start + i, cols.start + j).unwrap_or(f64::NAN);
                let numbers = Matrix::from_fn(rows.len(), cols.len(), at);
                digits::cells(&numbers, Digits::Places(self.board.state.decimals()), charset)
            }
            None => vec!["?".to_string(); rows.len() * cols.len()],
        };
        let places = |range: &Range<usize>| range.clone().collect::<Vec<usize>>();
        let shaded = shades(self.graph, self.node, &places(&rows), &places(&cols));
        let mut shown = texts.into_iter().zip(shaded.into_iter().chain(repeat(Shade::None)));
        let mut cell = |row: usize, col: usize| {
            let (text, shade) = shown.next().unwrap_or_default();
            Cell { text, shade, of: Some(CellId { node: self.node, row, col }) }
        };
        let cells = rows.clone().map(|row| cols.clone().map(|col| cell(row, col)).collect()).collect();
        let (row_labels, col_labels) = node.labels();
        let view = View::new(String::new(), named(row_labels, &rows), named(col_labels, &cols), cells);
        if self.turned { view.turned() } else { view }
    }

    /// The rows that are shown in this height.
    fn rows(&self, height: usize) -> Range<usize> {
        let rows = self.size().0;
        around(self.focus().0, rows, height.saturating_sub(head(height, rows)).max(1))
    }

    /// What a cell is to the number under the cursor.
    fn mark(&self, cell: CellId) -> Mark {
        let marks = &self.board.marks;
        if !self.is_beside {
            marks.mark(cell)
        } else if (cell.row, cell.col) == (marks.cursor.row, marks.cursor.col) {
            Mark::Cursor
        } else {
            Mark::None
        }
    }

    /// The widths, measured on the rows that are shown and the columns around the marked one.
    pub fn widths(&self, height: usize) -> Widths {
        let (_, columns) = self.size();
        let measured = around(self.focus().1, columns, MOST_MEASURED);
        let window = self.window(self.rows(height), measured);
        let longest = |labels: &[String], most: usize| {
            labels.iter().map(|label| label.width()).max().unwrap_or(0).min(most)
        };
        let number = window.cells.iter().flatten().map(|cell| cell.text.trim().width()).max().unwrap_or(1);
        let was = if self.tells_before() { WAS.len() } else { 0 };
        // A blank column, so that no mark touches a label.
        let label = longest(&window.rows, LONGEST_LABEL).max(was) + 1;
        Widths { label, number: number.max(longest(&window.cols, 8)), columns, title: self.title.width() }
    }

    /// Whether numbers before the last change stand below its rows: it has some, and no matrix beside it shows what they were.
    fn tells_before(&self) -> bool {
        let Board { state, marks, .. } = self.board;
        let is_current = self.node == marks.cursor.node && marks.moved.contains(&self.node);
        !self.turned && !self.is_beside && is_current && state.beside().is_none()
    }

    /// The rows that have moved, each of which can have a line below it: at most this many.
    pub fn moved_rows(&self, most: usize) -> usize {
        let (rows, cols) = self.size();
        let has_moved = |row: usize| {
            (0..cols).any(|col| self.board.state.change_at(CellId { node: self.node, row, col }).is_some())
        };
        if !self.tells_before() || rows > most {
            return 0;
        }
        (0..rows).filter(|row| has_moved(*row)).count()
    }

    /// Draws the matrix, at most this many columns of it; returns where its cells are.
    pub fn draw(&self, cells: &mut Cells, area: Rect, most: usize) -> Vec<Hit> {
        let board = self.board;
        let widths = self.widths(area.height.into());
        let (height, width) = self.size();
        let rows = self.rows(area.height.into());
        let focus = self.focus();
        let cols = around(focus.1, width, widths.fitting(area.width.into()).min(most));
        let window = self.window(rows.clone(), cols.clone());
        let is_current = self.is_beside || self.node == board.marks.cursor.node;
        let style_of = |is_focus: bool| if is_current && is_focus { BOLD } else { board.quiet() };
        let head = head(area.height.into(), height) as u16;
        let title = if is_current { BOLD } else { PLAIN };
        board.put(cells, (area.x, area.y), area.width, &self.title, title);
        if usize::from(head) > HEAD {
            let rule = board.rule(widths.start(cols.len()).min(area.width.into()));
            board.put(cells, (area.x, area.y + 2), area.width, &rule, board.quiet());
        }
        for (j, col) in cols.clone().enumerate() {
            let label = board.cut(&window.cols[j], widths.number);
            let label = format!("{}{label}", " ".repeat(widths.number.saturating_sub(label.width()) + 1));
            let at = (area.x + widths.start(j) as u16, area.y + 1);
            board.put(cells, at, (widths.number + MARKS) as u16, &label, style_of(col == focus.1));
        }
        let spare = usize::from(area.height.saturating_sub(head)).saturating_sub(rows.len());
        let before = self.before(rows.clone(), cols.clone(), spare);
        let mut hits = Vec::new();
        let mut next = area.y + head;
        for (i, row) in rows.clone().enumerate() {
            let y = next;
            if y >= area.y + area.height {
                break;
            }
            next += 1;
            if let Some(old) = before.get(&row) {
                self.draw_before(cells, old, &widths, Rect { y: next, ..area });
                next += 1;
            }
            let label = board.cut(&window.rows[i], widths.label - 1);
            board.put(cells, (area.x, y), area.width, &label, style_of(row == focus.0));
            for (j, shown) in window.cells[i].iter().enumerate() {
                let Some(cell) = shown.of else { continue };
                let x = area.x + widths.start(j) as u16;
                let area = Rect { x, y, width: (widths.number + MARKS) as u16, height: 1 };
                self.draw_number(cells, shown, cell, area);
                hits.push((area, cell));
            }
            let more = match i {
                0 if rows.start > 0 => "^",
                _ if row + 1 == rows.end && rows.end < height => "v",
                _ => continue,
            };
            if area.width > 0 {
                board.put(cells, (area.x + area.width - 1, y), 1, more, board.quiet());
            }
        }
        self.draw_range(cells, area, cols);
        hits
    }

    /// Draws a number with its marks.
    fn draw_number(&self, cells: &mut Cells, shown: &Cell, cell: CellId, area: Rect) {
        let board = self.board;
        let Board { state, marks, .. } = board;
        let is_hidden = marks.hidden == Some(cell) && !self.is_beside;
        let is_chosen = marks.chosen == Some(cell) && !self.is_beside;
        let has_moved =
            !self.is_beside && marks.moved.contains(&self.node) && state.change_at(cell).is_some();
        let text = if is_hidden { "?" } else { shown.text.trim() };
        let is_masked = shown.shade == Shade::Masked && text != "?";
        let hatch = board.spelled(if is_masked { "░" } else { " " });
        let pad = (usize::from(area.width) - MARKS).saturating_sub(text.width());
        let mark = self.mark(cell);
        let (before, behind) = match mark {
            Mark::Cursor => ('>', '<'),
            Mark::First => ('[', ']'),
            Mark::Second => ('(', ')'),
            Mark::Fed => (' ', '\''),
            Mark::None => (' ', ' '),
        };
        // What a number is to the cursor is still told by the mark before it, or by its line below.
        let behind = if has_moved { '*' } else { behind };
        let shade = match shown.shade.look(board.screen().theme).filter(|_| board.screen().colour) {
            // On a shade a reversed number would be the one that is seen least.
            _ if mark == Mark::Cursor => PLAIN,
            Some(ShadeColours { ink, ground, .. }) => Style { ink: Some(ink), ground: Some(ground), ..PLAIN },
            None if is_masked => board.quiet(),
            None => PLAIN,
        };
        let mark = style_of(board, mark);
        // On a shade only its own ink can be read: there the brackets and the weight of the letters are the mark.
        let ground = shade.ground.is_some();
        let style = Style {
            ink: if ground { shade.ink } else { mark.ink.or(shade.ink) },
            bold: mark.bold || is_chosen || has_moved,
            underlined: mark.underlined || is_chosen,
            ..shade.with(mark)
        };
        let text = format!("{before}{}{text}{behind}", hatch.repeat(pad));
        board.put(cells, (area.x, area.y), area.width, &text, style);
    }

    /// The old numbers of these rows, each with its column, in at most as many rows as `spare` has lines: those around the cursor
    /// first.
    fn before(
        &self,
        rows: Range<usize>,
        cols: Range<usize>,
        spare: usize,
    ) -> BTreeMap<usize, Vec<(usize, String)>> {
        let board = self.board;
        if spare == 0 || !self.tells_before() {
            return BTreeMap::new();
        }
        let old = |row: usize, col: usize| {
            let change = board.state.change_at(CellId { node: self.node, row, col })?;
            Some((col - cols.start, board.spelled(&number_alone(change.before, board.state.decimals()))))
        };
        let of_row = |row: usize| (row, cols.clone().filter_map(|col| old(row, col)).collect());
        let mut found: Vec<(usize, Vec<(usize, String)>)> = rows.map(of_row).collect();
        found.retain(|(_, old)| !old.is_empty());
        found.sort_by_key(|(row, _)| row.abs_diff(board.marks.cursor.row));
        found.truncate(spare);
        found.into_iter().collect()
    }

    /// Draws the line of old numbers below a row.
    fn draw_before(&self, cells: &mut Cells, old: &[(usize, String)], widths: &Widths, area: Rect) {
        let board = self.board;
        board.put(cells, (area.x, area.y), area.width, WAS, board.quiet());
        for (column, text) in old {
            // A number without some of its digits would be another one.
            let cut = board.spelled(&CUT.to_string());
            let text = if text.width() > widths.number + 1 { &cut } else { text };
            let end = widths.start(*column) + widths.number + 1;
            let at = (area.x + (end - text.width()) as u16, area.y);
            board.put(cells, at, text.width() as u16, text, board.quiet());
        }
    }

    /// Draws the range of columns that are shown behind the name, where they are not all.
    fn draw_range(&self, cells: &mut Cells, area: Rect, cols: Range<usize>) {
        let board = self.board;
        let width = self.size().1;
        if cols == (0..width) {
            return;
        }
        let before = if cols.start > 0 { "< " } else { "" };
        let behind = if cols.end < width { " >" } else { "" };
        let said = board.spelled(&format!("{before}{}-{} of {width}{behind}", cols.start + 1, cols.end));
        let x = (area.x + self.title.width() as u16 + 2).min(area.x + area.width);
        let room = (area.x + area.width).saturating_sub(x);
        if usize::from(room) >= said.width() {
            board.put(cells, (x, area.y), room, &said, board.quiet());
        }
    }
}

/// The rows above this many rows of numbers: a rule is among them where there is room, and it would not hide the last row.
fn head(height: usize, rows: usize) -> usize {
    if height >= HEIGHT_WITH_RULE && height != rows + HEAD { HEAD + 1 } else { HEAD }
}

/// This many places around one, of `count`.
fn around(place: usize, count: usize, room: usize) -> Range<usize> {
    let room = room.min(count);
    let start = place.saturating_sub(room / 2).min(count - room);
    start..start + room
}

/// The style of a mark: without colour it can be told by brackets, reversal and underlining.
fn style_of(board: &Board<'_>, mark: Mark) -> Style {
    match mark {
        Mark::Cursor => Style { reversed: true, ..BOLD },
        Mark::First => board.coloured(81, 25).with(BOLD),
        Mark::Second => board.coloured(221, 94).with(BOLD),
        Mark::Fed => Style { underlined: true, ..PLAIN },
        Mark::None => PLAIN,
    }
}
