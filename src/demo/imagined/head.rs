//! One attention head, as several demos of this document take it: scores, scale, mask, weights, mix.

use crate::demo::Builder;
use crate::error::Result;
use crate::graph::NodeId;
use crate::graph::recipes::Recipe;

/// The nodes of a head.
#[derive(Clone, Copy)]
pub(super) struct Head {
    /// The weights.
    pub a: NodeId,
    /// The mix of the values.
    pub o: NodeId,
}

/// `O = softmax(Q Kᵀ / √d_k) V`, each node named with the suffix; with `causal` no query sees a later key.
pub(super) fn head(demo: &mut Builder, suffix: &str, roles: [NodeId; 3], causal: bool) -> Result<Head> {
    let recipe = if causal { Recipe::causal() } else { Recipe::default() };
    let (weights, o) = demo.head(suffix, roles, &recipe)?;
    Ok(Head { a: weights.weights, o })
}
