//! The ways in which scores become weights: the right one first, which is the default.

use crate::attention::Axis;

/// How scores become weights: a function of each score, divided by something, along an axis, and what follows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Normalise {
    /// What is made of each score.
    pub function: ScoreFunction,
    /// What is subtracted before that.
    pub shift: Shift,
    /// What it is divided by.
    pub divisor: Divisor,
    /// What the divisor runs along.
    pub along: NormaliseAxis,
    /// What is done with the weights.
    pub then: AfterNormalise,
    /// Whether numbers beyond 3.4e38 become infinite, as in single precision.
    pub single: bool,
}

/// What is made of each score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScoreFunction {
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
    /// 1 for the max of its row, 0 for the others.
    HardMaximum,
}

/// What is subtracted from scores before they become powers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Their max.
    Max,
    /// How many they are.
    Count,
    /// The sum of row j for column j: keepdims is missing.
    MisplacedSum,
    /// The sum of their column.
    ColumnSum,
    /// The sum of all.
    WholeSum,
    /// The sum of the first row, for all rows.
    FirstSum,
    /// The sum of what stands in the row from this column on, in the column from this row on, or in this row and all below it: a
    /// range of a spreadsheet without a $.
    SumFromHere(Axis),
}

/// What weights sum to 1 along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// What is done with weights before they mix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterNormalise {
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
