//! The sites of alterations: operations that attention does not have.

use super::kinds::Alter;

/// The site of an alteration: the matrices to which the operation is applied.
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
    /// The input of the softmax.
    Masked,
    /// The weights, per head.
    Weights,
    /// The mixed values of each head.
    Mixes,
    /// The joined heads.
    Heads,
    /// The output projection of them, before the residual.
    Projected,
    /// The result.
    Result,
}

impl Site {
    /// Returns true if something done at this site is done at the other one too, and at more.
    pub fn includes(self, other: Site) -> bool {
        let parts: &[Site] = match self {
            Site::TokensAndResidual => &[Site::Tokens, Site::Residual],
            Site::RoleWeights => &[Site::QueryWeights, Site::KeyWeights, Site::ValueWeights],
            Site::WholeQueriesAndKeys => &[Site::WholeQueries, Site::WholeKeys],
            Site::QueriesAndKeys => &[Site::Queries, Site::Keys],
            Site::KeysAndValues => &[Site::Keys, Site::Values],
            Site::Roles => {
                &[Site::Queries, Site::Keys, Site::Values, Site::QueriesAndKeys, Site::KeysAndValues]
            }
            _ => &[],
        };
        parts.contains(&other)
    }
}

/// An operation that attention does not have, at one site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alteration {
    /// The site.
    pub stage: Site,
    /// The operation.
    pub alter: Alter,
}
