//! What the fused kernel reads beside given tensors: queries and keys normed or rotated, sinks, biases by distance.

use super::attend::Pipeline;
use super::choices::Split;
use super::heads::split;
use super::mechanisms::{NormPlace, PositionKind};
use crate::attention::HeadOf;
use crate::error::Result;
use crate::graph::{NodeId, Op, Role, Stage};
use crate::kernel::{Layout, Real};
use crate::memory;

impl Pipeline<'_> {
    /// Returns true if queries and keys are normed or rotated.
    pub fn prepares_heads(&self) -> bool {
        self.recipe.qk_norm.place != NormPlace::Nowhere
            || matches!(self.recipe.positions.kind, PositionKind::Rotary(_))
    }

    /// Q and K with all their heads normed and rotated, the heads side by side.
    pub fn prepared_whole(&mut self, pair: [NodeId; 2]) -> Result<[NodeId; 2]> {
        let (heads, groups) = (self.recipe.heads, self.recipe.kv_heads);
        let first = self.first_positions(pair);
        let frequencies = self.frequencies(self.shape(pair[0]).1 / heads.max(1), pair)?;
        let q = self.prepared_role((Role::Q, first.query), (pair[0], heads), frequencies)?;
        let k = self.prepared_role((Role::K, first.key), (pair[1], groups), frequencies)?;
        Ok([q, k])
    }

    fn prepared_role(
        &mut self,
        (role, first): (Role, usize),
        (whole, count): (NodeId, usize),
        frequencies: Option<NodeId>,
    ) -> Result<NodeId> {
        let whole = self.normed_whole(role, whole, count)?;
        if self.recipe.heads == 1 {
            let mut only = [(whole, None)];
            self.prepared((role, first), &mut only, frequencies)?;
            return Ok(only[0].0);
        }
        if self.graph.at(normed(role)) == Some(whole) && frequencies.is_none() {
            return Ok(whole);
        }
        let blocks = split(&mut self.graph, role.name(), whole, count, Split::Blocks)?;
        let mut heads = Vec::new();
        for (head, block) in (1..).zip(blocks) {
            self.graph.mark(block, Stage::Role(role).of_head(Some(head)));
            heads.push((block, Some(head)));
        }
        self.prepared((role, first), &mut heads, frequencies)?;
        let heads: Vec<NodeId> = heads.into_iter().map(|(node, _)| node).collect();
        let stage = match (role, frequencies) {
            (Role::Q, Some(_)) => Stage::QueriesRotated,
            (_, Some(_)) => Stage::KeysRotated,
            (_, None) => normed(role),
        };
        self.stage(stage, None, Op::Concatenate, &heads)
    }
}

impl Pipeline<'_> {
    /// The node of the sinks, if there are any.
    pub fn sink(&self) -> Option<NodeId> {
        self.graph.at(Role::Sink)
    }

    /// The sinks in the type of the kernel.
    pub fn sinks<T: Real>(&self) -> Result<Option<Vec<T>>> {
        let Some(sink) = self.sink() else { return Ok(None) };
        Ok(Some(self.graph.matrix(sink)?.cells().map(T::from_f64).collect()))
    }

    /// The biases by distance over the temperature, a row of N + T − 1 numbers for each head: the number for query i and key j is
    /// at j − i + T − 1.
    pub fn relative_bias<T: Real>(&self, [q, k]: [NodeId; 2]) -> Result<Option<(Vec<T>, Layout)>> {
        let heads = self.recipe.heads;
        let places = self.places([q, k]);
        let bias: Box<dyn Fn(usize, i64) -> f64> = match self.recipe.positions.kind {
            PositionKind::Alibi { .. } => {
                Box::new(move |head, distance| HeadOf { head, heads }.bias(distance))
            }
            PositionKind::Buckets { furthest } => {
                let (table, buckets) = self.buckets(furthest)?;
                let table = self.graph.matrix(table)?;
                Box::new(move |head, distance| table[(buckets.bucket(distance), head - 1)])
            }
            PositionKind::None | PositionKind::Rotary(_) | PositionKind::Sinusoidal => return Ok(None),
        };
        let count = (places.keys + places.queries).saturating_sub(1);
        let mut numbers = memory::reserved(heads.saturating_mul(count))?;
        for head in 1..=heads {
            for place in 0..count {
                let distance = places.offset as i64 - (place as i64 - (places.queries as i64 - 1));
                numbers.push(T::from_f64(bias(head, distance) / self.recipe.temperature));
            }
        }
        Ok(Some((numbers, Layout::stacked(heads, 1, count))))
    }
}

/// The stage of a normed role.
fn normed(role: Role) -> Stage {
    if role == Role::Q { Stage::QueriesNormed } else { Stage::KeysNormed }
}
