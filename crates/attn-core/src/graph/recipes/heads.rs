//! Heads: columns are split into blocks, and each head is computed up to its mixed values.

use super::alter::{self, altered};
use super::attend::{Pipeline, SharedNodes};
use super::choices::{Groups, HeadSharing, Qkv, Split, SplitRoles};
use super::choices_of_weights::NormaliseAxis;
use super::head_cache::StepsOfHeads;
use super::normalise::softmax_with;
use super::recipe::Recipe;
use super::weights::{Head, suffix};
use crate::attention::{Axis, key_value_head};
use crate::error::{Error, Result};
use crate::graph::single::HeadSteps;
use crate::graph::{Factor, Graph, NodeId, Op, Origin, Role, Stage};
use crate::matrix::Shape;
use crate::text::counted;

impl Pipeline<'_> {
    /// Computes all heads and returns their mixed values. For a single head it returns weights and values, which are mixed later,
    /// under the name of the result.
    pub fn heads(&mut self, sources: SharedNodes) -> Result<Vec<NodeId>> {
        let (heads, groups) = (self.recipe.heads, self.recipe.kv_heads);
        let [mut queries, keys, values] = self.of_heads(&sources)?;
        let [mut keys, mut values] = self.with_past(keys, values)?;
        if let HeadSharing::FirstOf { q, k, v } = self.recipe.common {
            for (all, is_common) in [(&mut queries, q), (&mut keys, k), (&mut values, v)] {
                let first = all[0];
                if is_common {
                    all.fill(first);
                }
            }
        }
        let group = |head: usize| match self.recipe.groups {
            Groups::Shared => key_value_head(head, heads, groups),
            Groups::Tiled => head % groups,
            Groups::First => 0,
            Groups::Reversed => groups - 1 - key_value_head(head, heads, groups),
        };
        let together = self.recipe.normalise.along == NormaliseAxis::Heads;
        let reads_wait = together || (heads > 1 && self.recipe.common == HeadSharing::MeanScores);
        let waits =
            reads_wait || matches!(self.recipe.common, HeadSharing::FirstWeights | HeadSharing::MeanWeights);
        let (mut waiting, mut mixes) = (Vec::new(), Vec::new());
        for (head, &query) in queries.iter().enumerate() {
            let number = number(head, heads);
            let suffix = suffix(number);
            let begun = self.graph.recorded_nodes();
            let mut one = self.head((&suffix, number), &sources);
            let read = one.read([query, keys[group(head)]], sources.bias)?.read;
            let weights = if reads_wait { read } else { one.weights(read)? };
            // Without sharing between heads, each head is finished before the next one begins.
            if waits {
                waiting.push(weights);
            } else {
                let mix = self.mix(head, weights, values[group(head)])?;
                mixes.extend(&mix);
                if heads == 1 || self.steps.are_kept() {
                    continue;
                }
                let of_head = |head: usize| [queries[head], keys[group(head)], values[group(head)]];
                let others: Vec<[NodeId; 3]> = (head + 1..heads).map(of_head).collect();
                let alike = self.steps_of_others(begun, of_head(head));
                self.graph.forget_since(begun, &mix);
                if let Some(steps) = alike {
                    mixes.extend(self.mixed_together(&steps, &others)?);
                    break;
                }
            }
        }
        let weights = if together {
            self.over_heads(&waiting, &sources)?
        } else if reads_wait {
            self.of_mean_scores(&waiting, &sources)?
        } else {
            waiting
        };
        for (head, weights) in self.in_common(weights)?.into_iter().enumerate() {
            mixes.extend(self.mix(head, weights, values[group(head)])?);
        }
        if heads > 1 && self.recipe.common == HeadSharing::MeanMixes {
            let mean = self.mean("O", &mixes)?;
            mixes.fill(mean);
        }
        Ok(mixes)
    }

    /// The steps of the head recorded since, if nobody looks at the weights and the other heads have the same steps.
    fn steps_of_others(&self, begun: usize, qkv: [NodeId; 3]) -> Option<HeadSteps> {
        match self.steps {
            StepsOfHeads::Forgotten(None) => self.graph.steps_of_head(begun, qkv),
            StepsOfHeads::Forgotten(Some(_)) | StepsOfHeads::Kept => None,
        }
    }

    /// What the heads after the first mix.
    fn mixed_together(&mut self, steps: &HeadSteps, others: &[[NodeId; 3]]) -> Result<Vec<NodeId>> {
        let mixes = self.graph.mixed_by_heads(steps, others)?;
        let record = |(at, mix)| {
            let name = Stage::Mixed.of_head(Some(at + 2)).to_string();
            self.graph.record(&name, Op::Given(Origin::Stated), &[], mix)
        };
        mixes.into_iter().enumerate().map(record).collect()
    }

    /// The mixed values of a head; for a single head its weights and values, which are mixed later.
    fn mix(&mut self, head: usize, weights: NodeId, values: NodeId) -> Result<Vec<NodeId>> {
        let heads = self.recipe.heads;
        let number = number(head, heads);
        let weights = rounded(&mut self.graph, self.recipe, &suffix(number), weights)?;
        if let (StepsOfHeads::Forgotten(Some(look)), Some(numbers)) =
            (self.steps, self.graph[weights].tensor())
        {
            look(head + 1, numbers);
        }
        if heads == 1 {
            return Ok(vec![weights, values]);
        }
        let step = Stage::Mixed.of_head(number);
        let name = alter::name_before(self.recipe, &[alter::Site::Mixes], &step.to_string());
        let mix = self.graph.add(&name, Op::Product, &[weights, values])?;
        let mixes = &[alter::Site::Mixes];
        let mix = altered(&mut self.graph, self.recipe, mixes, &step.to_string(), (mix, 0))?;
        self.graph.mark(mix, step);
        Ok(vec![mix])
    }

    fn head<'s>(&'s mut self, (suffix, number): (&'s str, Option<usize>), sources: &SharedNodes) -> Head<'s> {
        Head { graph: &mut self.graph, recipe: self.recipe, suffix, number, mask: sources.mask, never: None }
    }

    /// Queries, keys and values of each head.
    fn of_heads(&mut self, sources: &SharedNodes) -> Result<[Vec<NodeId>; 3]> {
        let (heads, groups) = (self.recipe.heads, self.recipe.kv_heads);
        let whole = [(sources.q, heads), (sources.k, groups), (sources.mixed, groups)];
        let first = self.first_positions([sources.q, sources.k]);
        let (query, key) =
            (first.query - self.recipe.positions.first, first.key - self.recipe.positions.first);
        let d_k = self.shape(sources.q).1 / heads.max(1);
        let frequencies = self.frequencies(d_k, [sources.q, sources.k])?;
        let SplitRoles { q, k, v } = self.recipe.split_roles;
        let mut all = [const { Vec::new() }; 3];
        for (at, (node, count)) in whole.into_iter().enumerate() {
            let how = if [q, k, v][at] { self.recipe.split } else { Split::Blocks };
            let node = self.whole(at, (node, if at == 0 { query } else { key }))?;
            let node = self.normed_whole(Role::from([Qkv::Query, Qkv::Key, Qkv::Value][at]), node, count)?;
            let mut blocks = match heads {
                1 => vec![node],
                _ => split_once(&mut self.graph, sources.roles[at], node, count, how)?,
            };
            use alter::Site::{Keys, KeysAndValues, Queries, QueriesAndKeys, Roles, Values};
            let (role, stages, place): (Role, &[alter::Site], usize) = match at {
                0 => (Role::Q, &[Queries, QueriesAndKeys, Roles], query),
                1 => (Role::K, &[Keys, QueriesAndKeys, KeysAndValues, Roles], key),
                _ => (Role::V, &[Values, KeysAndValues, Roles], key),
            };
            for (head, block) in blocks.iter_mut().enumerate() {
                let number = number(head, heads);
                let name = Stage::Role(role).of_head(number).to_string();
                *block = altered(&mut self.graph, self.recipe, stages, &name, (*block, place))?;
            }
            if role != Role::V || self.rotates_values() {
                let first = place + self.recipe.positions.first;
                let mut numbered: Vec<(NodeId, Option<usize>)> =
                    blocks.iter().enumerate().map(|(head, &block)| (block, number(head, heads))).collect();
                self.prepared((role, first), &mut numbered, frequencies)?;
                blocks = numbered.into_iter().map(|(block, _)| block).collect();
            }
            all[at] = blocks;
        }
        Ok(all)
    }

    /// Q, K or V after the alteration of all its heads together; with one head, after the alteration of that head.
    fn whole(&mut self, at: usize, (node, first): (NodeId, usize)) -> Result<NodeId> {
        use alter::Site::{WholeKeys, WholeQueries, WholeQueriesAndKeys, WholeValues};
        let (role, stages): (Role, &[alter::Site]) = match at {
            0 => (Role::Q, &[WholeQueries, WholeQueriesAndKeys]),
            1 => (Role::K, &[WholeKeys, WholeQueriesAndKeys]),
            _ => (Role::V, &[WholeValues]),
        };
        altered(&mut self.graph, self.recipe, stages, role.name(), (node, first))
    }

    /// Weights that sum to 1 over the heads, for each query and key.
    fn over_heads(&mut self, reads: &[NodeId], sources: &SharedNodes) -> Result<Vec<NodeId>> {
        let (rows, cols) = self.shape(reads[0]);
        let mut lines = Vec::new();
        for (head, &read) in reads.iter().enumerate() {
            let line = Op::Reshape { rows: 1, cols: rows * cols };
            lines.push(self.graph.add(&format!("S_line_{}", head + 1), line, &[read])?);
        }
        let stacked = self.graph.add("S_lines", Op::Stack(None), &lines)?;
        let softmax = softmax_with(self.recipe.guarded, Axis::Columns, self.recipe.base);
        let all = self.graph.add("A_lines", softmax, &[stacked])?;
        let mut weights = Vec::new();
        for head in 0..reads.len() {
            let number = Some(head + 1);
            let suffix = suffix(number);
            let line =
                self.graph.add(&format!("A_line{suffix}"), Op::Rows { start: head, count: 1 }, &[all])?;
            let mut one = self.head((&suffix, number), sources);
            weights.push(one.step(Stage::Weights, Op::Reshape { rows, cols }, &[line])?);
        }
        Ok(weights)
    }

    /// The weights of each head, or the weights that all heads share.
    fn in_common(&mut self, weights: Vec<NodeId>) -> Result<Vec<NodeId>> {
        let count = weights.len();
        match self.recipe.common {
            HeadSharing::FirstWeights if count > 0 => Ok(vec![weights[0]; count]),
            HeadSharing::MeanWeights if count > 0 => Ok(vec![self.mean("A", &weights)?; count]),
            _ => Ok(weights),
        }
    }

    /// The weights of each head from the mean of all scores.
    fn of_mean_scores(&mut self, reads: &[NodeId], sources: &SharedNodes) -> Result<Vec<NodeId>> {
        let (mean, heads) = (self.mean("S", reads)?, reads.len());
        let of_head = |head: usize| {
            let number = number(head, heads);
            self.head((&suffix(number), number), sources).weights(mean)
        };
        (0..heads).map(of_head).collect()
    }

    /// The mean of one node of each head: `A_mean`.
    fn mean(&mut self, name: &str, of_heads: &[NodeId]) -> Result<NodeId> {
        let sum = self.graph.add(&format!("{name}_sum"), Op::Add, of_heads)?;
        self.graph.add(&format!("{name}_mean"), Op::Scale(Factor::Inverse(of_heads.len())), &[sum])
    }
}

/// The number of a head, from 1, where there are several.
fn number(head: usize, heads: usize) -> Option<usize> {
    (heads > 1).then_some(head + 1)
}

/// `A_rounded`, where the recipe rounds the weights before they mix.
fn rounded(graph: &mut Graph, recipe: &Recipe, suffix: &str, weights: NodeId) -> Result<NodeId> {
    match recipe.weight_decimals {
        Some(decimals) => graph.add(&format!("A_rounded{suffix}"), Op::Round(decimals), &[weights]),
        None => Ok(weights),
    }
}

/// The blocks of a node, split only once where two roles share the node.
fn split_once(graph: &mut Graph, role: Role, whole: NodeId, heads: usize, how: Split) -> Result<Vec<NodeId>> {
    let of_head = |head| Stage::Role(role).of_head(Some(head));
    let known: Vec<NodeId> = (1..).map_while(|head| graph.at(of_head(head))).collect();
    if known.len() == heads && heads > 0 {
        return Ok(known);
    }
    let blocks = split(graph, role.name(), whole, heads, how)?;
    mark_heads(graph, role, &blocks);
    Ok(blocks)
}

/// Marks the blocks of a role with their heads.
fn mark_heads(graph: &mut Graph, role: Role, blocks: &[NodeId]) {
    for (head, &block) in (1..).zip(blocks) {
        graph.mark(block, Stage::Role(role).of_head(Some(head)));
    }
}

/// A block of columns for each head: `Q_1`, `Q_2` …
///
/// # Errors
/// If the columns cannot be shared out evenly, or a name is taken.
pub fn split(graph: &mut Graph, name: &str, whole: NodeId, heads: usize, how: Split) -> Result<Vec<NodeId>> {
    if how == Split::Reshaped {
        return reshaped(graph, name, whole, heads);
    }
    let blocks = blocks(graph, name, whole, heads, how)?;
    let add = |(head, block)| graph.add(&format!("{name}_{}", head + 1), block, &[whole]);
    blocks.into_iter().enumerate().map(add).collect()
}

/// The same blocks of a role, recorded as never formed.
///
/// # Errors
/// As [`split`].
pub(super) fn split_never_formed(
    graph: &mut Graph,
    role: Role,
    whole: NodeId,
    heads: usize,
) -> Result<Vec<NodeId>> {
    let name = role.name();
    let blocks = blocks(graph, name, whole, heads, Split::Blocks)?;
    let Shape { rows, cols } = graph[whole].shape();
    let shape = Shape { rows, cols: cols / heads };
    let add = |(head, block)| graph.never_formed(&format!("{name}_{}", head + 1), block, &[whole], shape);
    let blocks: Vec<NodeId> = blocks.into_iter().enumerate().map(add).collect::<Result<_>>()?;
    mark_heads(graph, role, &blocks);
    Ok(blocks)
}

fn blocks(graph: &Graph, name: &str, whole: NodeId, heads: usize, how: Split) -> Result<Vec<Op>> {
    let width = graph[whole].shape().cols;
    if heads == 0 || width == 0 || !width.is_multiple_of(heads) {
        return Err(Error::new(format!(
            "the {} of {name} cannot be split into {}",
            counted(width, "column"),
            counted(heads, "head")
        ))
        .help(format!("give a number of heads that divides the width of {name}")));
    }
    let count = width / heads;
    let block = |head| match how {
        Split::Blocks | Split::Reshaped => Op::Columns { start: head * count, count },
        Split::Interleaved => Op::EveryNthColumn { start: head, step: heads },
    };
    Ok((0..heads).map(block).collect())
}

/// The cells read row by row as (H, T, d), a block of T rows for each head.
fn reshaped(graph: &mut Graph, name: &str, whole: NodeId, heads: usize) -> Result<Vec<NodeId>> {
    let width = blocks(graph, name, whole, heads, Split::Blocks)?.len();
    let Shape { rows, cols } = graph[whole].shape();
    let stack = Op::Reshape { rows: rows * width, cols: cols / heads };
    let stack = graph.add(&format!("{name}_reshaped"), stack, &[whole])?;
    let head = |head: usize| {
        graph.add(&format!("{name}_{}", head + 1), Op::Rows { start: head * rows, count: rows }, &[stack])
    };
    (0..heads).map(head).collect()
}
