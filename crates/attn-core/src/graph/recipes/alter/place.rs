//! Where something is done that attention does not do there.

use super::kinds::Alter;

/// Where something is done to the numbers that attention does not do there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
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
    pub stage: Site,
    /// What.
    pub alter: Alter,
}
