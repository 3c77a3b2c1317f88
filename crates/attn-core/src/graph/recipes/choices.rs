//! The ways in which a step of attention can be taken: the right one first, which is the default, then those that are
//! taken by mistake. A recipe takes one of each, so that every product of them is a computation.

/// What a token is turned into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Qkv {
    /// A row of Q.
    Query,
    /// A row of K.
    Key,
    /// A row of V.
    Value,
}

/// Where the numbers of a role come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QkvSource {
    /// `X W` with its own weights, or as given.
    #[default]
    Own,
    /// `X Wᵀ`.
    Transposed,
    /// The tokens themselves.
    Tokens,
    /// What another role has.
    Of(Qkv),
}

/// Where queries, keys and values come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QkvSources {
    /// The queries.
    pub q: QkvSource,
    /// The keys.
    pub k: QkvSource,
    /// The values.
    pub v: QkvSource,
}

impl QkvSources {
    /// The source of one role.
    pub fn of(&self, role: Qkv) -> QkvSource {
        match role {
            Qkv::Query => self.q,
            Qkv::Key => self.k,
            Qkv::Value => self.v,
        }
    }
}

/// Which columns belong to a head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// Neighbouring columns.
    #[default]
    Blocks,
    /// Every H-th column.
    Interleaved,
    /// The cells read row by row as (H, T, d).
    Reshaped,
}

/// Which of G key/value heads query head h (from 0) of H reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Groups {
    /// Head `h · G / H`, rounded down: neighbours share one.
    #[default]
    Shared,
    /// Head `h mod G`: the key/value heads are repeated one after the other.
    Tiled,
    /// The first, for all.
    First,
    /// As [`Groups::Shared`], the last one first.
    Reversed,
}

/// What all heads have in common that each should have of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeadSharing {
    /// Nothing.
    #[default]
    Nothing,
    /// The queries, keys or values of the first head: each that is true.
    FirstOf {
        /// Its queries.
        q: bool,
        /// Its keys.
        k: bool,
        /// Its values.
        v: bool,
    },
    /// The weights of the first head.
    FirstWeights,
    /// The mean of the weights of all heads.
    MeanWeights,
}

/// What stands in the rows of the scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScoreRows {
    /// A row for each query: `Q Kᵀ`.
    #[default]
    QueriesWithKeys,
    /// A row for each key: `K Qᵀ`.
    KeysWithQueries,
}

/// What becomes of the scores that the mask hides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Hiding {
    /// They become −∞.
    #[default]
    MinusInfinity,
    /// They become this number; −1e9 weighs nothing beside any visible score.
    Replaced(f64),
    /// This number is added to them; an infinity makes NaN of `0 · ∞` where nothing is hidden.
    Added(f64),
    /// They become 0, as the scores times a mask of ones and zeros.
    Zero,
    /// The mask is added as numbers: 1 where a key is visible.
    OneAddedToVisible,
    /// They become +∞.
    PlusInfinity,
    /// Nothing; their weights become 0 after the softmax.
    AfterSoftmax,
    /// Nothing; their weights become this number after the softmax.
    WeightsReplaced(f64),
}

/// What becomes of the bias that is added to the scores, where there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Biasing {
    /// It is added after the scale.
    #[default]
    Added,
    /// Nothing.
    Missing,
    /// It is subtracted.
    Subtracted,
    /// It is added twice.
    Twice,
    /// It is added before the scale, and scaled too.
    BeforeScale,
    /// It is added to the weights, after the softmax.
    ToWeights,
    /// The scores are multiplied by it.
    Multiplied,
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
    /// Column 1 of every head, then column 2 of every head.
    ByColumn,
    /// Added up.
    Summed,
    /// Averaged.
    Averaged,
    /// Not at all: one below the other, (H·T, d).
    Stacked,
    /// Not at all: token by token, the heads of each below each other, (T·H, d).
    TokenByToken,
}

/// What the output projection does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Projection {
    /// `C W_O`.
    #[default]
    Once,
    /// `C W_Oᵀ`.
    Transposed,
    /// `C W_O W_O`.
    Twice,
    /// Each head by its own rows and columns of W_O alone.
    PerHead,
}

/// How a residual is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Residual {
    /// `X + O`.
    #[default]
    Added,
    /// `X + X + O`.
    Twice,
    /// X is added to the heads, before W_O.
    Inside,
    /// `O − X`.
    Subtracted,
    /// `X − O`.
    SubtractedFrom,
    /// `O ∘ X`.
    Multiplied,
    /// X is layer-normed before it is added.
    LayerNormed,
    /// X is divided by its root mean square before it is added.
    RmsNormed,
    /// The queries, keys or values are added, not the tokens.
    Of(Qkv),
}
