//! The closed set of steps that a node can be made by.

use strum::{EnumDiscriminants, EnumIter, IntoEnumIterator};

use crate::attention::{Axis, Base, Mask, Order};
use crate::matrix::{Labels, Matrix};

/// How a node's value comes from its inputs. Letters in the formulas: a is the first input, b the second.
#[derive(Clone, Debug, PartialEq, EnumDiscriminants)]
#[strum_discriminants(name(OpKind), derive(EnumIter), allow(missing_docs))]
#[strum_discriminants(doc = "The kinds of [`Op`], without the numbers that they carry.")]
pub enum Op {
    /// A leaf: numbers that were given, not computed.
    Given(Origin),
    /// `a b`.
    Product,
    /// `a bᵀ`: all dot products between the rows of a and of b.
    ProductTransposed,
    /// A leaf: 1 in every cell, as where every pair of a query and a key counts once.
    Ones {
        /// How many rows.
        rows: usize,
        /// How many columns.
        cols: usize,
    },
    /// `aᵀ`.
    Transpose,
    /// `a + b + …`, cell by cell.
    Add,
    /// `a − b`, cell by cell.
    Subtract,
    /// `b − a`, cell by cell: how far a has moved to become b. Exactly 0 where both are the same, also for two −∞ or two NaN.
    Change,
    /// `a ∘ b`, cell by cell.
    Multiply,
    /// Every cell of a divided by the single number b.
    Divide,
    /// `a / b`, cell by cell.
    Quotient,
    /// Every cell multiplied by a number.
    Scale(Factor),
    /// Every cell divided by the temperature.
    Temperature(f64),
    /// `c · tanh(a / c)`: every cell stays between −c and c.
    SoftCap(f64),
    /// Hidden cells become −∞; a mask matrix is the second input where the rule needs one.
    Mask(Mask),
    /// 1 where the mask lets through, 0 elsewhere, in the shape of a; a mask matrix is the second input where the rule needs one.
    MaskPattern(Mask),
    /// Every cell minus the largest of its row (or column).
    MinusMax(Axis),
    /// A power of every cell: eᵃ.
    Exponential(Base),
    /// The natural logarithm of every cell.
    Logarithm,
    /// Cells beyond the largest number of single precision become ∞ or −∞.
    SingleRange,
    /// The sum of each row (or column).
    Sums(Axis),
    /// The sum of each block of neighbouring cells; the last blocks are smaller where the sides do not divide.
    BlockSums {
        /// How many rows a block has.
        rows: usize,
        /// How many columns.
        cols: usize,
    },
    /// The largest cell of each row (or column).
    Largest(Axis),
    /// Every cell divided by the sum of its row (or column).
    DivideBySum(Axis),
    /// Exponentials divided by their sum, along rows or columns; a row of −∞ gives zeros.
    Softmax(Axis, Base),
    /// The same without a guard: a row of −∞ gives NaN.
    UnguardedSoftmax(Axis, Base),
    /// a, with 0 in the rows in which b (the scores) is nothing but −∞.
    Guard,
    /// A block of neighbouring columns, from 0.
    Columns {
        /// The first of them.
        start: usize,
        /// How many.
        count: usize,
    },
    /// Every `step`-th column.
    EveryNthColumn {
        /// The first of them, from 0.
        start: usize,
        /// How far apart they are.
        step: usize,
    },
    /// A block of neighbouring rows, from 0.
    Rows {
        /// The first of them.
        start: usize,
        /// How many.
        count: usize,
    },
    /// The rows in reverse order.
    ReverseRows,
    /// The numbers of each row in the order of their size.
    SortRows(Order),
    /// All inputs side by side.
    Concatenate,
    /// All inputs on top of each other; the rows keep their own names unless new ones are given.
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
    /// `1 / (1 + e⁻ᵃ)`.
    Sigmoid,
    /// `tanh(a)`.
    Tanh,
    /// `a / (1 + e⁻ᵃ)`.
    Silu,
    /// a times the share of a standard normal distribution that lies below it.
    Gelu(GeluForm),
    /// Each row minus its mean.
    MinusMean,
    /// Each row divided by its root mean square; ε is added to the mean of the squares. A gain for each column, (1, d), is the
    /// second input where there is one.
    RmsNorm(f64),
    /// Each row minus its mean, divided by its standard deviation; ε is added to the variance. A gain and then a bias for each
    /// column, (1, d), are further inputs where there are any.
    LayerNorm(f64),
    /// The cosine of the angle between each row of a and each row of b.
    Cosine,
    /// The distance between each row of a and each row of b.
    Euclidean,
    /// Each row divided by its length.
    UnitRows,
    /// A leaf: a vector for each position, made of sines and cosines.
    Sinusoidal {
        /// How many positions.
        tokens: usize,
        /// How wide the vectors are.
        width: usize,
    },
    /// Pairs of columns turned by an angle that grows with the position.
    Rotary {
        /// The position of the first row.
        first: usize,
        /// The base of the angles: 10000 in the paper.
        base: f64,
    },
    /// Singular vectors of a, one a column: the first `rank` of them. Checked, not derived.
    SingularVectors {
        /// Left or right.
        side: Side,
        /// How many.
        rank: usize,
    },
    /// All singular values of a, as one row. Checked, not derived.
    SingularValues,
    /// A square matrix with the numbers of the row a down its diagonal, and zeros elsewhere.
    Diagonal,
    /// One number about all cells of a.
    Summary(Statistic),
    /// Every cell rounded to a number of decimals, ties to even as NumPy does.
    Round(u32),
    /// Every cell cut off after a number of decimals, towards 0.
    Truncate(u32),
    /// What the fused kernel computes without forming the scores. Recorded, never applied, and not derived.
    Fused(Fusion),
}

/// A result of the fused kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fusion {
    /// The heads' mixtures side by side, from Q, K, V, and bias and mask where there are any.
    Output(FusedSteps),
    /// ln Σ exp of each row of scores, a column for each head, from the scores that its softmax would read.
    LogSumExp,
}

/// What the fused kernel does to the scores before their softmax.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FusedSteps {
    /// What they are multiplied by; nothing where they are not scaled.
    pub scale: Option<Factor>,
    /// What they are divided by then.
    pub temperature: f64,
    /// Which of them are hidden.
    pub mask: Mask,
}

/// Where the numbers of a leaf come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// Stated by the demo or the document.
    Stated,
    /// The identity, because nothing else was given.
    Identity,
    /// Stated by the demo, cut or repeated to fit what the user gave.
    Fitted,
    /// Drawn from NumPy's legacy stream of this seed.
    Drawn(u32),
    /// Given by the user: the file or the argument.
    User(String),
    /// A word's vector, invented from its letters.
    Letters,
    /// Each row comes from somewhere else.
    Rows(Vec<Origin>),
}

impl Origin {
    /// Where a row comes from.
    pub fn of_row(&self, row: usize) -> &Origin {
        match self {
            Origin::Rows(rows) => rows.get(row).unwrap_or(self),
            _ => self,
        }
    }

    /// What is to be said of a row next to its numbers, if they are not what a reader would expect.
    pub fn row_note(&self, row: usize) -> Option<String> {
        matches!(self.of_row(row), Origin::Letters).then(|| self.of_row(row).to_string())
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Stated => write!(f, "given"),
            Origin::Fitted => write!(f, "the demo's own rows, adjusted to fit"),
            Origin::Identity => write!(f, "identity, because none is given"),
            Origin::Drawn(seed) => write!(f, "randn, seed {seed}"),
            Origin::User(source) => write!(f, "given by {source}"),
            Origin::Letters => write!(f, "invented from its letters"),
            Origin::Rows(_) => write!(f, "one vector per word"),
        }
    }
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

/// How the share of the normal distribution below a number is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeluForm {
    /// By the error function: `a/2 · (1 + erf(a/√2))`.
    Erf,
    /// By a hyperbolic tangent, which is close to it: `a/2 · (1 + tanh(√(2/π) · (a + 0.044715·a³)))`.
    Tanh,
}

/// Which singular vectors.
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
    /// The largest cell.
    Largest,
    /// The largest cell by size, sign dropped.
    LargestSize,
}

impl OpKind {
    /// All kinds, in the order of the enum.
    pub fn all() -> impl Iterator<Item = OpKind> {
        OpKind::iter()
    }
}

impl Op {
    /// The op's name in JSON, in messages and in the documentation.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Given(_) => "given",
            Op::Product => "product",
            Op::ProductTransposed => "product-transposed",
            Op::Ones { .. } => "ones",
            Op::Transpose => "transpose",
            Op::Add => "add",
            Op::Subtract => "subtract",
            Op::Change => "change",
            Op::Multiply => "multiply",
            Op::Divide => "divide",
            Op::Quotient => "quotient",
            Op::Scale(_) => "scale",
            Op::Temperature(_) => "temperature",
            Op::SoftCap(_) => "soft-cap",
            Op::Mask(_) => "mask",
            Op::MaskPattern(_) => "mask-pattern",
            Op::MinusMax(_) => "minus-max",
            Op::Exponential(_) => "exponential",
            Op::Logarithm => "logarithm",
            Op::SingleRange => "single-range",
            Op::Sums(_) => "sums",
            Op::BlockSums { .. } => "block-sums",
            Op::Largest(_) => "largest",
            Op::DivideBySum(_) => "divide-by-sum",
            Op::Softmax(..) => "softmax",
            Op::UnguardedSoftmax(..) => "unguarded-softmax",
            Op::Guard => "guard",
            Op::Columns { .. } => "columns",
            Op::EveryNthColumn { .. } => "every-nth-column",
            Op::Rows { .. } => "rows",
            Op::ReverseRows => "reverse-rows",
            Op::SortRows(_) => "sort-rows",
            Op::Concatenate => "concatenate",
            Op::Stack(_) => "stack",
            Op::Reshape { .. } => "reshape",
            Op::Relu => "relu",
            Op::Sigmoid => "sigmoid",
            Op::Tanh => "tanh",
            Op::Silu => "silu",
            Op::Gelu(GeluForm::Erf) => "gelu",
            Op::Gelu(GeluForm::Tanh) => "gelu-tanh",
            Op::MinusMean => "minus-mean",
            Op::RmsNorm(_) => "rms-norm",
            Op::LayerNorm(_) => "layer-norm",
            Op::Cosine => "cosine",
            Op::Euclidean => "euclidean",
            Op::UnitRows => "unit-rows",
            Op::Sinusoidal { .. } => "sinusoidal",
            Op::Rotary { .. } => "rotary",
            Op::SingularVectors { .. } => "singular-vectors",
            Op::SingularValues => "singular-values",
            Op::Diagonal => "diagonal",
            Op::Summary(_) => "summary",
            Op::Round(_) => "round",
            Op::Truncate(_) => "truncate",
            Op::Fused(Fusion::Output(_)) => "fused-attention",
            Op::Fused(Fusion::LogSumExp) => "fused-log-sum-exp",
        }
    }

    /// How many numbers the op makes of these inputs, as far as they fit; at most what it makes for ops that cut.
    pub(super) fn cells(&self, inputs: &[&Matrix]) -> usize {
        match (self, inputs) {
            (Op::Product, [a, b]) => a.rows().saturating_mul(b.cols()),
            (Op::ProductTransposed | Op::Cosine | Op::Euclidean, [a, b]) => a.rows().saturating_mul(b.rows()),
            (Op::Diagonal, [a]) => a.cols().saturating_mul(a.cols()),
            (Op::Sinusoidal { tokens, width }, _) => tokens.saturating_mul(*width),
            (Op::Ones { rows, cols }, _) => rows.saturating_mul(*cols),
            (_, inputs) => inputs.iter().map(|a| a.rows() * a.cols()).fold(0, usize::saturating_add),
        }
    }

    /// Whether the op is a leaf: given, not computed.
    pub fn is_given(&self) -> bool {
        matches!(self, Op::Given(_))
    }
}
