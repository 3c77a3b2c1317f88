//! What is done at one stage that attention does not do there: a norm, a function, another order of rows.

mod chain;
mod kinds;
mod moves;
mod norms;
mod others;

use super::recipe::Recipe;
use crate::error::Result;
use crate::graph::{Graph, NodeId};

pub use kinds::{Alter, Combine, Move, Norm, Other};

use chain::Chain;

/// Where something is done to the numbers that attention does not do there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The tokens X, before the projections.
    Tokens,
    /// X before the projections, and the residual.
    TokensAndResidual,
    /// X as it is added to the result, and nowhere else.
    Residual,
    /// `W_Q`.
    QueryWeights,
    /// `W_K`.
    KeyWeights,
    /// `W_V`.
    ValueWeights,
    /// `W_Q`, `W_K` and `W_V`.
    RoleWeights,
    /// `W_O`.
    OutputWeights,
    /// Q with all its heads, before it is split.
    WholeQueries,
    /// K with all its heads, before it is split.
    WholeKeys,
    /// V with all its heads, before it is split.
    WholeValues,
    /// Q and K with all their heads, before they are split.
    WholeQueriesAndKeys,
    /// Q, per head.
    Queries,
    /// K, per head.
    Keys,
    /// V, per head.
    Values,
    /// Q and K, per head.
    QueriesAndKeys,
    /// K and V, per head.
    KeysAndValues,
    /// Q, K and V, per head.
    Roles,
    /// The scores, before they are scaled.
    Scores,
    /// The scores, after they are scaled.
    Scaled,
    /// What the softmax reads.
    Masked,
    /// The weights, per head.
    Weights,
    /// What each head mixes.
    Mixes,
    /// The heads put together.
    Heads,
    /// What W_O makes of them, before the residual.
    Projected,
    /// The result.
    Result,
}

/// Something that attention does not do, at one stage of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alteration {
    /// Where.
    pub stage: Stage,
    /// What.
    pub alter: Alter,
}

/// What a node is called as long as its stage has something coming that attention does not do.
pub(super) fn name_before(recipe: &Recipe, stages: &[Stage], name: &str) -> String {
    match wanted(recipe, stages) {
        Some(_) => format!("{name}_before"),
        None => name.to_string(),
    }
}

/// The node after what the recipe does at one of these stages, under its own name where that is free. `first` is the position
/// of its first row.
///
/// # Errors
/// If the shapes do not allow it.
pub(super) fn altered(
    graph: &mut Graph,
    recipe: &Recipe,
    stages: &[Stage],
    name: &str,
    (node, first): (NodeId, usize),
) -> Result<NodeId> {
    let Some(alter) = wanted(recipe, stages) else { return Ok(node) };
    let name = if graph.find(name).is_some() { format!("{name}_altered") } else { name.to_string() };
    let mut chain = Chain::new(graph, &name);
    let (op, inputs) = chain.last(alter, node, first)?;
    graph.add(&name, op, &inputs)
}

fn wanted(recipe: &Recipe, stages: &[Stage]) -> Option<Alter> {
    recipe
        .alteration
        .filter(|alteration| stages.contains(&alteration.stage))
        .map(|alteration| alteration.alter)
}
