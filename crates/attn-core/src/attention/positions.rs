//! Positions: vectors to add to the tokens, or angles to turn queries and keys by.

use crate::elementary::{cos, pow, sin};
use crate::error::{Error, Result};
use crate::matrix::Matrix;

/// The angle at `position` (from 0) of the pair `pair` (from 0) in a width of `width`, in radians:
/// `position / base^(2 · pair / width)`.
pub fn rotary_angle(position: usize, pair: usize, width: usize, base: f64) -> f64 {
    position as f64 / pow(base, 2.0 * pair as f64 / width as f64)
}

/// One cell of [`sinusoidal`]: the sine of the pair's angle in even columns, its cosine in odd ones (columns from 0).
pub fn sinusoid(position: usize, column: usize, width: usize) -> f64 {
    let angle = rotary_angle(position, column / 2, width, 10_000.0);
    if column.is_multiple_of(2) { sin(angle) } else { cos(angle) }
}

/// Position vectors to be added to the tokens: `P[t, 2p] = sin(t / 10000^(2p/d))`, `P[t, 2p+1] = cos(…)`, with t, p
/// from 0. The result is (tokens, width).
///
/// # Source
/// Vaswani et al. 2017, section 3.5.
pub fn sinusoidal(tokens: usize, width: usize) -> Matrix {
    Matrix::from_fn(tokens, width, |position, column| sinusoid(position, column, width))
}

/// Turns each pair (x[t, p], x[t, p + d/2]) by the angle of position t, so that a dot product of two turned rows depends on the
/// distance of their positions: the half-split form.
///
/// `out[t, p] = x[t, p] · cos θ − x[t, p + d/2] · sin θ`, `out[t, p + d/2] = x[t, p + d/2] · cos θ + x[t, p] · sin θ`,
/// θ = (first + t) / base^(2p/d).
///
/// # Errors
/// If the width is odd.
/// # Source
/// Su et al. 2021, “RoFormer”, section 3.2; the pairing of halves is that of Llama's published code.
pub fn rotary(x: &Matrix, first: usize, base: f64) -> Result<Matrix> {
    let width = x.cols();
    if !width.is_multiple_of(2) {
        return Err(Error::new(format!("a width of {width} cannot be turned in pairs: it is odd")));
    }
    let half = width / 2;
    let cell = |t, j| {
        let angle = rotary_angle(first + t, j % half, width, base);
        let (own, other) = (x[(t, j)], x[(t, (j + half) % width)]);
        if j < half {
            own * cos(angle) - other * sin(angle)
        } else {
            0.0 + own * cos(angle) + other * sin(angle)
        }
    };
    Ok(Matrix::from_fn(x.rows(), width, cell).labelled_like(x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::product_transposed;

    #[test]
    fn turning_keeps_lengths_and_makes_scores_depend_on_distance_alone() {
        let row = [0.3, -1.2, 0.7, 2.0];
        let same = Matrix::from_fn(5, 4, |_, j| row[j]);
        let turned = rotary(&same, 0, 10_000.0).unwrap();
        let scores = product_transposed(&turned, &turned).unwrap();
        for i in 0..4 {
            assert!((scores[(i, i)] - scores[(0, 0)]).abs() < 1e-12, "a row's length changed");
            assert!((scores[(i, i + 1)] - scores[(0, 1)]).abs() < 1e-12, "the distance is 1 in both");
        }
    }

    #[test]
    fn the_first_position_is_not_turned_and_an_odd_width_is_refused() {
        let x = Matrix::of([[1.0, 2.0]]);
        assert!(rotary(&x, 0, 10_000.0).unwrap().same_bits(&x));
        assert!(rotary(&Matrix::of([[1.0]]), 0, 10_000.0).is_err());
    }

    #[test]
    fn the_sinusoids_of_position_one_are_those_of_the_paper() {
        let table = sinusoidal(2, 4);
        // sin 1, cos 1, sin 0.01, cos 0.01
        let expected = [
            0.841_470_984_807_896_5,
            0.540_302_305_868_139_8,
            0.009_999_833_334_166_664,
            0.999_950_000_416_665_3,
        ];
        assert!(table.row(1).zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
        assert_eq!(table.row(0).collect::<Vec<_>>(), [0.0, 1.0, 0.0, 1.0]);
    }
}
