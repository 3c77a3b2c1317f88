//! The heads of attention inside a larger graph: a layer of a model gives queries, keys and values, and goes on with the result.

use super::attend::{Pipeline, SharedNodes};
use super::head_cache::{HeadCache, StepsOfHeads};
use super::recipe::Recipe;
use super::weights::suffix;
use crate::error::Result;
use crate::graph::{Factor, Graph, NodeId, Op, Origin, Role, Stage};
use crate::matrix::Labels;
use crate::tensor::Tensor;

/// What the heads of a layer start from.
pub(crate) struct HeadInputs<'a> {
    /// Queries, keys and values of all heads.
    pub qkv: [NodeId; 3],
    /// A mask matrix, where the recipe has a rule for it.
    pub mask: Option<NodeId>,
    /// Keys and values of earlier tokens.
    pub past: HeadCache,
    /// Returns true for a head, counted from 1, whose output is taken out.
    pub is_removed: &'a dyn Fn(usize) -> bool,
    /// True if the mean of its output stands in for it, and not 0.
    pub by_mean: bool,
    /// What stays of the steps of each head.
    pub steps: StepsOfHeads<'a>,
}

/// The heads of attention side by side, `C`, from queries, keys and values that the graph has, and the cache after them. Gains of the
/// norms of queries and keys, and LongRoPE's divisors, are read from the nodes of their roles.
///
/// # Errors
/// If the matrices do not fit the recipe, or a name is taken.
pub(crate) fn heads_inside(
    graph: &mut Graph,
    recipe: &Recipe,
    mut inputs: HeadInputs<'_>,
) -> Result<(NodeId, HeadCache)> {
    recipe.check()?;
    let past = Some(std::mem::take(&mut inputs.past));
    let mut pipeline = Pipeline { graph: std::mem::take(graph), recipe, past, steps: inputs.steps };
    let joined = pipeline.joined_heads(&inputs);
    *graph = pipeline.graph;
    Ok((joined?, pipeline.past.unwrap_or_default()))
}

impl Pipeline<'_> {
    fn joined_heads(&mut self, inputs: &HeadInputs<'_>) -> Result<NodeId> {
        let [q, k, mixed] = inputs.qkv;
        self.fit(q, k, mixed)?;
        let roles = [Role::Q, Role::K, Role::V];
        let heads = self.heads(SharedNodes { q, k, mixed, roles, bias: None, mask: inputs.mask })?;
        let name = Stage::Joined.name();
        let joined = match (self.recipe.heads, &heads[..]) {
            (1, [weights, values]) => {
                let name = if (inputs.is_removed)(1) { "C_whole" } else { name };
                let mix = self.graph.add(name, Op::Product, &[*weights, *values])?;
                if (inputs.is_removed)(1) { removed(&mut self.graph, "C", mix, inputs.by_mean)? } else { mix }
            }
            _ => {
                let mut kept = Vec::new();
                for (head, mix) in heads.into_iter().enumerate() {
                    let name = format!("O_removed_{}", head + 1);
                    kept.push(if (inputs.is_removed)(head + 1) {
                        removed(&mut self.graph, &name, mix, inputs.by_mean)?
                    } else {
                        mix
                    });
                }
                self.merged(kept, name)?
            }
        };
        self.graph.mark(joined, Stage::Joined);
        Ok(joined)
    }

    /// Keys and values of each head below those of earlier tokens; from now on, the cache has them too.
    pub(super) fn with_past(&mut self, keys: Vec<NodeId>, values: Vec<NodeId>) -> Result<[Vec<NodeId>; 2]> {
        let Some(past) = self.past.take() else { return Ok([keys, values]) };
        let tokens = self.tokens_with(&past, &keys);
        let keys = self.below(Role::K, past.keys, (keys, &tokens))?;
        let values = self.below(Role::V, past.values, (values, &tokens))?;
        let numbers =
            |ids: &[NodeId]| ids.iter().filter_map(|&id| self.graph[id].tensor().cloned()).collect();
        self.past = Some(HeadCache { keys: numbers(&keys), values: numbers(&values) });
        Ok([keys, values])
    }

    /// The names of the tokens of the cache and of the new ones, once for all heads.
    fn tokens_with(&self, past: &HeadCache, keys: &[NodeId]) -> Option<Labels> {
        let (before, new) = (past.keys.first()?.row_labels()?, self.graph[*keys.first()?].labels().0?);
        Some(before.iter().chain(new.iter()).cloned().collect())
    }

    /// The rows of each head below those of the cache.
    fn below(
        &mut self,
        role: Role,
        past: Vec<Tensor>,
        (heads, tokens): (Vec<NodeId>, &Option<Labels>),
    ) -> Result<Vec<NodeId>> {
        if past.is_empty() {
            return Ok(heads);
        }
        let several = heads.len() > 1;
        let stacked = |(head, (node, mut past)): (usize, (NodeId, Tensor))| {
            let (name, suffix) = (role.name(), suffix(several.then_some(head + 1)));
            let names = [format!("{name}_past{suffix}"), format!("{name}_all{suffix}")];
            let op = Op::Stack(tokens.clone());
            // Where nothing is kept but the cache, it grows where it is.
            if let (false, Some(new)) = (self.steps.are_kept(), self.graph[node].tensor())
                && past.append(new, tokens.as_ref())?
            {
                return self.graph.record(&names[1], Op::Given(Origin::Cache), &[], past);
            }
            let cached = self.graph.weights(&names[0], past, Origin::Cache)?;
            self.graph.add(&names[1], op, &[cached, node])
        };
        heads.into_iter().zip(past).enumerate().map(stacked).collect()
    }
}

/// What stands in for a part of a model that is taken out: 0, or its mean over the rows.
///
/// # Errors
/// If the name is taken.
pub(crate) fn removed(graph: &mut Graph, name: &str, part: NodeId, by_mean: bool) -> Result<NodeId> {
    if !by_mean {
        return graph.add(name, Op::Scale(Factor::Number(0.0)), &[part]);
    }
    let rows = graph[part].shape().rows;
    let ones = graph.add(&format!("{name}_ones"), Op::Ones { rows, cols: rows }, &[])?;
    let sums = graph.add(&format!("{name}_sums"), Op::Product, &[ones, part])?;
    let mean = graph.add(name, Op::Scale(Factor::Inverse(rows)), &[sums])?;
    let tokens = graph[part].labels().0.cloned();
    graph.name_lines(mean, tokens, None);
    Ok(mean)
}
