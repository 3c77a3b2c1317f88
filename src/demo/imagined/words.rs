//! Word vectors made for these demos: how much a word has to do with a nation, a town, a government, or none of these.

use crate::matrix::Matrix;

/// The meanings of the four numbers of a word.
pub(super) const FEATURES: [&str; 4] = ["nation", "town", "rule", "filler"];

/// One row for each word. Every word without a vector of its own is a filler word: (0, 0, 0, 1).
pub(super) fn vectors(words: &[&str]) -> Matrix {
    Matrix::from_fn(words.len(), FEATURES.len(), |i, j| vector(words[i])[j])
        .rows_named(words)
        .cols_named(&FEATURES)
}

fn vector(word: &str) -> [f64; 4] {
    match word {
        "India" => [2.0, 0.0, 1.0, 0.0],
        "capital" => [1.0, 0.0, 2.0, 0.0],
        "city" => [0.0, 2.0, 0.0, 0.0],
        "Delhi" => [2.0, 1.0, 2.0, 0.0],
        "Mumbai" => [1.0, 3.0, 0.0, 0.0],
        _ => [0.0, 0.0, 0.0, 1.0],
    }
}
