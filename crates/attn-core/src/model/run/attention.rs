//! Attention in a layer: projections, heads, output.

use super::Slot;
use super::layer::LayerBuilder;
use crate::attention::MatrixRule;
use crate::error::Result;
use crate::graph::recipes::{HeadCache, HeadInputs, NormPlace, Positions, Recipe, heads_inside};
use crate::graph::{NodeId, Op, Origin, Role, Stage};
use crate::matrix::Matrix;
use crate::model::architecture::Projections;
use crate::model::edits::Removal;

impl LayerBuilder<'_> {
    /// Attention over the rows of x: `O`, times W_O; and the cache after it.
    pub fn attention(&mut self, x: NodeId, past: HeadCache) -> Result<(NodeId, HeadCache)> {
        let mut qkv = self.projections(x)?;
        self.given_of_heads()?;
        let mut recipe = self.block.recipe;
        if self.run.architecture.slips.qk_norm_width_changed {
            self.normed_in_another_width(&mut qkv, &mut recipe)?;
        }
        for (id, role) in qkv.into_iter().zip([Role::Q, Role::K, Role::V]) {
            self.graph.mark(id, role);
        }
        recipe.positions = Positions { first: past.tokens(), ..recipe.positions };
        let mask = self.mask_of_first(&mut recipe, self.graph[x].shape().rows, past.tokens())?;
        let removed_heads = self.edit.heads.clone();
        let inputs = HeadInputs {
            qkv,
            mask,
            past,
            is_removed: &|head| removed_heads.contains(&head),
            by_mean: self.removal == Removal::Mean,
            steps: self.steps,
        };
        let (joined, cache) = heads_inside(self.graph, &recipe, inputs)?;
        let output = self.linear("O", joined, ["W_O", "b_O"], ["W_O", "b_O"])?;
        self.graph.mark(output, Stage::Output);
        Ok((output, cache))
    }

    /// Gains of the norms of queries and keys, and LongRoPE's divisors.
    fn given_of_heads(&mut self) -> Result<()> {
        if self.block.recipe.qk_norm.place != NormPlace::Nowhere {
            for (symbol, role) in [("gamma_Q", Role::QueryGain), ("gamma_K", Role::KeyGain)] {
                let slot = (Slot::Weight(symbol), Some(self.number));
                let gain = self.run.gain(self.graph, role.name(), slot)?;
                self.graph.mark(gain, role);
            }
        }
        if let Some(divisors) = &self.block.divisors {
            let origin = Origin::Config("rope_parameters".into());
            let node = self.graph.given(Role::Divisors.name(), divisors.clone(), origin)?;
            self.graph.mark(node, Role::Divisors);
        }
        Ok(())
    }

    /// A mask that hides the first token from all queries but its own, where it is taken out.
    fn mask_of_first(&mut self, recipe: &mut Recipe, queries: usize, past: usize) -> Result<Option<NodeId>> {
        if !self.without_first {
            return Ok(None);
        }
        recipe.mask.matrix = Some(MatrixRule::Block);
        let hides = |i: usize, j: usize| f64::from(u8::from(j == 0 && past + i > 0));
        let mask = Matrix::from_fn(queries, past + queries, hides);
        let mask = self.graph.given(Role::Mask.name(), mask, Origin::Stated)?;
        self.graph.mark(mask, Role::Mask);
        Ok(Some(mask))
    }

    /// Queries, keys and values of all heads.
    fn projections(&mut self, x: NodeId) -> Result<[NodeId; 3]> {
        if self.block.projections == Projections::Separate {
            let mut one = |name: &str, weights: &'static str, bias: &'static str| {
                self.linear(name, x, [weights, bias], [weights, bias])
            };
            return Ok([one("Q", "W_Q", "b_Q")?, one("K", "W_K", "b_K")?, one("V", "W_V", "b_V")?]);
        }
        let all = self.linear("QKV", x, ["W_Q W_K W_V", "b_Q b_K b_V"], ["W_QKV", "b_QKV"])?;
        let (heads, groups) = (self.block.recipe.heads, self.block.recipe.kv_heads);
        let width = self.graph[all].shape().cols / (heads + 2 * groups);
        if self.block.projections == Projections::FusedByHead {
            return self.by_head((all, width));
        }
        let mut start = 0;
        let mut part = |name: &str, heads: usize| {
            let count = heads * width;
            start += count;
            self.graph.add(name, Op::Columns { start: start - count, count }, &[all])
        };
        Ok([part("Q", heads)?, part("K", groups)?, part("V", groups)?])
    }

    /// Queries, keys and values that stand head by head in one matrix.
    fn by_head(&mut self, (all, width): (NodeId, usize)) -> Result<[NodeId; 3]> {
        let heads = self.block.recipe.heads;
        let mut collected = [const { Vec::new() }; 3];
        for (at, role) in [Role::Q, Role::K, Role::V].into_iter().enumerate() {
            for head in 0..heads {
                let step = Stage::Role(role).of_head((heads > 1).then_some(head + 1));
                let columns = Op::Columns { start: (3 * head + at) * width, count: width };
                let block = self.graph.add(&step.to_string(), columns, &[all])?;
                self.graph.mark(block, step);
                collected[at].push(block);
            }
        }
        let [q, k, v] = &collected;
        if heads == 1 {
            return Ok([q[0], k[0], v[0]]);
        }
        let mut whole = |name: &str, blocks: &[NodeId]| self.graph.add(name, Op::Concatenate, blocks);
        Ok([whole("Q", q)?, whole("K", k)?, whole("V", v)?])
    }
}
