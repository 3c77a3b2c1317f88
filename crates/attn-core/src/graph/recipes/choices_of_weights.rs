//! The choices of a recipe between scores and weights: the correct one first, which is the default.

use serde::{Deserialize, Serialize};

use crate::attention::Axis;

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
