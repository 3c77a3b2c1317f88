//! The recipe of an attention pipeline. A classic mistake is one changed field of it.

use serde::{Deserialize, Serialize};

use crate::attention::{Axis, Base, Mask, Pairing, RopeScaling};
use crate::error::{Error, Result};
use crate::graph::{Factor, Role};
use crate::json_number;
use crate::text::counted;

use super::alteration::Alteration;

/// The choices of a pipeline, in the order of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recipe {
    /// The number of query heads.
    pub heads: usize,
    /// The number of key/value heads; it divides `heads`.
    pub kv_heads: usize,
    /// The sources of queries, keys and values.
    pub roles: QkvSources,
    /// Which of the given biases of the projections are added.
    pub projection_biases: ProjectionBiases,
    /// The way in which positions enter.
    pub positions: Positions,
    /// The norm of queries and keys.
    pub qk_norm: QkNorm,
    /// The assignment of columns to heads.
    pub split: Split,
    /// Which of queries, keys and values are cut in that way.
    pub split_roles: SplitRoles,
    /// The key/value head that a query head reads.
    pub groups: Groups,
    /// Parts that all heads share.
    pub common: HeadSharing,
    /// The meaning of the rows of the scores.
    pub comparison: ScoreRows,
    /// The comparison of a query with a key.
    pub score: Score,
    /// The factor of the scores.
    pub scale: Scale,
    /// The use of the bias, where there is one.
    pub biasing: Biasing,
    /// The divisor of the scores, after scale and bias.
    pub temperature: f64,
    /// The bound of the scores, after the temperature; none where they are not capped.
    pub soft_cap: Option<f64>,
    /// The place of the soft-cap.
    pub cap_place: CapPlace,
    /// The keys that are visible to each query.
    pub mask: Mask,
    /// The replacement of hidden scores.
    pub hiding: Hiding,
    /// The number of decimals to which scores are rounded before the softmax; `None`: not rounded.
    pub score_decimals: Option<u32>,
    /// The steps from scores to weights.
    pub normalise: Normalise,
    /// The use of the sinks, where there are any.
    pub sink: SinkUse,
    /// The base of the exponentials.
    pub base: Base,
    /// Whether a fully masked row has weights 0; without the guard it is NaN.
    pub guarded: bool,
    /// The number of decimals to which weights are rounded before they mix the values; `None`: not rounded.
    pub weight_decimals: Option<u32>,
    /// The joining of the heads.
    pub merge: Merge,
    /// The use of the output gate, where there is one.
    pub gate: Gating,
    /// The steps after the heads.
    pub output: Output,
    /// An operation that attention does not have. It is a mistake that diagnosis tries, and is not written.
    #[serde(skip)]
    pub alteration: Option<Alteration>,
}

/// The comparison of a query with a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Score {
    /// The dot product.
    #[default]
    Dot,
    /// The cosine of the angle between them.
    Cosine,
    /// Minus the distance between them.
    Distance,
    /// Minus the square of the distance.
    SquaredDistance,
    /// Query i with key i alone: the score of row i, in every column.
    RowsAsColumn,
    /// Query j with key j alone: the score of column j, in every row.
    RowsAsRow,
    /// `Q K`, where K is square: K is not transposed.
    Untransposed,
    /// Q times the cells of K read row by row as (d_k, N): K is reshaped, not transposed.
    KeysReshaped,
    /// A function of each feature, and its sum or max.
    Featurewise(Featurewise),
}

/// A score computed feature by feature: a function of each pair of features, and its sum or max.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Featurewise {
    /// `−Σ |q − k|`.
    Manhattan,
    /// `−max |q − k|`.
    MaxDifference,
    /// `max q k`.
    MaxProduct,
    /// `Σ (q + k)`.
    Sum,
    /// `Σ tanh(q + k)`.
    TanhOfSum,
}

/// The factor of the scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scale {
    /// 1/√d_k, also for cosines, which need none: `none` is the usual choice with them.
    #[default]
    Auto,
    /// Nothing.
    None,
    /// A number.
    Number(f64),
    /// 1/d_k.
    Inverse,
    /// √d_k.
    Root,
    /// 1/√n for this number n, whatever d_k is.
    InverseRootOf(usize),
    /// 1/n for this number n.
    InverseOf(usize),
    /// √n for this number n.
    RootOf(usize),
}

impl Scale {
    /// The factor for keys of this width; none where scores are not scaled.
    pub fn factor(self, width: usize) -> Option<Factor> {
        match self {
            Scale::Auto => Some(Factor::InverseRoot(width)),
            Scale::Number(number) => Some(Factor::Number(number)),
            Scale::Inverse => Some(Factor::Inverse(width)),
            Scale::Root => Some(Factor::Root(width)),
            Scale::InverseRootOf(width) => Some(Factor::InverseRoot(width)),
            Scale::InverseOf(width) => Some(Factor::Inverse(width)),
            Scale::RootOf(width) => Some(Factor::Root(width)),
            Scale::None => None,
        }
    }
}

/// The steps after the heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Output {
    /// Whether the output projection is applied, where there is one.
    pub projected: bool,
    /// Whether the input X is added to the result.
    pub residual: bool,
    /// The output projection.
    pub projection: Projection,
    /// The addition of the residual.
    pub addition: Residual,
}

impl Default for Output {
    /// Projected, without a residual.
    fn default() -> Output {
        Output {
            projected: true,
            residual: false,
            projection: Projection::default(),
            addition: Residual::default(),
        }
    }
}

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe {
            heads: 1,
            kv_heads: 1,
            roles: QkvSources::default(),
            projection_biases: ProjectionBiases::default(),
            positions: Positions::default(),
            qk_norm: QkNorm::default(),
            split: Split::default(),
            split_roles: SplitRoles::default(),
            groups: Groups::default(),
            common: HeadSharing::default(),
            comparison: ScoreRows::default(),
            score: Score::default(),
            scale: Scale::default(),
            biasing: Biasing::default(),
            temperature: 1.0,
            soft_cap: None,
            cap_place: CapPlace::default(),
            mask: Mask::default(),
            hiding: Hiding::default(),
            score_decimals: None,
            normalise: Normalise::default(),
            sink: SinkUse::default(),
            base: Base::E,
            guarded: true,
            weight_decimals: None,
            merge: Merge::default(),
            gate: Gating::default(),
            output: Output::default(),
            alteration: None,
        }
    }
}

impl Recipe {
    /// One head with a causal mask.
    pub fn causal() -> Recipe {
        Recipe { mask: Mask { causal: true, ..Mask::default() }, ..Recipe::default() }
    }

    /// Checks everything that does not depend on matrices.
    ///
    /// # Errors
    /// If there are no heads, the key/value heads do not divide the heads, or the temperature or the soft-cap is not positive.
    pub fn check(&self) -> Result<()> {
        let refused = |what: String, help: &str| Err(Error::new(what).help(help));
        let is_positive = |number: f64| number > 0.0 && number.is_finite();
        if self.heads == 0 || self.kv_heads == 0 {
            return refused("there must be at least one head".into(), "write --heads 1 for a single head");
        }
        if !self.heads.is_multiple_of(self.kv_heads) {
            let (queries, groups) =
                (counted(self.heads, "query head"), counted(self.kv_heads, "key/value head"));
            let what = format!("{queries} cannot share {groups} evenly");
            return refused(what, "give a --kv-heads that divides --heads");
        }
        if !is_positive(self.temperature) {
            return refused(
                format!("the temperature is {}, but it must be a positive number", self.temperature),
                "give a positive number: a number below 1 sharpens the weights, above 1 flattens them",
            );
        }
        if self.mask.window == Some(0) {
            let help = "write --window 1 to let each token attend only to itself";
            return refused("a window of 0 hides every key".into(), help);
        }
        if self.mask.keep_first > 0 && self.mask.window.is_none() {
            let kept = self.mask.keep_first;
            let what = format!("--keep-first {kept} changes nothing: no window hides the first keys");
            return refused(what, "add --window");
        }
        if let Some(cap) = self.soft_cap.filter(|cap| !is_positive(*cap)) {
            let what = format!("the soft-cap is {cap}, but it must be a positive number");
            return refused(what, "give the bound of the scores, such as 50: a smaller one changes more");
        }
        match self.scale {
            Scale::Number(scale) if !scale.is_finite() => {
                Err(Error::new(format!("{scale} is not a finite scale")))
            }
            _ => Ok(()),
        }
    }
}

// The choices of a recipe, one enum for each step of attention: the correct choice first, which is the default, then the usual
// mistakes. A recipe has one of each, so every combination is a computation.

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

/// Which of the given biases of the projections are added: all of them, unless one was forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProjectionBiases {
    /// b_Q.
    pub q: bool,
    /// b_K.
    pub k: bool,
    /// b_V.
    pub v: bool,
    /// b_O.
    pub o: bool,
}

impl Default for ProjectionBiases {
    fn default() -> ProjectionBiases {
        ProjectionBiases { q: true, k: true, v: true, o: true }
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
    Replaced(#[serde(with = "json_number")] f64),
    /// This number is added to hidden scores; with an infinity, visible cells become NaN (`0 · ∞`).
    Added(#[serde(with = "json_number")] f64),
    /// Hidden scores become 0: the scores are multiplied by a mask of ones and zeros.
    Zero,
    /// The mask is added as numbers: 1 for visible keys, 0 for hidden ones.
    OneAddedToVisible,
    /// Hidden scores become +∞.
    PlusInfinity,
    /// Hidden scores stay; their weights become 0 after the softmax.
    AfterSoftmax,
    /// Hidden scores stay; their weights become this number after the softmax.
    WeightsReplaced(#[serde(with = "json_number")] f64),
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

// The choices of a recipe between scores and weights: the correct one first, which is the default.

/// The steps from scores to weights: a shift, a function of each score, a divisor along an axis, and further steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Normalise {
    /// The function of each score.
    pub function: ScoreFunction,
    /// The number that is subtracted first.
    pub shift: Shift,
    /// The divisor.
    pub divisor: Divisor,
    /// The axis of the divisor.
    pub along: NormaliseAxis,
    /// The further steps on the weights.
    pub then: AfterNormalise,
    /// Whether numbers beyond 3.4e38 become infinite, as in single precision.
    pub single: bool,
}

/// The function of each score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ScoreFunction {
    /// A power: of e, or of the recipe's base.
    #[default]
    Exponential,
    /// The score itself.
    Identity,
    /// Its absolute value.
    Absolute,
    /// Its square.
    Squared,
    /// `max(0, score)`.
    Relu,
    /// A sigmoid.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// 1 for the max of its row, 0 for the others.
    HardMaximum,
}

/// The number that is subtracted from scores before the function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shift {
    /// The max of the scores that are normalised together. It changes no weight.
    #[default]
    Max,
    /// Nothing.
    Nothing,
    /// The max of each column.
    OfColumns,
    /// The max of row j from column j: keepdims is missing.
    Misplaced,
    /// The max of the row from this column on: a range of a spreadsheet without a $.
    MaxFromHere,
}

/// The divisor of the function values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Divisor {
    /// Their sum.
    #[default]
    Sum,
    /// Nothing.
    Nothing,
    /// Their sum plus this number.
    SumAnd(f64),
    /// Their Euclidean length.
    Length,
    /// The sum of their absolute values.
    SizeSum,
    /// Their max.
    Max,
    /// Their count.
    Count,
    /// The sum of row j for column j: keepdims is missing.
    MisplacedSum,
    /// The sum of their column.
    ColumnSum,
    /// The sum of all.
    WholeSum,
    /// The sum of the first row, for all rows.
    FirstSum,
    /// The sum of the row from this column on, of the column from this row on, or of this row and all rows below it: a range of a
    /// spreadsheet without a $.
    SumFromHere(Axis),
}

/// The axis along which weights sum to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum NormaliseAxis {
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

/// Further steps on the weights before they mix the values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum AfterNormalise {
    /// Nothing.
    #[default]
    Mixed,
    /// A second softmax.
    Again,
    /// A second mask and softmax.
    AgainMasked,
    /// Their logarithm.
    Logarithm,
    /// Their logarithm, 0 for hidden keys.
    LogarithmOfVisible,
    /// A product with the mask of ones and zeros, which hides keys only here.
    Masked,
}

// The choices of a recipe that today's models add: positions, norms of queries and keys, the soft-cap, sinks and gates. The
// default leaves each of them out.

/// The usual ε of the norm of queries and keys: that of Qwen 3 and Gemma 3.
const QK_NORM_EPSILON: f64 = 1e-6;

/// The way in which positions enter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Positions {
    /// Rotation, a bias, vectors, or nothing.
    pub kind: PositionKind,
    /// The position of the first token.
    pub first: usize,
    /// The number that is added to the positions of queries alone, by mistake.
    pub query_shift: isize,
    /// The number that is added to the positions of keys alone, by mistake.
    pub key_shift: isize,
    /// The slopes of ALiBi.
    pub slopes: AlibiSlopes,
    /// Whether later keys have buckets of their own in T5's table; where this is not said, the causal mask decides.
    pub later_buckets: Option<bool>,
}

impl Positions {
    /// The same positions without any mistake in them.
    pub(super) fn without_mistakes(self) -> Positions {
        let kind = match self.kind {
            PositionKind::Rotary(Rotary { pairing, base, width, scaling, .. }) => {
                PositionKind::Rotary(Rotary { pairing, base, width, scaling, ..Rotary::default() })
            }
            PositionKind::Alibi { .. } => PositionKind::Alibi { heads: None },
            kind => kind,
        };
        Positions { kind, first: self.first, ..Positions::default() }
    }
}

/// The kinds of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PositionKind {
    /// None: attention knows no order.
    #[default]
    None,
    /// Queries and keys are rotated.
    Rotary(Rotary),
    /// ALiBi: a bias that grows with the distance.
    Alibi {
        /// The n of the slopes 2^(−8h/n), by mistake; where there is none, the slopes are those of the recipe's heads.
        heads: Option<usize>,
    },
    /// A bias for each bucket of distances, from a table.
    Buckets {
        /// The distance from which on all keys share a bucket.
        furthest: usize,
    },
    /// Vectors of sines and cosines are added to the tokens.
    Sinusoidal,
}

/// The slopes of ALiBi.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum AlibiSlopes {
    /// Those of the number of query heads, so that scores fall with the distance.
    #[default]
    OfHeads,
    /// Counted from 0: the first head has the slope 1.
    FromZero,
    /// Made for the key/value heads: query heads that share one share its slope.
    OfGroups,
    /// With the wrong sign: scores rise with the distance.
    Rising,
}

/// The choices of rotary positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Rotary {
    /// The two columns that rotate together.
    pub pairing: Pairing,
    /// The base of the frequencies.
    pub base: f64,
    /// The number of columns that are rotated in each head; all where there is none.
    pub width: Option<usize>,
    /// The columns that are rotated, where it is not all of them.
    pub part: RotatedPart,
    /// The change of the frequencies for longer texts.
    pub scaling: Option<RopeScaling>,
    /// Whether LongRoPE takes the divisors of the other length, by mistake.
    pub swaps_divisors: bool,
    /// The use of the scaling's factor of sines and cosines.
    pub magnitude: MagnitudeUse,
    /// What is rotated.
    pub rotated: RotatedRoles,
    /// The signs of the sines.
    pub signs: SineSigns,
}

impl Default for Rotary {
    /// All columns, in halves, with the paper's base.
    fn default() -> Rotary {
        Rotary {
            pairing: Pairing::default(),
            base: 10_000.0,
            width: None,
            part: RotatedPart::default(),
            scaling: None,
            swaps_divisors: false,
            magnitude: MagnitudeUse::default(),
            rotated: RotatedRoles::default(),
            signs: SineSigns::default(),
        }
    }
}

/// The use of the factor of sines and cosines that YaRN and LongRoPE have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum MagnitudeUse {
    /// Queries and keys are multiplied by it.
    #[default]
    Once,
    /// It is left out.
    Missing,
    /// Queries and keys are multiplied by its square.
    Twice,
}

impl MagnitudeUse {
    /// The factor of sines and cosines.
    pub fn of(self, magnitude: f64) -> f64 {
        match self {
            MagnitudeUse::Once => magnitude,
            MagnitudeUse::Missing => 1.0,
            MagnitudeUse::Twice => magnitude * magnitude,
        }
    }
}

/// What is rotated by its positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RotatedRoles {
    /// Queries and keys.
    #[default]
    QueriesAndKeys,
    /// The queries alone.
    Queries,
    /// The keys alone.
    Keys,
    /// Queries, keys and values.
    WithValues,
}

impl RotatedRoles {
    /// Returns true if Q, K or V is rotated.
    pub fn has(self, role: Role) -> bool {
        match role {
            Role::Q => self != RotatedRoles::Keys,
            Role::K => self != RotatedRoles::Queries,
            Role::V => self == RotatedRoles::WithValues,
            _ => false,
        }
    }
}

/// The signs of the sines in a rotation of the pair (a, b).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SineSigns {
    /// (a cos − b sin, a sin + b cos).
    #[default]
    Right,
    /// (a cos + b sin, −a sin + b cos): the other direction.
    Reversed,
    /// (a cos + b sin, a sin + b cos): a `rotate_half` without its minus.
    NoMinus,
}

/// The columns that are rotated, where it is not all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RotatedPart {
    /// The first.
    #[default]
    First,
    /// The last.
    Last,
}

/// The norm of queries and keys: each row over its root mean square.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct QkNorm {
    /// Before the rotation, after it, or nowhere.
    pub place: NormPlace,
    /// Added to the mean of the squares.
    pub epsilon: f64,
    /// What is normed.
    pub normed: NormedRoles,
}

impl Default for QkNorm {
    /// None.
    fn default() -> QkNorm {
        QkNorm { place: NormPlace::default(), epsilon: QK_NORM_EPSILON, normed: NormedRoles::default() }
    }
}

/// What the norm is applied to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum NormedRoles {
    /// Queries and keys.
    #[default]
    QueriesAndKeys,
    /// The queries alone.
    Queries,
    /// The keys alone.
    Keys,
}

impl NormedRoles {
    /// Returns true if Q or K is normed.
    pub fn has(self, role: Role) -> bool {
        match role {
            Role::Q => self != NormedRoles::Keys,
            Role::K => self != NormedRoles::Queries,
            _ => false,
        }
    }
}

/// The place of the norm of queries and keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum NormPlace {
    /// There is none.
    #[default]
    Nowhere,
    /// Before the rotation.
    BeforeRotation,
    /// After the rotation.
    AfterRotation,
}

/// The place of the soft-cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CapPlace {
    /// Before the mask, so that a hidden key stays hidden.
    #[default]
    BeforeMask,
    /// After the mask: a hidden key has the score −c.
    AfterMask,
    /// Before the scale.
    BeforeScale,
}

/// The use of the sinks, where there are any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SinkUse {
    /// The softmax runs over the keys and the sink.
    #[default]
    InSoftmax,
    /// They are left out.
    Missing,
    /// All heads take the sink of one head; the first head is 1.
    OfHead(usize),
    /// Head h of H takes the sink of head H + 1 − h.
    Reversed,
    /// They have the other sign.
    Negated,
    /// All heads take this number.
    Number(u8),
}

/// The use of the output gate, where there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Gating {
    /// The heads times the sigmoid of the gate.
    #[default]
    Sigmoid,
    /// It is left out.
    Missing,
    /// The heads times the input of the sigmoid.
    WithoutSigmoid,
}
