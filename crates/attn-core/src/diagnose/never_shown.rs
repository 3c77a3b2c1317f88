//! Mistakes that leave the result as it is on any numbers, so that no input shows them.

use crate::attention::RopeScaling;
use crate::graph::Given;
use crate::graph::recipes::{PositionKind, Rotary};

use super::Task;
use super::catalogue::Mistake;

impl Task {
    /// Returns true if it is proven that a mistake leaves the result of this exercise as it is, whatever the numbers and however
    /// many tokens; false where that is not known.
    ///
    /// Scores of rotated queries and keys depend on distances alone (`positions-start`), a head of two columns has one pair
    /// (`rope-pairing`), a rotation keeps the root mean square of a row (`qk-norm-late`), and exp(−∞) is 0 (`sink-missing`).
    pub fn never_shows(&self, mistake: &Mistake) -> bool {
        let (recipe, inputs) = (self.recipe(), self.inputs());
        let rotary = match &recipe.positions.kind {
            PositionKind::Rotary(rotary) => Some(rotary),
            _ => None,
        };
        match mistake.id {
            "positions-start" => rotary.is_some_and(|rotary| !counts_tokens(rotary)),
            "rope-pairing" => rotary.is_some_and(|rotary| rotary.width.unwrap_or(self.facts().d_k) == 2),
            "qk-norm-late" => {
                let has_gains = inputs.query_gain.is_some() || inputs.key_gain.is_some();
                let scaling = rotary.and_then(|rotary| rotary.scaling);
                !has_gains && scaling.is_none_or(|scaling| scaling.magnitude() == 1.0)
            }
            "sink-missing" => inputs.sink.as_ref().is_some_and(is_infinite),
            _ => false,
        }
    }
}

/// Whether the frequencies depend on the position of the last token.
fn counts_tokens(rotary: &Rotary) -> bool {
    matches!(rotary.scaling, Some(RopeScaling::Dynamic { .. } | RopeScaling::LongRope { .. }))
}

/// Whether every sink is −∞.
fn is_infinite(sinks: &Given) -> bool {
    sinks.tensor.matrix().is_ok_and(|sinks| sinks.cells().all(|sink| sink == f64::NEG_INFINITY))
}
