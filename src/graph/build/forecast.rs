//! How many numbers a pipeline records at least, told from its inputs' shapes before anything is computed.

use super::attend::{AttendInputs, Given};
use super::choices::Source;
use super::recipe::Recipe;
use crate::error::{Error, Result, counted};
use crate::graph::MAX_CELLS;

/// Rows and columns.
type Sides = (u128, u128);

fn sides(given: &Option<Given>) -> Option<Sides> {
    given.as_ref().map(|(matrix, _)| (matrix.rows() as u128, matrix.cols() as u128))
}

/// Checks that a pipeline can record its steps: what is given, projections, scores and weights of all heads, and the result. Where
/// shapes do not fit, the step that finds out says so better.
///
/// # Errors
/// If it is more than [`MAX_CELLS`] numbers.
pub(super) fn check(recipe: &Recipe, inputs: &AttendInputs) -> Result<()> {
    let x = sides(&inputs.x);
    let role = |given: &Option<Given>, weights: &Option<Given>, source: Source| -> Option<(Sides, u128)> {
        if let Some((rows, cols)) = sides(given) {
            return Some(((rows, cols), rows * cols));
        }
        let (rows, width) = x?;
        // The identity where no weights are given.
        let (inner, outer) = sides(weights).unwrap_or((width, width));
        let cols = if source == Source::Transposed { inner } else { outer };
        Some(((rows, cols), inner * outer + rows * cols))
    };
    let roles = recipe.roles;
    let (Some((q, of_q)), Some((k, of_k)), Some((v, of_v))) = (
        role(&inputs.q, &inputs.w_q, roles.q),
        role(&inputs.k, &inputs.w_k, roles.k),
        role(&inputs.v, &inputs.w_v, roles.v),
    ) else {
        return Ok(());
    };
    let (heads, groups) = (recipe.heads as u128, recipe.kv_heads.max(1) as u128);
    let given = x.map_or(0, |(rows, cols)| rows * cols) + of_q + of_k + of_v;
    let scores_and_weights = 2 * heads * q.0 * k.0;
    let cells = given + scores_and_weights + q.0 * (v.1 / groups * heads);
    match cells > MAX_CELLS as u128 {
        true => Err(Error::new(format!(
            "recording every step of {} over {} and {} takes at least {cells} numbers, more than the limit of {MAX_CELLS}",
            counted(recipe.heads, "head"),
            counted(q.0 as usize, "query"),
            counted(k.0 as usize, "key")
        ))
        .help("give fewer tokens or heads, or use --fast, which does not store the steps")),
        false => Ok(()),
    }
}
