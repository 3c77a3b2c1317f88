//! Arrays as NumPy's `print` writes them under its default options, but shortened to `...` only where they are too many
//! numbers to look at.
//!
//! All cells of an array share one notation and one width, so that the points stand under each other:
//!
//! - **Digits.** The fewest that name the number among all `f64`; where more than eight of them follow the point, the
//!   exact binary value rounded to eight, ties to even. Trailing zeros go, as far as no other cell needs the place.
//! - **Notation.** Scientific if, over the finite values other than zero, the largest magnitude is at least 10⁸, the
//!   smallest is below 10⁻⁴, or their ratio exceeds 1000. Mantissas then all have as many digits as the longest, and
//!   exponents as many as the longest, at least two.
//! - **Lines** hold 75 characters, the brackets that open and close them included; a row that needs more goes on below,
//!   indented.
//!
//! The rules are those of `numpy/_core/arrayprint.py` (NumPy 2.4) with `precision=8`, `floatmode='maxprec'`,
//! `linewidth=75` and `threshold=sys.maxsize`.

use super::Page;
use crate::graph::{Convention, formula, rounded};
use crate::matrix::Matrix;
use crate::tensor::{Tensor, edges};

/// The most digits after the point.
const PRECISION: usize = 8;
/// The most characters in a line.
const LINE_WIDTH: usize = 75;

/// The arrays of all pages; each under a comment with its equation where there are several. With a number of decimals the
/// arrays are `np.round(array, decimals)`.
pub fn pages(pages: &[Page], decimals: Option<usize>) -> String {
    let round = |x: f64| decimals.map_or(x, |decimals| rounded(x, decimals as u32));
    let count: usize = pages.iter().map(|page| page.nodes.len()).sum();
    let mut text = String::new();
    for page in pages {
        let graph = &page.story.graph;
        for &id in &page.nodes {
            if count > 1 {
                text.push_str(&format!("# {}\n", formula(graph, id, Convention::Rows, true)));
            }
            match (graph[id].matrix(), graph[id].typed()) {
                (Some(matrix), _) => text.push_str(&array_lines(&matrix.map(round))),
                (None, Some(numbers)) => text.push_str(&summary_lines(numbers, round)),
                (None, None) => text.push_str("# never formed"),
            }
            text.push('\n');
        }
    }
    text
}

/// A matrix with every digit as a statement in Python: `X = np.array([[1.0, -0.5], [0.0, -np.inf]])`.
pub fn assignment(name: &str, matrix: &Matrix) -> String {
    let number = |x: f64| match x {
        x if x.is_nan() => "np.nan".to_string(),
        x if x.is_infinite() => if x > 0.0 { "np.inf" } else { "-np.inf" }.to_string(),
        x => format!("{x:?}"),
    };
    let row = |i: usize| format!("[{}]", matrix.row(i).map(number).collect::<Vec<_>>().join(", "));
    let indent = format!(",\n{}", " ".repeat(name.chars().count() + " = np.array([".len()));
    let rows = (0..matrix.rows()).map(row).collect::<Vec<_>>().join(&indent);
    format!("{name} = np.array([{rows}])\n")
}

/// `print(array)` of a matrix, without the newline at the end: `[[1.  0.5]\n [0.  1. ]]`.
///
/// A matrix without cells is `[]`.
pub fn array_lines(matrix: &Matrix) -> String {
    if matrix.rows() == 0 || matrix.cols() == 0 {
        return "[]".to_owned();
    }
    let cells = cells(matrix);
    let rows: Vec<String> = cells.chunks(matrix.cols()).map(|row| bracketed_row(row, 2)).collect();
    format!("[{}]", rows.join("\n "))
}

/// `print(array)` as NumPy shortens it: of more rows or columns than seven the first three and the last three.
fn summary_lines(numbers: &Tensor, round: impl Fn(f64) -> f64) -> String {
    let (rows, cols) = (edges(numbers.shape().rows), edges(numbers.shape().cols));
    let kept: Vec<f64> = (rows.iter().flatten())
        .flat_map(|&i| cols.iter().flatten().map(move |&j| numbers.at(i, j)))
        .map(round)
        .collect();
    let mut texts = padded(&kept).into_iter();
    let mut line = |row: &Option<usize>| match row {
        None => "...".to_string(),
        Some(_) => {
            let cells = cols.iter().map(|col| match col {
                Some(_) => texts.next().unwrap_or_default(),
                None => "...".to_string(),
            });
            bracketed_row(&cells.collect::<Vec<_>>(), 2)
        }
    };
    let lines: Vec<String> = rows.iter().map(&mut line).collect();
    format!("[{}]", lines.join("\n "))
}

/// `print(array)` of an array of one dimension, without the newline at the end: `[1.  0.5]`.
pub fn vector_lines(values: &[f64]) -> String {
    if values.is_empty() {
        return "[]".to_owned();
    }
    bracketed_row(&padded(values), 1)
}

/// The cells of a matrix as [`array_lines`] writes them, row by row, all padded to the same width.
pub fn cells(matrix: &Matrix) -> Vec<String> {
    padded(&matrix.cells().collect::<Vec<f64>>())
}

/// The values in their common layout.
fn padded(values: &[f64]) -> Vec<String> {
    let layout = CellFormat::of(values);
    values.iter().map(|&value| layout.cell(value)).collect()
}

/// One row in brackets, on as many lines as it needs, inside an array of this many dimensions.
///
/// Each dimension costs a line one opening bracket, or a space below it, and the room for one closing bracket.
fn bracketed_row(cells: &[String], dimensions: usize) -> String {
    let room = LINE_WIDTH - 2 * dimensions;
    let cell_width = cells.first().map_or(0, String::len);
    let per_line = ((room + 1) / (cell_width + 1)).max(1);
    let mut lines: Vec<String> = cells.chunks(per_line).map(|line| line.join(" ")).collect();
    let last = lines.pop().unwrap_or_default();
    let indent = " ".repeat(dimensions);
    let above: String = lines.iter().map(|line| format!("{}\n{indent}", line.trim_end())).collect();
    format!("[{above}{last}]")
}

/// The format of the cells of one array.
#[derive(Debug)]
struct CellFormat {
    is_scientific: bool,
    /// Characters before the point, the sign included.
    before_point: usize,
    /// Digits after the point.
    fraction_digits: usize,
    /// Digits of the exponent; 0 in positional notation.
    exponent_digits: usize,
}

impl CellFormat {
    /// The narrowest layout that holds all the values.
    fn of(values: &[f64]) -> CellFormat {
        let is_scientific = is_scientific(values);
        let exponent_digits = if is_scientific { 2 } else { 0 };
        let mut layout = CellFormat { is_scientific, before_point: 0, fraction_digits: 0, exponent_digits };
        for &value in values.iter().filter(|value| value.is_finite()) {
            let text = decimal(value, is_scientific);
            let [whole, fraction, exponent] = parts(&text);
            layout.before_point = layout.before_point.max(whole.len());
            layout.fraction_digits = layout.fraction_digits.max(fraction.len());
            layout.exponent_digits = layout.exponent_digits.max(exponent.trim_start_matches('-').len());
        }
        // `nan` and `inf` stand at the right edge of their cell and may use all of its width.
        for &value in values.iter().filter(|value| !value.is_finite()) {
            layout.before_point += name(value).len().saturating_sub(layout.width());
        }
        layout
    }

    /// Characters in a cell: in scientific notation `e`, a sign and the exponent follow the digits.
    fn width(&self) -> usize {
        let exponent = if self.is_scientific { 2 + self.exponent_digits } else { 0 };
        self.before_point + 1 + self.fraction_digits + exponent
    }

    /// A value, padded to the width of the layout.
    fn cell(&self, value: f64) -> String {
        let CellFormat { before_point, fraction_digits, exponent_digits, .. } = *self;
        if !value.is_finite() {
            return format!("{:>width$}", name(value), width = self.width());
        }
        if !self.is_scientific {
            let text = decimal(value, false);
            let [whole, fraction, _] = parts(&text);
            return format!("{whole:>before_point$}.{fraction:<fraction_digits$}");
        }
        let text = format!("{value:.fraction_digits$e}");
        let [whole, fraction, exponent] = parts(&text);
        let sign = if exponent.starts_with('-') { '-' } else { '+' };
        let exponent = exponent.trim_start_matches('-');
        format!("{whole:>before_point$}.{fraction}e{sign}{exponent:0>exponent_digits$}")
    }
}

/// Whether NumPy chooses scientific notation for an array of these values.
fn is_scientific(values: &[f64]) -> bool {
    let magnitudes = values.iter().map(|value| value.abs()).filter(|&size| size.is_finite() && size != 0.0);
    let (min, max) =
        magnitudes.fold((f64::INFINITY, 0.0_f64), |(min, max), size| (min.min(size), max.max(size)));
    max >= 1e8 || min < 1e-4 || max / min > 1000.0
}

/// A finite value with the fewest digits that name it, or with [`PRECISION`] digits after the point, less the trailing zeros. The texts
/// of the standard library are exact: the shortest, or correctly rounded.
fn decimal(value: f64, is_scientific: bool) -> String {
    let shortest = if is_scientific { format!("{value:e}") } else { value.to_string() };
    if parts(&shortest)[1].len() <= PRECISION {
        return shortest;
    }
    let rounded =
        if is_scientific { format!("{value:.PRECISION$e}") } else { format!("{value:.PRECISION$}") };
    let [whole, fraction, exponent] = parts(&rounded);
    let fraction = fraction.trim_end_matches('0');
    if is_scientific { format!("{whole}.{fraction}e{exponent}") } else { format!("{whole}.{fraction}") }
}

/// The parts of `-12`, `1.5` or `1.5e-7`: what stands before the point, the digits after it, and the exponent.
fn parts(text: &str) -> [&str; 3] {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, ""));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    [whole, fraction, exponent]
}

/// NumPy's name for a value that is not a finite number.
fn name(value: f64) -> &'static str {
    match value {
        f64::INFINITY => "inf",
        f64::NEG_INFINITY => "-inf",
        _ => "nan",
    }
}
