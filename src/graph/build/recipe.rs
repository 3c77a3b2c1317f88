//! What an attention pipeline is asked to do. A classic mistake is one changed field of it.

use crate::attention::Mask;
use crate::error::{Error, Result};

/// The options of a pipeline, in the order in which they act.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// How many query heads the width is split into.
    pub heads: usize,
    /// How many heads of keys and values; it divides `heads`.
    pub kv_heads: usize,
    /// How a query is compared with a key.
    pub score: Score,
    /// What scores are multiplied by.
    pub scale: Scale,
    /// What scores are divided by, after scale and bias.
    pub temperature: f64,
    /// Which keys a query may attend to.
    pub mask: Mask,
    /// What becomes of the mixed values.
    pub output: Output,
}

/// How a query is compared with a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Score {
    /// The dot product.
    #[default]
    Dot,
    /// The cosine of the angle between them.
    Cosine,
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
}

/// What becomes of the mixed values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Whether the input X is added to the result.
    pub residual: bool,
}

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe {
            heads: 1,
            kv_heads: 1,
            score: Score::Dot,
            scale: Scale::Auto,
            temperature: 1.0,
            mask: Mask::default(),
            output: Output::default(),
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
            return Err(Error::new("there must be at least one head").help("--heads 1 is a single head"));
        }
        if !self.heads.is_multiple_of(self.kv_heads) {
            return Err(Error::new(format!(
                "{} query heads cannot share {} key/value heads evenly",
                self.heads, self.kv_heads
            ))
            .help("--kv-heads must divide --heads"));
        }
        if !(self.temperature > 0.0 && self.temperature.is_finite()) {
            return Err(Error::new(format!("a temperature of {} cannot divide scores", self.temperature))
                .help("take a positive number: below 1 sharpens, above 1 flattens"));
        }
        if self.mask.window == Some(0) {
            return Err(Error::new("a window of 0 hides every key").help("--window 1 sees the token itself"));
        }
        match self.scale {
            Scale::Number(scale) if !scale.is_finite() => Err(Error::new(format!("{scale} is no scale"))),
            _ => Ok(()),
        }
    }
}
