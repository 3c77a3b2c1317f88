//! The exact path, in two forms: whole matrices, and the loop over queries that they replace.

use crate::attention::{Axis, Base, Mask, MatrixRule, Visibility};
use crate::error::Result;
use crate::graph::{Factor, Op};
use crate::matrix::Matrix;

/// The matrices that the exact path forms.
#[derive(Clone, Debug)]
pub struct ExactResult {
    /// O, (T, d_v).
    pub output: Matrix,
    /// The bytes of the matrices between the inputs and O, all of which are kept: scores, scaled scores, masked scores where
    /// there is a mask, weights.
    pub extra_bytes: usize,
}

/// One head as `attn attend` computes and records it: `S = Q Kᵀ`, scaled by 1/√d_k, masked, `A = softmax`, `O = A V`, each a
/// whole matrix, by the ops of a graph ([`crate::attention::product_transposed`], [`crate::attention::mask`],
/// [`crate::attention::softmax`], [`crate::attention::product`]).
///
/// # Errors
/// If the shapes do not fit each other.
pub fn step_by_step(q: &Matrix, k: &Matrix, v: &Matrix, causal: bool) -> Result<ExactResult> {
    let mask = causal.then(|| (Op::Mask(Mask { causal, ..Mask::default() }), None));
    steps([q, k, v], mask)
}

/// The steps under a mask, which may want a matrix.
pub(super) fn steps([q, k, v]: [&Matrix; 3], mask: Option<(Op, Option<&Matrix>)>) -> Result<ExactResult> {
    let scores = Op::ProductTransposed.apply(&[q, k])?;
    let mut formed = vec![Op::Scale(Factor::InverseRoot(q.cols())).apply(&[&scores])?];
    if let Some((mask, matrix)) = mask {
        let inputs: Vec<&Matrix> = formed.last().into_iter().chain(matrix).collect();
        formed.push(mask.apply(&inputs)?);
    }
    let weights = Op::Softmax(Axis::Rows, Base::E).apply(&formed.last().into_iter().collect::<Vec<_>>())?;
    let output = Op::Product.apply(&[&weights, v])?;
    let extra_bytes = formed.iter().chain([&scores, &weights]).map(bytes).sum();
    Ok(ExactResult { output, extra_bytes })
}

/// Attention one query after the other, by the same functions: a vector times a matrix gives its scores, a vector times a
/// matrix its row of O. Nothing larger than a row is formed; under the causal mask the row of the mask is one more. The bits of
/// the result are the same; but the processor never works on two rows at a time, and every query reads all keys and values
/// again.
///
/// # Errors
/// If the shapes do not fit each other.
pub fn loop_over_queries(q: &Matrix, k: &Matrix, v: &Matrix, causal: bool) -> Result<ExactResult> {
    let mask = Mask { causal, ..Mask::default() };
    let allowed = Op::Mask(Mask { matrix: Some(MatrixRule::Allow), ..Mask::default() });
    let sees = |i, j| mask.visibility((i, j), (q.rows(), k.rows()), None) == Visibility::Visible;
    let mut rows = Vec::with_capacity(q.rows());
    let mut extra_bytes = 0;
    for i in 0..q.rows() {
        let query = Matrix::from_fn(1, q.cols(), |_, c| q[(i, c)]);
        // A row by itself is no longer the i-th of all, so a matrix says which keys it sees.
        let visible = causal.then(|| Matrix::from_fn(1, k.rows(), |_, j| f64::from(u8::from(sees(i, j)))));
        let row = steps([&query, k, v], visible.as_ref().map(|visible| (allowed.clone(), Some(visible))))?;
        extra_bytes = extra_bytes.max(row.extra_bytes + visible.as_ref().map_or(0, bytes));
        rows.push(row.output.row(0).collect());
    }
    Ok(ExactResult { output: Matrix::from_rows(&rows)?, extra_bytes })
}

fn bytes(matrix: &Matrix) -> usize {
    matrix.rows() * matrix.cols() * size_of::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::recipes::{AttendInputs, Recipe, attend};
    use crate::random::LegacyStream;

    fn inputs() -> [Matrix; 3] {
        let mut stream = LegacyStream::seeded(5);
        [(9, 4), (11, 4), (11, 3)].map(|(rows, cols)| stream.standard_normal_matrix(rows, cols))
    }

    #[test]
    fn the_loop_and_the_matrices_give_the_same_bits() {
        let [q, k, v] = inputs();
        for causal in [false, true] {
            let (all, each) =
                (step_by_step(&q, &k, &v, causal).unwrap(), loop_over_queries(&q, &k, &v, causal).unwrap());
            assert!(all.output.same_bits(&each.output), "causal: {causal}");
            // Scores, scaled and masked ones, weights; of the loop a row of each, and of the mask.
            let (matrices, of_a_row) = if causal { (4, 5) } else { (3, 3) };
            assert_eq!(all.extra_bytes, matrices * 9 * 11 * 8);
            assert_eq!(each.extra_bytes, of_a_row * 11 * 8);
        }
    }

    #[test]
    fn it_is_what_attend_computes_and_records() {
        let given = |matrix: &Matrix| Some(matrix.clone().into());
        let [q, k, v] = inputs();
        for causal in [false, true] {
            let recipe = Recipe { mask: Mask { causal, ..Mask::default() }, ..Recipe::default() };
            let inputs = AttendInputs { q: given(&q), k: given(&k), v: given(&v), ..AttendInputs::default() };
            let graph = attend(&recipe, inputs).unwrap();
            let formed = step_by_step(&q, &k, &v, causal).unwrap();
            assert!(graph.matrix(graph.require("O").unwrap()).unwrap().same_bits(&formed.output));
            let between = |name: &str| !["Q", "K", "V", "O"].contains(&name);
            let recorded =
                graph.nodes().filter(|(_, node)| between(&node.name)).filter_map(|(_, n)| n.matrix());
            assert_eq!(recorded.map(bytes).sum::<usize>(), formed.extra_bytes, "causal: {causal}");
        }
    }
}
