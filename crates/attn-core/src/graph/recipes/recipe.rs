//! The recipe of an attention pipeline. A classic mistake is one changed field of it.

use serde::{Deserialize, Serialize};

use super::alter::Alteration;
use super::choices::{
    Biasing, Groups, HeadSharing, Hiding, Merge, Projection, QkvSources, Residual, ScoreRows, Split,
    SplitRoles,
};
use super::choices_of_weights::Normalise;
use super::mechanisms::{CapPlace, Gating, Positions, QkNorm, SinkUse};
use crate::attention::{Base, Mask};
use crate::error::{Error, Result};
use crate::graph::Factor;
use crate::text::counted;

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
        if self.heads == 0 || self.kv_heads == 0 {
            return Err(
                Error::new("there must be at least one head").help("write --heads 1 for a single head")
            );
        }
        if !self.heads.is_multiple_of(self.kv_heads) {
            return Err(Error::new(format!(
                "{} cannot share {} evenly",
                counted(self.heads, "query head"),
                counted(self.kv_heads, "key/value head")
            ))
            .help("give a --kv-heads that divides --heads"));
        }
        if !(self.temperature > 0.0 && self.temperature.is_finite()) {
            return Err(Error::new(format!(
                "the temperature is {}, but it must be a positive number",
                self.temperature
            ))
            .help("give a positive number: a number below 1 sharpens the weights, above 1 flattens them"));
        }
        if self.mask.window == Some(0) {
            return Err(Error::new("a window of 0 hides every key")
                .help("write --window 1 to let each token attend only to itself"));
        }
        if self.mask.keep_first > 0 && self.mask.window.is_none() {
            return Err(Error::new(format!(
                "--keep-first {} changes nothing: no window hides the first keys",
                self.mask.keep_first
            ))
            .help("add --window"));
        }
        if let Some(cap) = self.soft_cap.filter(|cap| !(*cap > 0.0 && cap.is_finite())) {
            return Err(Error::new(format!("the soft-cap is {cap}, but it must be a positive number"))
                .help("give the bound of the scores, such as 50: a smaller one changes more"));
        }
        match self.scale {
            Scale::Number(scale) if !scale.is_finite() => {
                Err(Error::new(format!("{scale} is not a finite scale")))
            }
            _ => Ok(()),
        }
    }
}
