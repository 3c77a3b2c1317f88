//! The steps of a model. A mistake that porters make is one changed field of it.

use super::activation::Activation;
use super::slips::Slips;
use crate::graph::recipes::Recipe;
use crate::matrix::Matrix;
use crate::params::{Model, NormKind};

/// The steps of a model, as its configuration has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Architecture {
    /// The sizes, from which the weights are listed and counted, and the values that the configuration leaves to its family.
    pub model: Model,
    /// True if embeddings are multiplied by √d, rounded to the type of the weights, as in Gemma.
    pub embedding_scaled: bool,
    /// The norms.
    pub norm: Norm,
    /// The layers, from the first.
    pub blocks: Vec<Block>,
    /// The bound of the logits, where there is one.
    pub logit_cap: Option<f64>,
    /// The function in the head of an encoder that predicts masked words.
    pub head_activation: Activation,
    /// Mistakes that no other field expresses; none in a model as it is.
    pub slips: Slips,
}

/// A norm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Norm {
    /// Its kind.
    pub kind: NormKind,
    /// The number that is added to the variance, or to the mean of the squares.
    pub epsilon: f64,
    /// What the file stores of its gain.
    pub gain: Gain,
}

/// What a file stores of the gain of a norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gain {
    /// The gain.
    Itself,
    /// Its distance from 1, as Gemma's files do.
    FromOne,
    /// Nothing: norms before the sublayers and after the last layer have no weights.
    Nothing,
}

/// A layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its attention: heads, positions, norms of queries and keys, scale, cap, mask and window.
    pub recipe: Recipe,
    /// LongRoPE's divisors of the frequencies: a row for short texts and one for long ones.
    pub divisors: Option<Matrix>,
    /// The matrices that the weights of queries, keys and values are kept in.
    pub projections: Projections,
    /// What a norm after a sublayer reads.
    pub after: AfterNorm,
    /// What the MLP reads.
    pub sublayers: Sublayers,
    /// The function inside the MLP.
    pub activation: Activation,
    /// True if the MLP has a gate beside its way up.
    pub gated: bool,
}

/// The matrices that the weights of queries, keys and values are kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projections {
    /// One each.
    Separate,
    /// One for all: all queries, then all keys, then all values.
    Fused,
    /// One for all, head by head: queries, keys and values of the first head, then of the second.
    FusedByHead,
}

/// What a norm after a sublayer reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterNorm {
    /// The result of the sublayer, before it is added to the residual stream.
    Result,
    /// The sum with the residual stream.
    Sum,
}

/// The order of attention and MLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sublayers {
    /// The MLP reads what attention has added to.
    Sequential,
    /// Both read the input of the layer.
    Parallel,
    /// There is no MLP.
    AttentionAlone,
}
