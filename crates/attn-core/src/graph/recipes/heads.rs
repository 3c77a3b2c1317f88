//! Heads: columns are split into blocks, and each head is computed up to its mixed values.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use attn_kernel::{Linear, Machine, Rows, WeightOrder, each_task, linear};

use crate::attention::{Axis, Base, Mask, key_value_head};
use crate::error::{Error, Result};
use crate::graph::single::{hide, named, singles, softmax_in_place};
use crate::graph::{Factor, Given, Graph, NodeId, Op, Origin, Precision, Role, Stage};
use crate::matrix::Shape;
use crate::memory;
use crate::tensor::Tensor;

use super::alter::{altered, name_before};
use super::alteration::{Alter, Alteration, Site};
use super::attend::{Pipeline, SharedNodes, StepsOfHeads, check_split};
use super::recipe::{Groups, HeadSharing, NormaliseAxis, Recipe, ScoreRows, Split, SplitRoles};
use super::weights::{BiasAndMask, Head, number, softmax_with, suffix};

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
            let mut one = self.head((&suffix, number));
            let read = one.read([query, keys[group(head)]])?.2;
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
                // If nobody looks at the weights, the other heads may have the same steps.
                let is_unseen = matches!(self.steps, StepsOfHeads::Forgotten(None));
                let alike = if is_unseen { self.graph.steps_of_head(begun, of_head(head)) } else { None };
                self.graph.forget_since(begun, &mix);
                if let Some(steps) = alike {
                    mixes.extend(self.mixed_together(&steps, &others)?);
                    break;
                }
            }
        }
        let weights = if together {
            self.over_heads(&waiting)?
        } else if reads_wait {
            self.of_mean_scores(&waiting)?
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
        let name = name_before(self.recipe, &[Site::Mixes], &step.to_string());
        let mix = self.graph.add(&name, Op::Product, &[weights, values])?;
        let mixes = &[Site::Mixes];
        let mix = altered(&mut self.graph, self.recipe, mixes, &step.to_string(), (mix, 0))?;
        self.graph.mark(mix, step);
        Ok(vec![mix])
    }

    /// The steps of a head, counted from 1 where there are several.
    pub(super) fn head<'s>(&'s mut self, (suffix, number): (&'s str, Option<usize>)) -> Head<'s> {
        let additions = BiasAndMask::of_head(&self.graph, number);
        Head { graph: &mut self.graph, recipe: self.recipe, suffix, number, additions, never: None }
    }

    /// Queries, keys and values of each head.
    fn of_heads(&mut self, sources: &SharedNodes) -> Result<[Vec<NodeId>; 3]> {
        let frequencies = self.frequencies([sources.q, sources.k])?;
        let mut all = [const { Vec::new() }; 3];
        for (at, of_role) in all.iter_mut().enumerate() {
            *of_role = self.of_role(at, sources, frequencies)?;
        }
        Ok(all)
    }

    /// Queries, keys or values of each head, normed and rotated; on the fast path all heads in one, where they are only normed, and
    /// together.
    pub(super) fn of_role(
        &mut self,
        at: usize,
        sources: &SharedNodes,
        frequencies: Option<NodeId>,
    ) -> Result<Vec<NodeId>> {
        use Site::{
            Keys, KeysAndValues, Queries, QueriesAndKeys, Roles, Values, WholeKeys, WholeQueries,
            WholeQueriesAndKeys, WholeValues,
        };
        let (heads, groups) = (self.recipe.heads, self.recipe.kv_heads);
        let first = self.first_positions([sources.q, sources.k]);
        let SplitRoles { q, k, v } = self.recipe.split_roles;
        let whole: &[Site] =
            [&[WholeQueries, WholeQueriesAndKeys][..], &[WholeKeys, WholeQueriesAndKeys], &[WholeValues]][at];
        let (role, node, count, first, stages, is_split): (_, _, _, _, &[Site], _) = match at {
            0 => (Role::Q, sources.q, heads, first.query, &[Queries, QueriesAndKeys, Roles], q),
            1 => (Role::K, sources.k, groups, first.key, &[Keys, QueriesAndKeys, KeysAndValues, Roles], k),
            _ => (Role::V, sources.mixed, groups, first.key, &[Values, KeysAndValues, Roles], v),
        };
        let place = first - self.recipe.positions.first;
        let node = altered(&mut self.graph, self.recipe, whole, role.name(), (node, place))?;
        let normed = self.normed_whole(role, node, count)?;
        if self.kernel.is_some() && normed != node && frequencies.is_none() {
            return Ok(vec![normed]);
        }
        let how = if is_split { self.recipe.split } else { Split::Blocks };
        let mut blocks = match heads {
            1 => vec![normed],
            _ => split_once(&mut self.graph, sources.roles[at], normed, count, how)?,
        };
        for (head, block) in blocks.iter_mut().enumerate() {
            let name = Stage::Role(role).of_head(number(head, heads)).to_string();
            *block = altered(&mut self.graph, self.recipe, stages, &name, (*block, place))?;
        }
        if role != Role::V || self.rotates_values() {
            self.prepared((role, first), &mut blocks, frequencies)?;
        }
        Ok(blocks)
    }

    /// Records a bias or a mask matrix: one for all heads, or one for each side by side, split into `M_1`, `M_2`.
    ///
    /// # Errors
    /// If it has not a cell for each query and key, once or for each head.
    pub(super) fn beside_scores(
        &mut self,
        role: Role,
        given: Option<Given>,
        [q, k]: [NodeId; 2],
    ) -> Result<()> {
        let stacked = given.as_ref().map_or(1, |given| given.tensor.head_count());
        let Some(id) = self.optional(role, given)?.or_else(|| self.graph.at(role)) else { return Ok(()) };
        let (heads, scores) = (self.recipe.heads, Shape { rows: self.shape(q).0, cols: self.shape(k).0 });
        let Shape { rows, cols } = self.graph[id].shape();
        let is_own = heads > 1 && cols == heads * scores.cols && (stacked == 1 || stacked == heads);
        let fits = rows == scores.rows && (is_own || stacked == 1 && cols == scores.cols);
        if self.recipe.comparison == ScoreRows::QueriesWithKeys && !fits {
            let what = if role == Role::Bias { "bias" } else { "mask" };
            let found = match stacked {
                1 => self.graph[id].shape().to_string(),
                _ => format!("{stacked} matrices of {rows}×{}", cols / stacked),
            };
            let own = match (stacked, heads) {
                (1, 1) => String::new(),
                (_, 1) => format!("; --heads {stacked} gives each head its own"),
                _ => format!(", once or for each of the {heads} heads"),
            };
            let error = Error::new(format!("the {what} is {found}, but the scores are {scores}"))
                .help(format!("give the {what} a row for each query and a column for each key{own}"));
            return Err(match &self.graph[id].op {
                Op::Given(Origin::User(source)) => error.in_source(source.clone()),
                _ => error,
            });
        }
        match self.kernel {
            _ if !is_own => return Ok(()),
            None => split_once(&mut self.graph, role, id, heads, Split::Blocks)?,
            Some(_) => split_never_formed(&mut self.graph, role, id, heads)?,
        };
        Ok(())
    }

    /// Weights that sum to 1 over the heads, for each query and key.
    fn over_heads(&mut self, reads: &[NodeId]) -> Result<Vec<NodeId>> {
        let (rows, cols) = self.shape(reads[0]);
        let line = |(head, &read): (usize, &NodeId)| {
            self.graph.add(&format!("S_line_{head}"), Op::Reshape { rows: 1, cols: rows * cols }, &[read])
        };
        let lines: Vec<NodeId> = (1..).zip(reads).map(line).collect::<Result<_>>()?;
        let stacked = self.graph.add("S_lines", Op::Stack(None), &lines)?;
        let softmax = softmax_with(self.recipe.guarded, Axis::Columns, self.recipe.base);
        let all = self.graph.add("A_lines", softmax, &[stacked])?;
        let mut weights = Vec::new();
        for head in 0..reads.len() {
            let number = Some(head + 1);
            let suffix = suffix(number);
            let line =
                self.graph.add(&format!("A_line{suffix}"), Op::Rows { start: head, count: 1 }, &[all])?;
            let mut one = self.head((&suffix, number));
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
    fn of_mean_scores(&mut self, reads: &[NodeId]) -> Result<Vec<NodeId>> {
        let (mean, heads) = (self.mean("S", reads)?, reads.len());
        let of_head = |head: usize| {
            let number = number(head, heads);
            self.head((&suffix(number), number)).weights(mean)
        };
        (0..heads).map(of_head).collect()
    }

    /// The mean of one node of each head: `A_mean`.
    fn mean(&mut self, name: &str, of_heads: &[NodeId]) -> Result<NodeId> {
        let sum = self.graph.add(&format!("{name}_sum"), Op::Add, of_heads)?;
        self.graph.add(&format!("{name}_mean"), Op::Scale(Factor::Inverse(of_heads.len())), &[sum])
    }
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
pub(super) fn mark_heads(graph: &mut Graph, role: Role, blocks: &[NodeId]) {
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
    check_split(name, width, heads)?;
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

// A second pass: the result goes through the same attention.

impl Pipeline<'_> {
    /// Whether the recipe has a second pass.
    pub(super) fn attends_again(&self) -> bool {
        self.recipe.alteration == Some(Alteration { stage: Site::Result, alter: Alter::AttendedAgain })
    }

    /// Adds a second pass that reads the result as the tokens, or as Q, K and V where those are given.
    ///
    /// # Errors
    /// If the result does not have the shape of the tokens, or of Q, K and V.
    pub(super) fn attended_again(&mut self, result: NodeId) -> Result<NodeId> {
        let (heads, groups) = (self.recipe.heads, self.recipe.kv_heads);
        let [q, k, v] = [Role::Q, Role::K, Role::V].map(|role| self.role_again(role, result));
        let [q, k, v] = [(q?, heads, Role::Q), (k?, groups, Role::K), (v?, groups, Role::V)]
            .map(|(whole, count, role)| self.blocks_again(whole, count, role));
        let (q, k, v) = (q?, k?, v?);
        let mut mixes = Vec::new();
        for (head, &query) in q.iter().enumerate() {
            let (suffix, group) = (format!("_again_{}", head + 1), key_value_head(head, heads, groups));
            let mut one = Head { number: None, ..self.head((&suffix, number(head, heads))) };
            let weights = one.steps([query, k[group]])?.weights;
            mixes.push(self.graph.add(&format!("O{suffix}"), Op::Product, &[weights, v[group]])?);
        }
        let mut last = self.graph.add("C_again", Op::Concatenate, &mixes)?;
        if let Some(w_o) = self.graph.at(Role::WO).filter(|_| self.recipe.output.projected) {
            last = self.projected_with("P_again", Op::Product, [last, w_o], self.graph.at(Role::BO))?;
        }
        // The sum of one matrix is that matrix under another name.
        let parts = if self.recipe.output.residual { vec![result, last] } else { vec![last] };
        self.graph.add(Stage::Output.name(), Op::Add, &parts)
    }

    /// The node of a role in the second pass.
    fn role_again(&mut self, role: Role, result: NodeId) -> Result<NodeId> {
        let weights = role.weights().and_then(|weights| self.graph.at(weights));
        let replaced = self.graph.at(if weights.is_some() { Role::X } else { role });
        let shape = self.graph[result].shape();
        if replaced.is_none_or(|replaced| self.graph[replaced].shape() != shape) {
            return Err(Error::new(format!("the result is {shape}, and cannot go through attention again")));
        }
        match weights {
            Some(weights) => {
                let bias = role.weights().and_then(Role::bias).and_then(|bias| self.graph.at(bias));
                self.projected_with(&format!("{}_again", role.name()), Op::Product, [result, weights], bias)
            }
            None => Ok(result),
        }
    }

    /// The columns of each head.
    fn blocks_again(&mut self, whole: NodeId, count: usize, role: Role) -> Result<Vec<NodeId>> {
        if count == 1 {
            return Ok(vec![whole]);
        }
        split(&mut self.graph, &format!("{}_again", role.name()), whole, count, Split::Blocks)
    }
}

// Heads whose steps nobody looks at: the same steps with the same bits as those of a head that is recorded, but some queries at a
// time, so that their scores stay in the cache, and on all threads.

/// The queries of a task: with a thousand keys, their scores fit the cache of a core.
const QUERIES_TOGETHER: usize = 64;

/// Fewer multiplications than this are done on one thread; reading keys and values from memory takes longer than multiplying.
const MIN_PRODUCTS_FOR_THREADS: usize = 100_000;

/// The steps of a head: scores, scale, mask, softmax, values mixed.
#[derive(Clone, Debug)]
struct HeadSteps {
    scale: Option<Factor>,
    mask: Option<Mask>,
    machine: Machine,
}

impl Graph {
    /// The steps recorded after the first `count` nodes, if they are those of a head with these queries, keys and values that read
    /// nothing else: then the other heads have the same.
    fn steps_of_head(&self, count: usize, qkv: [NodeId; 3]) -> Option<HeadSteps> {
        let Precision::Single(machine) = self.precision else { return None };
        let [queries, keys, values] = qkv;
        let mut steps = HeadSteps { scale: None, mask: None, machine };
        let mut nodes = self.nodes[count..].iter().enumerate().peekable();
        let mut next = |reads: &[NodeId], fits: &mut dyn FnMut(&Op) -> bool| {
            let found = nodes.next_if(|(_, node)| node.inputs == reads && fits(&node.op));
            found.map(|(at, _)| NodeId(count + at))
        };
        let mut read = next(&[queries, keys], &mut |op| matches!(op, Op::ProductTransposed))?;
        let mut scale = |op: &Op| matches!(op, Op::Scale(factor) if steps.scale.replace(*factor).is_none());
        read = next(&[read], &mut scale).unwrap_or(read);
        let mut mask =
            |op: &Op| matches!(op, Op::Mask(mask) if mask.is_range() && steps.mask.replace(*mask).is_none());
        read = next(&[read], &mut mask).unwrap_or(read);
        let weights = next(&[read], &mut |op| matches!(op, Op::Softmax(Axis::Rows, Base::E)))?;
        next(&[weights, values], &mut |op| matches!(op, Op::Product))?;
        nodes.peek().is_none().then_some(steps)
    }

    /// What other heads with these steps mix, of queries, keys and values each.
    ///
    /// # Errors
    /// If the shapes do not fit, or there is no room for the numbers.
    fn mixed_by_heads(&self, steps: &HeadSteps, heads: &[[NodeId; 3]]) -> Result<Vec<Tensor>> {
        let of_head = |head: &[NodeId; 3]| HeadNumbers::new(&self.tensors(head)?);
        steps.mixed(&heads.iter().map(of_head).collect::<Result<Vec<_>>>()?)
    }
}

/// The numbers of a head.
struct HeadNumbers<'a> {
    tensors: [&'a Tensor; 3],
    numbers: [Cow<'a, [f32]>; 3],
}

impl<'a> HeadNumbers<'a> {
    fn new(tensors: &[&'a Tensor]) -> Result<HeadNumbers<'a>> {
        let &[q, k, v] = tensors else { return Err(Error::new("a head has queries, keys and values")) };
        Ok(HeadNumbers { tensors: [q, k, v], numbers: [singles(q)?, singles(k)?, singles(v)?] })
    }

    fn shapes(&self) -> [Shape; 3] {
        self.tensors.map(Tensor::shape)
    }
}

/// Returns true if no number is infinite or NaN.
fn are_finite(numbers: &[f32]) -> bool {
    let bits = numbers.iter().fold(0, |largest: u32, x| largest.max(x.abs().to_bits()));
    bits < f32::INFINITY.to_bits()
}

impl HeadSteps {
    fn mixed(&self, heads: &[HeadNumbers<'_>]) -> Result<Vec<Tensor>> {
        let mut mixes: Vec<Vec<f32>> = Vec::new();
        let mut products = 0_usize;
        for head in heads {
            let [q, k, v] = head.shapes();
            mixes.push(memory::uncharged_zeros(q.rows.saturating_mul(v.cols))?);
            let pairs = q.rows.saturating_mul(k.rows);
            products = products.saturating_add(pairs.saturating_mul(k.cols.saturating_add(v.cols)));
        }
        let mut parts = Vec::new();
        for (head, mix) in heads.iter().zip(&mut mixes) {
            let part = QUERIES_TOGETHER * head.shapes()[2].cols.max(1);
            for (at, part) in mix.chunks_mut(part).enumerate() {
                parts.push(Mutex::new((head, at * QUERIES_TOGETHER, part)));
            }
        }
        let threads = if products < MIN_PRODUCTS_FOR_THREADS { 1 } else { self.machine.threads };
        let failed = Mutex::new(None);
        each_task(Machine { threads, ..self.machine }, parts.len(), &|task| {
            let mut part = parts[task].lock().unwrap_or_else(PoisonError::into_inner);
            let (head, first, ref mut mix) = *part;
            if let Err(error) = self.mix(head, first, mix) {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        });
        drop(parts);
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let tensor = |(head, mix): (&HeadNumbers<'_>, Vec<f32>)| {
            let [q, _, v] = head.tensors;
            named(mix, (q.shape().rows, v.shape().cols), q.row_labels(), v.col_labels())
        };
        heads.iter().zip(mixes).map(tensor).collect()
    }

    /// What the queries from `first` on mix, as many as fit.
    fn mix(&self, head: &HeadNumbers<'_>, first: usize, mix: &mut [f32]) -> Result<()> {
        let [q_shape, k_shape, v_shape] = head.shapes();
        let [q, k, v] = head.numbers.each_ref().map(|numbers| &numbers[..]);
        let rows = mix.len() / v_shape.cols.max(1);
        let whole = Shape { rows: q_shape.rows, cols: k_shape.rows };
        let visible = |row: usize| match &self.mask {
            Some(mask) => mask.range_of(first + row, whole),
            None => 0..whole.cols,
        };
        // Keys after the last visible one have a weight of 0, and 0 times a finite value is 0.
        let seen = (0..rows).map(|row| visible(row).end).max().unwrap_or(0).clamp(1, whole.cols.max(1));
        let keys = if are_finite(&v[seen * v_shape.cols..]) { seen } else { whole.cols };
        let machine = Machine { threads: 1, ..self.machine };
        let product = |input, weights, order, out: &mut [f32]| {
            linear(&Linear::<f32> { input, weights, order, bias: None }, machine, out).map(drop)
        };
        let mut scores: Vec<f32> = memory::uncharged_zeros(rows.saturating_mul(keys))?;
        let queries = Rows::new("the queries", &q[first * q_shape.cols..], rows, q_shape.cols)?;
        product(queries, Rows::new("the keys", k, keys, k_shape.cols)?, WeightOrder::OutIn, &mut scores)?;
        let factor = self.scale.map(|factor| factor.value() as f32);
        for (row, scores) in scores.chunks_mut(keys.max(1)).enumerate() {
            if let Some(factor) = factor {
                scores.iter_mut().for_each(|x| *x *= factor);
            }
            let visible = visible(row);
            hide(scores, visible.start.min(keys)..visible.end.min(keys));
        }
        softmax_in_place(&mut scores, keys, machine)?;
        let weights = Rows::new("the weights", &scores, rows, keys)?;
        product(weights, Rows::new("the values", v, keys, v_shape.cols)?, WeightOrder::InOut, mix)?;
        Ok(())
    }
}
