//! The canvas of a plot: characters of dots, and the mapping of numbers to dots.

use colored::{Color, Colorize};

use crate::elementary::ln;
use crate::render::{Charset, Style};

/// The lines of the drawing, without the axis.
pub(super) const LINES: usize = 14;
/// The dots of a character, across and down.
pub(super) const DOTS: (usize, usize) = (2, 4);
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
pub(super) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    dots: usize,
}

impl Axis {
    pub(super) fn around(numbers: impl Iterator<Item = f64>, scale: Scale, dots: usize) -> Option<Axis> {
        let along = numbers.map(|x| scale.along(x)).filter(|x| x.is_finite());
        let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        // A single number is drawn in the middle.
        let air = if high > low { 0.0 } else { 1.0 };
        (low <= high).then_some(Axis { scale, low: low - air, high: high + air, dots })
    }

    /// The dot of a number, from the low end.
    pub(super) fn dot(&self, number: f64) -> usize {
        let along = ((self.scale.along(number) - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        (along * (self.dots - 1) as f64).round() as usize
    }

    /// The powers of ten on it.
    pub(super) fn powers(&self) -> Vec<f64> {
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
pub(super) struct Canvas<'a> {
    cells: Vec<Vec<CanvasCell>>,
    /// The characters of a line that belong to the drawing.
    columns: usize,
    across: Axis,
    up: Axis,
    style: &'a Style,
}

impl<'a> Canvas<'a> {
    /// An empty one: `columns` of drawing, and room for names `longest` wide.
    pub(super) fn new(
        (columns, longest): (usize, usize),
        (across, up): (Axis, Axis),
        style: &'a Style,
    ) -> Canvas<'a> {
        Canvas {
            cells: vec![vec![CanvasCell::default(); columns + longest]; LINES],
            columns,
            across,
            up,
            style,
        }
    }

    /// Draws lines, points over them, and names.
    pub(super) fn draw(&mut self, curves: &[Curve]) {
        let curves = || curves.iter().enumerate();
        curves().for_each(|(number, curve)| self.line(number, curve));
        curves().for_each(|(number, curve)| self.marks(number, curve));
        curves().for_each(|(number, curve)| self.name(number, curve));
    }

    pub(super) fn across(&self) -> &Axis {
        &self.across
    }

    /// Its lines, from the top.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.cells.iter().map(|row| self.text(row))
    }

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
