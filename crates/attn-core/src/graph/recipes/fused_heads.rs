//! Queries and keys that are normed or rotated before the fused kernel reads them.

use super::attend::Pipeline;
use super::choices::Split;
use super::heads::split;
use super::mechanisms::{NormPlace, PositionKind};
use crate::error::Result;
use crate::graph::{NodeId, Op, Role, Stage};

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

/// The stage of a normed role.
fn normed(role: Role) -> Stage {
    if role == Role::Q { Stage::QueriesNormed } else { Stage::KeysNormed }
}
