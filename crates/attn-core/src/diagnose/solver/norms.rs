//! The norm of queries and keys over another width.

use crate::graph::Role;
use crate::matrix::Matrix;

use super::{Alternative, Steps, only_slip};

pub(super) fn alternatives(steps: &Steps<'_>) -> Vec<Alternative> {
    let normed = |role: Role| steps.of_head(&format!("{}_normed", role.name()), 0).is_some();
    if !(normed(Role::Q) && normed(Role::K))
        || steps.task.right().find("Q_normed").is_some_and(|_| steps.heads() > 1)
    {
        return Vec::new();
    }
    if steps.task.inputs().query_gain.is_some() || steps.task.inputs().key_gain.is_some() {
        return Vec::new();
    }
    let epsilon = steps.task.recipe().qk_norm.epsilon;
    let mut all = Vec::new();
    if steps.heads() > 1 {
        let nodes = [Role::Q, Role::K].map(|role| over_all(steps, role, epsilon));
        let said = "Queries and keys were normed over all heads together; each head has its own norm.";
        let nodes: Option<Vec<_>> = nodes.into_iter().collect();
        all.extend(nodes.map(|nodes| Alternative::new(only_slip("qk-norm-whole", said), nodes.concat())));
    }
    all
}

/// Each row over the root mean square of these columns of it.
fn root_mean_square(of: &Matrix, columns: std::ops::Range<usize>, epsilon: f64) -> Matrix {
    let count = columns.len() as f64;
    let size =
        |i: usize| (columns.clone().map(|c| of[(i, c)] * of[(i, c)]).sum::<f64>() / count + epsilon).sqrt();
    let sizes: Vec<f64> = (0..of.rows()).map(size).collect();
    Matrix::from_fn(of.rows(), of.cols(), |i, c| of[(i, c)] / sizes[i])
}

/// The normed heads of a role, if all were normed together.
fn over_all(steps: &Steps<'_>, role: Role, epsilon: f64) -> Option<Vec<(String, Matrix)>> {
    let whole = steps.matrix(role.name())?;
    let normed = root_mean_square(whole, 0..whole.cols(), epsilon);
    let width = whole.cols() / steps.count(role);
    let of_head = |head: usize| {
        let own = Matrix::from_fn(whole.rows(), width, |i, c| normed[(i, head * width + c)]);
        (steps.name(&format!("{}_normed", role.name()), head), own)
    };
    Some((0..steps.count(role)).map(of_head).collect())
}
