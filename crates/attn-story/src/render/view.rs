//! A matrix as a text format shows it: name, labels, texts and shades, and their widths.

use std::cell::OnceCell;

use super::heat::{Heat, Shade, shade_of_share, shades};
use super::{Charset, Style, digits};
use crate::graph::{CellId, Convention, Node, NodeId, Op, PlainSymbols, Symbols, Value, written};
use crate::matrix::{Labels, Matrix, Shape};
use crate::story::{Digits, Story, Table};
use crate::tensor::{MOST_LOOKED_AT, MOST_SHOWN};
use crate::text::ScreenWidth;

/// The part of a matrix that a text format shows.
#[derive(Clone, Debug)]
pub struct View {
    /// The name, with ᵀ where it is turned.
    pub name: String,
    /// A label for each row.
    pub rows: Vec<String>,
    /// A label for each column.
    pub cols: Vec<String>,
    /// The texts, row by row.
    pub cells: Vec<Vec<Cell>>,
    /// The notes beside the rows; empty if no row has one.
    pub notes: Vec<String>,
    /// True if its heads are written even where they only count: those of a table say what its columns are, such as heads.
    pub keeps_heads: bool,
    /// The widths of its columns, heads included, once they have been asked for: of a large matrix they take time.
    pub widths: OnceCell<Vec<usize>>,
}

/// A text, its shade, and whose text it is.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The text.
    pub text: String,
    /// The shade.
    pub shade: Shade,
    /// The cell of the graph that is looked at; `None` for a place that is left empty.
    pub of: Option<CellId>,
}

/// The name of the sums of several columns.
pub const SUM: &str = "sum";
/// The mark for rows and columns that are left out.
pub const ELIDED: &str = "…";
/// The indent of the parts of a step, in columns.
pub const INDENT: usize = 3;
/// The lines of a box and the air within them, beside the texts.
pub const FRAME: usize = 7;
/// The character that draws masked cells.
pub const HATCH: char = '░';

impl View {
    /// A matrix without notes.
    pub fn new(name: String, rows: Vec<String>, cols: Vec<String>, cells: Vec<Vec<Cell>>) -> View {
        View { name, rows, cols, cells, notes: Vec::new(), keeps_heads: false, widths: OnceCell::new() }
    }

    /// A table whose cells are shaded by their shares: its first column names the rows.
    pub fn of_shares(table: &Table, style: &Style) -> View {
        let cell = |text: &String, share: Option<f64>| {
            let shade = share.filter(|_| style.heat != Heat::Never).map_or(Shade::None, shade_of_share);
            let bar = shade.bar().unwrap_or(' ');
            let text = if style.heat == Heat::Always { format!("{text} {bar}") } else { text.clone() };
            Cell { text, shade, of: None }
        };
        let row = |(row, shares): (&Vec<String>, &Vec<Option<f64>>)| {
            row.iter().zip(shares).skip(1).map(|(text, &share)| cell(text, share)).collect()
        };
        let rows = table.rows.iter().filter_map(|row| row.first().cloned()).collect();
        let cols = table.header.iter().skip(1).cloned().collect();
        let cells = table.rows.iter().zip(&table.shares).map(row).collect();
        let view = View::new(table.header.first().cloned().unwrap_or_default(), rows, cols, cells);
        View { keeps_heads: true, ..view }.in_charset(style.charset)
    }

    /// The width of the labels of its rows, or of the name above them.
    pub fn label_width(&self) -> usize {
        self.rows_width().max(self.name_width())
    }

    /// The width of the labels of its rows.
    pub fn rows_width(&self) -> usize {
        self.rows.iter().map(|label| label.widest_line()).max().unwrap_or(0)
    }

    /// The width of its name.
    pub fn name_width(&self) -> usize {
        self.name.width()
    }

    /// The widths of its columns, their heads included.
    pub fn column_widths(&self) -> &[usize] {
        self.widths.get_or_init(|| {
            let mut widths: Vec<usize> = self.cols.iter().map(|head| head.widest_line()).collect();
            for row in &self.cells {
                for (width, cell) in widths.iter_mut().zip(row) {
                    *width = cell.text.widest_line().max(*width);
                }
            }
            widths
        })
    }

    /// The width of its columns together, at this distance.
    pub fn columns_width(&self, gap: usize) -> usize {
        self.column_widths().iter().sum::<usize>() + gap * self.cols.len().saturating_sub(1)
    }

    /// The width of a box for its widest column.
    pub fn least_box_width(&self) -> usize {
        self.label_width() + FRAME + self.column_widths().iter().max().unwrap_or(&0)
    }

    /// The width of its box, with columns at this distance.
    pub fn box_width(&self, gap: usize) -> usize {
        self.label_width() + FRAME + self.columns_width(gap)
    }

    /// The width of its box if each of its numbers were a single digit.
    pub fn heads_width(&self, gap: usize) -> usize {
        let heads = self.cols.iter().map(|head| head.widest_line().max(1) + gap);
        (self.label_width() + FRAME + heads.sum::<usize>()).saturating_sub(gap)
    }

    /// Its columns as rows, and apart from them its last row, where that holds their sums.
    pub fn as_rows(&self) -> (View, Option<View>) {
        let mut rows = View { name: String::new(), ..self.clone().turned() };
        if rows.cols.last().is_none_or(|name| name != SUM) {
            return (rows, None);
        }
        rows.cols.pop();
        let sums = rows.cells.iter_mut().map(|cells| cells.pop().into_iter().collect()).collect();
        let names = rows.rows.clone();
        (rows, Some(View::new(SUM.to_string(), names, vec!["1".to_string()], sums)))
    }

    /// On a screen on which not even one of its columns has room: its name cut, long texts in several lines.
    pub fn squeezed(mut self, width: usize, charset: Charset) -> View {
        const FEWEST: usize = 6;
        let widest = self.column_widths().iter().max().copied().unwrap_or(0);
        if self.cols.is_empty() || self.least_box_width() <= width {
            return self;
        }
        let labels = width.saturating_sub(FRAME + widest).max(FEWEST).min(self.label_width());
        let cells = width.saturating_sub(FRAME + labels).max(FEWEST);
        if self.name_width() > labels {
            let mark = charset.spelled(ELIDED);
            let kept: String = self.name.chars().take(labels - mark.width()).collect();
            self.name = format!("{kept}{mark}");
        }
        for row in &mut self.rows {
            *row = in_lines(row, labels);
        }
        for text in self.cols.iter_mut().chain(self.cells.iter_mut().flatten().map(|cell| &mut cell.text)) {
            *text = in_lines(text, cells);
        }
        self.widths = OnceCell::new();
        self
    }

    /// Returns true if its columns are named by their numbers alone.
    pub fn has_plain_columns(&self) -> bool {
        are_numbers(&self.cols)
    }

    /// Returns true if its rows are named by their numbers alone.
    pub fn has_plain_rows(&self) -> bool {
        are_numbers(&self.rows)
    }

    /// In characters that the screen has, before anything is laid out: spelled out, some of them are wider.
    pub fn in_charset(mut self, charset: Charset) -> View {
        if charset == Charset::Utf8 {
            return self;
        }
        let labels = self.rows.iter_mut().chain(&mut self.cols).chain([&mut self.name]);
        for text in labels.chain(self.cells.iter_mut().flatten().map(|cell| &mut cell.text)) {
            *text = charset.spelled(text).into_owned();
        }
        self.align();
        self.widths = OnceCell::new();
        self
    }

    /// Makes the texts of each column equally wide again, on the left as numbers are.
    fn align(&mut self) {
        for j in 0..self.cols.len() {
            let width = self.cells.iter().map(|row| row[j].text.chars().count()).max().unwrap_or(0);
            for row in &mut self.cells {
                row[j].text = format!("{:>width$}", row[j].text);
            }
        }
    }

    /// Its rows as columns, with ᵀ behind the name.
    pub fn turned(self) -> View {
        let cells =
            (0..self.cols.len()).map(|j| self.cells.iter().map(|row| row[j].clone()).collect()).collect();
        let name = format!("{}ᵀ", self.name);
        View { keeps_heads: self.keeps_heads, ..View::new(name, self.cols, self.rows, cells) }
    }
}

/// A text that is too wide, in several lines.
fn in_lines(text: &str, width: usize) -> String {
    if text.width() <= width { text.to_string() } else { textwrap::wrap(text, width).join("\n") }
}

fn are_numbers(names: &[String]) -> bool {
    names.iter().enumerate().all(|(i, name)| *name == (i + 1).to_string())
}

// Views of the nodes of a story: rounded, shaded, shortened, and transposed in the column convention.

/// The mark of a value that is left open.
pub const OPEN: &str = "?";
/// A matrix that is too wide for the screen keeps at least this many decimals.
const FEWEST_PLACES: usize = 2;
/// Looks at the nodes of one story in one style.
#[derive(Clone, Copy)]
pub struct Viewer<'a> {
    /// The story.
    pub story: &'a Story,
    /// The style.
    pub style: &'a Style,
}

/// Wider matrices of a model, such as the residual stream, are shown by their edges; a pattern over a sentence is not so wide.
const MOST_COLUMNS_OF_A_MODEL: usize = 24;

impl Viewer<'_> {
    fn digits(&self) -> Digits {
        self.style.digits(self.story)
    }

    /// A node's values; `turned` for its transpose, as in `Kᵀ`. A node that is too large to look at is shown by its first and
    /// last rows and columns, one that is never formed without values. If the user does not set the number of decimals, a
    /// matrix that is too wide for the screen has as many as fit, but at least two.
    pub fn node(&self, id: NodeId, turned: bool) -> View {
        let view = self.node_with(id, turned, self.digits());
        let is_told = self.story.steps.iter().any(|step| !step.text.is_empty());
        let room = self.style.width.saturating_sub(if is_told { INDENT } else { 0 });
        let fits = |view: &View| view.box_width(1) <= room;
        match self.digits() {
            // With fewer decimals a column is still as wide as its head.
            Digits::Places(places)
                if self.style.may_round_further() && !fits(&view) && view.heads_width(1) <= room =>
            {
                let fewer = (FEWEST_PLACES..places).rev();
                let mut rounded = fewer.map(|places| self.node_with(id, turned, Digits::Places(places)));
                rounded.find(fits).unwrap_or(view)
            }
            _ => view,
        }
    }

    /// The whole of a small node, and of another one the first and the last rows and columns, with dots for the others.
    fn node_with(&self, id: NodeId, turned: bool, digits: Digits) -> View {
        let Story { graph, window, .. } = self.story;
        let node = &graph[id];
        let shape = node.shape();
        let tensor = match &node.value {
            Value::Formed(tensor) if shape.rows * shape.cols > 0 => tensor,
            _ => return self.in_convention(labelled(node, &[], &[], Vec::new()), turned),
        };
        let most = if graph.is_large() { MOST_SHOWN } else { MOST_LOOKED_AT };
        let is_narrow = !graph.is_of_model() || shape.cols <= MOST_COLUMNS_OF_A_MODEL;
        let is_small = shape.rows.saturating_mul(shape.cols) <= most && is_narrow && !window.is_chosen();
        let is_whole = is_small && node.matrix().is_some();
        let (row_labels, col_labels) = node.labels();
        let places = |chosen, count, labels| match is_whole {
            true => (0..count).map(Some).collect(),
            false => window.places(chosen, count, labels),
        };
        let rows = places(window.rows.as_ref(), shape.rows, row_labels);
        let cols = places(window.cols.as_ref(), shape.cols, col_labels);
        let kept = |places: &[Option<usize>]| places.iter().flatten().copied().collect::<Vec<usize>>();
        let (kept_rows, kept_cols) = (kept(&rows), kept(&cols));
        let at = |i: usize, j: usize| tensor.number(kept_rows[i], kept_cols[j]).unwrap_or(f64::NAN);
        let numbers = Matrix::from_fn(kept_rows.len(), kept_cols.len(), at);
        let texts = if is_whole && node.op == Op::Change { digits::changes } else { digits::cells };
        let texts = texts(&numbers, digits, self.style.charset);
        let mut shown = self.shaded(texts, || shades(graph, id, &kept_rows, &kept_cols)).into_iter();
        let left_out = || Cell { text: ELIDED.to_string(), shade: Shade::None, of: None };
        let mut cell = |row: Option<usize>, col: Option<usize>| {
            let of = row.zip(col).map(|(row, col)| CellId { node: id, row, col });
            of.and_then(|_| shown.next()).map_or_else(left_out, |cell| Cell { of, ..cell })
        };
        let cells = rows.iter().map(|&row| cols.iter().map(|&col| cell(row, col)).collect()).collect();
        self.in_convention(labelled(node, &rows, &cols, cells), turned)
    }

    /// A given node, with the notes of its rows.
    pub fn given(&self, id: NodeId) -> View {
        let view = self.node(id, false);
        let Op::Given(origin) = &self.story.graph[id].op else { return view };
        let is_whole = view.rows.len() == self.story.graph[id].shape().rows;
        let notes: Vec<String> =
            (0..view.rows.len()).map(|row| origin.row_note(row).unwrap_or_default()).collect();
        let has_notes = is_whole && notes.iter().any(|note| !note.is_empty());
        if has_notes && self.style.convention == Convention::Rows { View { notes, ..view } } else { view }
    }

    /// A node with its values left open.
    pub fn open(&self, id: NodeId) -> View {
        self.texts(id, |_| OPEN.into())
    }

    /// A node with each cell in symbols.
    pub fn symbols(&self, id: NodeId) -> View {
        let graph = &self.story.graph;
        let symbols = Symbols::of(graph, self.style.convention);
        self.texts(id, |cell| match graph[id].op.is_given() {
            true => symbols.cell(cell),
            false => written(&graph.terms(cell), &PlainSymbols { symbols: &symbols }),
        })
    }

    fn texts(&self, id: NodeId, text: impl Fn(CellId) -> String) -> View {
        let node = &self.story.graph[id];
        let all = |count: usize| (0..count).map(Some).collect::<Vec<_>>();
        let cell = |row, col| {
            let of = CellId { node: id, row, col };
            Cell { text: text(of), shade: Shade::None, of: Some(of) }
        };
        let Shape { rows, cols } = node.shape();
        let cells = (0..rows).map(|row| (0..cols).map(|col| cell(row, col)).collect()).collect();
        self.in_convention(labelled(node, &all(rows), &all(cols), cells), false)
    }

    /// Nodes of one row as the columns of one table, their sums, if any are shown, in a last row.
    pub fn columns(&self, columns: &[(NodeId, Option<NodeId>)]) -> View {
        let parts: Vec<View> =
            columns.iter().map(|(id, _)| self.node(*id, self.style.convention == Convention::Rows)).collect();
        let sum = |id: &Option<NodeId>| {
            id.and_then(|id| self.node(id, false).cells.pop()).and_then(|mut row| row.pop())
        };
        let blank = || Cell { text: String::new(), shade: Shade::None, of: None };
        let sums: Vec<Cell> = columns.iter().map(|(_, id)| sum(id).unwrap_or_else(blank)).collect();
        let mut rows = parts.first().map_or_else(Vec::new, |part| part.rows.clone());
        let first = |part: &View, i: usize| part.cells.get(i).and_then(|row| row.first()).cloned();
        let row = |i| parts.iter().map(|part| first(part, i).unwrap_or_else(blank)).collect();
        let mut cells: Vec<Vec<Cell>> = (0..rows.len()).map(row).collect();
        if columns.iter().any(|(_, id)| id.is_some()) {
            cells.push(sums);
            rows.push(SUM.to_string());
        }
        let cols = columns.iter().map(|(id, _)| heading(&self.story.graph[*id])).collect();
        View::new(String::new(), rows, cols, cells).in_charset(self.style.charset)
    }

    /// Texts with their shades, where shades are wanted.
    fn shaded(&self, texts: Vec<String>, shades: impl FnOnce() -> Vec<Shade>) -> Vec<Cell> {
        let shades = match self.style.heat {
            Heat::Never => Vec::new(),
            Heat::Auto | Heat::Always => shades(),
        };
        let texts = with_room_for_hatching(texts, &shades);
        let shades = shades.into_iter().chain(std::iter::repeat(Shade::None));
        let cell = |(text, shade)| Cell { text: self.decorated(text, shade), shade, of: None };
        texts.into_iter().zip(shades).map(cell).collect()
    }

    /// Hatches masked cells, and sets a bar beside the number if bars are wanted.
    fn decorated(&self, text: String, shade: Shade) -> String {
        let width = text.chars().count();
        let text = if shade == Shade::Masked {
            let number = if text.contains('0') { "0" } else { text.trim() };
            format!("{}{number}", HATCH.to_string().repeat(width.saturating_sub(number.chars().count())))
        } else {
            text
        };
        match (self.style.heat, shade.bar()) {
            (Heat::Always, Some(bar)) => format!("{text} {bar}"),
            _ => text,
        }
    }

    fn in_convention(&self, view: View, turned: bool) -> View {
        let turned = turned != (self.style.convention == Convention::Columns);
        let view = if turned { view.turned() } else { view };
        view.in_charset(self.style.charset)
    }
}

/// The name in the corner of a node's table: its label, or its name if the label is too long.
fn heading(node: &Node) -> String {
    const LONGEST_LABEL: usize = 24;
    match &node.label {
        Some(label) if label.width() <= LONGEST_LABEL => label.clone(),
        _ => node.name.clone(),
    }
}

/// Texts wide enough that a hatched cell shows its hatching.
fn with_room_for_hatching(texts: Vec<String>, shades: &[Shade]) -> Vec<String> {
    const HATCHES: usize = 2;
    let masked = texts.iter().zip(shades).filter(|(_, shade)| **shade == Shade::Masked);
    let Some(needed) = masked.map(|(text, _)| text.trim().chars().count() + HATCHES).max() else {
        return texts;
    };
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(needed);
    texts.into_iter().map(|text| format!("{text:>width$}")).collect()
}

/// The label of a row or column, or its number.
pub(super) fn label(labels: Option<&Labels>, at: usize) -> String {
    labels.map_or_else(|| (at + 1).to_string(), |labels| labels[at].clone())
}

/// A view of a node; rows and columns without a place are dots.
fn labelled(node: &Node, rows: &[Option<usize>], cols: &[Option<usize>], cells: Vec<Vec<Cell>>) -> View {
    let named = |labels, places: &[Option<usize>]| {
        let name = |place: &Option<usize>| place.map_or(ELIDED.to_string(), |at| label(labels, at));
        places.iter().map(name).collect()
    };
    let (row_labels, col_labels) = node.labels();
    View::new(heading(node), named(row_labels, rows), named(col_labels, cols), cells)
}
