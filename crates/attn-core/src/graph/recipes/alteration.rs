//! Alterations as data: operations that attention does not have, and the sites where they may be.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::attention::{Axis, Mask, Order};
use crate::error::{Error, Result};
use crate::graph::{GeluForm, Role, Stage};

/// An operation on a matrix `a`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Alter {
    /// `−a`.
    Negated,
    /// Times a number.
    Times(f64),
    /// Plus a number.
    Plus(f64),
    /// A number minus a.
    From(f64),
    /// `max(0, a)`.
    Relu,
    /// `max(0, a) + 0.01 min(0, a)`.
    LeakyRelu,
    /// `a Φ(a)`, exact or in its tanh form; Φ is the distribution function of the standard normal.
    Gelu(GeluForm),
    /// a where it is positive, `eᵃ − 1` where it is negative.
    Elu,
    /// ELU plus 1: the feature map of linear attention.
    EluAndOne,
    /// `a σ(a)`.
    Silu,
    /// `ln(1 + eᵃ)`.
    Softplus,
    /// `|a|`.
    Absolute,
    /// 1 for positive numbers, −1 for negative ones.
    Sign,
    /// `a ∘ a`.
    Squared,
    /// `a ∘ a ∘ a`.
    Cubed,
    /// `√|a|`.
    RootOfSize,
    /// `1 / a`.
    Inverse,
    /// `exp(a)`.
    Exponential,
    /// `ln |a|`.
    LogarithmOfSize,
    /// `ln(1 + |a|)`.
    LogarithmOfOneAndSize,
    /// `1 / (1 + e⁻ᵃ)`.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// Limited to the range from the first number to the second.
    Clipped(f64, f64),
    /// A norm along an axis.
    Normed(Norm, Axis),
    /// Rows (or columns) moved to other places.
    Moved(Move, Axis),
    /// Combined with another matrix.
    With(Combine, OtherMatrix),
    /// Replaced by a combination of two other matrices.
    Combined(Combine, OtherMatrix, OtherMatrix),
    /// Positions of sines and cosines added, this many times.
    Positions(u8),
    /// The same once, but the first position is 1.
    PositionsFromOne,
    /// The same once, with all sines on the left and all cosines on the right.
    PositionsInHalves,
    /// Pairs of columns turned by their position: (p, p + d/2).
    RotaryHalves,
    /// Pairs of columns turned by their position: (2p, 2p + 1).
    RotaryNeighbours,
    /// Rows as columns.
    Transposed,
    /// The columns read one after the other into the rows of the same shape.
    ReadByColumn,
    /// Read row by row as the transposed shape, and transposed.
    ReshapedAndTransposed,
    /// Cells that a mask hides become 0.
    Kept(Mask),
    /// The identity added.
    IdentityAdded,
    /// The rows of tokens that the key mask hides become 0.
    PaddingZeroed(Mask),
    /// Rounded to this many decimals.
    Rounded(u32),
    /// Cut off after this many decimals.
    Truncated(u32),
    /// Read row by row in another shape.
    Reshaped {
        /// Rows.
        rows: usize,
        /// Columns.
        cols: usize,
    },
    /// A row of numbers added to every row.
    Biased,
    /// The numbers of each row (or column) in the order of their size.
    Sorted(Order, Axis),
    /// Top-k: in each row all but the k largest numbers become 0.
    TopK {
        /// k.
        count: usize,
        /// Whether each row is then divided by its sum.
        divided: bool,
    },
    /// Row i, counted from 0, is shifted by i columns to the left or the right; zeros fill the gap.
    Slanted(Slant),
    /// The result goes through the whole attention again.
    AttendedAgain,
}

/// The direction in which the rows of a matrix are shifted: row i, counted from 0, by i columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Slant {
    /// Cell (i, j) is cell (i, j + i).
    Left,
    /// Cell (i, j) is cell (i, j − i).
    Right,
}

/// A normalisation along an axis: rows, columns, or all cells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Norm {
    /// A softmax.
    Softmax,
    /// Over their sum.
    Sum,
    /// Over the sum of their sizes.
    SizeSum,
    /// Over the root of the sum of their squares.
    Length,
    /// Over the max.
    Max,
    /// Over the max of the sizes.
    MaxSize,
    /// From 0 for the min to 1 for the max.
    Range,
    /// Minus their mean.
    Centred,
    /// Minus the max.
    MinusMax,
    /// Minus their mean, over their standard deviation; ε is added to the variance.
    Standard {
        /// ε.
        epsilon: f64,
        /// Whether the variance is divided by n − 1.
        sample: bool,
    },
    /// Over the root of the mean of their squares; ε is added to the mean.
    RootMeanSquare(f64),
}

/// A rearrangement of rows (or columns).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Move {
    /// In reverse order.
    Reversed,
    /// One place later, and the last comes first.
    Later,
    /// One place earlier, and the first comes last.
    Earlier,
    /// One place later, and the first is 0.
    LaterFromZero,
    /// One place earlier, and the last is 0.
    EarlierToZero,
    /// One place later: the first is repeated, the last is dropped.
    FirstTwice,
    /// One place earlier: the first is dropped, the last is repeated.
    LastTwice,
    /// The last is replaced by the one before it.
    LastReplaced,
    /// The first is left out.
    FirstGone,
    /// The last is left out.
    LastGone,
    /// The first becomes 0.
    FirstZero,
    /// The last becomes 0.
    LastZero,
    /// The first half becomes 0.
    FirstHalfZero,
    /// The last half becomes 0.
    LastHalfZero,
    /// The first and the last change places.
    EndsSwapped,
    /// The two halves change places.
    HalvesSwapped,
    /// Neighbours change places: the first and the second, the third and the fourth.
    NeighboursSwapped,
    /// The first, in the place of all.
    FirstForAll,
    /// The last, in the place of all.
    LastForAll,
    /// The mean, in the place of all.
    MeanForAll,
    /// The sum, in the place of all.
    SumForAll,
    /// The max of each column, in the place of all.
    MaxForAll,
    /// Each is the sum of all up to it.
    Cumulative,
    /// Each is the sum of all from it on.
    CumulativeFromEnd,
    /// Each is the mean of all up to it.
    RunningMean,
    /// Each minus the one before it; the first as it is.
    Differences,
    /// All of them twice, below each other.
    Repeated,
    /// The mean alone.
    MeanOnly,
    /// The sum alone.
    SumOnly,
    /// The max of each column alone.
    MaxOnly,
    /// The first alone.
    FirstOnly,
    /// The last alone.
    LastOnly,
}

/// The combination of the altered matrix `a` with another matrix `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    /// `b`.
    Replaced,
    /// `a + b`.
    Added,
    /// `a − b`.
    Subtracted,
    /// `b − a`.
    SubtractedFrom,
    /// `a ∘ b`.
    Multiplied,
    /// `(a + b) / 2`.
    Averaged,
    /// `a b`.
    Product,
    /// `a bᵀ`.
    ProductTransposed,
}

/// The other matrix of a combination; of the same head, where there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
pub enum OtherMatrix {
    /// The altered matrix itself.
    Itself,
    /// Its transpose.
    ItselfTransposed,
    /// A node by its name.
    Node(&'static str),
}

impl From<OtherMatrix> for &'static str {
    fn from(other: OtherMatrix) -> &'static str {
        match other {
            OtherMatrix::Itself => "itself",
            OtherMatrix::ItselfTransposed => "itself-transposed",
            OtherMatrix::Node(name) => name,
        }
    }
}

impl<'de> Deserialize<'de> for OtherMatrix {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<OtherMatrix, D::Error> {
        let name = String::deserialize(from)?;
        match &*name {
            "itself" => Ok(OtherMatrix::Itself),
            "itself-transposed" => Ok(OtherMatrix::ItselfTransposed),
            _ => match Stage::all().find(|stage| stage.name() == name) {
                Some(stage) => Ok(OtherMatrix::Node(stage.name())),
                None => Err(D::Error::custom(format!("no step of attention is called `{name}`"))),
            },
        }
    }
}

// The sites of alterations: operations that attention does not have.

/// The site of an alteration: the matrices to which the operation is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Site {
    /// The tokens X, before the projections.
    Tokens,
    /// X before the projections, and the residual.
    TokensAndResidual,
    /// X as it is added to the result, and nowhere else.
    Residual,
    /// `W_Q`.
    QueryWeights,
    /// `W_K`.
    KeyWeights,
    /// `W_V`.
    ValueWeights,
    /// `W_Q`, `W_K` and `W_V`.
    RoleWeights,
    /// `W_O`.
    OutputWeights,
    /// Q with all its heads, before it is split.
    WholeQueries,
    /// K with all its heads, before it is split.
    WholeKeys,
    /// V with all its heads, before it is split.
    WholeValues,
    /// Q and K with all their heads, before they are split.
    WholeQueriesAndKeys,
    /// Q, per head.
    Queries,
    /// K, per head.
    Keys,
    /// V, per head.
    Values,
    /// Q and K, per head.
    QueriesAndKeys,
    /// K and V, per head.
    KeysAndValues,
    /// Q, K and V, per head.
    Roles,
    /// The scores, before they are scaled.
    Scores,
    /// The scores, after they are scaled.
    Scaled,
    /// The input of the softmax.
    Masked,
    /// The weights, per head.
    Weights,
    /// The mixed values of each head.
    Mixes,
    /// The joined heads.
    Heads,
    /// The output projection of them, before the residual.
    Projected,
    /// The result.
    Result,
}

impl Site {
    /// The sites at which something is done that is done at this one: itself, or each of several. The residual of
    /// [`Site::TokensAndResidual`] is the altered X itself.
    pub(super) fn parts(&self) -> &[Site] {
        match self {
            Site::TokensAndResidual => &[Site::Tokens],
            Site::RoleWeights => &[Site::QueryWeights, Site::KeyWeights, Site::ValueWeights],
            Site::WholeQueriesAndKeys => &[Site::WholeQueries, Site::WholeKeys],
            Site::QueriesAndKeys => &[Site::Queries, Site::Keys],
            Site::KeysAndValues => &[Site::Keys, Site::Values],
            Site::Roles => &[Site::Queries, Site::Keys, Site::Values],
            one => std::slice::from_ref(one),
        }
    }

    /// Returns true if something done at this site is done at the other one too, and at more.
    pub fn includes(self, other: Site) -> bool {
        match (self, other) {
            (Site::TokensAndResidual, Site::Tokens | Site::Residual) => true,
            (_, Site::TokensAndResidual) => false,
            _ => self != other && other.parts().iter().all(|part| self.parts().contains(part)),
        }
    }

    /// The site at which a step of a head, or a step after the heads, is altered.
    pub(super) fn of(stage: Stage) -> Option<Site> {
        Some(match stage {
            Stage::Scores => Site::Scores,
            Stage::Scaled => Site::Scaled,
            Stage::Masked => Site::Masked,
            Stage::Weights => Site::Weights,
            _ => return None,
        })
    }

    /// The site at which the weights of Q, K or V are altered.
    pub(super) fn of_weights(role: Role) -> Site {
        match role {
            Role::Q => Site::QueryWeights,
            Role::K => Site::KeyWeights,
            _ => Site::ValueWeights,
        }
    }
}

/// An operation that attention does not have, at one site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alteration {
    /// The site.
    pub stage: Site,
    /// The operation.
    pub alter: Alter,
}

/// The axes as the beginning of a name: `rows-later(values)`.
const AXES: [&str; 3] = ["rows", "columns", "whole"];

impl Alteration {
    /// An operation by its name, with its parameters, at a site: `relu`, `clipped` of `[-1, 1]`, `rows-softmax`, `added` of `"X"`.
    ///
    /// # Errors
    /// If there is no such site, no such operation, or it does not have these parameters.
    pub fn read(name: &str, site: &str, parameters: Option<Value>) -> Result<Alteration> {
        let unknown = |why: String| Error::of_serde(&format!("`{name}({site})`: {why}"));
        let stage = serde_json::from_value(site.into())
            .map_err(|error: serde_json::Error| unknown(error.to_string()))?;
        let of = |name: &str| match &parameters {
            Some(parameters) => json!({ name: parameters }),
            None => name.into(),
        };
        let along = AXES.iter().find_map(|axis| Some((axis, name.strip_prefix(axis)?.strip_prefix('-')?)));
        let forms = match (along, &parameters) {
            (Some((axis, how)), _) => {
                ["moved", "normed", "sorted"].iter().map(|kind| json!({ *kind: [of(how), axis] })).collect()
            }
            (None, Some(other)) => vec![of(name), json!({ "with": [name, other] })],
            (None, None) => vec![of(name)],
        };
        let mut refused = Vec::new();
        for form in forms {
            match serde_json::from_value(form) {
                Ok(alter) => return Ok(Alteration { stage, alter }),
                Err(error) => refused.push(error.to_string()),
            }
        }
        // What knows the name says what is wrong with the parameters; else it can be a name of any form.
        let how = along.map_or(name, |(_, how)| how);
        let none = format!("unknown variant `{how}`, expected ");
        if let Some(at) = refused.iter().position(|why| !why.starts_with(&none)) {
            return Err(unknown(refused.swap_remove(at)));
        }
        if along.is_none() && Alteration::read(&format!("rows-{name}"), site, parameters).is_ok() {
            let error = Error::new(format!("`{name}({site})`: there is no `{name}` without an axis"));
            return Err(error.help(format!("write rows-{name}, columns-{name} or whole-{name}")));
        }
        let names: Vec<&str> =
            refused.iter().map(|why| why[none.len()..].trim_start_matches("one of ")).collect();
        Err(unknown(none + &names.join(", ")))
    }
}

impl fmt::Display for Alteration {
    /// As [`Alteration::read`] reads it: `times(weights, 0.5)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let site = serde_text(self.stage);
        let parts = |value: &Value| match value {
            Value::Object(fields) => {
                fields.iter().next().map(|(name, value)| (name.clone(), Some(value.clone())))
            }
            other => Some((text_of(other), None)),
        };
        let alter = serde_json::to_value(self.alter).unwrap_or_default();
        let (mut name, mut parameters) = parts(&alter).unwrap_or_default();
        if let Some(Value::Array(of)) = &parameters
            && let ("moved" | "normed" | "sorted" | "with", [how, of]) = (&*name, &of[..])
        {
            (name, parameters) = match &*name {
                "with" => (text_of(how), Some(of.clone())),
                _ => {
                    let (how, parameters) = parts(how).unwrap_or_default();
                    (format!("{}-{how}", text_of(of)), parameters)
                }
            };
        }
        match parameters.as_ref().map(text_of) {
            None => write!(f, "{name}({site})"),
            Some(text) => {
                let inside = text.strip_prefix("list").unwrap_or(&text);
                let inside = inside.strip_prefix('(').and_then(|inside| inside.strip_suffix(')'));
                write!(f, "{name}({site}, {})", inside.unwrap_or(&text))
            }
        }
    }
}

// Values of the serde form as texts of the language.

/// The text of what serde writes.
pub(super) fn serde_text(of: impl Serialize) -> String {
    text_of(&serde_json::to_value(of).unwrap_or_default())
}

/// A value as it is typed: `keys-with-queries`, `inverse-root-of(8)`, `(causal = yes, window = 2)`.
pub fn text_of(value: &Value) -> String {
    let list = |values: &[Value]| values.iter().map(text_of).collect::<Vec<_>>().join(", ");
    match value {
        Value::Null => "none".into(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::String(word) => word.clone(),
        Value::Number(number) => {
            let text = number.to_string();
            text.strip_prefix('-').map_or(text.clone(), |size| format!("−{size}"))
        }
        Value::Array(values) => format!("list({})", list(values)),
        Value::Object(fields) => {
            let settings = || {
                let all = fields.iter().map(|(name, value)| format!("{name} = {}", text_of(value)));
                all.collect::<Vec<_>>().join(", ")
            };
            match fields.iter().next() {
                Some((name, Value::Array(values))) if fields.len() == 1 => {
                    format!("{name}({})", list(values))
                }
                Some((name, value)) if fields.len() == 1 => {
                    let text = text_of(value);
                    if text.starts_with('(') { format!("{name}{text}") } else { format!("{name}({text})") }
                }
                _ => format!("({})", settings()),
            }
        }
    }
}
