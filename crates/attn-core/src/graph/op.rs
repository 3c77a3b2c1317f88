//! The closed set of steps that a node can be made by.
//!
//! # To add an op
//!
//! 1. Its variant here; its name follows from that of the variant. Parameters that are not plain numbers, and how JSON calls those without
//!    a name, are below it.
//! 2. Its [definition](super::ops::definition::Ask), all of it in the file of its family in `ops/`, and its line in `ops/mod.rs`.
//! 3. For a function that no rule has: `attention/number.rs`, `term.rs`, and of the program `src/render/json.rs` and `src/render/latex.rs`.
//! 4. An example in `tests/cases/mod.rs`: tests on every op then check its terms, its gradient, its explanation in every format, and that the
//!    graph can be run again. For a function of single numbers also `tests/golden/functions.py`, where NumPy or 60 digits give its values.
#![deny(clippy::wildcard_enum_match_arm)]

use serde::de::Error as _;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use strum::{EnumDiscriminants, EnumIter, IntoEnumIterator, IntoStaticStr};

use crate::attention::{
    Axis, Base, Buckets, HeadOf, Mask, Order, Places, RopeScaling, Rotation, WeightLayout,
};
use crate::foreign::visible;
use crate::json_number;
use crate::matrix::Labels;
use crate::text::{clip, nearest};

/// The ops: each computes a node's value from its inputs. Letters in the formulas: a is the first input, b the second.
///
/// In JSON an op is its name and its parameters: `{"op": "scale", "params": {"factor": {"inverse-root": 64}}}`. Here is the one
/// definition of both; parameters without a name get one below, and so do the forms of GELU and of the fused kernel.
#[derive(Clone, Debug, PartialEq, EnumDiscriminants, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "kebab-case", deny_unknown_fields)]
#[strum_discriminants(name(OpKind), derive(EnumIter, IntoStaticStr), allow(missing_docs))]
#[strum_discriminants(strum(serialize_all = "kebab-case"))]
#[strum_discriminants(doc = "The kinds of [`Op`], without the numbers that they carry.")]
pub enum Op {
    /// A leaf: numbers that were given, not computed.
    #[serde(with = "Given")]
    Given(Origin),
    /// `a b`.
    Product,
    /// `a bᵀ`: all dot products between the rows of a and of b.
    ProductTransposed,
    /// `aᵀ b`: all dot products between the columns of a and of b.
    TransposedProduct,
    /// `a b + c`: a linear layer with weights b in the order in which a file has them, and the bias c, one row, where there is one.
    #[serde(with = "Linear")]
    Linear(WeightLayout),
    /// The rows of the table a at these places, from 0: the embeddings of a text's tokens.
    #[serde(with = "TokenRows")]
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
    #[serde(with = "Scale")]
    Scale(Factor),
    /// Every cell divided by the temperature.
    #[serde(with = "Temperature")]
    Temperature(f64),
    /// `c · tanh(a / c)`: every cell stays between −c and c.
    #[serde(with = "SoftCap")]
    SoftCap(f64),
    /// Hidden cells become −∞; a mask matrix is the second input where the rule needs one.
    Mask(Mask),
    /// 1 where the mask lets through, 0 elsewhere, in the shape of a; a mask matrix is the second input where the rule needs one.
    MaskPattern(Mask),
    /// Every cell minus the max of its row (or column).
    #[serde(with = "Along")]
    MinusMax(Axis),
    /// A power of every cell: eᵃ.
    #[serde(with = "Exponential")]
    Exponential(Base),
    /// The natural logarithm of every cell.
    Logarithm,
    /// The square root of every cell.
    Root,
    /// Cells beyond the largest number of single precision become ∞ or −∞.
    SingleRange,
    /// The sum of each row (or column).
    #[serde(with = "Along")]
    Sums(Axis),
    /// The sum of each block of neighbouring cells; the last blocks are smaller where the sides do not divide.
    BlockSums {
        /// The number of rows of a block.
        rows: usize,
        /// The number of columns of a block.
        cols: usize,
    },
    /// The max of each row (or column).
    #[serde(with = "Along")]
    #[serde(rename = "largest")]
    #[strum_discriminants(strum(serialize = "largest"))]
    Max(Axis),
    /// Every cell divided by the sum of its row (or column).
    #[serde(with = "Along")]
    DivideBySum(Axis),
    /// Exponentials divided by their sum, along rows or columns; a row of −∞ gives zeros.
    #[serde(with = "Softmax")]
    Softmax(Axis, Base),
    /// The softmax without a guard: a row of −∞ gives NaN.
    #[serde(with = "Softmax")]
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
    #[serde(with = "RepeatColumns")]
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
    #[serde(with = "SortRows")]
    SortRows(Order),
    /// All inputs side by side.
    Concatenate,
    /// All inputs on top of each other; the rows keep their own names unless new ones are given.
    #[serde(with = "Stack")]
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
    /// Each row divided by its root mean square, times a gain where there is one: b, a number for each column.
    #[serde(with = "Norm")]
    RmsNorm(f64),
    /// Each row minus its mean, divided by its standard deviation; then a gain and a bias as further inputs, where there are any.
    #[serde(with = "Norm")]
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
    #[serde(with = "Alibi")]
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
    #[serde(with = "Summary")]
    Summary(Statistic),
    /// Every cell rounded to a number of decimals, ties to even as NumPy does.
    #[serde(with = "Decimals")]
    Round(u32),
    /// Every cell cut off after a number of decimals, towards 0.
    #[serde(with = "Decimals")]
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

    /// Returns true if the op is a leaf: given, not computed.
    pub fn is_given(&self) -> bool {
        matches!(self, Op::Given(_))
    }
}

// Names for the fields of tuple variants in JSON.

/// A type that writes the fields of a tuple variant as an object and reads them, for `#[serde(with = "Softmax")]`:
/// `named!(Softmax { axis: Axis, base: Base })`.
macro_rules! named {
    ($name:ident { $($(#[$attribute:meta])* $field:ident: $type:ty),+ }) => {
        #[derive(::serde::Serialize, ::serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            $($(#[$attribute])* $field: $type),+
        }

        impl $name {
            #[allow(clippy::ptr_arg, reason = "serde passes each field by reference")]
            pub(super) fn serialize<S: ::serde::Serializer>(
                $($field: &$type,)+ serializer: S,
            ) -> Result<S::Ok, S::Error> {
                ::serde::Serialize::serialize(&$name { $($field: $field.clone()),+ }, serializer)
            }

            #[allow(unused_parens, reason = "one field alone is no tuple")]
            pub(super) fn deserialize<'de, D: ::serde::Deserializer<'de>>(
                from: D,
            ) -> Result<($($type),+), D::Error> {
                let fields = <$name as ::serde::Deserialize>::deserialize(from)?;
                Ok(($(fields.$field),+))
            }
        }
    };
}

// The parameters of ops.

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

// An op in JSON: `{"op": "scale", "params": {"factor": {"inverse-root": 64}}}`.
//
// The derived functions `Op::serialize` and `Op::deserialize` have the form `{"scale": {…}}`, which takes the least code in a page.
// They know neither GELU nor the fused kernel, whose forms are ops of their own in JSON. The traits' functions here do, and
// serde_json calls those.

impl Serialize for Op {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("op", self.name())?;
        let params = self.params();
        if params.as_object().is_none_or(|params| !params.is_empty()) {
            map.serialize_entry("params", &params)?;
        }
        map.end()
    }
}

/// An op as it stands in a file, before its name is known.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NameAndParameters {
    op: String,
    #[serde(default)]
    params: Value,
}

impl<'de> Deserialize<'de> for Op {
    #[allow(clippy::wildcard_enum_match_arm, reason = "all other ops have the derived form")]
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Op, D::Error> {
        let NameAndParameters { op: name, params } = NameAndParameters::deserialize(from)?;
        let Some(kind) = OpKind::named(&name) else {
            let known: Vec<&str> = OpKind::all().flat_map(OpKind::names).collect();
            let near = nearest(&name, known.iter().copied());
            let near = near.map_or_else(String::new, |near| format!(", did you mean `{near}`?"));
            return Err(D::Error::custom(format!("there is no op `{}`{near}", clip(&name))));
        };
        // `{}`, `null` and nothing at all are the same: no parameters.
        let has_none = params.is_null() || params.as_object().is_some_and(Map::is_empty);
        let params = if has_none { Value::Null } else { params };
        let form = Value::Object(Map::from_iter([(name.clone(), params)]));
        let op = match kind {
            OpKind::Gelu => GeluForm::deserialize(&form).map(Op::Gelu),
            OpKind::Fused => Fusion::deserialize(&form).map(Op::Fused),
            _ => Op::deserialize(&form),
        };
        let wrong = |error| format!("the params of `{name}` cannot be used: {error}");
        let missing = || format!("the params of `{name}` are missing");
        op.map_err(|error| D::Error::custom(if has_none { missing() } else { wrong(error) }))
    }
}

impl Op {
    /// The op's parameters in JSON, an object; `{}` where it has none.
    #[allow(clippy::wildcard_enum_match_arm, reason = "all other ops have the derived form")]
    pub fn params(&self) -> Value {
        let form = match self {
            Op::Gelu(form) => serde_json::to_value(form),
            Op::Fused(fusion) => serde_json::to_value(fusion),
            _ => Op::serialize(self, serde_json::value::Serializer),
        };
        let params = form.ok().and_then(|form| form.get(self.name()).cloned());
        params.filter(|params| !params.is_null()).unwrap_or_else(|| Value::Object(Map::new()))
    }
}

// The origin of given numbers.

named!(Drawn { seed: u32 });
named!(User { source: String });
named!(Weights { name: String });
named!(Stream { layer: usize });
named!(Config { field: String });
named!(RowsFrom { origins: Vec<Origin> });

/// The origin of the numbers of a leaf. In JSON: `{"kind": "drawn", "seed": 0}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Origin {
    /// Stated by the demo or the document.
    Stated,
    /// The identity, because nothing else was given.
    Identity,
    /// Stated by the demo, cut or repeated to fit the user's matrices.
    Fitted,
    /// Drawn from NumPy's legacy stream of this seed.
    #[serde(with = "Drawn")]
    Drawn(u32),
    /// Given by the user: the file or the argument.
    #[serde(with = "User")]
    User(String),
    /// A tensor of a model's files, by its name there.
    #[serde(with = "Weights")]
    Weights(String),
    /// The residual stream that enters a layer, counted from 1, as it was recorded.
    #[serde(with = "Stream")]
    Stream(usize),
    /// Keys or values of earlier tokens.
    Cache,
    /// A field of a model's configuration.
    #[serde(with = "Config")]
    Config(String),
    /// A word's vector, invented from its letters.
    Letters,
    /// Zeros, in place of a part that is taken out.
    Removed,
    /// Each row comes from somewhere else.
    #[serde(with = "RowsFrom")]
    Rows(Vec<Origin>),
    /// A saved file has the numbers, but not what they were computed from.
    Saved,
}

impl Origin {
    /// The origin of a row.
    #[allow(clippy::wildcard_enum_match_arm, reason = "only one origin has rows")]
    pub fn of_row(&self, row: usize) -> &Origin {
        match self {
            Origin::Rows(rows) => rows.get(row).unwrap_or(self),
            _ => self,
        }
    }

    /// The origin with its words made visible, as a screen shows them: a file may have anything in them.
    #[allow(clippy::wildcard_enum_match_arm, reason = "the others have no words of a file")]
    pub(super) fn visible(self) -> Origin {
        let shown = |text: String| visible(&text).into_owned();
        match self {
            Origin::User(source) => Origin::User(shown(source)),
            Origin::Weights(name) => Origin::Weights(shown(name)),
            Origin::Config(field) => Origin::Config(shown(field)),
            Origin::Rows(rows) => Origin::Rows(rows.into_iter().map(Origin::visible).collect()),
            other => other,
        }
    }

    /// Returns true if the numbers are those of a model, or were recorded while it ran.
    pub fn is_of_model(&self) -> bool {
        matches!(self, Origin::Weights(_) | Origin::Stream(_) | Origin::Cache | Origin::Config(_))
    }

    /// A remark about the origin of a row, shown beside its numbers; `None` for the expected origin.
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
            Origin::Weights(name) => write!(f, "{name} of the model's file"),
            // What leaves the last layer enters none.
            Origin::Stream(0 | 1) => write!(f, "the residual stream that enters layer 1, recorded"),
            Origin::Stream(layer) => write!(f, "the residual stream after layer {}, recorded", layer - 1),
            Origin::Cache => write!(f, "the key/value cache"),
            Origin::Config(field) => write!(f, "`{field}` of config.json"),
            Origin::Letters => write!(f, "invented from its letters"),
            Origin::Removed => write!(f, "0, because it is taken out"),
            Origin::Saved => write!(f, "recorded in the file"),
            Origin::Rows(_) => write!(f, "one vector per word"),
        }
    }
}

// The names that the parameters of ops have in JSON, where they have none in Rust.

named!(Given { origin: Origin });
named!(Linear { weights: WeightLayout });
named!(TokenRows { ids: Vec<usize> });
named!(Scale { factor: Factor });
named!(Temperature {
    #[serde(with = "crate::json_number")]
    temperature: f64
});
named!(SoftCap {
    #[serde(with = "crate::json_number")]
    cap: f64
});
named!(Along { axis: Axis });
named!(Exponential { base: Base });
named!(Softmax { axis: Axis, base: Base });
named!(RepeatColumns { times: usize });
named!(SortRows { order: Order });
named!(Norm {
    #[serde(with = "crate::json_number")]
    epsilon: f64
});
named!(Alibi { head: HeadOf, places: Places });
named!(Summary { statistic: Statistic });
named!(Decimals { decimals: u32 });

/// The new names of stacked rows, where they have any: a list of strings, or `null`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stack {
    labels: Option<Vec<String>>,
}

impl Stack {
    pub(super) fn serialize<S: Serializer>(labels: &Option<Labels>, to: S) -> Result<S::Ok, S::Error> {
        Serialize::serialize(&Stack { labels: labels.as_ref().map(|labels| labels.to_vec()) }, to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Labels>, D::Error> {
        let stack = <Stack as Deserialize>::deserialize(from)?;
        Ok(stack.labels.map(Labels::from))
    }
}
