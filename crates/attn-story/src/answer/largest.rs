//! The largest cell, the smallest, and the order of a row; a tie is an error, because a class cannot decide it.

use crate::error::{Error, Result};
use crate::graph::number_text;
use crate::matrix::Matrix;

/// Relative difference up to which two numbers are a tie: no table shows it.
const SAME_PART: f64 = 1e-9;
/// Difference up to which two numbers are a tie, as a part of the largest absolute value: rounding leaves as much.
const NOISE: f64 = 1e-15;
/// At most this many tied cells are named in an error.
const MOST_NAMED: usize = 4;

/// The position of the max of a matrix, or of the min; `address` names a cell of it.
///
/// # Errors
/// If there is none, or another cell ties with it.
pub fn extreme(
    matrix: &Matrix,
    is_max: bool,
    address: impl Fn((usize, usize)) -> String,
) -> Result<(usize, usize)> {
    let positions = || (0..matrix.rows()).flat_map(|row| (0..matrix.cols()).map(move |col| (row, col)));
    let better = |a: f64, b: f64| if is_max { a > b } else { a < b };
    let best = positions().reduce(|best, at| if better(matrix[at], matrix[best]) { at } else { best });
    let best = best.ok_or_else(|| Error::new("there is no cell to choose from"))?;
    let scale = scale_of(matrix);
    let tied: Vec<(usize, usize)> =
        positions().filter(|&at| is_tie(matrix[at], matrix[best], scale)).collect();
    match tied.len() {
        1 => Ok(best),
        count => Err(tie(count, tied.into_iter().map(address), matrix[best])),
    }
}

/// The positions of the numbers from the largest to the smallest; `name` names a position.
///
/// # Errors
/// If there is none, or two of them tie.
pub fn ranked(row: &Matrix, name: impl Fn(usize) -> String) -> Result<Vec<usize>> {
    let values: Vec<f64> = row.cells().collect();
    let mut positions: Vec<usize> = (0..values.len()).collect();
    positions.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let scale = scale_of(row);
    let pair = positions.windows(2).find(|pair| is_tie(values[pair[0]], values[pair[1]], scale));
    match pair {
        Some(&[first, ..]) => {
            let tied = positions.iter().filter(|&&at| is_tie(values[at], values[first], scale));
            Err(tie(tied.clone().count(), tied.map(|&at| name(at)), values[first]))
        }
        _ if positions.is_empty() => Err(Error::new("there is no cell to rank")),
        _ => Ok(positions),
    }
}

/// The largest finite number, without its sign.
fn scale_of(matrix: &Matrix) -> f64 {
    matrix.cells().filter(|x| x.is_finite()).fold(0.0, |scale, x| x.abs().max(scale))
}

fn is_tie(a: f64, b: f64, scale: f64) -> bool {
    let allowed = (SAME_PART * a.abs().max(b.abs())).max(NOISE * scale);
    // Two infinities of one sign differ by NaN; one infinity allows any difference, and ties with no finite number.
    a == b || (a.is_finite() && b.is_finite() && (a - b).abs() <= allowed)
}

fn tie(count: usize, names: impl Iterator<Item = String>, value: f64) -> Error {
    let listed = names.take(MOST_NAMED).collect::<Vec<String>>().join(", ");
    let listed = match count.saturating_sub(MOST_NAMED) {
        0 => listed,
        more => format!("{listed} and {more} more"),
    };
    let hold = if count == 2 { "both hold" } else { "all hold" };
    Error::new(format!("a tie, {listed} {hold} {}", number_text(value)))
        .help("ask about numbers that differ by more than rounding; a student cannot tell these apart")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(row: &[f64]) -> std::result::Result<Vec<usize>, String> {
        let row = Matrix::from_row_major(1, row.len(), row).unwrap();
        ranked(&row, |at| format!("#{at}")).map_err(|error| error.to_string())
    }

    fn max(rows: &[Vec<f64>]) -> std::result::Result<(usize, usize), String> {
        let matrix = Matrix::from_rows(rows).unwrap();
        extreme(&matrix, true, |(row, col)| format!("{row}/{col}")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_row_is_ranked_from_the_largest_with_minus_infinity_last() {
        assert_eq!(order(&[0.2, f64::NEG_INFINITY, 0.5, -1.0]).unwrap(), [2, 0, 3, 1]);
        assert_eq!(order(&[f64::INFINITY, 1e300]).unwrap(), [0, 1]);
        assert_eq!(order(&[]).unwrap_err(), "there is no cell to rank");
    }

    #[test]
    fn the_largest_is_one_cell_and_the_smallest_may_be_minus_infinity() {
        assert_eq!(max(&[vec![1.0, -5.0], vec![3.0, 2.0]]).unwrap(), (1, 0));
        let masked = Matrix::of([[1.0, f64::NEG_INFINITY], [3.0, 2.0]]);
        assert_eq!(extreme(&masked, false, |_| String::new()).unwrap(), (0, 1));
        assert_eq!(max(&[]).unwrap_err(), "there is no cell to choose from");
    }

    #[test]
    fn a_tie_names_its_cells() {
        let said = max(&[vec![0.5, 0.1], vec![0.5, 0.2]]).unwrap_err();
        assert!(said.starts_with("a tie, 0/0, 1/0 both hold 0.5\n  help: "), "{said}");
        let said = max(&[vec![1.0; 6]]).unwrap_err();
        assert!(said.starts_with("a tie, 0/0, 0/1, 0/2, 0/3 and 2 more all hold 1\n"), "{said}");
        let said = order(&[3.0, 1.0, 2.0, 1.0]).unwrap_err();
        assert!(said.starts_with("a tie, #1, #3 both hold 1\n"), "{said}");
    }

    #[test]
    fn two_infinities_tie_and_one_does_not() {
        let masked = f64::NEG_INFINITY;
        assert!(order(&[1.0, masked, masked]).unwrap_err().contains("#1, #2 both hold −∞"));
        assert!(order(&[masked, 0.0, f64::INFINITY]).is_ok());
    }

    #[test]
    fn what_rounding_alone_tells_apart_is_a_tie() {
        assert!(order(&[0.3, 0.1 + 0.2]).is_err());
        assert!(order(&[1e-20, 1e-20 * (1.0 + 1e-10)]).is_err());
        assert!(order(&[1.0, 0.0, 0.1 + 0.2 - 0.3]).is_err(), "a sum that cancels leaves 5.6e-17");
        assert!(order(&[1.0, 1.0 + 1e-8]).is_ok());
        assert!(order(&[1e-3, 0.0, 1e-12]).is_ok());
        assert!(order(&[1e-30, 2e-30]).is_ok());
    }
}
