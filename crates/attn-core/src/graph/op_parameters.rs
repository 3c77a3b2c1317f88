//! The parameters of ops.

use serde::{Deserialize, Serialize};

use crate::attention::Mask;
use crate::json_number;

/// A result of the fused kernel. In JSON each is an op of its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Fusion {
    /// The heads' outputs side by side, from Q, K, V, and bias and mask where there are any.
    #[serde(rename = "fused-attention")]
    Output(FusedSteps),
    /// ln Σ exp of each row of scores, a column for each head, from the scores that its softmax would read.
    #[serde(rename = "fused-log-sum-exp")]
    LogSumExp,
}

impl Fusion {
    pub(super) const NAMES: [&'static str; 2] = ["fused-attention", "fused-log-sum-exp"];

    pub(super) fn name(self) -> &'static str {
        let [output, log_sum_exp] = Fusion::NAMES;
        match self {
            Fusion::Output(_) => output,
            Fusion::LogSumExp => log_sum_exp,
        }
    }
}

/// The steps that the fused kernel applies to the scores before their softmax.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FusedSteps {
    /// The factor of the scores; `None` if they are not scaled.
    pub scale: Option<Factor>,
    /// The divisor of the scaled scores.
    #[serde(with = "json_number")]
    pub temperature: f64,
    /// The bound of the scores, if they are capped.
    #[serde(with = "json_number::optional")]
    pub soft_cap: Option<f64>,
    /// The mask of the scores.
    pub mask: Mask,
}

/// The number that a scale multiplies by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Factor {
    /// A number as given.
    Number(#[serde(with = "json_number")] f64),
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

/// The formula for the share of the normal distribution below a number. In JSON each is an op of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GeluForm {
    /// By the error function: `a/2 · (1 + erf(a/√2))`.
    #[serde(rename = "gelu")]
    Erf,
    /// By a hyperbolic tangent, which is close to it: `a/2 · (1 + tanh(√(2/π) · (a + 0.044715·a³)))`.
    #[serde(rename = "gelu-tanh")]
    Tanh,
}

impl GeluForm {
    pub(super) fn name(self) -> &'static str {
        match self {
            GeluForm::Erf => "gelu",
            GeluForm::Tanh => "gelu-tanh",
        }
    }
}

/// The side of the singular vectors: left or right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The columns of U in `U Σ Vᵀ`.
    Left,
    /// The columns of V in `U Σ Vᵀ`.
    Right,
}

/// A number that sums up a whole matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
