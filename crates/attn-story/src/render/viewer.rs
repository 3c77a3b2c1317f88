//! Views of the nodes of a story: rounded, shaded, shortened, and transposed in the column convention.

use crate::text::ScreenWidth;

use super::Style;
use super::digits;
use super::heat::{self, Heat, Shade};
use super::view::{Cell, ELIDED, HATCH, INDENT, SUM, View};
use crate::graph::{CellId, Convention, Node, NodeId, Op, PlainSymbols, Symbols, Value, written};
use crate::matrix::{Labels, Matrix};
use crate::story::{Digits, Story};
use crate::tensor::{MOST_LOOKED_AT, MOST_SHOWN};

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

    fn node_with(&self, id: NodeId, turned: bool, digits: Digits) -> View {
        let node = &self.story.graph[id];
        let shape = node.shape();
        let most = if self.story.graph.is_large() { MOST_SHOWN } else { MOST_LOOKED_AT };
        let is_narrow = !self.story.graph.is_of_model() || shape.cols <= MOST_COLUMNS_OF_A_MODEL;
        let is_small = shape.rows.saturating_mul(shape.cols) <= most && is_narrow;
        let is_small = is_small && !self.story.window.is_chosen();
        match (&node.value, node.matrix()) {
            (Value::NeverFormed(_), _) => self.finished(id, Vec::new(), turned),
            (_, Some(matrix)) if is_small => self.finished(id, self.values(id, matrix, digits), turned),
            (Value::Formed(tensor), _) => {
                self.edges(id, &|i, j| tensor.number(i, j).unwrap_or(f64::NAN), digits, turned)
            }
        }
    }

    /// A given node, with the notes of its rows.
    pub fn given(&self, id: NodeId) -> View {
        let view = self.node(id, false);
        let Op::Given(origin) = &self.story.graph[id].op else { return view };
        let is_whole = view.rows.len() == self.story.graph[id].shape().rows;
        let notes: Vec<String> =
            (0..view.rows.len()).map(|row| origin.row_note(row).unwrap_or_default()).collect();
        if is_whole && self.style.convention == Convention::Rows && notes.iter().any(|note| !note.is_empty())
        {
            View { notes, ..view }
        } else {
            view
        }
    }

    /// The first and the last rows and columns of a node, and dots for the others.
    fn edges(&self, id: NodeId, at: &dyn Fn(usize, usize) -> f64, digits: Digits, turned: bool) -> View {
        let node = &self.story.graph[id];
        let (row_labels, col_labels) = node.labels();
        let window = &self.story.window;
        let rows = window.row_places(node.shape().rows, row_labels);
        let cols = window.col_places(node.shape().cols, col_labels);
        let kept = |places: &[Option<usize>]| places.iter().flatten().copied().collect::<Vec<usize>>();
        let (kept_rows, kept_cols) = (kept(&rows), kept(&cols));
        let corner = Matrix::from_fn(kept_rows.len(), kept_cols.len(), |i, j| at(kept_rows[i], kept_cols[j]));
        let texts = digits::cells(&corner, digits, self.style.charset);
        let shades = || heat::shades_at(&self.story.graph, id, &kept_rows, &kept_cols);
        let mut shown = self.shaded(texts, shades).into_iter();
        let left_out = || Cell { text: ELIDED.to_string(), shade: Shade::None, of: None };
        let mut cell = |row: Option<usize>, col: Option<usize>| {
            let of = row.zip(col).map(|(row, col)| CellId { node: id, row, col });
            of.and_then(|_| shown.next()).map_or_else(left_out, |cell| Cell { of, ..cell })
        };
        let mut cells: Vec<Vec<Cell>> = Vec::new();
        for &row in &rows {
            cells.push(cols.iter().map(|&col| cell(row, col)).collect());
        }
        let label = |labels: Option<&Labels>, place: Option<usize>| match (labels, place) {
            (_, None) => ELIDED.to_string(),
            (Some(labels), Some(place)) => labels[place].clone(),
            (None, Some(place)) => (place + 1).to_string(),
        };
        let rows = rows.into_iter().map(|row| label(row_labels, row)).collect();
        let cols = cols.into_iter().map(|col| label(col_labels, col)).collect();
        self.in_convention(View::new(heading(node), rows, cols, cells), turned)
    }

    /// A node with its values left open.
    pub fn open(&self, id: NodeId) -> View {
        let shape = self.story.graph[id].shape();
        self.finished(id, texts(shape.rows, shape.cols, |_, _| OPEN.into()), false)
    }

    /// A node with each cell in symbols.
    pub fn symbols(&self, id: NodeId) -> View {
        let graph = &self.story.graph;
        let shape = graph[id].shape();
        let symbols = Symbols::of(graph, self.style.convention);
        let cell = |row, col| {
            let cell = CellId { node: id, row, col };
            if graph[id].op.is_given() {
                symbols.cell(cell)
            } else {
                written(&graph.terms(cell), &PlainSymbols { symbols: &symbols })
            }
        };
        self.finished(id, texts(shape.rows, shape.cols, cell), false)
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
        let labels = parts.first().map_or_else(Vec::new, |part| part.rows.clone());
        let mut cells: Vec<Vec<Cell>> = (0..labels.len())
            .map(|i| {
                parts
                    .iter()
                    .map(|part| part.cells.get(i).and_then(|row| row.first()).cloned().unwrap_or_else(blank))
                    .collect()
            })
            .collect();
        let mut rows = labels;
        if columns.iter().any(|(_, id)| id.is_some()) {
            cells.push(sums);
            rows.push(SUM.to_string());
        }
        let cols = columns.iter().map(|(id, _)| heading(&self.story.graph[*id])).collect();
        View::new(String::new(), rows, cols, cells).in_charset(self.style.charset)
    }

    fn values(&self, id: NodeId, matrix: &Matrix, digits: Digits) -> Vec<Vec<Cell>> {
        let texts = match self.story.graph[id].op {
            Op::Change => digits::changes(matrix, digits, self.style.charset),
            _ => digits::cells(matrix, digits, self.style.charset),
        };
        let cells = self.shaded(texts, || heat::shades(&self.story.graph, id));
        cells.chunks(matrix.cols().max(1)).map(<[Cell]>::to_vec).collect()
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
        let text = match shade {
            Shade::Masked => {
                let number = if text.contains('0') { "0" } else { text.trim() };
                format!("{}{number}", HATCH.to_string().repeat(width.saturating_sub(number.chars().count())))
            }
            _ => text,
        };
        match (self.style.heat, shade.bar()) {
            (Heat::Always, Some(bar)) => format!("{text} {bar}"),
            _ => text,
        }
    }

    fn finished(&self, id: NodeId, mut cells: Vec<Vec<Cell>>, turned: bool) -> View {
        for (row, cells) in cells.iter_mut().enumerate() {
            for (col, cell) in cells.iter_mut().enumerate() {
                cell.of = Some(CellId { node: id, row, col });
            }
        }
        let node = &self.story.graph[id];
        let shape = node.shape();
        let (rows, cols) = node.labels();
        let (rows, cols) = if cells.is_empty() {
            (Vec::new(), Vec::new())
        } else {
            (labels(rows, shape.rows), labels(cols, shape.cols))
        };
        self.in_convention(View::new(heading(node), rows, cols, cells), turned)
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

fn labels(labels: Option<&Labels>, count: usize) -> Vec<String> {
    match labels {
        Some(labels) => labels.to_vec(),
        None => (1..=count).map(|i| i.to_string()).collect(),
    }
}

fn texts(rows: usize, cols: usize, text: impl Fn(usize, usize) -> String) -> Vec<Vec<Cell>> {
    let cell = |i, j| Cell { text: text(i, j), shade: Shade::None, of: None };
    (0..rows).map(|i| (0..cols).map(|j| cell(i, j)).collect()).collect()
}
