//! The plane: words as points, movements as arrows, axes with names and numbers. This file has the parts that every format
//! draws; `canvas` draws in characters.

mod canvas;
mod labels;
mod ticks;

use crate::text::ScreenWidth;

use super::Charset;
use super::viewer::Viewer;
use crate::graph::{Graph, NodeId};
use crate::matrix::Matrix;
use crate::story::{Plane, in_sentence};

pub use labels::{Area, Ground, Labels};
pub use ticks::Ticks;

/// Longer names of axes are cut.
const LONGEST_AXIS: usize = 24;

/// A point or the end of an arrow.
pub struct Spot {
    /// The word.
    pub name: String,
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
}

impl Spot {
    /// Whether it has the same coordinates.
    fn is_at(&self, other: &Spot) -> bool {
        (self.x, self.y) == (other.x, other.y)
    }

    /// The word and its coordinates.
    pub fn label(&self) -> String {
        format!("{} ({}, {})", self.name, in_sentence(self.x, 2), in_sentence(self.y, 2))
    }
}

/// The points and the arrows of a plane. Nodes that are not two columns of finite numbers are left out.
pub struct Drawing {
    /// The words.
    pub points: Vec<Spot>,
    /// Their movements, from and to; `bat` moves to `bat′`, or to the name of the point that it reaches.
    pub arrows: Vec<(Spot, Spot)>,
    /// The names of the axes: to the right, and upwards.
    pub axes: [String; 2],
    width: usize,
    charset: Charset,
}

/// The smallest rectangle with all spots and the origin in it.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// The least x.
    pub left: f64,
    /// The largest x.
    pub right: f64,
    /// The least y.
    pub bottom: f64,
    /// The largest y.
    pub top: f64,
}

impl Drawing {
    /// The drawing of a plane, as the viewer shows numbers.
    pub fn new(plane: &Plane, viewer: &Viewer<'_>) -> Drawing {
        let width = viewer.style.width.saturating_sub(4);
        Drawing::of(plane, &viewer.story.graph, width, viewer.style.charset)
    }

    fn of(plane: &Plane, graph: &Graph, width: usize, charset: Charset) -> Drawing {
        let spots = |node: &NodeId| graph[*node].matrix().map(spots).unwrap_or_default();
        let arrows = plane.arrows.iter().flat_map(|(from, to)| spots(from).into_iter().zip(spots(to)));
        let points: Vec<Spot> = plane.points.iter().flat_map(spots).collect();
        let moved = |(from, to): (Spot, Spot)| {
            let reached = points.iter().find(|point| point.name != from.name && point.is_at(&to));
            let name = reached.map_or_else(|| format!("{}′", from.name), |point| point.name.clone());
            (from, Spot { name, ..to })
        };
        Drawing { arrows: arrows.map(moved).collect(), points, axes: axes(plane, graph), width, charset }
    }

    /// The movements whose end has a label of its own: it is none of the points.
    pub fn named_ends(&self) -> impl Iterator<Item = &(Spot, Spot)> {
        let is_point = |to: &Spot| self.points.iter().any(|point| point.name == to.name && point.is_at(to));
        self.arrows.iter().filter(move |(_, to)| !is_point(to))
    }

    /// Everything that has a place.
    fn spots(&self) -> impl Iterator<Item = &Spot> {
        self.points.iter().chain(self.arrows.iter().flat_map(|(from, to)| [from, to]))
    }

    /// The width of the longest label in columns of the screen.
    pub fn longest_label(&self) -> usize {
        self.spots().map(|spot| spot.label().width()).max().unwrap_or(0)
    }

    /// The ranges of the coordinates; `None` if there is nothing to draw.
    pub fn bounds(&self) -> Option<Bounds> {
        let start = Bounds { left: 0.0, right: 0.0, bottom: 0.0, top: 0.0 };
        let bounds = self.spots().fold(start, |bounds, spot| Bounds {
            left: bounds.left.min(spot.x),
            right: bounds.right.max(spot.x),
            bottom: bounds.bottom.min(spot.y),
            top: bounds.top.max(spot.y),
        });
        let (across, up) = (bounds.across(), bounds.up());
        (across.is_finite() && up.is_finite() && (across > 0.0 || up > 0.0)).then_some(bounds)
    }

    /// In characters, line by line; none where there is nothing to draw.
    pub fn lines(&self) -> Vec<String> {
        self.lines_within(self.width, canvas::MOST_ROWS)
    }

    /// The fewest columns in which one still sees where the points are.
    pub fn least_width(&self) -> usize {
        const LEAST_PLANE: usize = 26;
        self.longest_label() + LEAST_PLANE
    }

    /// The drawing within this many columns, next to something of this many lines: flatter where that saves lines and no label
    /// is lost; empty if a label would be lost.
    pub fn lines_next_to(&self, height: usize, width: usize) -> Vec<String> {
        const HEIGHTS: [f64; 3] = [canvas::MOST_ROWS, 10.0, 9.0];
        let labels = self.labels();
        let count_in = |lines: &[String]| {
            labels.iter().filter(|label| lines.iter().any(|line| line.contains(*label))).count()
        };
        let most = count_in(&self.lines());
        let drawn = HEIGHTS.into_iter().map(|rows| self.lines_within(width, rows));
        let whole = drawn.filter(|lines| count_in(lines) >= most);
        whole.min_by_key(|lines| lines.len().max(height)).unwrap_or_default()
    }

    /// The labels as they are drawn.
    fn labels(&self) -> Vec<String> {
        let spelled = |spot: &Spot| match self.charset {
            Charset::Utf8 => spot.label(),
            Charset::Ascii => in_ascii(&spot.label()),
        };
        self.spots().map(spelled).collect()
    }

    fn lines_within(&self, width: usize, most_rows: f64) -> Vec<String> {
        let lines = canvas::lines(self, width, most_rows);
        match self.charset {
            Charset::Utf8 => lines,
            Charset::Ascii => lines.iter().map(|line| in_ascii(line)).collect(),
        }
    }

    /// The drawing in ASCII and without a backslash in a label, which would be a command of LaTeX.
    pub fn lines_in_latex(&self) -> Vec<String> {
        let lines = canvas::lines(self, self.width, canvas::MOST_ROWS);
        lines
            .iter()
            .map(|line| Charset::Ascii.spelled(&in_ascii(&line.replace('\\', "/"))).into_owned())
            .collect()
    }
}

impl Bounds {
    /// Its width, in the numbers of the plane.
    pub fn across(&self) -> f64 {
        self.right - self.left
    }

    /// Its height, in the numbers of the plane.
    pub fn up(&self) -> f64 {
        self.top - self.bottom
    }
}

/// The names of the axes: the column names of the first node of the plane that has names.
fn axes(plane: &Plane, graph: &Graph) -> [String; 2] {
    let named = plane.nodes().into_iter().find_map(|id| {
        let labels = graph[id].matrix()?.col_labels()?;
        <&[String; 2]>::try_from(&labels[..]).ok()
    });
    match named {
        Some(names) => names.each_ref().map(|name| name.chars().take(LONGEST_AXIS).collect()),
        None => ["column 1".into(), "column 2".into()],
    }
}

/// A line of a drawing in ASCII, each of its marks in one character; words stay as they are.
fn in_ascii(line: &str) -> String {
    let in_ascii = |character| match character {
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
        '┼' | '┤' | '┬' | '└' => '+',
        '−' => '-',
        '′' => '\'',
        other => other,
    };
    line.chars().map(in_ascii).collect()
}

fn spots(matrix: &Matrix) -> Vec<Spot> {
    if matrix.cols() != 2 || matrix.cells().any(|x| !x.is_finite()) {
        return Vec::new();
    }
    let name = |i: usize| matrix.row_labels().map_or((i + 1).to_string(), |labels| labels[i].clone());
    (0..matrix.rows()).map(|i| Spot { name: name(i), x: matrix[(i, 0)], y: matrix[(i, 1)] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Origin;

    fn lines(plane: Plane, graph: &Graph, width: usize) -> Vec<String> {
        Drawing::of(&plane, graph, width, Charset::Utf8).lines()
    }

    fn words() -> Matrix {
        Matrix::of([[3.0, 3.0], [4.0, 0.0], [0.0, 5.0]]).rows_named(&["bat", "cave", "racket"])
    }

    #[test]
    fn words_stand_where_their_coordinates_say() {
        let mut graph = Graph::new();
        let x = graph.given("X", words(), Origin::Stated).unwrap();
        let lines = lines(Plane::new(&[x], &[]), &graph, 80);
        let row = |text: &str| lines.iter().position(|line| line.contains(text)).unwrap();
        let column = |text: &str| lines[row(text)].chars().position(|c| c == '●').unwrap();
        assert!(row("● racket (0, 5)") < row("● bat (3, 3)") && row("● bat") < row("● cave (4, 0)"));
        assert!(column("● racket") < column("● bat") && column("● bat") < column("● cave"));
    }

    #[test]
    fn axes_have_ticks_in_place_and_the_names_of_the_columns() {
        let mut graph = Graph::new();
        let x = graph.given("X", words().cols_named(&["animals", "sport"]), Origin::Stated).unwrap();
        let lines = lines(Plane::new(&[x], &[]), &graph, 80);
        assert!(lines[0].contains("↑ sport"), "{lines:#?}");
        let numbers = lines.last().unwrap();
        assert!(numbers.ends_with("animals →"), "{lines:#?}");
        // bat stands at (3, 3): above the 3 of one axis, and on the line of the 3 of the other.
        let bat = lines.iter().find(|line| line.contains("● bat")).unwrap();
        assert!(bat.trim_start().starts_with("3 ┤"), "{lines:#?}");
        let at = bat.chars().position(|c| c == '●').unwrap();
        assert_eq!(numbers.chars().nth(at), Some('3'), "{lines:#?}");
    }

    #[test]
    fn a_movement_ends_in_a_word_with_a_prime_and_its_new_place() {
        let mut graph = Graph::new();
        let x = graph.given("X", words(), Origin::Stated).unwrap();
        let o = Matrix::of([[3.0, 1.0], [2.0, 0.5], [1.0, 4.0]]);
        let o = graph.given("O", o, Origin::Stated).unwrap();
        let text = lines(Plane::new(&[x], &[(x, o)]), &graph, 80).join("\n");
        for label in ["bat′ (3, 1)", "cave′ (2, 0.5)", "racket′ (1, 4)", "bat (3, 3)", "column 1 →"] {
            assert!(text.contains(label), "{label}:\n{text}");
        }
    }

    #[test]
    fn no_line_is_wider_than_the_screen_and_every_word_has_its_name() {
        let mut graph = Graph::new();
        let x = words().map(|x| x * 100.0 - 250.0).cols_named(&["a rather long name", "and another one"]);
        let x = graph.given("X", x.rows_named(&["bat", "cave", "racket"]), Origin::Stated).unwrap();
        let half = words().map(|x| x * 50.0);
        let o = graph.given("O", half, Origin::Stated).unwrap();
        for width in [16, 26, 36, 56, 76, 196] {
            let lines = lines(Plane::new(&[x], &[(x, o)]), &graph, width);
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{width}: {lines:#?}");
            for word in ["bat", "cave", "racket"] {
                assert!(lines.iter().any(|line| line.contains(word)), "{word} at {width}: {lines:#?}");
            }
        }
    }

    #[test]
    fn words_of_any_script_stand_in_columns_of_the_screen() {
        let mut graph = Graph::new();
        let x = words().rows_named(&["洞穴", "नमस्ते", "racket"]);
        let x = graph.given("X", x, Origin::Stated).unwrap();
        let lines = lines(Plane::new(&[x], &[]), &graph, 36);
        assert!(lines.iter().any(|line| line.contains("● 洞穴 (3, 3)")), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("● नमस्ते (4, 0)")), "{lines:#?}");
        assert!(lines.iter().all(|line| line.width() <= 36), "{lines:#?}");
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
            assert!(lines(Plane::new(&[x], &[]), &graph, 80).is_empty(), "{name}");
        }
    }
}
