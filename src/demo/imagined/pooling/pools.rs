//! One vector for each question: words as rows of numbers, weighted and summed.

use crate::demo::Builder;
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::{Matrix, labels};

const NAMES: [&str; 3] = ["question 1", "question 2", "question 3"];
pub(super) fn words(sentence: &str) -> Vec<&str> {
    sentence.split(' ').collect()
}

/// A row with one number for each word.
pub(super) fn row_of(sentence: &str, weight: fn(&str) -> f64) -> Matrix {
    let words = words(sentence);
    Matrix::from_fn(1, words.len(), |_, j| weight(words[j])).cols_named(&words)
}

/// One pooled row for each question, and the distance of each from the first.
pub(super) fn pooled(
    demo: &mut Builder,
    name: &str,
    weights: &[NodeId],
    x: &[NodeId],
) -> Result<[NodeId; 2]> {
    let mut rows = Vec::new();
    for (i, (&weights, &x)) in weights.iter().zip(x).enumerate() {
        rows.push(demo.compute(&format!("w_{name}_{}", i + 1), Op::Product, &[weights, x])?);
    }
    let all = demo.collect(&format!("w_{name}"), "questions", Some(labels(&NAMES)), &rows)?;
    let first = demo.compute(&format!("first_{name}"), Op::Rows { start: 0, count: 1 }, &[all])?;
    Ok([all, demo.compute(&format!("moved_{name}"), Op::Euclidean, &[all, first])?])
}

/// Constants of ours: a word that carries the question counts four times.
pub(super) fn constant(word: &str) -> f64 {
    match word {
        "capital" | "India" => 4.0,
        _ => 1.0,
    }
}
