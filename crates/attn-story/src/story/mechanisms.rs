//! The sentences on the steps that today's models add.

use super::sentence::in_sentence;
use crate::attention::{HeadOf, Pairing, RopeScaling, Rotation};
use crate::graph::{Op, Stage};

/// Returns true for a step of positions, of a norm of queries and keys, of a soft-cap or of a gate.
pub(super) fn is_one(stage: Stage) -> bool {
    matches!(
        stage,
        Stage::PositionVectors
            | Stage::Positioned
            | Stage::QueriesNormed
            | Stage::KeysNormed
            | Stage::Frequencies
            | Stage::FrequenciesScaled
            | Stage::QueriesRotated
            | Stage::KeysRotated
            | Stage::PositionBias
            | Stage::Capped
            | Stage::GateInput
            | Stage::Gate
            | Stage::Gated
    )
}

/// The sentence on such a step, without a capital.
pub(super) fn sentence(stage: Stage, op: &Op) -> String {
    match (stage, op) {
        (Stage::PositionVectors, _) => "a vector for each position, of sines and cosines.".into(),
        (Stage::Positioned, _) => "the vectors of the positions are added to the tokens.".into(),
        (Stage::QueriesNormed, _) => {
            "each query is divided by its root mean square, so that its length no longer counts.".into()
        }
        (Stage::KeysNormed, _) => "each key is divided by its root mean square.".into(),
        (Stage::Frequencies, Op::Frequencies { width: 2, .. }) => {
            "the angle by which the pair of columns turns from one position to the next, in radians.".into()
        }
        (Stage::Frequencies, Op::Frequencies { width, .. }) => format!(
            "the angles by which the {} pairs of columns turn from one position to the next, in radians. The first pair turns \
             fastest.",
            width / 2
        ),
        (Stage::FrequenciesScaled, Op::ScaledFrequencies(scaling)) => scaled(scaling),
        (Stage::FrequenciesScaled, _) => {
            "LongRoPE has a row of divisors for short texts, and one for long ones.".into()
        }
        (Stage::QueriesRotated, Op::Rotary(rotation)) => format!(
            "each query is rotated by its position times F: {}. Positions count from {}.",
            pairs(rotation.pairing),
            rotation.first
        ),
        (Stage::KeysRotated, Op::Rotary(Rotation { first, .. })) => format!(
            "each key is rotated in the same way, from position {first} on. A score then depends on the distance of the two."
        ),
        (Stage::QueriesRotated | Stage::KeysRotated, _) => "the rotated heads, side by side.".into(),
        (Stage::PositionBias, Op::Alibi(head, _)) => {
            format!("a bias that grows with the distance, by a slope of {} in this head.", slope(*head))
        }
        (Stage::PositionBias, _) => {
            "a bias for each distance, from the table. Distances that are far share a bucket.".into()
        }
        (Stage::Capped, Op::SoftCap(cap)) => format!(
            "the soft-cap keeps each score between −{0} and {0}. Small scores hardly change.",
            in_sentence(*cap, 6)
        ),
        (Stage::GateInput, _) => "the gate is computed from the tokens: X times W_g.".into(),
        (Stage::Gate, _) => "the sigmoid makes it a number between 0 and 1.".into(),
        (Stage::Gated, _) => "each number of the heads is multiplied by its gate.".into(),
        _ => "a step of this model.".into(),
    }
}

fn pairs(pairing: Pairing) -> &'static str {
    match pairing {
        Pairing::Halves => "column p together with column p + w/2, for each pair p of w columns",
        Pairing::Neighbours => "each two neighbouring columns together",
    }
}

fn slope(head: HeadOf) -> String {
    in_sentence(head.slope(), 6)
}

/// The sentence on a change of the frequencies.
fn scaled(scaling: &RopeScaling) -> String {
    match scaling {
        RopeScaling::Linear { factor } => {
            format!("every frequency is divided by {}: positions are squeezed.", in_sentence(*factor, 6))
        }
        RopeScaling::Dynamic { original, length, .. } if *length as f64 <= *original => {
            "the text is not longer than the original context, so nothing changes.".into()
        }
        RopeScaling::Dynamic { .. } => {
            "the text is longer than the original context. Slow pairs turn even more slowly, the first stays."
                .into()
        }
        RopeScaling::Llama3 { .. } => {
            "fast pairs are kept, slow ones divided by the factor, those between are blended.".into()
        }
        RopeScaling::Yarn(_) => format!(
            "fast pairs are kept, slow ones divided by the factor, those between are blended. Sines and cosines are \
             multiplied by {}.",
            in_sentence(scaling.magnitude(), 6)
        ),
        RopeScaling::LongRope { .. } => format!(
            "each pair has a divisor of its own. Sines and cosines are multiplied by {}.",
            in_sentence(scaling.magnitude(), 6)
        ),
    }
}
