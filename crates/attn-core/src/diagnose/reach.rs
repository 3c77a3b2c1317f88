//! The changes of the result that one head alone can make.

use crate::matrix::Matrix;

/// Whether a head of this width can by itself move the right result to the student's: it reaches its own columns alone, or what
/// its rows of W_O span. Numbers that are not finite say nothing of that.
pub(super) fn may_move(
    (yours, right): (&Matrix, &Matrix),
    (head, width): (usize, usize),
    projection: Option<&Matrix>,
    slack: f64,
) -> bool {
    let own = head * width..(head + 1) * width;
    let span = projection.map(|w_o| orthonormal(own.clone().map(|row| w_o.row(row).collect())));
    let is_reached = |i: usize| {
        let mut moved: Vec<f64> =
            yours.row(i).zip(right.row(i)).map(|(yours, right)| yours - right).collect();
        if moved.iter().any(|x| !x.is_finite()) {
            return true;
        }
        let length = moved.iter().map(|x| x * x).sum::<f64>().sqrt();
        match &span {
            None => own.clone().for_each(|column| moved[column] = 0.0),
            Some(span) => span.iter().for_each(|direction| remove(&mut moved, direction)),
        }
        let left = moved.iter().map(|x| x * x).sum::<f64>().sqrt();
        left <= 4.0 * slack * (moved.len() as f64).sqrt() + 1e-6 * length
    };
    (0..yours.rows()).all(is_reached)
}

/// An orthonormal basis of the span of these vectors (Gram and Schmidt).
fn orthonormal(vectors: impl Iterator<Item = Vec<f64>>) -> Vec<Vec<f64>> {
    let mut span: Vec<Vec<f64>> = Vec::new();
    for mut vector in vectors {
        let before = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        span.iter().for_each(|direction| remove(&mut vector, direction));
        let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 1e-12 * before {
            span.push(vector.into_iter().map(|x| x / length).collect());
        }
    }
    span
}

/// Subtracts the projection of a vector onto a direction of length 1.
fn remove(vector: &mut [f64], direction: &[f64]) {
    let along: f64 = vector.iter().zip(direction).map(|(a, b)| a * b).sum();
    vector.iter_mut().zip(direction).for_each(|(x, b)| *x -= along * b);
}
