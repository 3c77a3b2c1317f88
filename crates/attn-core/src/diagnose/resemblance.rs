//! Submitted numbers that are no attention at all: zeros, NaN, or another matrix of the exercise.

use crate::matrix::Matrix;

use super::Task;
use super::answer::Part;
use super::candidates::standing_for;
use super::compare::residual;
use super::plans::Candidates;
use super::tolerance::{CellTolerance, Tolerance};

/// The matrix that a student handed in instead of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Resemblance {
    /// All zeros.
    Zeros,
    /// All NaN.
    NotANumber,
    /// The numbers of this node of the right answer.
    Node(String),
    /// The numbers with equal weights for all visible keys.
    EvenWeights,
}

/// The matrix that was handed in instead of a part, if it is a known one.
pub(super) fn resemblance(
    task: &Task,
    candidates: &Candidates,
    tolerance: &Tolerance,
    part: &Part<'_>,
) -> Option<Resemblance> {
    let all = |is: fn(f64) -> bool| part.matrices.iter().all(|(_, matrix)| matrix.cells().all(is));
    if all(|x| x == 0.0) {
        return Some(Resemblance::Zeros);
    }
    if all(f64::is_nan) {
        return Some(Resemblance::NotANumber);
    }
    let fits = |yours: &Matrix, expected: &Matrix| {
        residual(yours, expected, CellTolerance::between(part.answer, expected, tolerance)).is_some()
    };
    if let [(node, matrix)] = &part.matrices[..] {
        let right = task.right();
        let others = right.nodes().filter(|(_, other)| other.name != *node);
        let same = others.filter_map(|(_, other)| Some((other, other.matrix()?)));
        if let Some((other, _)) = same.into_iter().find(|(_, other)| fits(matrix, other)) {
            return Some(Resemblance::Node(other.name.clone()));
        }
    }
    let even = candidates.even(task);
    let is_even = part
        .matrices
        .iter()
        .all(|(node, matrix)| standing_for(even, node).is_some_and(|expected| fits(matrix, expected)));
    is_even.then_some(Resemblance::EvenWeights)
}
