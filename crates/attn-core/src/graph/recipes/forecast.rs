//! The count of numbers that a pipeline records, computed from the shapes of its inputs before any step.

use super::choices::{Biasing, Projection, Qkv, QkvSource};
use super::inputs::AttendInputs;
use super::mechanisms::{NormPlace, PositionKind};
use super::recipe::Recipe;
use crate::error::{Error, Result};
use crate::graph::{Given, MAX_CELLS};
use crate::text::counted;

/// Rows and columns.
type Sides = (u128, u128);

fn sides(given: &Option<Given>) -> Option<Sides> {
    given.as_ref().map(|given| (given.shape().rows as u128, given.shape().cols as u128))
}

/// Checks that a pipeline can record its steps. Shapes that do not fit are left to the step that reports them.
///
/// # Errors
/// If they are more than [`MAX_CELLS`] numbers.
pub(super) fn check(recipe: &Recipe, inputs: &AttendInputs) -> Result<()> {
    let Some(Forecast { cells, queries, keys }) = forecast(recipe, inputs) else { return Ok(()) };
    if cells > MAX_CELLS as u128 {
        Err(Error::new(format!(
            "recording every step of {} over {} and {} takes at least {cells} numbers, more than the limit of {MAX_CELLS}",
            counted(recipe.heads, "head"),
            counted(queries as usize, "query"),
            counted(keys as usize, "key")
        ))
        .help("give fewer tokens or heads, or use --fast, which does not store the steps"))
    } else {
        Ok(())
    }
}

/// Checks that the fast path can record the steps before and after its heads. It records no matrix of the steps between them,
/// and given Q, K and V do not count.
///
/// # Errors
/// If they are more than [`MAX_CELLS`] numbers.
pub(super) fn check_fused(recipe: &Recipe, inputs: &AttendInputs) -> Result<()> {
    let x = sides(&inputs.x).unwrap_or_default();
    let roles = [(&inputs.q, &inputs.w_q), (&inputs.k, &inputs.w_k), (&inputs.v, &inputs.w_v)];
    let computed = roles.into_iter().filter(|(given, _)| given.is_none());
    let weights: Vec<&Option<Given>> = computed.map(|(_, weights)| weights).collect();
    // An identity that is too large by itself is left to its step.
    if inputs.x.is_none() && !weights.is_empty()
        || weights.iter().any(|weights| weights.is_none()) && x.1 * x.1 > MAX_CELLS as u128
    {
        return Ok(());
    }
    let before =
        cells_of(&inputs.x) + weights.iter().map(|weights| projection(x, weights, false).1).sum::<u128>();
    let queries = sides(&inputs.q).unwrap_or(x).0;
    let projected = sides(&inputs.w_o).filter(|_| recipe.output.projected);
    let behind = cells_of(&inputs.w_o)
        + projected.map_or(0, |(_, cols)| queries * cols)
        + if recipe.output.residual { x.0 * x.1 } else { 0 };
    // Queries and keys: split, normed, rotated, and put together.
    let again = match of_queries_and_keys(recipe) {
        0 => 0,
        times => times + if recipe.heads > 1 { 2 } else { 0 },
    };
    let shape = |(given, weights): (&Option<Given>, &Option<Given>)| {
        sides(given).unwrap_or_else(|| projection(x, weights, false).0)
    };
    let prepared: u128 =
        roles[..2].iter().map(|&role| shape(role)).map(|(rows, cols)| again * rows * cols).sum();
    let cells = before + prepared + behind;
    if cells > MAX_CELLS as u128 {
        Err(Error::new(format!(
            "X, the weights and what is computed from them step by step take {cells} numbers, more than the limit of \
             {MAX_CELLS}"
        ))
        .help("give fewer tokens or a narrower X, or give --q, --k and --v, computed elsewhere"))
    } else {
        Ok(())
    }
}

/// The shape of a projection of tokens of this shape, and the count of its numbers with its weights. Without given weights they
/// are the identity.
fn projection((rows, width): Sides, weights: &Option<Given>, transposed: bool) -> (Sides, u128) {
    let (inner, outer) = sides(weights).unwrap_or((width, width));
    let cols = if transposed { inner } else { outer };
    ((rows, cols), inner * outer + rows * cols)
}

fn cells_of(given: &Option<Given>) -> u128 {
    sides(given).map_or(0, |(rows, cols)| rows * cols)
}

/// The count of numbers that a pipeline will record.
struct Forecast {
    /// At least this many numbers.
    cells: u128,
    queries: u128,
    keys: u128,
}

/// Counts inputs, projections, all matrices of scores and weights, the heads and the result; `None` where an input is missing.
fn forecast(recipe: &Recipe, inputs: &AttendInputs) -> Option<Forecast> {
    let x = sides(&inputs.x);
    let role = |given: &Option<Given>, weights: &Option<Given>, source: QkvSource| -> Option<(Sides, u128)> {
        if let Some((rows, cols)) = sides(given) {
            return Some(((rows, cols), rows * cols));
        }
        Some(projection(x?, weights, source == QkvSource::Transposed))
    };
    let roles = recipe.roles;
    let (q, of_q) = role(&inputs.q, &inputs.w_q, roles.q)?;
    let (k, of_k) = role(&inputs.k, &inputs.w_k, roles.k)?;
    let (v, of_v) = role(&inputs.v, &inputs.w_v, roles.v)?;
    let taken = |source: QkvSource, own: Sides| match source {
        QkvSource::Own | QkvSource::Transposed | QkvSource::From(_) => Some(own),
        QkvSource::Of(Qkv::Query) => Some(q),
        QkvSource::Of(Qkv::Key) => Some(k),
        QkvSource::Of(Qkv::Value) => Some(v),
        QkvSource::Tokens => x,
    };
    let (q, k, mixed) = (taken(roles.q, q)?, taken(roles.k, k)?, taken(roles.v, v)?);
    let (heads, groups) = (recipe.heads as u128, recipe.kv_heads.max(1) as u128);
    let given = [&inputs.x, &inputs.mask, &inputs.bias, &inputs.w_o].into_iter().map(cells_of).sum::<u128>();
    let scores =
        heads * of_scores(recipe, inputs.bias.is_some() && recipe.biasing == Biasing::Added) * q.0 * k.0;
    let prepared = (q.0 * q.1 + k.0 * k.1) * of_queries_and_keys(recipe);
    let result = q.0 * (mixed.1 / groups * heads);
    let parts = match heads {
        1 => 0,
        // Queries, keys and values are split, and the heads joined.
        _ => q.0 * q.1 + k.0 * k.1 + result,
    };
    let projected = match sides(&inputs.w_o).filter(|_| recipe.output.projected) {
        Some((inner, outer)) => {
            q.0 * if recipe.output.projection == Projection::Transposed { inner } else { outer }
        }
        None => 0,
    };
    let cells = given + of_q + of_k + of_v + prepared + scores + parts + result + projected;
    Some(Forecast { cells, queries: q.0, keys: k.0 })
}

/// The number of times that queries and keys are recorded again: normed, and rotated.
fn of_queries_and_keys(recipe: &Recipe) -> u128 {
    u128::from(recipe.qk_norm.place != NormPlace::Nowhere)
        + u128::from(matches!(recipe.positions.kind, PositionKind::Rotary(_)))
}

/// The minimum number of matrices of scores and weights of a head.
fn of_scores(recipe: &Recipe, has_bias: bool) -> u128 {
    let scaled = recipe.scale.factor(1).is_some();
    let (is_masked, is_capped) = (recipe.mask.is_some(), recipe.soft_cap.is_some());
    let by_distance =
        matches!(recipe.positions.kind, PositionKind::Alibi { .. } | PositionKind::Buckets { .. });
    let rounded = [recipe.score_decimals, recipe.weight_decimals].into_iter().flatten().count();
    let others =
        [scaled, has_bias || by_distance, by_distance, recipe.temperature != 1.0, is_capped, is_masked];
    let others = others.into_iter().filter(|&is| is).count();
    // The scores and the weights themselves.
    2 + (others + rounded) as u128
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::Mask;
    use crate::graph::recipes::{Output, Scale, attend};
    use crate::matrix::Matrix;

    fn given(rows: usize, cols: usize) -> Option<Given> {
        Some(Matrix::filled(rows, cols, 0.5).into())
    }

    /// The forecast count, and the recorded one.
    fn both(recipe: &Recipe, inputs: AttendInputs) -> (u128, u128) {
        let forecast = forecast(recipe, &inputs).expect("nothing is missing").cells;
        let graph = attend(recipe, inputs).expect("the shapes fit");
        let recorded =
            graph.nodes().filter_map(|(_, node)| node.matrix()).map(|m| (m.rows() * m.cols()) as u128);
        (forecast, recorded.sum())
    }

    #[test]
    fn of_a_usual_pipeline_the_forecast_is_what_is_recorded() {
        let projected = || AttendInputs {
            x: given(5, 4),
            w_q: given(4, 4),
            w_k: given(4, 4),
            w_v: given(4, 6),
            ..AttendInputs::default()
        };
        let usual = Recipe::default();
        for recipe in [
            usual,
            Recipe::causal(),
            Recipe { scale: Scale::None, ..usual },
            Recipe { temperature: 2.0, mask: Mask { causal: true, ..Mask::default() }, ..usual },
        ] {
            let (forecast, recorded) = both(&recipe, projected());
            assert_eq!(forecast, recorded, "{recipe:?}");
        }
        let bare = AttendInputs { q: given(3, 2), k: given(7, 2), v: given(7, 5), ..AttendInputs::default() };
        let (forecast, recorded) = both(&usual, bare);
        assert_eq!(forecast, recorded);
        let alone = AttendInputs { x: given(5, 4), bias: given(5, 5), ..AttendInputs::default() };
        let (forecast, recorded) = both(&usual, alone);
        assert_eq!(forecast, recorded);
    }

    #[test]
    fn no_pipeline_records_less_than_is_forecast() {
        let usual = Recipe::default();
        for recipe in [
            Recipe { heads: 2, kv_heads: 2, ..usual },
            Recipe { heads: 4, kv_heads: 2, ..Recipe::causal() },
            Recipe { heads: 2, kv_heads: 2, output: Output { residual: true, ..usual.output }, ..usual },
            Recipe { output: Output { projected: false, ..usual.output }, ..usual },
        ] {
            let inputs = AttendInputs {
                x: given(5, 8),
                w_q: given(8, 8),
                w_k: given(8, 8 / recipe.heads * recipe.kv_heads),
                w_v: given(8, 8 / recipe.heads * recipe.kv_heads),
                w_o: given(8, 8),
                ..AttendInputs::default()
            };
            let (forecast, recorded) = both(&recipe, inputs);
            assert!(
                forecast <= recorded && recorded - forecast <= 5 * 8 * 2,
                "{recipe:?}: {forecast}, {recorded}"
            );
        }
    }

    #[test]
    fn the_fast_path_counts_what_it_records_step_by_step() {
        let at_most = |width: usize, projected: bool| AttendInputs {
            x: given(100, width),
            w_o: projected.then(|| given(width, width)).flatten(),
            ..AttendInputs::default()
        };
        // Three identities, X, Q, K and V; and W_O with the result.
        for (width, projected) in [(2516, false), (2174, true)] {
            let cells = |width: usize| (if projected { 4 } else { 3 }) * width * width;
            let others = |width: usize| (if projected { 5 } else { 4 }) * 100 * width;
            assert!(cells(width) + others(width) <= MAX_CELLS, "{width}");
            assert!(cells(width + 1) + others(width + 1) > MAX_CELLS, "{width}");
            let check = |width| check_fused(&Recipe::default(), &at_most(width, projected));
            assert!(check(width).is_ok(), "{width}");
            let said = check(width + 1).unwrap_err().to_string();
            assert!(said.contains("more than the limit of 20000000"), "{said}");
        }
    }
}
