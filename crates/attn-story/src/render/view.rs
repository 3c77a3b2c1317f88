//! A matrix as a text format shows it: name, labels, texts and shades, and their widths.

use std::cell::OnceCell;

use crate::text::ScreenWidth;

use super::heat::{Heat, Shade, shade_of_share};
use super::{Charset, Style};
use crate::graph::CellId;
use crate::story::Table;

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
