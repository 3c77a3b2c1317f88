//! One matrix: its name, frozen labels, and as many rows and columns around the marked ones as there is room for.

use std::collections::BTreeMap;
use std::ops::Range;

use attn_story::render::number_alone;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

use crate::graph::{CellId, Graph, NodeId};
use crate::render::{Charset, Shading, WindowOfMatrix, window_of_matrix};
use crate::text::{CUT, ScreenWidth};

use super::{Board, Hit, Mark, Marks, put};

/// The rows above the numbers of a matrix: its name, and the labels of its columns.
pub(super) const HEAD: usize = 2;
/// The most columns of a label.
const LONGEST_LABEL: usize = 12;
/// The most columns that are looked at for the width of a number.
const MOST_MEASURED: usize = 24;
/// From this height on there is room for a rule.
const HEIGHT_WITH_RULE: usize = 8;

/// A matrix in a place of the wall.
pub(super) struct Shown<'a> {
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

    /// The number of columns that fit.
    fn fitting(self, width: usize) -> usize {
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
    fn focus(&self, marks: &Marks) -> (usize, usize) {
        let cell = if self.is_beside { Some(marks.cursor) } else { marks.focus(self.node) };
        let (row, col) = cell.map_or((0, 0), |cell| (cell.row, cell.col));
        if self.turned { (col, row) } else { (row, col) }
    }

    fn window(&self, board: &Board<'_>, (rows, cols): (Range<usize>, Range<usize>)) -> WindowOfMatrix {
        let look = (board.look.charset, board.look.theme);
        let ranges = if self.turned { (cols, rows) } else { (rows, cols) };
        let window = window_of_matrix(self.graph, self.node, ranges, board.state.decimals(), look);
        if self.turned { turned(window) } else { window }
    }

    /// The rows that are shown in this height.
    fn rows(&self, marks: &Marks, height: usize) -> Range<usize> {
        let rows = self.size().0;
        around(self.focus(marks).0, rows, height.saturating_sub(head(height, rows)).max(1))
    }

    /// What a cell is to the number under the cursor.
    fn mark(&self, marks: &Marks, cell: CellId) -> Mark {
        if !self.is_beside {
            marks.mark(cell)
        } else if (cell.row, cell.col) == (marks.cursor.row, marks.cursor.col) {
            Mark::Cursor
        } else {
            Mark::None
        }
    }

    /// The widths, measured on the rows that are shown and the columns around the marked one.
    pub fn widths(&self, board: &Board<'_>, marks: &Marks, height: usize) -> Widths {
        let (_, columns) = self.size();
        let measured = around(self.focus(marks).1, columns, MOST_MEASURED);
        let window = self.window(board, (self.rows(marks, height), measured));
        let longest = |labels: &[String], most: usize| {
            labels.iter().map(|label| label.width()).max().unwrap_or(0).min(most)
        };
        let number = window.texts.iter().flatten().map(|text| text.trim().width()).max().unwrap_or(1);
        let was = if self.tells_before(board, marks) { WAS.len() } else { 0 };
        // A blank column, so that no mark touches a label.
        let label = longest(&window.rows, LONGEST_LABEL).max(was) + 1;
        Widths { label, number: number.max(longest(&window.cols, 8)), columns, title: self.title.width() }
    }

    /// Whether numbers before the last change stand below its rows.
    fn tells_before(&self, board: &Board<'_>, marks: &Marks) -> bool {
        !self.turned && !self.is_beside && is_told(board, marks, self.node)
    }

    /// The rows that have moved, each of which can have a line below it: at most this many.
    pub fn moved_rows(&self, board: &Board<'_>, marks: &Marks, most: usize) -> usize {
        let (rows, cols) = self.size();
        let has_moved = |row: usize| {
            (0..cols).any(|col| board.state.change_at(CellId { node: self.node, row, col }).is_some())
        };
        if !self.tells_before(board, marks) || rows > most {
            return 0;
        }
        (0..rows).filter(|row| has_moved(*row)).count()
    }

    /// The number of columns that this width shows.
    pub fn columns_in(&self, board: &Board<'_>, marks: &Marks, (width, height): (usize, usize)) -> usize {
        self.widths(board, marks, height).fitting(width)
    }

    /// Draws the matrix, at most this many columns of it; returns where its cells are.
    pub fn draw(
        &self,
        board: &Board<'_>,
        marks: &Marks,
        buffer: &mut Buffer,
        (area, most): (Rect, usize),
    ) -> Vec<Hit> {
        let look = board.look;
        let widths = self.widths(board, marks, area.height.into());
        let (height, width) = self.size();
        let rows = self.rows(marks, area.height.into());
        let cols = around(self.focus(marks).1, width, widths.fitting(area.width.into()).min(most));
        let window = self.window(board, (rows.clone(), cols.clone()));
        let is_current = self.is_beside || self.node == marks.cursor.node;
        let head = head(area.height.into(), height) as u16;
        let bold = Style::new().add_modifier(Modifier::BOLD);
        put(
            look,
            buffer,
            area.x,
            area.y,
            area.width,
            &self.title,
            if is_current { bold } else { Style::new() },
        );
        let mut hits = Vec::new();
        let focus = self.focus(marks);
        if usize::from(head) > HEAD {
            let rule = if look.charset == Charset::Ascii { "-" } else { "─" };
            let columns = cols.len() * (widths.number + MARKS);
            let rule = rule.repeat((widths.label + columns).min(area.width.into()));
            put(look, buffer, area.x, area.y + 2, area.width, &rule, look.quiet());
        }
        for (j, col) in cols.clone().enumerate() {
            let x = area.x + (widths.label + j * (widths.number + MARKS)) as u16;
            let style = if is_current && col == focus.1 { bold } else { look.quiet() };
            let label = look.cut(&window.cols[j], widths.number);
            let label = format!("{}{label}", " ".repeat(widths.number.saturating_sub(label.width()) + 1));
            put(look, buffer, x, area.y + 1, (widths.number + MARKS) as u16, &label, style);
        }
        let spare = usize::from(area.height.saturating_sub(head)).saturating_sub(rows.len());
        let spare = if self.tells_before(board, marks) { spare } else { 0 };
        let before = Before::of(board, marks, self.node, (rows.clone(), cols.clone()), spare);
        let mut next = area.y + head;
        for (i, row) in rows.clone().enumerate() {
            let y = next;
            if y >= area.y + area.height {
                break;
            }
            let below = Rect { y: y + 1, height: 1, ..area };
            let widths_of = (widths.label, widths.number);
            next += 1 + before.draw(board, buffer, (row, cols.start), widths_of, below);
            let more = if i == 0 && rows.start > 0 {
                '^'
            } else if row + 1 == rows.end && rows.end < height {
                'v'
            } else {
                ' '
            };
            let style = if is_current && row == focus.0 { bold } else { look.quiet() };
            let label = look.cut(&window.rows[i], widths.label - 1);
            put(look, buffer, area.x, y, area.width, &label, style);
            for (j, col) in cols.clone().enumerate() {
                let x = area.x + (widths.label + j * (widths.number + MARKS)) as u16;
                let (row, col) = if self.turned { (col, row) } else { (row, col) };
                let cell = CellId { node: self.node, row, col };
                let number = Number {
                    text: if marks.hidden == Some(cell) && !self.is_beside {
                        "?"
                    } else {
                        window.texts[i][j].trim()
                    },
                    shading: window.shades[i][j],
                    width: widths.number,
                    mark: self.mark(marks, cell),
                    is_chosen: marks.chosen == Some(cell) && !self.is_beside,
                    has_moved: !self.is_beside
                        && marks.moved.contains(&self.node)
                        && board.state.change_at(cell).is_some(),
                };
                number.draw(board, buffer, (x, y));
                hits.push(Hit {
                    area: Rect { x, y, width: (widths.number + MARKS) as u16, height: 1 },
                    cell,
                });
            }
            if more != ' ' && area.width > 0 {
                put(look, buffer, area.x + area.width - 1, y, 1, &more.to_string(), look.quiet());
            }
        }
        self.draw_range(board, buffer, area, cols);
        hits
    }

    /// Draws the range of columns that are shown behind the name, where they are not all.
    fn draw_range(&self, board: &Board<'_>, buffer: &mut Buffer, area: Rect, cols: Range<usize>) {
        let (look, width) = (board.look, self.size().1);
        let beyond = (cols.start > 0, cols.end < width);
        if beyond.0 || beyond.1 {
            let said = format!(
                "{}{}-{} of {width}{}",
                if beyond.0 { "< " } else { "" },
                cols.start + 1,
                cols.end,
                if beyond.1 { " >" } else { "" }
            );
            let said = look.spelled(&said);
            let x = (area.x + self.title.width() as u16 + 2).min(area.x + area.width);
            let room = (area.x + area.width).saturating_sub(x);
            if room as usize >= said.width() {
                put(look, buffer, x, area.y, room, &said, look.quiet());
            }
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

fn turned(window: WindowOfMatrix) -> WindowOfMatrix {
    let WindowOfMatrix { rows, cols, texts, shades } = window;
    let transposed = |i: usize| texts.iter().map(|row| row[i].clone()).collect();
    let texts_turned = (0..cols.len()).map(transposed).collect();
    let shades_turned = (0..cols.len()).map(|i| shades.iter().map(|row| row[i]).collect()).collect();
    WindowOfMatrix { rows: cols, cols: rows, texts: texts_turned, shades: shades_turned }
}

// The numbers before the last change, below the rows of the current matrix, where there are lines for them.

/// What stands before the old numbers of a row: without colour, too, they can be told from those of today.
pub(super) const WAS: &str = "was";

/// The old numbers, by row and column.
#[derive(Debug, Default)]
pub(super) struct Before {
    rows: BTreeMap<usize, BTreeMap<usize, String>>,
}

/// Whether a matrix has numbers that moved, and no matrix beside it shows what they were.
pub(super) fn is_told(board: &Board<'_>, marks: &Marks, node: NodeId) -> bool {
    node == marks.cursor.node && marks.moved.contains(&node) && board.state.beside().is_none()
}

impl Before {
    /// The old numbers of these rows and columns, in at most as many rows as `spare` has lines: those around the cursor first.
    pub fn of(
        board: &Board<'_>,
        marks: &Marks,
        node: NodeId,
        (rows, cols): (Range<usize>, Range<usize>),
        spare: usize,
    ) -> Before {
        if spare == 0 || !is_told(board, marks, node) {
            return Before::default();
        }
        let old = |row: usize, col: usize| {
            let change = board.state.change_at(CellId { node, row, col })?;
            Some((col, board.look.spelled(&number_alone(change.before, board.state.decimals()))))
        };
        let of_row = |row: usize| (row, cols.clone().filter_map(|col| old(row, col)).collect());
        let mut found: Vec<(usize, BTreeMap<usize, String>)> = rows.map(of_row).collect();
        found.retain(|(_, old)| !old.is_empty());
        found.sort_by_key(|(row, _)| row.abs_diff(marks.cursor.row));
        found.truncate(spare);
        Before { rows: found.into_iter().collect() }
    }

    /// Draws the line below a row, if it has one; returns its height. `number` is the width of a number, `area` begins with the labels.
    pub fn draw(
        &self,
        board: &Board<'_>,
        buffer: &mut Buffer,
        (row, first): (usize, usize),
        (label, number): (usize, usize),
        area: Rect,
    ) -> u16 {
        let Some(old) = self.rows.get(&row) else { return 0 };
        let look = board.look;
        put(look, buffer, area.x, area.y, area.width, WAS, look.quiet());
        for (col, text) in old {
            // A number without some of its digits would be another one.
            let text = if text.width() > number + 1 { look.spelled(&CUT.to_string()) } else { text.clone() };
            let end = label + (col - first) * (number + MARKS) + number + 1;
            let x = area.x + (end - text.width()) as u16;
            put(look, buffer, x, area.y, text.width() as u16, &text, look.quiet());
        }
        1
    }
}

// One number of a matrix, with the marks before and behind it.

/// The columns of the marks.
pub(super) const MARKS: usize = 2;

/// A number with its marks.
pub(super) struct Number<'a> {
    pub text: &'a str,
    pub shading: Shading,
    pub width: usize,
    pub mark: Mark,
    pub is_chosen: bool,
    pub has_moved: bool,
}

impl Number<'_> {
    /// Draws it, where its first mark stands.
    pub fn draw(&self, board: &Board<'_>, buffer: &mut Buffer, (x, y): (u16, u16)) {
        let look = board.look;
        let is_masked = self.shading.is_masked && self.text != "?";
        let hatch = look.spelled(if is_masked { "░" } else { " " });
        let pad = self.width.saturating_sub(self.text.width());
        let padded = format!("{}{}", hatch.repeat(pad), self.text);
        let (before, behind) = match self.mark {
            Mark::Cursor => ('>', '<'),
            Mark::First => ('[', ']'),
            Mark::Second => ('(', ')'),
            Mark::Fed => (' ', '\''),
            Mark::None => (' ', ' '),
        };
        // What a number is to the cursor is still told by the mark before it, or by its line below.
        let behind = if self.has_moved { '*' } else { behind };
        let shade = match self.shading.colours.filter(|_| look.colour) {
            // On a shade a reversed number would be the one that is seen least.
            _ if self.mark == Mark::Cursor => Style::new(),
            Some((ink, ground)) => Style::new().fg(Color::Indexed(ink)).bg(Color::Indexed(ground)),
            None if is_masked => look.quiet(),
            None => Style::new(),
        };
        let mark = style_of(board, self.mark);
        // On a shade only its own ink can be read: there the brackets and the weight of the letters are the mark.
        let mut style =
            if shade.bg.is_some() { shade.add_modifier(mark.add_modifier) } else { shade.patch(mark) };
        if self.is_chosen {
            style = style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        }
        if self.has_moved {
            style = style.add_modifier(Modifier::BOLD);
        }
        put(look, buffer, x, y, (self.width + MARKS) as u16, &format!("{before}{padded}{behind}"), style);
    }
}

/// The style of a mark: without colour it can be told by brackets, reversal and underlining.
fn style_of(board: &Board<'_>, mark: Mark) -> Style {
    let look = board.look;
    match mark {
        Mark::Cursor => Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD),
        Mark::First => {
            look.coloured(Style::new(), Color::Indexed(81), Color::Indexed(25)).add_modifier(Modifier::BOLD)
        }
        Mark::Second => {
            look.coloured(Style::new(), Color::Indexed(221), Color::Indexed(94)).add_modifier(Modifier::BOLD)
        }
        Mark::Fed => Style::new().add_modifier(Modifier::UNDERLINED),
        Mark::None => Style::new(),
    }
}
