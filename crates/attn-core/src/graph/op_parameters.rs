//! The parameters of ops.

use crate::attention::Mask;

/// A result of the fused kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fusion {
    /// The heads' outputs side by side, from Q, K, V, and bias and mask where there are any.
    Output(FusedSteps),
    /// ln Σ exp of each row of scores, a column for each head, from the scores that its softmax would read.
    LogSumExp,
}

/// The steps that the fused kernel applies to the scores before their softmax.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FusedSteps {
    /// The factor of the scores; `None` if they are not scaled.
    pub scale: Option<Factor>,
    /// The divisor of the scaled scores.
    pub temperature: f64,
    /// The bound of the scores, if they are capped.
    pub soft_cap: Option<f64>,
    /// The mask of the scores.
    pub mask: Mask,
}

/// The number that a scale multiplies by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Factor {
    /// A number as given.
    Number(f64),
    /// `1/√d` for a width d.
    InverseRoot(usize),
    /// `1/d` for a width d.
    Inverse(usize),
    /// `√d` for a width d.
    Root(usize),
}

impl Factor {
    /// The factor's value.
    pub fn value(self) -> f64 {
        match self {
            Factor::Number(number) => number,
            Factor::InverseRoot(width) => 1.0 / (width as f64).sqrt(),
            Factor::Inverse(width) => 1.0 / width as f64,
            Factor::Root(width) => (width as f64).sqrt(),
        }
    }
}

/// The formula for the share of the normal distribution below a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeluForm {
    /// By the error function: `a/2 · (1 + erf(a/√2))`.
    Erf,
    /// By a hyperbolic tangent, which is close to it: `a/2 · (1 + tanh(√(2/π) · (a + 0.044715·a³)))`.
    Tanh,
}

/// The side of the singular vectors: left or right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The columns of U in `U Σ Vᵀ`.
    Left,
    /// The columns of V in `U Σ Vᵀ`.
    Right,
}

/// A number that sums up a whole matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The mean of all cells.
    Mean,
    /// The root of the mean of the squares of all cells.
    RootMeanSquare,
    /// The max of all cells.
    Max,
    /// The max of the absolute values of all cells.
    MaxSize,
}

impl Statistic {
    /// Its name in an equation.
    pub(super) fn text(self) -> &'static str {
        match self {
            Statistic::Mean => "mean",
            Statistic::RootMeanSquare => "root mean square",
            Statistic::Max => "largest value",
            Statistic::MaxSize => "largest absolute value",
        }
    }
}
