//! Curves over two logarithmic axes, in characters: what grows with a power is a straight line, the steeper the higher the power.

use std::io::Write;

use colored::{Color, Colorize};
use unicode_width::UnicodeWidthStr;

use super::block::{Block, GAP, Level, rows};
use super::{Charset, Style, write_text};
use crate::elementary::ln;
use crate::error::Result;

/// A plot is at most so many columns wide.
const MOST_COLUMNS: usize = 90;
/// The lines of the drawing, without the axis.
const LINES: usize = 14;
/// A character of the drawing is so many dots wide and high.
const DOTS: (usize, usize) = (2, 4);
/// Each curve's points, in UTF-8 and in ASCII, and its colour.
const MARKS: [(char, char, Color); 3] =
    [('●', 'o', Color::Cyan), ('■', '#', Color::Yellow), ('▲', '^', Color::Magenta)];

/// Curves of positive numbers.
#[derive(Clone, Debug)]
pub struct Plot {
    /// What is drawn.
    pub title: String,
    /// The marks of the horizontal axis.
    pub across: Vec<(f64, String)>,
    /// How a number of the vertical axis is written.
    pub up: fn(f64) -> String,
    /// The curves, three at most.
    pub curves: Vec<Curve>,
}

/// A line through points, from left to right.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What stands at its end.
    pub name: String,
    /// (x, y), both positive; others are left out.
    pub points: Vec<(f64, f64)>,
}

/// Writes plots, next to each other where there is room.
///
/// # Errors
/// If `out` cannot be written.
pub fn plots(plots: &[Plot], style: &Style, out: &mut dyn Write) -> Result<()> {
    let blocks: Vec<Block> = plots.iter().filter_map(|plot| plot.block(style)).collect();
    let widths: Vec<usize> = blocks.iter().map(|block| block.width).collect();
    let mut text = String::new();
    for row in rows(&widths, style.width) {
        if !text.is_empty() {
            text.push('\n');
        }
        for line in Block::beside(&blocks[row], GAP, Level::Tops).lines {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    write_text(&text, style, out)
}

/// A range of logarithms and the dots that it is spread over.
struct Axis {
    low: f64,
    high: f64,
    dots: usize,
}

impl Axis {
    fn around(numbers: impl Iterator<Item = f64>, dots: usize) -> Option<Axis> {
        let logs = numbers.map(ln).filter(|log| log.is_finite());
        let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        // One number alone stands in the middle.
        let air = if high > low { 0.0 } else { 1.0 };
        (low <= high).then_some(Axis { low: low - air, high: high + air, dots })
    }

    /// The dot of a number, from the low end.
    fn dot(&self, number: f64) -> usize {
        let along = ((ln(number) - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        (along * (self.dots - 1) as f64).round() as usize
    }

    /// The powers of ten on it.
    fn powers(&self) -> Vec<f64> {
        let powers = (-18..=18).map(|power| format!("1e{power}").parse().unwrap_or(1.0));
        powers.filter(|&power| (self.low..=self.high).contains(&ln(power))).collect()
    }
}

/// One character of the drawing.
#[derive(Clone, Copy, Default)]
struct Cell {
    /// The dots of the lines through it, as braille counts them.
    dots: u8,
    /// What stands there instead of dots.
    character: Option<char>,
    /// Whose it is.
    curve: usize,
}

struct Canvas<'a> {
    cells: Vec<Vec<Cell>>,
    across: Axis,
    up: Axis,
    style: &'a Style,
}

impl Plot {
    /// The plot as lines; `None` where there is no point to draw.
    fn block(&self, style: &Style) -> Option<Block> {
        let points = || self.curves.iter().flat_map(|curve| curve.points.iter().copied());
        let up = Axis::around(points().map(|(_, y)| y), LINES * DOTS.1)?;
        let mut ticks = up.powers();
        if ticks.is_empty() {
            ticks = points().map(|(_, y)| y).take(1).collect();
        }
        let ticks: Vec<(usize, String)> = ticks
            .into_iter()
            .map(|y| (LINES - 1 - up.dot(y) / DOTS.1, style.charset.spelled(&(self.up)(y)).into_owned()))
            .collect();
        let margin = ticks.iter().map(|(_, text)| text.width()).max()? + 2;
        let longest = self.curves.iter().map(|curve| curve.name.width()).max()? + 4;
        let columns = style.width.min(MOST_COLUMNS).saturating_sub(margin + longest).max(8);
        let xs = self.across.iter().map(|(x, _)| *x).chain(points().map(|(x, _)| x));
        let across = Axis::around(xs, columns * DOTS.0)?;
        let cells = vec![vec![Cell::default(); columns + longest]; LINES];
        let mut canvas = Canvas { cells, across, up, style };
        self.curves.iter().enumerate().for_each(|(number, curve)| canvas.line(number, curve));
        self.curves.iter().enumerate().for_each(|(number, curve)| canvas.marks(number, curve));
        self.curves.iter().enumerate().for_each(|(number, curve)| canvas.name(number, curve, columns));
        let width = margin + columns + longest;
        let mut lines = vec![self.title.clone()];
        for (i, row) in canvas.cells.iter().enumerate() {
            let tick = ticks.iter().rev().find(|(line, _)| *line == i);
            let (text, rule) = tick.map_or(("", '│'), |(_, text)| (text.as_str(), '┤'));
            lines.push(format!("{text:>room$} {rule}{}", canvas.text(row), room = margin - 2));
        }
        lines.extend(self.axis(&canvas.across, margin, columns));
        // Escapes for colours have no width; every other line is filled up.
        let padded = |line: String| format!("{line}{}", " ".repeat(width.saturating_sub(visible(&line))));
        Some(Block { lines: lines.into_iter().map(padded).collect(), width })
    }

    /// The horizontal axis and as many of its numbers as there is room for.
    fn axis(&self, across: &Axis, margin: usize, columns: usize) -> [String; 2] {
        let mut rule = vec!['─'; columns];
        let mut numbers = String::new();
        for (x, text) in &self.across {
            let column = across.dot(*x) / DOTS.0;
            let start = column.saturating_sub(text.width() / 2);
            rule[column] = '┬';
            if numbers.is_empty() || numbers.width() < start {
                numbers.push_str(&" ".repeat(start - numbers.width()));
                numbers.push_str(text);
            }
        }
        let rule: String = rule.into_iter().collect();
        [format!("{}└{rule}", " ".repeat(margin - 1)), format!("{}{numbers}", " ".repeat(margin))]
    }
}

/// How wide a line is on the screen, without its escapes.
fn visible(line: &str) -> usize {
    let mut inside = false;
    let shown = |c: &char| {
        let was = inside;
        inside = (inside && *c != 'm') || *c == '\x1b';
        !was && *c != '\x1b'
    };
    line.chars().filter(shown).collect::<String>().width()
}

impl Canvas<'_> {
    /// The dots of a point, from the left and from the top.
    fn place(&self, (x, y): (f64, f64)) -> (usize, usize) {
        (self.across.dot(x), self.up.dots - 1 - self.up.dot(y))
    }

    /// Dots from point to point.
    fn line(&mut self, curve: usize, of: &Curve) {
        for pair in of.points.windows(2) {
            let ((x0, y0), (x1, y1)) = (self.place(pair[0]), self.place(pair[1]));
            let (across, down) = (x1 as f64 - x0 as f64, y1 as f64 - y0 as f64);
            let steps = across.abs().max(down.abs()).max(1.0);
            for step in 0..=steps as usize {
                let along = step as f64 / steps;
                let x = (x0 as f64 + along * across).round() as usize;
                let y = (y0 as f64 + along * down).round() as usize;
                let cell = &mut self.cells[y / DOTS.1][x / DOTS.0];
                cell.dots |= braille(x % DOTS.0, y % DOTS.1);
                cell.curve = curve;
            }
        }
    }

    fn marks(&mut self, curve: usize, of: &Curve) {
        for &point in &of.points {
            let (x, y) = self.place(point);
            self.cells[y / DOTS.1][x / DOTS.0] = Cell { dots: 0, character: Some(self.mark(curve)), curve };
        }
    }

    fn mark(&self, curve: usize) -> char {
        let (utf8, ascii, _) = MARKS[curve % MARKS.len()];
        if self.style.charset == Charset::Utf8 { utf8 } else { ascii }
    }

    /// The name right of all curves, on the line where its curve ends, or on the nearest that is free.
    fn name(&mut self, curve: usize, of: &Curve, columns: usize) {
        let Some(&last) = of.points.last() else { return };
        let line = self.place(last).1 / DOTS.1;
        let free = |line: &usize| self.cells[*line][columns..].iter().all(|cell| cell.character.is_none());
        let Some(line) = (0..LINES).filter(free).min_by_key(|other| other.abs_diff(line)) else { return };
        let text = [' ', self.mark(curve), ' '].into_iter().chain(of.name.chars());
        for (cell, character) in self.cells[line][columns..].iter_mut().zip(text) {
            *cell = Cell { dots: 0, character: Some(character), curve };
        }
    }

    /// A line of the drawing.
    fn text(&self, row: &[Cell]) -> String {
        let character = |cell: &Cell| match (cell.character, cell.dots, self.style.charset) {
            (Some(character), _, _) => character,
            (None, 0, _) => ' ',
            (None, dots, Charset::Utf8) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or('·'),
            (None, dots, Charset::Ascii) => in_ascii(dots),
        };
        let mut text = String::new();
        for same in row.chunk_by(|a, b| (a.curve, is_blank(a)) == (b.curve, is_blank(b))) {
            let run: String = same.iter().map(character).collect();
            match self.style.colour && !is_blank(&same[0]) {
                true => text.push_str(&run.color(MARKS[same[0].curve % MARKS.len()].2).to_string()),
                false => text.push_str(&run),
            }
        }
        text
    }
}

fn is_blank(cell: &Cell) -> bool {
    cell.dots == 0 && cell.character.is_none()
}

/// The bit of a dot in the block of braille, whose lowest row was added later than the others.
fn braille(x: usize, y: usize) -> u8 {
    match y {
        3 => 0x40 << x,
        _ => 1 << (y + 3 * x),
    }
}

/// Dots in one character of ASCII: at the top, at the bottom, or rising.
fn in_ascii(dots: u8) -> char {
    const TOP: u8 = 0b0001_1011;
    match (dots & TOP != 0, dots & !TOP != 0) {
        (true, true) => '/',
        (true, false) => '\'',
        _ => '.',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Convention;
    use crate::render::{Format, Heat};

    fn style(width: usize, charset: Charset, colour: bool) -> Style {
        let (format, heat, convention) = (Format::Table, Heat::Auto, Convention::Rows);
        Style { format, places: None, width, colour, charset, heat, convention }
    }

    fn plot(curves: &[(&str, &[(f64, f64)])]) -> Plot {
        let curve = |(name, points): &(&str, &[(f64, f64)])| Curve {
            name: name.to_string(),
            points: points.to_vec(),
        };
        let across = [1.0, 10.0, 100.0].map(|x| (x, x.to_string())).to_vec();
        Plot {
            title: "growth".into(),
            across,
            up: |y| y.to_string(),
            curves: curves.iter().map(curve).collect(),
        }
    }

    fn drawn(plot: &Plot, style: &Style) -> String {
        let mut out = Vec::new();
        plots(&[plot.clone(), plot.clone()], style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const STEEP: (&str, &[(f64, f64)]) = ("squared", &[(1.0, 1.0), (10.0, 100.0), (100.0, 10_000.0)]);
    const FLAT: (&str, &[(f64, f64)]) = ("constant", &[(1.0, 10.0), (10.0, 10.0), (100.0, 10.0)]);

    #[test]
    fn a_steep_curve_ends_at_the_top_and_a_flat_one_where_it_began() {
        let text = drawn(&plot(&[STEEP, FLAT]), &style(60, Charset::Ascii, false));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with("10000 ") && lines[1].ends_with("o squared"), "{text}");
        let flat = lines.iter().find(|line| line.ends_with("# constant")).unwrap();
        assert!(flat.starts_with("   10 ") && flat.matches('#').count() == 4, "{text}");
        assert!(lines[LINES].contains('o'), "{text}");
        assert!(text.is_ascii());
    }

    #[test]
    fn plots_stand_side_by_side_where_there_is_room_and_none_is_wider_than_the_screen() {
        // As `cli::run` does.
        colored::control::set_override(true);
        for width in [30, 48, 80, 200] {
            for charset in [Charset::Utf8, Charset::Ascii] {
                let text = drawn(&plot(&[STEEP, FLAT]), &style(width, charset, false));
                assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
                let titles = text.lines().filter(|line| line.contains("growth")).count();
                assert_eq!(titles, if width == 200 { 1 } else { 2 }, "{width}");
                let coloured = drawn(&plot(&[STEEP, FLAT]), &style(width, charset, true));
                assert!(coloured.contains("\x1b["));
                let widths =
                    |text: &str| text.lines().map(|line| visible(line.trim_end())).collect::<Vec<_>>();
                assert_eq!(widths(&coloured), widths(&text));
            }
        }
    }

    #[test]
    fn one_point_alone_is_drawn_and_none_is_no_plot() {
        let style = style(60, Charset::Utf8, false);
        assert!(drawn(&plot(&[("one", &[(10.0, 5.0)])]), &style).contains('●'));
        assert_eq!(drawn(&plot(&[("none", &[])]), &style), "");
    }
}
