//! Positions: vectors to add to the tokens, and rotations of queries and keys.

use serde::{Deserialize, Serialize};

use crate::elementary::{cos, pow, sin};
use crate::error::{Error, Result};
use crate::json_number;
use crate::matrix::Matrix;
use crate::text::counted;

/// One cell of [`sinusoidal`]: the sine of the pair's angle in even columns, its cosine in odd ones (columns from 0).
pub fn sinusoid(position: usize, column: usize, width: usize) -> f64 {
    let angle = position as f64 / pow(10_000.0, 2.0 * (column / 2) as f64 / width as f64);
    if column.is_multiple_of(2) { sin(angle) } else { cos(angle) }
}

/// Position vectors to be added to the tokens: `P[t, 2p] = sin((first + t) / 10000^(2p/d))`, `P[t, 2p+1] = cos(…)`, with t, p
/// from 0. The result is (tokens, width).
///
/// # Source
/// Vaswani et al. 2017, section 3.5.
pub fn sinusoidal(first: usize, tokens: usize, width: usize) -> Matrix {
    Matrix::from_fn(tokens, width, |position, column| sinusoid(first + position, column, width))
}

/// The two columns that rotate together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pairing {
    /// p and p + w/2, for the pair p of a width w: the files of Llama, Qwen, Gemma and GPT-NeoX on the hub.
    #[default]
    Halves,
    /// 2p and 2p + 1: the paper, GPT-J, Cohere, and Meta's own files.
    Neighbours,
}

impl Pairing {
    /// The pair of a column in a width of `pairs` pairs, the column that it rotates with, and whether it is the pair's first.
    pub fn partner(self, column: usize, pairs: usize) -> (usize, usize, bool) {
        match self {
            Pairing::Halves if column < pairs => (column, column + pairs, true),
            Pairing::Halves => (column - pairs, column - pairs, false),
            Pairing::Neighbours if column.is_multiple_of(2) => (column / 2, column + 1, true),
            Pairing::Neighbours => (column / 2, column - 1, false),
        }
    }
}

/// A rotation of rows by their positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// The position of the first row.
    pub first: usize,
    /// The two columns that rotate together.
    pub pairing: Pairing,
    /// The factor of sines and cosines: 1, except with YaRN and LongRoPE.
    #[serde(with = "json_number")]
    pub magnitude: f64,
}

/// Rotates each pair of columns (a, b) of row t by the angle `θ = (first + t) · f[p]`, so that a dot product of two rotated rows
/// depends on the distance of their positions alone: `a' = a · cos θ − b · sin θ`, `b' = b · cos θ + a · sin θ`. Columns behind
/// the last pair stay as they are.
///
/// # Shapes
/// `x` is (T, d), `f` (1, w/2) with w ≤ d; the result is (T, d).
/// # Errors
/// If there are more frequencies than pairs of columns.
/// # Source
/// Su et al. 2021, “RoFormer”, section 3.2.2; the rotation of a part: Black et al. 2022, “GPT-NeoX-20B”, section 2.1.
pub fn rotary(x: &Matrix, f: &Matrix, rotation: &Rotation) -> Result<Matrix> {
    let pairs = f.cols();
    if f.rows() != 1 || 2 * pairs > x.cols() {
        return Err(Error::new(format!(
            "frequencies of {} cannot rotate {}",
            f.shape(),
            counted(x.cols(), "column")
        ))
        .help("give one row with a frequency for each pair of columns"));
    }
    let cell = |t, j| {
        if j >= 2 * pairs {
            return x[(t, j)];
        }
        let (pair, partner, is_first) = rotation.pairing.partner(j, pairs);
        let angle = (rotation.first + t) as f64 * f[(0, pair)];
        let (cosine, sine) = (cos(angle) * rotation.magnitude, sin(angle) * rotation.magnitude);
        let (own, other) = (x[(t, j)] * cosine, x[(t, partner)] * sine);
        if is_first { own - other } else { 0.0 + own + other }
    };
    Ok(Matrix::from_fn(x.rows(), x.cols(), cell).labelled_like(x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::{frequencies, product_transposed};

    fn at(first: usize, pairing: Pairing) -> Rotation {
        Rotation { first, pairing, magnitude: 1.0 }
    }

    #[test]
    fn rotation_keeps_lengths_and_makes_scores_depend_on_distance_alone() {
        let row = [0.3, -1.2, 0.7, 2.0, 0.25];
        let same = Matrix::from_fn(5, 5, |_, j| row[j]);
        for pairing in [Pairing::Halves, Pairing::Neighbours] {
            let rotated = rotary(&same, &frequencies(4, 100.0), &at(0, pairing)).unwrap();
            let scores = product_transposed(&rotated, &rotated).unwrap();
            for i in 0..4 {
                assert!((scores[(i, i)] - scores[(0, 0)]).abs() < 1e-12, "a row's length changed");
                assert!((scores[(i, i + 1)] - scores[(0, 1)]).abs() < 1e-12, "the distance is 1 in both");
                assert_eq!(rotated[(i, 4)], row[4], "the fifth column belongs to no pair");
            }
            assert!((scores[(0, 1)] - scores[(0, 2)]).abs() > 1e-3, "the distance has no effect");
        }
    }

    #[test]
    fn the_first_position_is_not_rotated_and_too_many_frequencies_are_refused() {
        let x = Matrix::of([[1.0, 2.0]]);
        assert!(rotary(&x, &frequencies(2, 10_000.0), &at(0, Pairing::Halves)).unwrap().same_bits(&x));
        assert!(rotary(&x, &frequencies(4, 10_000.0), &at(0, Pairing::Halves)).is_err());
    }

    #[test]
    fn the_sinusoids_of_position_one_are_those_of_the_paper() {
        let table = sinusoidal(0, 2, 4);
        // sin 1, cos 1, sin 0.01, cos 0.01
        let expected = [
            0.841_470_984_807_896_5,
            0.540_302_305_868_139_8,
            0.009_999_833_334_166_664,
            0.999_950_000_416_665_3,
        ];
        assert!(table.row(1).zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
        assert_eq!(table.row(0).collect::<Vec<_>>(), [0.0, 1.0, 0.0, 1.0]);
        assert!(sinusoidal(1, 1, 4).row(0).eq(table.row(1)));
    }
}
