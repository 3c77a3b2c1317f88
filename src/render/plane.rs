//! The plane in characters: words as points, movements as arrows.

use super::Charset;
use super::view::Viewer;
use crate::demo::{Plane, in_sentence};
use crate::graph::Graph;
use crate::matrix::Matrix;

/// Lines of the drawing are at most this wide.
const MOST_COLUMNS: usize = 64;
/// A character is about twice as high as wide: so many columns to a row keep a square square.
const COLUMNS_PER_ROW: f64 = 2.1;
/// The most rows of a drawing.
const MOST_ROWS: f64 = 12.0;

/// A point or the end of an arrow.
pub(super) struct Spot {
    /// The word and its coordinates.
    pub label: String,
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
}

/// The points and the arrows of a plane. Nodes that are not two columns of finite numbers are left out.
pub(super) struct Drawing {
    /// The words.
    pub points: Vec<Spot>,
    /// Their movements, from and to.
    pub arrows: Vec<(Spot, Spot)>,
    width: usize,
    charset: Charset,
}

impl Drawing {
    pub(super) fn new(plane: &Plane, viewer: &Viewer<'_>) -> Drawing {
        let width = viewer.style.width.saturating_sub(4);
        Drawing::of(plane, &viewer.story.graph, width, viewer.style.charset)
    }

    fn of(plane: &Plane, graph: &Graph, width: usize, charset: Charset) -> Drawing {
        let spots = |node: &crate::graph::NodeId| graph[*node].matrix().map(spots).unwrap_or_default();
        let arrows = plane.arrows.iter().flat_map(|(from, to)| spots(from).into_iter().zip(spots(to)));
        Drawing {
            points: plane.points.iter().flat_map(spots).collect(),
            arrows: arrows.collect(),
            width,
            charset,
        }
    }

    /// Everything that has a place.
    pub(super) fn spots(&self) -> impl Iterator<Item = &Spot> {
        self.points.iter().chain(self.arrows.iter().flat_map(|(from, to)| [from, to]))
    }

    /// In characters, line by line; none where there is nothing to draw.
    pub(super) fn lines(&self) -> Vec<String> {
        let Some(canvas) = Canvas::around(self.spots(), self.width) else { return Vec::new() };
        let lines = canvas.drawn(&self.points, &self.arrows);
        match self.charset {
            Charset::Utf8 => lines,
            Charset::Ascii => lines.iter().map(|line| line.chars().map(in_ascii).collect()).collect(),
        }
    }
}

/// A character of a drawing in one character of ASCII.
fn in_ascii(character: char) -> char {
    match character {
        '→' => '>',
        '←' => '<',
        '↑' => '^',
        '↓' => 'v',
        '↗' | '↙' => '/',
        '↖' | '↘' => '\\',
        '·' => '.',
        '●' => 'o',
        '│' => '|',
        '─' => '-',
        '┼' => '+',
        '−' => '-',
        other => other,
    }
}

fn spots(matrix: &Matrix) -> Vec<Spot> {
    if matrix.cols() != 2 || matrix.cells().any(|x| !x.is_finite()) {
        return Vec::new();
    }
    let name = |i: usize| matrix.row_labels().map_or((i + 1).to_string(), |labels| labels[i].clone());
    let spot = |i| {
        let (x, y) = (matrix[(i, 0)], matrix[(i, 1)]);
        Spot { label: format!("{} ({}, {})", name(i), in_sentence(x, 2), in_sentence(y, 2)), x, y }
    };
    (0..matrix.rows()).map(spot).collect()
}

struct Canvas {
    cells: Vec<Vec<char>>,
    left: f64,
    top: f64,
    columns_per_unit: f64,
    rows_per_unit: f64,
}

impl Canvas {
    /// A canvas on which all spots and the origin have room, with the same scale both ways.
    fn around<'a>(spots: impl Iterator<Item = &'a Spot>, width: usize) -> Option<Canvas> {
        let mut bounds = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
        let mut longest = 0;
        for spot in spots {
            bounds = (bounds.0.min(spot.x), bounds.1.max(spot.x), bounds.2.min(spot.y), bounds.3.max(spot.y));
            longest = longest.max(spot.label.chars().count());
        }
        let (left, right, bottom, top) = bounds;
        let (across, up) = (right - left, top - bottom);
        if !(across.is_finite() && up.is_finite()) || (across == 0.0 && up == 0.0) {
            return None;
        }
        let columns = width.saturating_sub(longest + 4).clamp(8, MOST_COLUMNS) as f64;
        let columns_per_unit =
            (columns / across.max(1e-300)).min(MOST_ROWS * COLUMNS_PER_ROW / up.max(1e-300));
        let rows_per_unit = columns_per_unit / COLUMNS_PER_ROW;
        let (wide, high) =
            ((across * columns_per_unit).round() as usize, (up * rows_per_unit).round() as usize);
        let cells = vec![vec![' '; wide + longest + 4]; high + 1];
        Some(Canvas { cells, left, top, columns_per_unit, rows_per_unit })
    }

    fn place(&self, x: f64, y: f64) -> (usize, usize) {
        let column = ((x - self.left) * self.columns_per_unit).round() as usize;
        let row = ((self.top - y) * self.rows_per_unit).round() as usize;
        (row.min(self.cells.len() - 1), column.min(self.cells[0].len() - 1))
    }

    fn drawn(mut self, points: &[Spot], arrows: &[(Spot, Spot)]) -> Vec<String> {
        self.axes();
        for (from, to) in arrows {
            self.arrow(from, to);
        }
        for point in points {
            let (row, column) = self.place(point.x, point.y);
            self.cells[row][column] = '●';
        }
        for point in points {
            self.label(point);
        }
        self.cells.into_iter().map(|row| row.into_iter().collect::<String>().trim_end().to_string()).collect()
    }

    fn axes(&mut self) {
        let (zero_row, zero_column) = self.place(0.0, 0.0);
        for row in &mut self.cells {
            row[zero_column] = '│';
        }
        self.cells[zero_row].fill('─');
        self.cells[zero_row][zero_column] = '┼';
    }

    /// Dots from one spot to the other, and a head that points the way.
    fn arrow(&mut self, from: &Spot, to: &Spot) {
        let ((row, column), (to_row, to_column)) = (self.place(from.x, from.y), self.place(to.x, to.y));
        let (down, across) = (to_row as f64 - row as f64, to_column as f64 - column as f64);
        let steps = down.abs().max(across.abs()) as usize;
        for step in 1..steps {
            let along = step as f64 / steps as f64;
            let (r, c) = (
                (row as f64 + along * down).round() as usize,
                (column as f64 + along * across).round() as usize,
            );
            self.cells[r][c] = '·';
        }
        if steps > 0 {
            self.cells[to_row][to_column] = head(across, -down * COLUMNS_PER_ROW);
        }
    }

    /// The label to the right of its point, or where that place is taken, in the row above or below.
    fn label(&mut self, point: &Spot) {
        let text: Vec<char> = point.label.chars().collect();
        let (row, column) = self.place(point.x, point.y);
        let free = |cells: &Vec<Vec<char>>, row: usize| {
            let end = column + 2 + text.len();
            cells.get(row).is_some_and(|line| {
                end <= line.len() && line[column + 2..end].iter().all(|c| matches!(c, ' ' | '─' | '│' | '·'))
            })
        };
        let candidates = [Some(row), row.checked_sub(1), Some(row + 1)];
        let Some(row) = candidates.into_iter().flatten().find(|&row| free(&self.cells, row)) else { return };
        self.cells[row][column + 1] = if self.cells[row][column + 1] == '·' { '·' } else { ' ' };
        for (offset, character) in text.into_iter().enumerate() {
            self.cells[row][column + 2 + offset] = character;
        }
    }
}

/// The arrow head nearest to a direction.
fn head(across: f64, up: f64) -> char {
    let steep = up.abs() > 2.0 * across.abs();
    let flat = across.abs() > 2.0 * up.abs();
    match (across >= 0.0, up >= 0.0) {
        (_, true) if steep => '↑',
        (_, false) if steep => '↓',
        (true, _) if flat => '→',
        (false, _) if flat => '←',
        (true, true) => '↗',
        (true, false) => '↘',
        (false, true) => '↖',
        (false, false) => '↙',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Origin;

    fn lines(x: crate::graph::NodeId, graph: &Graph) -> Vec<String> {
        let plane = Plane { points: vec![x], arrows: Vec::new() };
        Drawing::of(&plane, graph, 80, Charset::Utf8).lines()
    }

    #[test]
    fn words_stand_where_their_coordinates_say() {
        let mut graph = Graph::new();
        let words = Matrix::of([[3.0, 3.0], [4.0, 0.0], [0.0, 5.0]]).rows_named(&["bat", "cave", "racket"]);
        let x = graph.given("X", words, Origin::Stated).unwrap();
        let lines = lines(x, &graph);
        assert!(lines[0].starts_with("● racket"), "{lines:?}");
        assert!(lines.last().unwrap().contains("● cave"), "{lines:?}");
        let bat = lines.iter().position(|line| line.contains("● bat")).unwrap();
        assert!(bat > 0 && bat < lines.len() - 1);
    }

    #[test]
    fn points_without_a_plane_draw_nothing() {
        let mut graph = Graph::new();
        for (name, matrix) in [
            ("wide", Matrix::identity(3)),
            ("nowhere", Matrix::of([[0.0, 0.0]])),
            ("far", Matrix::of([[f64::INFINITY, 1.0]])),
        ] {
            let x = graph.given(name, matrix, Origin::Stated).unwrap();
            assert!(lines(x, &graph).is_empty(), "{name}");
        }
    }
}
