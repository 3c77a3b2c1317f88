//! What an attention pipeline is asked to do. A classic mistake is one changed field of it.

use super::alter::Alteration;
use super::choices::{
    Biasing, Groups, HeadSharing, Hiding, Merge, Projection, QkvSources, Residual, ScoreRows, Split,
};
use super::choices_of_weights::Normalise;
use crate::attention::{Base, Mask};
use crate::error::{Error, Result};
use crate::graph::Factor;
use crate::hint::Hint;
use crate::text::counted;

/// The options of a pipeline, in the order in which they act.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// How many query heads the width is split into.
    pub heads: usize,
    /// How many heads of keys and values; it divides `heads`.
    pub kv_heads: usize,
    /// Where queries, keys and values come from.
    pub roles: QkvSources,
    /// Which columns belong to a head.
    pub split: Split,
    /// Which keys and values a query head reads.
    pub groups: Groups,
    /// What all heads have in common.
    pub common: HeadSharing,
    /// What stands in the rows of the scores.
    pub comparison: ScoreRows,
    /// How a query is compared with a key.
    pub score: Score,
    /// What scores are multiplied by.
    pub scale: Scale,
    /// What becomes of the bias, where there is one.
    pub biasing: Biasing,
    /// What scores are divided by, after scale and bias.
    pub temperature: f64,
    /// Which keys a query may attend to.
    pub mask: Mask,
    /// What becomes of the scores that the mask hides.
    pub hiding: Hiding,
    /// The number of decimals to which scores are rounded before the softmax; `None`: they are not.
    pub score_decimals: Option<u32>,
    /// How scores become weights.
    pub normalise: Normalise,
    /// What is raised to the scores.
    pub base: Base,
    /// Whether a row that may attend to nothing has weights 0; without the guard it is NaN.
    pub guarded: bool,
    /// The number of decimals to which weights are rounded before they mix the values; `None`: they are not.
    pub weight_decimals: Option<u32>,
    /// How the heads are put together again.
    pub merge: Merge,
    /// What becomes of the mixed values.
    pub output: Output,
    /// What else is done that attention does not do.
    pub alteration: Option<Alteration>,
}

/// How a query is compared with a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Something else, made of each feature.
    Featurewise(Featurewise),
}

/// What is made of each feature of a query and a key, and how the features come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// What scores are multiplied by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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

/// What becomes of the mixed values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Whether the output projection is applied, where there is one.
    pub projected: bool,
    /// Whether the input X is added to the result.
    pub residual: bool,
    /// What the output projection does.
    pub projection: Projection,
    /// How the residual is added.
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
            split: Split::default(),
            groups: Groups::default(),
            common: HeadSharing::default(),
            comparison: ScoreRows::default(),
            score: Score::default(),
            scale: Scale::default(),
            biasing: Biasing::default(),
            temperature: 1.0,
            mask: Mask::default(),
            hiding: Hiding::default(),
            score_decimals: None,
            normalise: Normalise::default(),
            base: Base::E,
            guarded: true,
            weight_decimals: None,
            merge: Merge::default(),
            output: Output::default(),
            alteration: None,
        }
    }
}

impl Recipe {
    /// One head that hides what comes after the query.
    pub fn causal() -> Recipe {
        Recipe { mask: Mask { causal: true, ..Mask::default() }, ..Recipe::default() }
    }

    /// Checks what can be checked before there are matrices.
    ///
    /// # Errors
    /// If there are no heads, the key/value heads do not divide the heads, or the temperature is not positive.
    pub fn check(&self) -> Result<()> {
        if self.heads == 0 || self.kv_heads == 0 {
            return Err(Error::new("there must be at least one head")
                .help(format!("write {} 1 for a single head", Hint::Heads)));
        }
        if !self.heads.is_multiple_of(self.kv_heads) {
            return Err(Error::new(format!(
                "{} cannot share {} evenly",
                counted(self.heads, "query head"),
                counted(self.kv_heads, "key/value head")
            ))
            .help(format!("give a {} that divides {}", Hint::KeyValueHeads, Hint::Heads)));
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
                .help(format!("write {} 1 to let each token attend only to itself", Hint::Window)));
        }
        match self.scale {
            Scale::Number(scale) if !scale.is_finite() => {
                Err(Error::new(format!("{scale} is not a finite scale")))
            }
            _ => Ok(()),
        }
    }
}
