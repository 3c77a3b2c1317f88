//! Curves in characters.

use std::io::Write;

use crate::text::ScreenWidth;

use super::Style;
use super::block::{Block, GAP, Level, rows, visible};
use crate::error::Result;

mod canvas;

use canvas::{Axis, Canvas, DOTS, LINES};
pub use canvas::{Curve, Scale};

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
    for row in rows(&widths, style.width) {
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
        let mut canvas = Canvas::new((columns, longest), (across, up), style);
        canvas.draw(&self.curves);
        let width = margin + columns + longest;
        let mut lines = vec![self.title.clone()];
        for (i, row) in canvas.lines().enumerate() {
            let tick = ticks.iter().rev().find(|(line, _)| *line == i);
            let (text, rule) = tick.map_or(("", '│'), |(_, text)| (text.as_str(), '┤'));
            lines.push(format!("{text:>room$} {rule}{row}", room = margin - 2));
        }
        lines.extend(self.axis(canvas.across(), margin, columns));
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

#[cfg(test)]
mod tests {
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
