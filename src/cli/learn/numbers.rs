//! The numbers of a training as nodes, which the keys and the prose of lessons read.

use super::history::History;
use crate::error::Result;
use crate::graph::{Graph, Origin};
use crate::matrix::Matrix;

/// From this score on, a head looks at its place more than at all others together.
pub(super) const HALF: f64 = 0.5;

/// `step` has a row for each step; `head` a row for each head and place, such as “L2.A induction”; `instead` has a row for
/// each head, with the share of right predictions if it had other weights; `training` has a single row, that of the task. A step that
/// never comes is infinite.
///
/// # Errors
/// If there is no room for the numbers.
pub(super) fn graph(history: &History) -> Result<Graph> {
    let curves = history.curves();
    let names: Vec<String> = curves.iter().map(|curve| curve.name(history.settings.size.heads)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut graph = Graph::new();
    let mut given = |name: &str, rows: &[Vec<f64>], (down, across): (&[&str], &[&str])| {
        let numbers = Matrix::from_rows(rows)?.rows_named(down).cols_named(across);
        graph.given(name, numbers, Origin::Stated)
    };
    let steps = history.steps.iter().map(|step| {
        let scores = curves.iter().map(|curve| curve.at(step.number).unwrap_or(f64::NAN));
        [step.loss, step.accuracy].into_iter().chain(scores).collect()
    });
    let numbers: Vec<String> = history.steps.iter().map(|step| step.number.to_string()).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    given("step", &steps.collect::<Vec<_>>(), (&numbers, &[&["loss", "accuracy"], &names[..]].concat()))?;
    let or_never = |step: Option<usize>| step.map_or(f64::INFINITY, |step| step as f64);
    if !curves.is_empty() {
        let ends = curves.iter().map(|curve| vec![curve.last(), or_never(curve.reaches(HALF))]);
        given("head", &ends.collect::<Vec<_>>(), (&names, &["last", "half_from"]))?;
    }
    if !history.instead.is_empty() {
        let heads: Vec<&str> = history.instead.iter().map(|instead| instead.head.as_str()).collect();
        let right = history.instead.iter().map(|instead| instead.right.clone());
        given("instead", &right.collect::<Vec<_>>(), (&heads, &history.ways()))?;
    }
    let (loss, accuracy) = history.held_out;
    let parameters = history.settings.size.parameters() as f64;
    let whole = [parameters, loss, accuracy, or_never(history.right_from())];
    let columns = ["parameters", "heldout_loss", "heldout_accuracy", "right_from"];
    given("training", &[whole.to_vec()], (&[history.task.name()], &columns))?;
    Ok(graph)
}
