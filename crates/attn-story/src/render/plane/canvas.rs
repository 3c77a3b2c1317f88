//! The plane in characters.

use crate::text::ScreenWidth;
use unicode_width::UnicodeWidthChar;

use super::{Area, Bounds, Drawing, Ground, Labels, Spot, Ticks};

/// The drawing, without the labels to its right, is at most this wide.
const MOST_COLUMNS: usize = 64;
/// Columns for each row: a character is about twice as high as wide, and a square stays square.
const COLUMNS_PER_ROW: f64 = 2.1;
/// The most rows of a drawing.
pub const MOST_ROWS: f64 = 12.0;
/// The fewest columns that a drawing is squeezed into.
const FEWEST_COLUMNS: usize = 8;
/// Between a point and its label, and behind the label.
const AIR: usize = 4;
/// The mark of a cell that a label covers.
const COVERED: char = '\0';

/// The drawing line by line, none wider than `width`: the name of the axis upwards, the plane with numbers to its left, the
/// numbers below it and the name of the other axis. Nothing where there is nothing to draw.
pub fn lines(drawing: &Drawing, width: usize, most_rows: f64) -> Vec<String> {
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
fn cut(line: &str, width: usize) -> String {
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
        const MOST_TRIES: usize = 12;
        let (across, up) = (self.bounds.across().max(1e-300), self.bounds.up().max(1e-300));
        self.columns_per_unit = (columns / across).min(most_rows * COLUMNS_PER_ROW / up);
        self.rows_per_unit = self.columns_per_unit / COLUMNS_PER_ROW;
        let least = 2.0 / self.rows_per_unit;
        self.ticks = (least.is_finite() && least > 0.0).then(|| Ticks::apart(least))?;
        for _ in 0..MOST_TRIES {
            let widest = widest(&self.ticks.within(self.bounds.left, self.bounds.right));
            if (widest + 2) as f64 <= self.ticks.step() * self.columns_per_unit {
                break;
            }
            self.ticks = self.ticks.wider();
        }
        self.margin = widest(&self.ticks.within(self.bounds.bottom, self.bounds.top)) + 1;
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

fn widest(ticks: &[(f64, String)]) -> usize {
    ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0)
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
