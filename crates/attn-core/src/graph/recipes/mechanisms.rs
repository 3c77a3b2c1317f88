//! The choices of a recipe that today's models add: positions, norms of queries and keys, the soft-cap, sinks and gates. The
//! default leaves each of them out.

use serde::{Deserialize, Serialize};

use crate::attention::{Pairing, RopeScaling};
use crate::graph::Role;

/// The usual ε of the norm of queries and keys: that of Qwen 3 and Gemma 3.
pub const QK_NORM_EPSILON: f64 = 1e-6;

/// The way in which positions enter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Positions {
    /// Rotation, a bias, vectors, or nothing.
    pub kind: PositionKind,
    /// The position of the first token.
    pub first: usize,
    /// The number that is added to the positions of queries alone, by mistake.
    pub query_shift: isize,
    /// The number that is added to the positions of keys alone, by mistake.
    pub key_shift: isize,
    /// The slopes of ALiBi.
    pub slopes: AlibiSlopes,
    /// Whether later keys have buckets of their own in T5's table; where this is not said, the causal mask decides.
    pub later_buckets: Option<bool>,
}

impl Positions {
    /// The same positions without any mistake in them.
    pub(super) fn without_mistakes(self) -> Positions {
        let kind = match self.kind {
            PositionKind::Rotary(Rotary { pairing, base, width, scaling, .. }) => {
                PositionKind::Rotary(Rotary { pairing, base, width, scaling, ..Rotary::default() })
            }
            PositionKind::Alibi { .. } => PositionKind::Alibi { heads: None },
            kind => kind,
        };
        Positions { kind, first: self.first, ..Positions::default() }
    }
}

/// The kinds of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PositionKind {
    /// None: attention knows no order.
    #[default]
    None,
    /// Queries and keys are rotated.
    Rotary(Rotary),
    /// ALiBi: a bias that grows with the distance.
    Alibi {
        /// The n of the slopes 2^(−8h/n), by mistake; where there is none, the slopes are those of the recipe's heads.
        heads: Option<usize>,
    },
    /// A bias for each bucket of distances, from a table.
    Buckets {
        /// The distance from which on all keys share a bucket.
        furthest: usize,
    },
    /// Vectors of sines and cosines are added to the tokens.
    Sinusoidal,
}

/// The slopes of ALiBi.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum AlibiSlopes {
    /// Those of the number of query heads, so that scores fall with the distance.
    #[default]
    OfHeads,
    /// Counted from 0: the first head has the slope 1.
    FromZero,
    /// Made for the key/value heads: query heads that share one share its slope.
    OfGroups,
    /// With the wrong sign: scores rise with the distance.
    Rising,
}

/// The choices of rotary positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Rotary {
    /// The two columns that rotate together.
    pub pairing: Pairing,
    /// The base of the frequencies.
    pub base: f64,
    /// The number of columns that are rotated in each head; all where there is none.
    pub width: Option<usize>,
    /// The columns that are rotated, where it is not all of them.
    pub part: RotatedPart,
    /// The change of the frequencies for longer texts.
    pub scaling: Option<RopeScaling>,
    /// Whether LongRoPE takes the divisors of the other length, by mistake.
    pub swaps_divisors: bool,
    /// The use of the scaling's factor of sines and cosines.
    pub magnitude: MagnitudeUse,
    /// What is rotated.
    pub rotated: RotatedRoles,
    /// The signs of the sines.
    pub signs: SineSigns,
}

impl Default for Rotary {
    /// All columns, in halves, with the paper's base.
    fn default() -> Rotary {
        Rotary {
            pairing: Pairing::default(),
            base: 10_000.0,
            width: None,
            part: RotatedPart::default(),
            scaling: None,
            swaps_divisors: false,
            magnitude: MagnitudeUse::default(),
            rotated: RotatedRoles::default(),
            signs: SineSigns::default(),
        }
    }
}

/// The use of the factor of sines and cosines that YaRN and LongRoPE have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum MagnitudeUse {
    /// Queries and keys are multiplied by it.
    #[default]
    Once,
    /// It is left out.
    Missing,
    /// Queries and keys are multiplied by its square.
    Twice,
}

impl MagnitudeUse {
    /// The factor of sines and cosines.
    pub fn of(self, magnitude: f64) -> f64 {
        match self {
            MagnitudeUse::Once => magnitude,
            MagnitudeUse::Missing => 1.0,
            MagnitudeUse::Twice => magnitude * magnitude,
        }
    }
}

/// What is rotated by its positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RotatedRoles {
    /// Queries and keys.
    #[default]
    QueriesAndKeys,
    /// The queries alone.
    Queries,
    /// The keys alone.
    Keys,
    /// Queries, keys and values.
    WithValues,
}

impl RotatedRoles {
    /// Returns true if Q, K or V is rotated.
    pub fn has(self, role: Role) -> bool {
        match role {
            Role::Q => self != RotatedRoles::Keys,
            Role::K => self != RotatedRoles::Queries,
            Role::V => self == RotatedRoles::WithValues,
            _ => false,
        }
    }
}

/// The signs of the sines in a rotation of the pair (a, b).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SineSigns {
    /// (a cos − b sin, a sin + b cos).
    #[default]
    Right,
    /// (a cos + b sin, −a sin + b cos): the other direction.
    Reversed,
    /// (a cos + b sin, a sin + b cos): a `rotate_half` without its minus.
    NoMinus,
}

/// The columns that are rotated, where it is not all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum RotatedPart {
    /// The first.
    #[default]
    First,
    /// The last.
    Last,
}

/// The norm of queries and keys: each row over its root mean square.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct QkNorm {
    /// Before the rotation, after it, or nowhere.
    pub place: NormPlace,
    /// Added to the mean of the squares.
    pub epsilon: f64,
    /// What is normed.
    pub normed: NormedRoles,
}

impl Default for QkNorm {
    /// None.
    fn default() -> QkNorm {
        QkNorm { place: NormPlace::default(), epsilon: QK_NORM_EPSILON, normed: NormedRoles::default() }
    }
}

/// What the norm is applied to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum NormedRoles {
    /// Queries and keys.
    #[default]
    QueriesAndKeys,
    /// The queries alone.
    Queries,
    /// The keys alone.
    Keys,
}

impl NormedRoles {
    /// Returns true if Q or K is normed.
    pub fn has(self, role: Role) -> bool {
        match role {
            Role::Q => self != NormedRoles::Keys,
            Role::K => self != NormedRoles::Queries,
            _ => false,
        }
    }
}

/// The place of the norm of queries and keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum NormPlace {
    /// There is none.
    #[default]
    Nowhere,
    /// Before the rotation.
    BeforeRotation,
    /// After the rotation.
    AfterRotation,
}

/// The place of the soft-cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CapPlace {
    /// Before the mask, so that a hidden key stays hidden.
    #[default]
    BeforeMask,
    /// After the mask: a hidden key has the score −c.
    AfterMask,
    /// Before the scale.
    BeforeScale,
}

/// The use of the sinks, where there are any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SinkUse {
    /// The softmax runs over the keys and the sink.
    #[default]
    InSoftmax,
    /// They are left out.
    Missing,
    /// All heads take the sink of one head; the first head is 1.
    OfHead(usize),
    /// Head h of H takes the sink of head H + 1 − h.
    Reversed,
    /// They have the other sign.
    Negated,
    /// All heads take this number.
    Number(u8),
}

/// The use of the output gate, where there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Gating {
    /// The heads times the sigmoid of the gate.
    #[default]
    Sigmoid,
    /// It is left out.
    Missing,
    /// The heads times the input of the sigmoid.
    WithoutSigmoid,
}
