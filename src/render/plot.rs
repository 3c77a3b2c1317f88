//! Curves in characters.

use std::io::Write;

use colored::{Color, Colorize};

use crate::elementary::ln;
use crate::error::Result;
use crate::text::ScreenWidth;

use super::table::{Block, GAP, Level, rows};
use super::{Charset, Style};

/// The most columns of a plot.
const MOST_COLUMNS: usize = 90;

/// Curves over two axes.
#[derive(Clone, Debug)]
pub struct Plot {
    /// The title.
    pub title: String,
    /// How the numbers of both axes are spread.
    pub scale: Scale,
    /// The marks of the vertical axis; on a logarithmic scale the powers of ten where there are none.
    pub ticks: Vec<f64>,
    /// The marks of the horizontal axis.
    pub across: Vec<(f64, String)>,
    /// The format of a number of the vertical axis.
    pub up: fn(f64) -> String,
    /// The curves, three at most.
    pub curves: Vec<Curve>,
}

/// Writes plots, next to each other where there is room.
///
/// # Errors
/// If `out` cannot be written.
pub fn plots(plots: &[Plot], style: &Style, out: &mut dyn Write) -> Result<()> {
    let blocks: Vec<Block> = plots.iter().filter_map(|plot| plot.block(style)).collect();
    let widths: Vec<usize> = blocks.iter().map(|block| block.width).collect();
    let mut text = String::new();
    for row in rows(&widths, style.width, GAP) {
        if !text.is_empty() {
            text.push('\n');
        }
        for line in Block::beside(&blocks[row], GAP, Level::Tops).lines {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    style.write(&text, out)
}

impl Plot {
    /// The plot as lines; `None` where there is no point to draw.
    fn block(&self, style: &Style) -> Option<Block> {
        let points = || self.curves.iter().flat_map(|curve| curve.points.iter().copied());
        let ys = points().map(|(_, y)| y).chain(self.ticks.iter().copied());
        let up = Axis::around(ys, self.scale, LINES * DOTS.1)?;
        let mut ticks = if self.ticks.is_empty() { up.powers() } else { self.ticks.clone() };
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
        let across = Axis::around(xs, self.scale, columns * DOTS.0)?;
        // Right of the drawing there is room for names.
        let cells = vec![vec![CanvasCell::default(); columns + longest]; LINES];
        let mut canvas = Canvas { cells, columns, across, up, style };
        // Lines, points over them, and names.
        let curves = || self.curves.iter().enumerate();
        curves().for_each(|(number, curve)| canvas.line(number, curve));
        curves().for_each(|(number, curve)| canvas.marks(number, curve));
        curves().for_each(|(number, curve)| canvas.name(number, curve));
        let width = margin + columns + longest;
        let mut lines = vec![self.title.clone()];
        for (i, row) in canvas.cells.iter().enumerate() {
            let tick = ticks.iter().rev().find(|(line, _)| *line == i);
            let (text, rule) = tick.map_or(("", '│'), |(_, text)| (text.as_str(), '┤'));
            lines.push(format!("{text:>room$} {rule}{}", canvas.text(row), room = margin - 2));
        }
        lines.extend(self.axis(&canvas.across, margin, columns));
        Some(Block::coloured(lines, width))
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

// The canvas of a plot: characters of dots, and the mapping of numbers to dots.

/// The lines of the drawing, without the axis.
const LINES: usize = 14;
/// The dots of a character, across and down.
const DOTS: (usize, usize) = (2, 4);
/// Each curve's points, in UTF-8 and in ASCII, and its colour.
const MARKS: [(char, char, Color); 3] =
    [('●', 'o', Color::Cyan), ('■', '#', Color::Yellow), ('▲', '^', Color::Magenta)];

/// A line through points, from left to right.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The name at its end.
    pub name: String,
    /// (x, y); on a logarithmic scale those that are not positive are left out.
    pub points: Vec<(f64, f64)>,
    /// Whether each point has a mark.
    pub marked: bool,
}

/// How the numbers of an axis are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// By their size.
    Linear,
    /// By their logarithm: a power is a straight line, the steeper the higher its exponent.
    Logarithmic,
}

impl Scale {
    fn along(self, number: f64) -> f64 {
        match self {
            Scale::Linear => number,
            Scale::Logarithmic => ln(number),
        }
    }
}

/// A range of numbers and the dots that it is spread over.
struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    dots: usize,
}

impl Axis {
    fn around(numbers: impl Iterator<Item = f64>, scale: Scale, dots: usize) -> Option<Axis> {
        let along = numbers.map(|x| scale.along(x)).filter(|x| x.is_finite());
        let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        // A single number is drawn in the middle.
        let air = if high > low { 0.0 } else { 1.0 };
        (low <= high).then_some(Axis { scale, low: low - air, high: high + air, dots })
    }

    /// The dot of a number, from the low end.
    fn dot(&self, number: f64) -> usize {
        let along = ((self.scale.along(number) - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        (along * (self.dots - 1) as f64).round() as usize
    }

    /// The powers of ten on it.
    fn powers(&self) -> Vec<f64> {
        let powers = (-18..=18).map(|power| format!("1e{power}").parse().unwrap_or(1.0));
        powers.filter(|&power| (self.low..=self.high).contains(&self.scale.along(power))).collect()
    }
}

/// One character of the drawing.
#[derive(Clone, Copy, Default)]
struct CanvasCell {
    /// The dots of the lines through it, as braille counts them.
    dots: u8,
    /// The character that is shown instead of dots.
    character: Option<char>,
    /// The index of its curve.
    curve: usize,
}

/// The drawing, and right of it the names of its curves.
struct Canvas<'a> {
    cells: Vec<Vec<CanvasCell>>,
    /// The characters of a line that belong to the drawing.
    columns: usize,
    across: Axis,
    up: Axis,
    style: &'a Style,
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
        for &point in of.points.iter().filter(|_| of.marked) {
            let (x, y) = self.place(point);
            self.cells[y / DOTS.1][x / DOTS.0] =
                CanvasCell { dots: 0, character: Some(self.mark(curve)), curve };
        }
    }

    fn mark(&self, curve: usize) -> char {
        let (utf8, ascii, _) = MARKS[curve % MARKS.len()];
        if self.style.charset == Charset::Utf8 { utf8 } else { ascii }
    }

    /// The name right of all curves, on the line where its curve ends, or on the nearest that is free.
    fn name(&mut self, curve: usize, of: &Curve) {
        let columns = self.columns;
        let Some(&last) = of.points.last() else { return };
        let line = self.place(last).1 / DOTS.1;
        let free = |line: &usize| self.cells[*line][columns..].iter().all(|cell| cell.character.is_none());
        let Some(line) = (0..LINES).filter(free).min_by_key(|other| other.abs_diff(line)) else { return };
        let text = [' ', self.mark(curve), ' '].into_iter().chain(of.name.chars());
        for (cell, character) in self.cells[line][columns..].iter_mut().zip(text) {
            *cell = CanvasCell { dots: 0, character: Some(character), curve };
        }
    }

    /// A line of the drawing.
    fn text(&self, row: &[CanvasCell]) -> String {
        let character = |cell: &CanvasCell| match (cell.character, cell.dots, self.style.charset) {
            (Some(character), _, _) => character,
            (None, 0, _) => ' ',
            (None, dots, Charset::Utf8) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or('·'),
            (None, dots, Charset::Ascii) => in_ascii(dots),
        };
        let mut text = String::new();
        for same in row.chunk_by(|a, b| (a.curve, is_blank(a)) == (b.curve, is_blank(b))) {
            let run: String = same.iter().map(character).collect();
            if self.style.colour && !is_blank(&same[0]) {
                text.push_str(&run.color(MARKS[same[0].curve % MARKS.len()].2).to_string())
            } else {
                text.push_str(&run)
            }
        }
        text
    }
}

fn is_blank(cell: &CanvasCell) -> bool {
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
    use super::super::table::visible_width;
    use super::*;
    use crate::graph::Convention;
    use crate::render::{Charset, Format, Heat, Theme};

    fn style(width: usize, charset: Charset, colour: bool) -> Style {
        let (format, heat, convention) = (Format::Table, Heat::Auto, Convention::Rows);
        Style { format, places: None, width, colour, theme: Theme::Unknown, charset, heat, convention }
    }

    fn plot(curves: &[(&str, &[(f64, f64)])]) -> Plot {
        let curve = |(name, points): &(&str, &[(f64, f64)])| Curve {
            name: name.to_string(),
            points: points.to_vec(),
            marked: true,
        };
        let across = [1.0, 10.0, 100.0].map(|x| (x, x.to_string())).to_vec();
        Plot {
            title: "growth".into(),
            scale: Scale::Logarithmic,
            ticks: Vec::new(),
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
        // `cli::run` sets this too.
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
                    |text: &str| text.lines().map(|line| visible_width(line.trim_end())).collect::<Vec<_>>();
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
