//! Heads: the columns cut into blocks, and each head on its own up to what it mixes.

use super::alter::{Stage, altered};
use super::attend::{Pipeline, Sources};
use super::choices::{Common, Groups, Split};
use super::choices_of_weights::Along;
use super::recipe::Recipe;
use super::weights::Head;
use crate::attention::{Axis, key_value_head};
use crate::error::{Error, Result, counted};
use crate::graph::{Factor, Graph, NodeId, Op};
use crate::matrix::Shape;

impl Pipeline<'_> {
    /// All heads, each with its own weights and mix. The mixes are returned; a single head's weights and values, which are
    /// mixed under the name that the result has.
    pub fn heads(&mut self, sources: Sources) -> Result<Vec<NodeId>> {
        let (heads, groups) = (self.recipe.heads, self.recipe.kv_heads);
        let [mut queries, mut keys, mut values] = self.of_heads(&sources)?;
        if let Common::FirstOf { q, k, v } = self.recipe.common {
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
        let together = self.recipe.normalise.along == Along::Heads;
        let waits = together || matches!(self.recipe.common, Common::FirstWeights | Common::MeanWeights);
        let (mut waiting, mut mixes) = (Vec::new(), Vec::new());
        for (head, &query) in queries.iter().enumerate() {
            let suffix = suffix(head, heads);
            let mut one = self.head(&suffix, &sources);
            let read = one.read([query, keys[group(head)]], sources.bias)?.read;
            let weights = if together { read } else { one.weights(read)? };
            // A head is finished before the next one begins, unless they have something in common.
            match waits {
                true => waiting.push(weights),
                false => mixes.extend(self.mix(head, weights, values[group(head)])?),
            }
        }
        let weights = if together { self.over_heads(&waiting, &sources)? } else { waiting };
        for (head, weights) in self.in_common(weights)?.into_iter().enumerate() {
            mixes.extend(self.mix(head, weights, values[group(head)])?);
        }
        Ok(mixes)
    }

    /// What a head mixes; of a single head its weights and values, which are mixed later.
    fn mix(&mut self, head: usize, weights: NodeId, values: NodeId) -> Result<Vec<NodeId>> {
        let heads = self.recipe.heads;
        let weights = rounded(&mut self.graph, self.recipe, &suffix(head, heads), weights)?;
        if heads == 1 {
            return Ok(vec![weights, values]);
        }
        let official = format!("O_{}", head + 1);
        let name = super::alter::name_before(self.recipe, &[Stage::Mixes], &official);
        let mix = self.graph.add(&name, Op::Product, &[weights, values])?;
        Ok(vec![altered(&mut self.graph, self.recipe, &[Stage::Mixes], &official, (mix, 0))?])
    }

    fn head<'s>(&'s mut self, suffix: &'s str, sources: &Sources) -> Head<'s> {
        Head { graph: &mut self.graph, recipe: self.recipe, suffix, mask: sources.mask, never: None }
    }

    /// Queries, keys and values of each head.
    fn of_heads(&mut self, sources: &Sources) -> Result<[Vec<NodeId>; 3]> {
        let (heads, groups) = (self.recipe.heads, self.recipe.kv_heads);
        let whole = [(sources.q, heads), (sources.k, groups), (sources.mixed, groups)];
        // The last query is the last token, unless both begin together.
        let (queries, keys) = (self.shape(sources.q).0, self.shape(sources.k).0);
        let (query, key) = match self.recipe.mask.from_start {
            true => (0, 0),
            false => (keys.saturating_sub(queries), queries.saturating_sub(keys)),
        };
        let mut all = [const { Vec::new() }; 3];
        for (at, (node, count)) in whole.into_iter().enumerate() {
            let name = sources.names[at];
            let node = self.whole(at, (node, if at == 0 { query } else { key }))?;
            let mut blocks = match heads {
                1 => vec![node],
                _ => split_once(&mut self.graph, name, node, count, self.recipe.split)?,
            };
            let (stages, first): (&[Stage], usize) = match at {
                0 => (&[Stage::Queries, Stage::QueriesAndKeys, Stage::Roles], query),
                1 => (&[Stage::Keys, Stage::QueriesAndKeys, Stage::KeysAndValues, Stage::Roles], key),
                _ => (&[Stage::Values, Stage::KeysAndValues, Stage::Roles], key),
            };
            for (head, block) in blocks.iter_mut().enumerate() {
                let role = ["Q", "K", "V"][at];
                let name = if heads == 1 { role.to_string() } else { format!("{role}_{}", head + 1) };
                *block = altered(&mut self.graph, self.recipe, stages, &name, (*block, first))?;
            }
            all[at] = blocks;
        }
        Ok(all)
    }

    /// Q, K or V after what is done to all its heads together; with one head that is what is done to the head.
    fn whole(&mut self, at: usize, (node, first): (NodeId, usize)) -> Result<NodeId> {
        let stages: &[Stage] = match at {
            0 => &[Stage::WholeQueries, Stage::WholeQueriesAndKeys],
            1 => &[Stage::WholeKeys, Stage::WholeQueriesAndKeys],
            _ => &[Stage::WholeValues],
        };
        altered(&mut self.graph, self.recipe, stages, ["Q", "K", "V"][at], (node, first))
    }

    /// Weights that sum to 1 over the heads, for each query and key.
    fn over_heads(&mut self, reads: &[NodeId], sources: &Sources) -> Result<Vec<NodeId>> {
        let (rows, cols) = self.shape(reads[0]);
        let mut lines = Vec::new();
        for (head, &read) in reads.iter().enumerate() {
            let line = Op::Reshape { rows: 1, cols: rows * cols };
            lines.push(self.graph.add(&format!("S_line_{}", head + 1), line, &[read])?);
        }
        let stacked = self.graph.add("S_lines", Op::Stack(None), &lines)?;
        let softmax = match self.recipe.guarded {
            true => Op::Softmax(Axis::Columns, self.recipe.base),
            false => Op::UnguardedSoftmax(Axis::Columns, self.recipe.base),
        };
        let all = self.graph.add("A_lines", softmax, &[stacked])?;
        let mut weights = Vec::new();
        for head in 0..reads.len() {
            let suffix = format!("_{}", head + 1);
            let line =
                self.graph.add(&format!("A_line{suffix}"), Op::Rows { start: head, count: 1 }, &[all])?;
            weights.push(self.head(&suffix, sources).add("A", Op::Reshape { rows, cols }, &[line])?);
        }
        Ok(weights)
    }

    /// The weights of each head, or those that all of them have.
    fn in_common(&mut self, weights: Vec<NodeId>) -> Result<Vec<NodeId>> {
        let count = weights.len();
        match self.recipe.common {
            Common::FirstWeights if count > 0 => Ok(vec![weights[0]; count]),
            Common::MeanWeights if count > 0 => {
                let sum = self.graph.add("A_sum", Op::Add, &weights)?;
                let mean = self.graph.add("A_mean", Op::Scale(Factor::Inverse(count)), &[sum])?;
                Ok(vec![mean; count])
            }
            _ => Ok(weights),
        }
    }
}

/// `_2` for the second head of several.
fn suffix(head: usize, heads: usize) -> String {
    if heads == 1 { String::new() } else { format!("_{}", head + 1) }
}

/// `A_rounded`, where the recipe rounds the weights before they mix.
fn rounded(graph: &mut Graph, recipe: &Recipe, suffix: &str, weights: NodeId) -> Result<NodeId> {
    match recipe.weight_decimals {
        Some(decimals) => graph.add(&format!("A_rounded{suffix}"), Op::Round(decimals), &[weights]),
        None => Ok(weights),
    }
}

/// The blocks of a node, which two roles may share.
fn split_once(graph: &mut Graph, name: &str, whole: NodeId, heads: usize, how: Split) -> Result<Vec<NodeId>> {
    let known: Vec<NodeId> = (1..).map_while(|head| graph.find(&format!("{name}_{head}"))).collect();
    match known.len() == heads && heads > 0 {
        true => Ok(known),
        false => split(graph, name, whole, heads, how),
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

/// The same blocks, read where they are and never formed by themselves.
///
/// # Errors
/// As [`split`].
pub fn split_never_formed(graph: &mut Graph, name: &str, whole: NodeId, heads: usize) -> Result<Vec<NodeId>> {
    let blocks = blocks(graph, name, whole, heads, Split::Blocks)?;
    let Shape { rows, cols } = graph[whole].shape();
    let shape = Shape { rows, cols: cols / heads };
    let add = |(head, block)| graph.never_formed(&format!("{name}_{}", head + 1), block, &[whole], shape);
    blocks.into_iter().enumerate().map(add).collect()
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
