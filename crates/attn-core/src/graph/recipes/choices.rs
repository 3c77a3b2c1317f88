//! The ways in which a step of attention can be taken: the right one first, which is the default, then those that are
//! taken by mistake. A recipe takes one of each, so that every product of them is a computation.

/// What a token is turned into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A row of Q.
    Query,
    /// A row of K.
    Key,
    /// A row of V.
    Value,
}

/// Where the numbers of a role come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// `X W` with its own weights, or as given.
    #[default]
    Own,
    /// `X Wᵀ`.
    Transposed,
    /// The tokens themselves.
    Tokens,
    /// What another role has.
    Of(Role),
}

/// Where queries, keys and values come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// The queries.
    pub q: Source,
    /// The keys.
    pub k: Source,
    /// The values.
    pub v: Source,
}

impl Roles {
    /// The source of one role.
    pub fn of(&self, role: Role) -> Source {
        match role {
            Role::Query => self.q,
            Role::Key => self.k,
            Role::Value => self.v,
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
pub enum Common {
    /// Nothing.
    #[default]
    Nothing,
    /// The queries, keys and values of the first head, as far as they are marked.
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
pub enum Comparison {
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

/// How scores become weights: a function of each score, divided by something, along an axis, and what follows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Normalise {
    /// What is made of each score.
    pub function: Function,
    /// What is subtracted before that.
    pub shift: Shift,
    /// What it is divided by.
    pub divisor: Divisor,
    /// What the divisor runs along.
    pub along: Along,
    /// What is done with the weights.
    pub then: Then,
    /// Whether numbers beyond 3.4e38 become infinite, as in single precision.
    pub single: bool,
}

/// What is made of each score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Function {
    /// A power: of e, or of the recipe's base.
    #[default]
    Exponential,
    /// Nothing: the score itself.
    Identity,
    /// The score without its sign.
    Absolute,
    /// Its square.
    Squared,
    /// What is positive of it.
    Relu,
    /// A sigmoid.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// 1 for the largest of its row, 0 for the others.
    HardMaximum,
}

/// What is subtracted from scores before they become powers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shift {
    /// The largest of those that are normalised together, which no weight feels.
    #[default]
    Largest,
    /// Nothing.
    Nothing,
    /// The largest of each column.
    OfColumns,
    /// The largest of row j from column j: keepdims is missing.
    Misplaced,
}

/// What scores or powers are divided by to become weights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Divisor {
    /// Their sum.
    #[default]
    Sum,
    /// Nothing.
    Nothing,
    /// Their sum and this number.
    SumAnd(f64),
    /// The root of the sum of their squares.
    Length,
    /// The sum of their sizes.
    SizeSum,
    /// The largest of them.
    Largest,
    /// How many they are.
    Count,
    /// The sum of row j for column j: keepdims is missing.
    MisplacedSum,
    /// The sum of their column.
    ColumnSum,
    /// The sum of all.
    WholeSum,
}

/// What weights sum to 1 along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Along {
    /// The keys of each query.
    #[default]
    Keys,
    /// The queries of each key.
    Queries,
    /// All pairs.
    All,
    /// The heads of each pair.
    Heads,
}

/// What is done with weights before they mix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Then {
    /// Nothing.
    #[default]
    Mixed,
    /// They go through a softmax again.
    Again,
    /// They go through the mask and a softmax again.
    AgainMasked,
    /// Their logarithm is taken.
    Logarithm,
    /// The logarithm, and 0 where a key is hidden.
    LogarithmOfVisible,
    /// They are multiplied by the mask of ones and zeros, which hides what was not hidden before.
    Masked,
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
    Of(Role),
}
