//! A mistake in what today's models add to attention: one choice of positions, norms, soft-cap, sink or gate.

use crate::attention::{Pairing, RopeScaling};
use crate::graph::recipes::{
    AlibiSlopes, CapPlace, Gating, MagnitudeUse, NormPlace, NormedRoles, PositionKind, Recipe, Rotary,
    RotatedPart, RotatedRoles, SineSigns, SinkUse,
};

/// One changed choice of the positions, norms, soft-cap, sinks or gate of a recipe. A choice of rotary positions changes nothing
/// where there are none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MechanismChange {
    /// No positions at all.
    NoPositions,
    /// [`Rotary::pairing`].
    Pairing(Pairing),
    /// [`Rotary::part`] and [`Rotary::width`].
    Part(RotatedPart, Option<usize>),
    /// [`Rotary::base`].
    Base(f64),
    /// [`Rotary::scaling`].
    Scaling(Option<RopeScaling>),
    /// [`Rotary::swaps_divisors`].
    OtherDivisors,
    /// [`Rotary::magnitude`].
    Magnitude(MagnitudeUse),
    /// [`Rotary::rotated`].
    Rotated(RotatedRoles),
    /// [`Rotary::signs`].
    SineSigns(SineSigns),
    /// The position of the first token.
    FirstPosition(usize),
    /// Numbers added to the positions of queries alone, and of keys alone.
    Shift {
        /// To the positions of queries.
        queries: isize,
        /// To the positions of keys.
        keys: isize,
    },
    /// The number of heads that ALiBi's slopes are made for.
    SlopesFor(usize),
    /// ALiBi's slopes.
    Slopes(AlibiSlopes),
    /// Whether later keys have buckets of their own in T5's table.
    LaterBuckets(bool),
    /// The place of the norm of queries and keys.
    NormPlace(NormPlace),
    /// What is normed.
    Normed(NormedRoles),
    /// The soft-cap.
    SoftCap(Option<f64>),
    /// The place of the soft-cap.
    CapPlace(CapPlace),
    /// The use of the sinks.
    Sink(SinkUse),
    /// The use of the gate.
    Gate(Gating),
}

impl MechanismChange {
    /// Whether both change the same choice, or one takes away what the other changes.
    pub(super) fn same_field(&self, other: &MechanismChange) -> bool {
        use MechanismChange::{NoPositions, Slopes, SlopesFor};
        match (self, other) {
            (NoPositions, change) | (change, NoPositions) => change.is_of_positions(),
            (Slopes(_), SlopesFor(_)) | (SlopesFor(_), Slopes(_)) => true,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    fn is_of_positions(&self) -> bool {
        use MechanismChange::{CapPlace, Gate, NormPlace, Normed, Sink, SoftCap};
        !matches!(self, NormPlace(_) | Normed(_) | SoftCap(_) | CapPlace(_) | Sink(_) | Gate(_))
    }

    /// Puts the change into a recipe.
    pub(super) fn put_into(&self, recipe: &mut Recipe) {
        let positions = &mut recipe.positions;
        match *self {
            MechanismChange::NoPositions => positions.kind = PositionKind::None,
            MechanismChange::FirstPosition(first) => positions.first = first,
            MechanismChange::Shift { queries, keys } => {
                (positions.query_shift, positions.key_shift) = (queries, keys);
            }
            MechanismChange::SlopesFor(heads) => positions.kind = PositionKind::Alibi { heads: Some(heads) },
            MechanismChange::Slopes(slopes) => positions.slopes = slopes,
            MechanismChange::LaterBuckets(later) => positions.later_buckets = Some(later),
            MechanismChange::NormPlace(place) => recipe.qk_norm.place = place,
            MechanismChange::Normed(normed) => recipe.qk_norm.normed = normed,
            MechanismChange::SoftCap(cap) => recipe.soft_cap = cap,
            MechanismChange::CapPlace(place) => recipe.cap_place = place,
            MechanismChange::Sink(sink) => recipe.sink = sink,
            MechanismChange::Gate(gate) => recipe.gate = gate,
            _ => {
                if let PositionKind::Rotary(rotary) = &mut positions.kind {
                    self.put_into_rotary(rotary);
                }
            }
        }
    }

    fn put_into_rotary(&self, rotary: &mut Rotary) {
        match *self {
            MechanismChange::Pairing(pairing) => rotary.pairing = pairing,
            MechanismChange::Part(part, width) => (rotary.part, rotary.width) = (part, width),
            MechanismChange::Base(base) => rotary.base = base,
            MechanismChange::Scaling(scaling) => rotary.scaling = scaling,
            MechanismChange::OtherDivisors => rotary.swaps_divisors = true,
            MechanismChange::Magnitude(magnitude) => rotary.magnitude = magnitude,
            MechanismChange::Rotated(rotated) => rotary.rotated = rotated,
            MechanismChange::SineSigns(signs) => rotary.signs = signs,
            _ => {}
        }
    }
}
