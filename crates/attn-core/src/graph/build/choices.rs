//! The ways in which a step of attention can be taken: the right one first, which is the default, then those that are
//! taken by mistake.

/// How tokens become queries, keys and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Projection {
    /// `X W`.
    #[default]
    AsGiven,
    /// `X Wᵀ`.
    Transposed,
    /// `X Wᵀ`, and `C W_Oᵀ` for `C W_O`.
    AllTransposed,
}

/// Which columns belong to a head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// Neighbouring columns.
    #[default]
    Blocks,
    /// Every H-th column.
    Interleaved,
}

/// Which of G key/value heads query head h (from 0) of H reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Groups {
    /// Head `h · G / H`, rounded down: neighbours share one.
    #[default]
    Shared,
    /// Head `h mod G`: the key/value heads are repeated one after the other.
    Tiled,
}

/// What stands in the rows of the scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Comparison {
    /// A row for each query: `Q Kᵀ`.
    #[default]
    QueriesWithKeys,
    /// A row for each key: `K Qᵀ`.
    KeysWithQueries,
}

/// What becomes of the scores that the mask hides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hiding {
    /// They become −∞.
    #[default]
    MinusInfinity,
    /// They become −1e9, which weighs nothing beside any visible score.
    MinusBillion,
    /// They become 0.
    Zero,
    /// The mask is added as numbers: 1 where a key is visible.
    OneAddedToVisible,
    /// The mask is added as numbers: 1 where a key is hidden.
    OneAddedToHidden,
    /// Nothing; their weights become 0 after the softmax.
    AfterSoftmax,
}

/// How scores become weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalise {
    /// A softmax over the keys of each query.
    #[default]
    OverKeys,
    /// A softmax over the queries of each key.
    OverQueries,
    /// One softmax over all pairs.
    OverAll,
    /// Not at all.
    Not,
    /// Each row divided by its sum.
    BySum,
}

/// What the weights mix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// The values.
    #[default]
    Projected,
    /// The tokens themselves.
    Tokens,
    /// The keys.
    Keys,
}

/// How the heads are put together again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Merge {
    /// Side by side, the first on the left.
    #[default]
    SideBySide,
    /// Side by side, the last on the left.
    Reversed,
    /// The stack (H, T, d) read row by row as (T, H·d).
    Reshaped,
    /// Added up.
    Summed,
}
