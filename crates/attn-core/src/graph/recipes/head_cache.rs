//! Keys and values of earlier tokens.

use crate::tensor::Tensor;

/// The keys and values that a layer has computed, as its heads read them: keys normed and rotated. A key/value cache keeps them for
/// the tokens to come.
#[derive(Clone, Debug, Default)]
pub struct HeadCache {
    /// The keys of each key/value head, a row for each token.
    pub keys: Vec<Tensor>,
    /// The values of each key/value head.
    pub values: Vec<Tensor>,
}

/// Looks at the weights of a head, counted from 1.
pub(crate) type LookAtWeights<'a> = &'a dyn Fn(usize, &Tensor);

/// What stays of the steps of each head.
#[derive(Clone, Copy, Default)]
pub(crate) enum StepsOfHeads<'a> {
    /// All of them stay recorded.
    #[default]
    Kept,
    /// None, once its weights have been looked at, where somebody looks.
    Forgotten(Option<LookAtWeights<'a>>),
}

impl StepsOfHeads<'_> {
    /// Returns true if they stay.
    pub fn are_kept(self) -> bool {
        matches!(self, StepsOfHeads::Kept)
    }
}

impl HeadCache {
    /// The number of tokens in it.
    pub fn tokens(&self) -> usize {
        self.keys.first().map_or(0, |keys| keys.shape().rows)
    }
}
