//! The choices of a recipe, one enum for each step of attention: the correct choice first, which is the default, then the usual
//! mistakes. A recipe has one of each, so every combination is a computation.
use serde::{Deserialize, Serialize};

/// Query, key or value: the projections of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Qkv {
    /// A row of Q.
    Query,
    /// A row of K.
    Key,
    /// A row of V.
    Value,
}

/// The source of the queries, keys or values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum QkvSource {
    /// `X W` with its own weights, or as given.
    #[default]
    Own,
    /// `X Wᵀ`.
    Transposed,
    /// The tokens, not projected.
    Tokens,
    /// The numbers of another role.
    Of(Qkv),
    /// The numbers of another role times its own weights, as where X is overwritten: `(X W_Q) W_K`.
    From(Qkv),
}

/// The sources of queries, keys and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
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

/// The assignment of columns to heads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Split {
    /// Neighbouring columns.
    #[default]
    Blocks,
    /// Every H-th column.
    Interleaved,
    /// The cells reshaped to (H, T, d).
    Reshaped,
}

/// The roles that are split as [`Split`] says; the others are split into blocks of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SplitRoles {
    /// The queries.
    pub q: bool,
    /// The keys.
    pub k: bool,
    /// The values.
    pub v: bool,
}

impl Default for SplitRoles {
    fn default() -> SplitRoles {
        SplitRoles { q: true, k: true, v: true }
    }
}

/// The key/value head, one of G, that query head h (from 0) of H reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
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

/// Parts that all heads share by mistake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum HeadSharing {
    /// Nothing.
    #[default]
    Nothing,
    /// The queries, keys or values of the first head, where the field is true.
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
    /// The mean of the scores of all heads.
    MeanScores,
    /// The mean of what all heads mix.
    MeanMixes,
}

/// The meaning of the rows of the scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ScoreRows {
    /// A row for each query: `Q Kᵀ`.
    #[default]
    QueriesWithKeys,
    /// A row for each key: `K Qᵀ`.
    KeysWithQueries,
}

/// The replacement of hidden scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Hiding {
    /// Hidden scores become −∞.
    #[default]
    MinusInfinity,
    /// Hidden scores become this number; the weight of −1e9 next to any visible score is 0.
    Replaced(f64),
    /// This number is added to hidden scores; with an infinity, visible cells become NaN (`0 · ∞`).
    Added(f64),
    /// Hidden scores become 0: the scores are multiplied by a mask of ones and zeros.
    Zero,
    /// The mask is added as numbers: 1 for visible keys, 0 for hidden ones.
    OneAddedToVisible,
    /// Hidden scores become +∞.
    PlusInfinity,
    /// Hidden scores stay; their weights become 0 after the softmax.
    AfterSoftmax,
    /// Hidden scores stay; their weights become this number after the softmax.
    WeightsReplaced(f64),
}

/// The use of the bias of the scores, where there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Biasing {
    /// It is added after the scale.
    #[default]
    Added,
    /// It is left out.
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

/// The joining of the heads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Merge {
    /// Side by side, the first on the left.
    #[default]
    SideBySide,
    /// Side by side, the last on the left.
    Reversed,
    /// The stack (H, T, d) reshaped to (T, H·d).
    Reshaped,
    /// Column 1 of every head, then column 2 of every head.
    ByColumn,
    /// Their sum.
    Summed,
    /// Their mean.
    Averaged,
    /// Stacked in rows, (H·T, d).
    Stacked,
    /// Stacked in rows token by token, (T·H, d).
    TokenByToken,
}

/// The output projection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Projection {
    /// `C W_O`.
    #[default]
    Once,
    /// `C W_Oᵀ`.
    Transposed,
    /// `C W_O W_O`.
    Twice,
    /// Each head times its own rows and columns of W_O.
    PerHead,
}

/// The addition of the residual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Residual {
    /// `X + O`.
    #[default]
    Added,
    /// `X + X + O`.
    Twice,
    /// X is added to the heads, before W_O.
    Inside,
    /// X is added before W_O, and after it again.
    InsideAndAfter,
    /// `O − X`.
    Subtracted,
    /// `X − O`.
    SubtractedFrom,
    /// `O ∘ X`.
    Multiplied,
    /// X goes through a layer norm before it is added.
    LayerNormed,
    /// X is divided by its root mean square before it is added.
    RmsNormed,
    /// The queries, keys or values are added, not the tokens.
    Of(Qkv),
}
