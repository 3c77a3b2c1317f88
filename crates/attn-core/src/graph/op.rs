//! The closed set of steps that a node can be made by.
//!
//! # To add an op
//!
//! The compiler asks for steps 1 to 6 as soon as [`Op`] has a new variant, and for 8 in the tests.
//!
//! 1. `op.rs`: the variant with its formula as doc comment; its name follows from that of the variant. A line in `cells` if its
//!    result may have more cells than its inputs together. Its parameters, if they are not plain numbers: `op_parameters.rs`; how
//!    JSON calls those without a name: `op_form.rs`.
//! 2. `arity.rs`: the number of its inputs; `fits.rs`: their shapes, and that of the result.
//! 3. `apply.rs`: its value, by a function of [`crate::attention`].
//! 4. `terms.rs`: the terms of one cell, in the order of computing, so that they evaluate to the same bits.
//! 5. `formula.rs`: its equation.
//! 6. `gradients/way_back.rs`: how it hands its gradient on to each input, or why it does not.
//! 7. For a function that no term has: `term.rs` (the variant and its value), `notation.rs` (the text), and of the program
//!    `src/render/json_explanation.rs` and `src/render/latex_terms.rs`.
//! 8. `tests/cases/mod.rs`: an example of it. Tests on every op then check its terms, its gradient, its explanation in every
//!    format, and that the graph can be run again.
//! 9. For a function of single numbers: `tests/golden/functions.py`, where NumPy or 60 digits give its values without this code.
#![deny(clippy::wildcard_enum_match_arm)]

use serde::{Deserialize, Serialize};
use strum::{EnumDiscriminants, EnumIter, IntoEnumIterator, IntoStaticStr};

use super::op_form;
use super::op_parameters::{Factor, Fusion, GeluForm, Side, Statistic};
use super::origin::Origin;
use crate::attention::{
    Axis, Base, Buckets, HeadOf, Mask, Order, Places, RopeScaling, Rotation, WeightLayout,
};
use crate::json_number;
use crate::matrix::{Labels, Shape};

/// The ops: each computes a node's value from its inputs. Letters in the formulas: a is the first input, b the second.
///
/// In JSON an op is its name and its parameters: `{"op": "scale", "params": {"factor": {"inverse-root": 64}}}`. Here is the one
/// definition of both; `op_form.rs` names the parameters that have no name here,
/// and `op_json.rs` gives the forms of GELU and of the fused kernel names of their own.
#[derive(Clone, Debug, PartialEq, EnumDiscriminants, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "kebab-case", deny_unknown_fields)]
#[strum_discriminants(name(OpKind), derive(EnumIter, IntoStaticStr), allow(missing_docs))]
#[strum_discriminants(strum(serialize_all = "kebab-case"))]
#[strum_discriminants(doc = "The kinds of [`Op`], without the numbers that they carry.")]
pub enum Op {
    /// A leaf: numbers that were given, not computed.
    #[serde(with = "op_form::Given")]
    Given(Origin),
    /// `a b`.
    Product,
    /// `a bᵀ`: all dot products between the rows of a and of b.
    ProductTransposed,
    /// `aᵀ b`: all dot products between the columns of a and of b.
    TransposedProduct,
    /// `a b + c`: a linear layer with weights b in the order in which a file has them, and the bias c, one row, where there is one.
    #[serde(with = "op_form::Linear")]
    Linear(WeightLayout),
    /// The rows of the table a at these places, from 0: the embeddings of a text's tokens.
    #[serde(with = "op_form::TokenRows")]
    TokenRows(Vec<usize>),
    /// A leaf: 1 in every cell, as where every pair of a query and a key counts once.
    Ones {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        cols: usize,
    },
    /// `aᵀ`.
    Transpose,
    /// `a + b + …`, cell by cell.
    Add,
    /// `a − b`, cell by cell.
    Subtract,
    /// `b − a`, cell by cell: the change from a to b. Exactly 0 where both are the same, also for two −∞ or two NaN.
    Change,
    /// `a ∘ b`, cell by cell.
    Multiply,
    /// Every cell of a divided by the single number b.
    Divide,
    /// Every cell of a multiplied by the single number b.
    Times,
    /// `a / b`, cell by cell.
    Quotient,
    /// `1 + a`, cell by cell: the gain of a norm that stores its distance from 1.
    OnePlus,
    /// Every cell multiplied by a number.
    #[serde(with = "op_form::Scale")]
    Scale(Factor),
    /// Every cell divided by the temperature.
    #[serde(with = "op_form::Temperature")]
    Temperature(f64),
    /// `c · tanh(a / c)`: every cell stays between −c and c.
    #[serde(with = "op_form::SoftCap")]
    SoftCap(f64),
    /// Hidden cells become −∞; a mask matrix is the second input where the rule needs one.
    Mask(Mask),
    /// 1 where the mask lets through, 0 elsewhere, in the shape of a; a mask matrix is the second input where the rule needs one.
    MaskPattern(Mask),
    /// Every cell minus the max of its row (or column).
    #[serde(with = "op_form::Along")]
    MinusMax(Axis),
    /// A power of every cell: eᵃ.
    #[serde(with = "op_form::Exponential")]
    Exponential(Base),
    /// The natural logarithm of every cell.
    Logarithm,
    /// The square root of every cell.
    Root,
    /// Cells beyond the largest number of single precision become ∞ or −∞.
    SingleRange,
    /// The sum of each row (or column).
    #[serde(with = "op_form::Along")]
    Sums(Axis),
    /// The sum of each block of neighbouring cells; the last blocks are smaller where the sides do not divide.
    BlockSums {
        /// The number of rows of a block.
        rows: usize,
        /// The number of columns of a block.
        cols: usize,
    },
    /// The max of each row (or column).
    #[serde(with = "op_form::Along")]
    #[serde(rename = "largest")]
    #[strum_discriminants(strum(serialize = "largest"))]
    Max(Axis),
    /// Every cell divided by the sum of its row (or column).
    #[serde(with = "op_form::Along")]
    DivideBySum(Axis),
    /// Exponentials divided by their sum, along rows or columns; a row of −∞ gives zeros.
    #[serde(with = "op_form::Softmax")]
    Softmax(Axis, Base),
    /// The softmax without a guard: a row of −∞ gives NaN.
    #[serde(with = "op_form::Softmax")]
    UnguardedSoftmax(Axis, Base),
    /// `−ln softmax(a)` of each row, by `ln Σ eᵃ − a`: the loss of a row if this column is its target.
    NegativeLogSoftmax,
    /// The softmax of each row of a and of one more score, the sink of a head in the row b; the sink's share is dropped.
    SoftmaxWithSink {
        /// The column of b, from 0.
        head: usize,
    },
    /// a, with 0 in the rows in which b (the scores) is nothing but −∞.
    Guard,
    /// A block of neighbouring columns, from 0.
    Columns {
        /// The first of them.
        start: usize,
        /// The number of columns.
        count: usize,
    },
    /// Every `step`-th column.
    EveryNthColumn {
        /// The first of them, from 0.
        start: usize,
        /// The distance between two columns that are taken.
        step: usize,
    },
    /// Every column this many times, side by side.
    #[serde(with = "op_form::RepeatColumns")]
    RepeatColumns(usize),
    /// A block of neighbouring rows, from 0.
    Rows {
        /// The first of them.
        start: usize,
        /// The number of rows.
        count: usize,
    },
    /// The rows in reverse order.
    ReverseRows,
    /// The numbers of each row in the order of their size.
    #[serde(with = "op_form::SortRows")]
    SortRows(Order),
    /// All inputs side by side.
    Concatenate,
    /// All inputs on top of each other; the rows keep their own names unless new ones are given.
    #[serde(with = "op_form::Stack")]
    Stack(Option<Labels>),
    /// The cells of a, row by row, in another shape.
    Reshape {
        /// The new number of rows.
        rows: usize,
        /// The new number of columns.
        cols: usize,
    },
    /// `max(0, a)`.
    Relu,
    /// `elu(a) + 1`: `a + 1` where a is positive, `eᵃ` elsewhere; so it is never negative.
    EluPlusOne,
    /// `1 / (1 + e⁻ᵃ)`.
    Sigmoid,
    /// `tanh(a)`.
    Tanh,
    /// `a / (1 + e⁻ᵃ)`.
    Silu,
    /// a times the share of a standard normal distribution that lies below it.
    #[serde(skip)]
    Gelu(GeluForm),
    /// The share of a standard normal distribution that lies below a: `(1 + erf(a/√2)) / 2`.
    NormalShare,
    /// Each row minus its mean.
    MinusMean,
    /// Each row divided by its root mean square; ε is added to the mean of the squares. A gain for each column, (1, d), is the
    /// second input where there is one.
    #[serde(with = "op_form::Norm")]
    RmsNorm(f64),
    /// Each row minus its mean, divided by its standard deviation; ε is added to the variance. A gain and then a bias for each
    /// column, (1, d), are further inputs where there are any.
    #[serde(with = "op_form::Norm")]
    LayerNorm(f64),
    /// The cosine of the angle between each row of a and each row of b.
    Cosine,
    /// The distance between each row of a and each row of b.
    Euclidean,
    /// Each row divided by its length.
    UnitRows,
    /// A leaf: a vector for each position, made of sines and cosines.
    Sinusoidal {
        /// The position of the first row.
        first: usize,
        /// The number of positions.
        tokens: usize,
        /// The width of the vectors.
        width: usize,
    },
    /// A leaf: the frequencies of rotary positions, `1 / base^(2p/width)` for each pair p.
    Frequencies {
        /// The number of columns that are rotated.
        width: usize,
        /// The base: 10000 in the paper.
        #[serde(with = "json_number")]
        base: f64,
    },
    /// The frequencies a, changed for longer texts; LongRoPE's divisors are the second input.
    ScaledFrequencies(RopeScaling),
    /// Pairs of columns of a, rotated by their position times the frequencies b.
    Rotary(Rotation),
    /// A leaf: a bias that grows with the distance, times the head's slope.
    #[serde(with = "op_form::Alibi")]
    Alibi(HeadOf, Places),
    /// A bias for each bucket of distances, from a column of the table a.
    BucketBias {
        /// The column, from 0: the head.
        column: usize,
        /// The buckets.
        buckets: Buckets,
        /// The places of queries and keys.
        places: Places,
    },
    /// Singular vectors of a, one a column: the first `rank` of them. Checked, not derived.
    SingularVectors {
        /// Left or right.
        side: Side,
        /// The number of vectors.
        rank: usize,
    },
    /// All singular values of a, as one row. Checked, not derived.
    SingularValues,
    /// A square matrix with the numbers of the row a down its diagonal, and zeros elsewhere.
    Diagonal,
    /// One number about all cells of a.
    #[serde(with = "op_form::Summary")]
    Summary(Statistic),
    /// Every cell rounded to a number of decimals, ties to even as NumPy does.
    #[serde(with = "op_form::Decimals")]
    Round(u32),
    /// Every cell cut off after a number of decimals, towards 0.
    #[serde(with = "op_form::Decimals")]
    Truncate(u32),
    /// The step that the fused kernel computes without forming the scores. It is recorded, never applied, and not derived.
    #[serde(skip)]
    Fused(Fusion),
}

impl OpKind {
    /// All kinds, in the order of the enum.
    pub fn all() -> impl Iterator<Item = OpKind> {
        OpKind::iter()
    }

    /// The kind whose ops have this name; none where there is no such op.
    pub fn named(name: &str) -> Option<OpKind> {
        OpKind::all().find(|kind| kind.names().contains(&name))
    }

    /// The names of the ops of this kind: one, or one for each form.
    pub fn names(self) -> Vec<&'static str> {
        if self == OpKind::Gelu {
            return [GeluForm::Erf, GeluForm::Tanh].map(GeluForm::name).to_vec();
        }
        if self == OpKind::Fused { Fusion::NAMES.to_vec() } else { vec![self.into()] }
    }
}

impl Op {
    /// The op's name in JSON, in messages and in the documentation.
    pub fn name(&self) -> &'static str {
        if let Op::Gelu(form) = self {
            return form.name();
        }
        if let Op::Fused(fusion) = self {
            return fusion.name();
        }
        OpKind::from(self).into()
    }

    /// The number of cells of the op's result for these inputs, as far as they fit; for ops that cut, an upper bound.
    pub(super) fn cells(&self, inputs: &[Shape]) -> usize {
        match (self, inputs) {
            (Op::Product, [a, b]) => a.rows.saturating_mul(b.cols),
            (Op::TransposedProduct, [a, b]) => a.cols.saturating_mul(b.cols),
            (Op::Linear(layout), [a, b, ..]) => a.rows.saturating_mul(layout.inputs_and_outputs(*b).1),
            (Op::TokenRows(ids), [a]) => ids.len().saturating_mul(a.cols),
            (Op::Rows { count, .. }, [a]) => count.saturating_mul(a.cols),
            (Op::ProductTransposed | Op::Cosine | Op::Euclidean, [a, b]) => a.rows.saturating_mul(b.rows),
            (Op::Diagonal, [a]) => a.cols.saturating_mul(a.cols),
            (Op::Sinusoidal { tokens, width, .. }, _) => tokens.saturating_mul(*width),
            (Op::Frequencies { width, .. }, _) => width / 2,
            (Op::Alibi(_, places) | Op::BucketBias { places, .. }, _) => {
                places.queries.saturating_mul(places.keys)
            }
            (Op::RepeatColumns(times), [a]) => a.rows.saturating_mul(a.cols).saturating_mul(*times),
            (Op::Ones { rows, cols }, _) => rows.saturating_mul(*cols),
            (_, inputs) => {
                inputs.iter().map(|a| a.rows.saturating_mul(a.cols)).fold(0, usize::saturating_add)
            }
        }
    }

    /// Returns true if the op is a leaf: given, not computed.
    pub fn is_given(&self) -> bool {
        matches!(self, Op::Given(_))
    }
}
