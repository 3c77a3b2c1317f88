//! The plane: words as points, movements as arrows, axes with names and numbers. This file has the parts that every format
//! draws; `canvas` draws in characters.

use unicode_width::UnicodeWidthChar;

use super::Charset;
use super::view::{Viewer, label};
use crate::graph::{Graph, NodeId};
use crate::matrix::Matrix;
use crate::story::{Plane, in_sentence};
use crate::text::ScreenWidth;

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
        self.lines_within(self.width, MOST_ROWS)
    }

    /// The fewest columns in which one still sees where the points are.
    pub fn least_width(&self) -> usize {
        const LEAST_PLANE: usize = 26;
        self.longest_label() + LEAST_PLANE
    }

    /// The drawing within this many columns, next to something of this many lines: flatter where that saves lines and no label
    /// is lost; empty if a label would be lost.
    pub fn lines_next_to(&self, height: usize, width: usize) -> Vec<String> {
        const HEIGHTS: [f64; 3] = [MOST_ROWS, 10.0, 9.0];
        let labels: Vec<String> = self.spots().map(|spot| self.spelled(spot.label())).collect();
        let count_in = |lines: &[String]| {
            labels.iter().filter(|label| lines.iter().any(|line| line.contains(*label))).count()
        };
        let most = count_in(&self.lines());
        let drawn = HEIGHTS.into_iter().map(|rows| self.lines_within(width, rows));
        let whole = drawn.filter(|lines| count_in(lines) >= most);
        whole.min_by_key(|lines| lines.len().max(height)).unwrap_or_default()
    }

    fn lines_within(&self, width: usize, most_rows: f64) -> Vec<String> {
        lines(self, width, most_rows).into_iter().map(|line| self.spelled(line)).collect()
    }

    fn spelled(&self, text: String) -> String {
        match self.charset {
            Charset::Utf8 => text,
            Charset::Ascii => in_ascii(&text),
        }
    }

    /// The drawing in ASCII and without a backslash in a label, which would be a command of LaTeX.
    pub fn lines_in_latex(&self) -> Vec<String> {
        let spelled = |line: String| Charset::Ascii.spelled(&in_ascii(&line.replace('\\', "/"))).into_owned();
        lines(self, self.width, MOST_ROWS).into_iter().map(spelled).collect()
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
    let marks = || "→←↑↓↗↙↖↘·●│─┼┤┬└−′".chars().zip(r"><^v//\\.o|-++++-'".chars());
    let in_ascii = |mark| marks().find(|(known, _)| *known == mark).map_or(mark, |(_, plain)| plain);
    line.chars().map(in_ascii).collect()
}

fn spots(matrix: &Matrix) -> Vec<Spot> {
    if matrix.cols() != 2 || matrix.cells().any(|x| !x.is_finite()) {
        return Vec::new();
    }
    let spot = |i| Spot { name: label(matrix.row_labels(), i), x: matrix[(i, 0)], y: matrix[(i, 1)] };
    (0..matrix.rows()).map(spot).collect()
}

// The plane in characters.

/// The drawing, without the labels to its right, is at most this wide.
const MOST_COLUMNS: usize = 64;
/// Columns for each row: a character is about twice as high as wide, and a square stays square.
const COLUMNS_PER_ROW: f64 = 2.1;
/// The most rows of a drawing.
const MOST_ROWS: f64 = 12.0;
/// The fewest columns that a drawing is squeezed into.
const FEWEST_COLUMNS: usize = 8;
/// Between a point and its label, and behind the label.
const AIR: usize = 4;
/// The mark of a cell that a label covers.
const COVERED: char = '\0';

/// The drawing line by line, none wider than `width`: the name of the axis upwards, the plane with numbers to its left, the
/// numbers below it and the name of the other axis. Nothing where there is nothing to draw.
fn lines(drawing: &Drawing, width: usize, most_rows: f64) -> Vec<String> {
    let Some(bounds) = drawing.bounds() else { return Vec::new() };
    let Some(mut canvas) = Canvas::around(drawing, bounds, (width, most_rows)) else { return Vec::new() };
    canvas.draw(drawing);
    let margin = canvas.margin;
    let (_, zero) = canvas.place(0.0, 0.0);
    let mut lines = vec![format!("{}↑ {}", " ".repeat(margin + zero), drawing.axes[1])];
    let upwards = canvas.upwards();
    for (i, row) in canvas.cells.iter().enumerate() {
        let number = upwards.iter().find(|(row, _)| *row == i).map_or("", |(_, text)| text);
        let row = canvas.text(i, row);
        lines.push(format!("{number:>room$} {row}", room = margin - 1));
    }
    lines.extend(canvas.numbers_below(&drawing.axes[0], width));
    lines.iter().map(|line| cut(line, width).trim_end().to_string()).collect()
}

/// The longest start of a line that is at most this wide.
pub fn cut(line: &str, width: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    line.chars().take_while(fits).collect()
}

struct Canvas {
    cells: Vec<Vec<char>>,
    /// The labels, each with the row and the column where it begins; a character may be wider than a column, or not at all wide.
    labels: Vec<(usize, usize, String)>,
    bounds: Bounds,
    ticks: Ticks,
    /// Columns to the left of the drawing, for numbers and a blank.
    margin: usize,
    columns_per_unit: f64,
    rows_per_unit: f64,
}

impl Canvas {
    /// A canvas on which all spots and the origin have room, with the same scale both ways.
    fn around(drawing: &Drawing, bounds: Bounds, (width, most_rows): (usize, f64)) -> Option<Canvas> {
        let longest = drawing.longest_label();
        let mut canvas = Canvas {
            cells: Vec::new(),
            labels: Vec::new(),
            bounds,
            ticks: Ticks::apart(1.0),
            margin: 0,
            columns_per_unit: 1.0,
            rows_per_unit: 1.0,
        };
        // A smaller scale has its numbers further apart, and none that is wider.
        for _ in 0..2 {
            let room = width.saturating_sub(canvas.margin);
            let columns = room.saturating_sub(longest + AIR).clamp(FEWEST_COLUMNS, MOST_COLUMNS);
            canvas.scale(columns as f64, most_rows)?;
        }
        let wide = (bounds.across() * canvas.columns_per_unit).round() as usize;
        let high = (bounds.up() * canvas.rows_per_unit).round() as usize;
        let columns = (wide + longest + AIR).min(width.saturating_sub(canvas.margin)).max(wide + 1);
        canvas.cells = vec![vec![' '; columns]; high + 1];
        Some(canvas)
    }

    /// Spreads the plane over this many columns and at most this many rows, and chooses the numbers of the axes.
    fn scale(&mut self, columns: f64, most_rows: f64) -> Option<()> {
        let (across, up) = (self.bounds.across().max(1e-300), self.bounds.up().max(1e-300));
        self.columns_per_unit = (columns / across).min(most_rows * COLUMNS_PER_ROW / up);
        self.rows_per_unit = self.columns_per_unit / COLUMNS_PER_ROW;
        let least = 2.0 / self.rows_per_unit;
        self.ticks = (least.is_finite() && least > 0.0).then(|| Ticks::apart(least))?;
        let fits = |widest: usize, step: f64| (widest + 2) as f64 <= step * self.columns_per_unit;
        self.ticks = self.ticks.fitting(self.bounds.left, self.bounds.right, fits);
        self.margin = self.ticks.widest(self.bounds.bottom, self.bounds.top) + 1;
        Some(())
    }

    fn place(&self, x: f64, y: f64) -> (usize, usize) {
        let column = ((x - self.bounds.left) * self.columns_per_unit).round() as usize;
        let row = ((self.bounds.top - y) * self.rows_per_unit).round() as usize;
        (row.min(self.cells.len() - 1), column.min(self.cells[0].len() - 1))
    }

    fn draw(&mut self, drawing: &Drawing) {
        self.axes();
        for (from, to) in &drawing.arrows {
            self.arrow(from, to);
        }
        for point in &drawing.points {
            let (row, column) = self.place(point.x, point.y);
            self.cells[row][column] = '●';
        }
        let mut covered = self.covered();
        for point in &drawing.points {
            self.label(point, &mut covered);
        }
        for (from, to) in drawing.named_ends() {
            if self.place(from.x, from.y) != self.place(to.x, to.y) {
                self.label(to, &mut covered);
            }
        }
    }

    /// What stands on the canvas before the labels: a cell for each mark.
    fn covered(&self) -> Labels {
        let (rows, columns) = (self.cells.len() as f64, self.cells[0].len() as f64);
        let mut covered = Labels::within([0.0, 0.0, columns, rows]);
        for (row, line) in self.cells.iter().enumerate() {
            for (column, character) in line.iter().enumerate() {
                let ground = match character {
                    ' ' => continue,
                    '─' | '┬' => Ground::Across,
                    '│' | '┤' => Ground::Upwards,
                    '·' => Ground::Arrow,
                    _ => Ground::Mark,
                };
                covered.cover(area(row, column, 1), ground);
            }
        }
        covered
    }

    fn axes(&mut self) {
        let (zero_row, zero_column) = self.place(0.0, 0.0);
        for row in &mut self.cells {
            row[zero_column] = '│';
        }
        self.cells[zero_row].fill('─');
        for (row, _) in self.upwards() {
            self.cells[row][zero_column] = '┤';
        }
        for (column, _) in self.across() {
            self.cells[zero_row][column] = '┬';
        }
        let is_corner = zero_column == 0 && zero_row + 1 == self.cells.len();
        self.cells[zero_row][zero_column] = if is_corner { '└' } else { '┼' };
    }

    /// The rows of the axis upwards that have a number, and the numbers.
    fn upwards(&self) -> Vec<(usize, String)> {
        let ticks = self.ticks.within(self.bounds.bottom, self.bounds.top);
        ticks.into_iter().map(|(y, text)| (self.place(0.0, y).0, text)).collect()
    }

    /// The columns of the other axis that have a number, and the numbers.
    fn across(&self) -> Vec<(usize, String)> {
        let ticks = self.ticks.within(self.bounds.left, self.bounds.right);
        ticks.into_iter().map(|(x, text)| (self.place(x, 0.0).1, text)).collect()
    }

    /// The numbers below the drawing and the name of the axis: behind them, or where there is no room in a line of its own.
    fn numbers_below(&self, name: &str, width: usize) -> Vec<String> {
        let mut numbers = String::new();
        for (column, text) in self.across() {
            // The last digit of a negative number is below its place, as that of any other.
            let start = (self.margin + column + 1).saturating_sub(text.chars().count());
            let blanks = start.saturating_sub(numbers.chars().count());
            numbers.push_str(&" ".repeat(blanks));
            numbers.push_str(&text);
        }
        let name = format!("{name} →");
        if numbers.chars().count() + 3 + name.width() <= width {
            vec![format!("{numbers}   {name}")]
        } else {
            vec![numbers, format!("{}{name}", " ".repeat(self.margin))]
        }
    }

    /// Dots from one spot to the other, and a head that points the way.
    fn arrow(&mut self, from: &Spot, to: &Spot) {
        let ((row, column), (to_row, to_column)) = (self.place(from.x, from.y), self.place(to.x, to.y));
        let (down, across) = (to_row as f64 - row as f64, to_column as f64 - column as f64);
        let steps = down.abs().max(across.abs()) as usize;
        for step in 1..steps {
            let along = step as f64 / steps as f64;
            let at = |from: usize, way: f64| (from as f64 + along * way).round() as usize;
            self.cells[at(row, down)][at(column, across)] = '·';
        }
        if steps > 0 {
            self.cells[to_row][to_column] = head(across, -down * COLUMNS_PER_ROW);
        }
    }

    /// The label next to its spot, to the right if it can be: with its coordinates, or where there is no room the word alone.
    fn label(&mut self, spot: &Spot, covered: &mut Labels) {
        let (row, column) = self.place(spot.x, spot.y);
        let rows = || [Some(row), row.checked_sub(1), Some(row + 1)].into_iter().flatten();
        for text in [spot.label(), spot.name.clone()] {
            let length = text.width();
            let right = rows().map(|row| area(row, column + 2, length));
            let left = rows().filter_map(|row| Some(area(row, column.checked_sub(length + 1)?, length)));
            let Some([start, row, ..]) = covered.free(&right.chain(left).collect::<Vec<_>>()) else {
                continue;
            };
            self.write(row as usize, start as usize, &text);
            // A label does not touch the next one.
            covered.cover([start - 1.0, row, start + length as f64 + 1.0, row + 1.0], Ground::Mark);
            return;
        }
    }

    fn write(&mut self, row: usize, start: usize, text: &str) {
        let (line, end) = (&mut self.cells[row], start + text.width());
        for at in [start.checked_sub(1), Some(end)].into_iter().flatten() {
            if let Some(cell) = line.get_mut(at).filter(|cell| **cell == '─') {
                *cell = ' ';
            }
        }
        line[start..end].fill(COVERED);
        self.labels.push((row, start, text.to_string()));
    }

    /// A row with its labels.
    fn text(&self, at: usize, row: &[char]) -> String {
        let labels: Vec<_> = self.labels.iter().filter(|(row, _, _)| *row == at).collect();
        let mut out = String::new();
        for (column, character) in row.iter().enumerate() {
            match labels.iter().find(|(_, start, _)| *start == column) {
                Some((_, _, label)) => out.push_str(label),
                None if *character == COVERED => {}
                None => out.push(*character),
            }
        }
        out
    }
}

/// The area of cells of a row.
fn area(row: usize, column: usize, length: usize) -> Area {
    [column as f64, row as f64, (column + length) as f64, (row + 1) as f64]
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

// Places for labels, so that none covers another: one rule for the plane in characters and for its picture.

/// A rectangle: left, top, right, bottom. Two that share an edge do not meet.
pub type Area = [f64; 4];

/// What a label would cover.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// A point, a number, another label: never covered.
    Mark,
    /// The axis to the right.
    Across,
    /// The axis upwards.
    Upwards,
    /// A movement.
    Arrow,
}

/// What is covered so far, inside a room.
pub struct Labels {
    room: Area,
    covered: Vec<(Area, Ground)>,
}

impl Labels {
    /// An empty room.
    pub fn within(room: Area) -> Labels {
        Labels { room, covered: Vec::new() }
    }

    /// Something that stands there.
    pub fn cover(&mut self, area: Area, ground: Ground) {
        self.covered.push((area, ground));
    }

    /// The first of these areas that is free: the first one also over the axis across, then each on free ground, then over axes,
    /// then over movements.
    pub fn free(&self, areas: &[Area]) -> Option<Area> {
        const BESIDE: &[Ground] = &[Ground::Across];
        const OVER: [&[Ground]; 3] =
            [&[], &[Ground::Across, Ground::Upwards], &[Ground::Across, Ground::Upwards, Ground::Arrow]];
        let beside = areas.first().map(|area| (area, BESIDE));
        let others = OVER.into_iter().flat_map(|over| areas.iter().map(move |area| (area, over)));
        let found = beside.into_iter().chain(others).find(|(area, over)| self.has_room(area, over));
        found.map(|(area, _)| *area)
    }

    fn has_room(&self, area: &Area, over: &[Ground]) -> bool {
        let [left, top, right, bottom] = self.room;
        let is_inside = area[0] >= left && area[1] >= top && area[2] <= right && area[3] <= bottom;
        let meets = |other: &Area| {
            area[0] < other[2] && other[0] < area[2] && area[1] < other[3] && other[1] < area[3]
        };
        is_inside && self.covered.iter().all(|(other, ground)| over.contains(ground) || !meets(other))
    }
}

// The numbers at an axis: round ones, as many as there is room for.

/// Numbers that are 1, 2 or 5 times a power of ten apart.
#[derive(Clone, Copy)]
pub struct Ticks {
    /// 1, 2 or 5 …
    digit: u8,
    /// The power of ten of the distance between two numbers.
    power: i32,
}

impl Ticks {
    /// The nearest together that are at least this far apart; `least` is positive.
    pub fn apart(least: f64) -> Ticks {
        // Written as 3.2e-1, a number says its power of ten.
        let text = format!("{least:e}");
        let power = text.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
        let mut ticks = Ticks { digit: 1, power };
        while ticks.step() < least && ticks.power < 300 {
            ticks = ticks.wider();
        }
        ticks
    }

    /// The next that are further apart.
    fn wider(self) -> Ticks {
        match self.digit {
            1 => Ticks { digit: 2, ..self },
            2 => Ticks { digit: 5, ..self },
            _ => Ticks { digit: 1, power: self.power + 1 },
        }
    }

    /// The first of these, or of those further apart, whose widest number in a range fits their distance.
    pub fn fitting(mut self, low: f64, high: f64, fits: impl Fn(usize, f64) -> bool) -> Ticks {
        const MOST_TRIES: usize = 12;
        for _ in 0..MOST_TRIES {
            if fits(self.widest(low, high), self.step()) {
                break;
            }
            self = self.wider();
        }
        self
    }

    /// The characters of the widest number in a range.
    pub fn widest(self, low: f64, high: f64) -> usize {
        self.within(low, high).iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0)
    }

    /// The distance between neighbouring numbers.
    pub fn step(self) -> f64 {
        format!("{}e{}", self.digit, self.power).parse().unwrap_or(f64::INFINITY)
    }

    /// The numbers in a range that holds 0, and their texts.
    pub fn within(self, low: f64, high: f64) -> Vec<(f64, String)> {
        const MOST: f64 = 100.0;
        let step = self.step();
        let (first, last) = ((low / step).ceil().max(-MOST) as i64, (high / step).floor().min(MOST) as i64);
        let places = usize::try_from(-self.power).unwrap_or(0);
        let number = |i: i64| {
            let number = i as f64 * step;
            (number, in_sentence(number, places))
        };
        (first..=last).map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::Origin;

    use super::*;

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

    #[test]
    fn ticks_are_round_and_at_least_as_far_apart_as_asked() {
        for (least, step) in [(0.9, 1.0), (1.0, 1.0), (1.1, 2.0), (3.0, 5.0), (0.03, 0.05), (70.0, 100.0)] {
            assert_eq!(Ticks::apart(least).step(), step, "{least}");
        }
        let texts = |low, high| {
            let ticks = Ticks::apart(0.4).within(low, high);
            ticks.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(texts(-0.7, 1.2), "−0.5 0 0.5 1");
        assert_eq!(texts(0.0, 0.2), "0");
    }
}
