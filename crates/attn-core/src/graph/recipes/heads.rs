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

use super::alteration::{Alter, Alteration, Site};
use super::attend::{Head, Pipeline, Sources, StepsOfHeads, check_split};
use super::recipe::{Groups, HeadSharing, NormaliseAxis, Recipe, ScoreRows, Split};
use super::weights::softmax_with;

impl Pipeline<'_> {
    /// Computes all heads and returns their mixed values. For a single head it returns weights and values, which are mixed later,
    /// under the name of the result.
    pub fn heads(&mut self, sources: Sources) -> Result<Vec<NodeId>> {
        let (heads, groups) = (self.recipe.heads, self.recipe.kv_heads);
        let frequencies = self.frequencies(&sources)?;
        let mut of_role = |role| self.of_role(role, &sources, frequencies);
        let [mut queries, keys, values] = [of_role(Role::Q)?, of_role(Role::K)?, of_role(Role::V)?];
        let [mut keys, mut values] = self.with_past(keys, values)?;
        if let HeadSharing::FirstOf { q, k, v } = self.recipe.common {
            for (all, is_common) in [(&mut queries, q), (&mut keys, k), (&mut values, v)] {
                let first = all[0];
                if is_common {
                    all.fill(first);
                }
            }
        }
        let how = self.recipe.groups;
        let group = |head: usize| match how {
            Groups::Shared => key_value_head(head, heads, groups),
            Groups::Tiled => head % groups,
            Groups::First => 0,
            Groups::Reversed => groups - 1 - key_value_head(head, heads, groups),
        };
        let common = self.recipe.common;
        let together = self.recipe.normalise.along == NormaliseAxis::Heads;
        let reads_wait = together || (heads > 1 && common == HeadSharing::MeanScores);
        let waits = reads_wait || matches!(common, HeadSharing::FirstWeights | HeadSharing::MeanWeights);
        let (mut waiting, mut mixes) = (Vec::new(), Vec::new());
        for (head, &query) in queries.iter().enumerate() {
            self.head = Head::of(self.graph, head, heads);
            let begun = self.graph.recorded_nodes();
            let read = self.read([query, keys[group(head)]])?.2;
            let weights = if reads_wait { read } else { self.weights_from(read)? };
            // Without sharing between heads, each head is finished before the next one begins.
            if waits {
                waiting.push(weights);
                continue;
            }
            let mix = self.mix(weights, values[group(head)])?;
            mixes.extend(&mix);
            if heads == 1 || self.steps.are_kept() {
                continue;
            }
            let of_head = |head: usize| [queries[head], keys[group(head)], values[group(head)]];
            // If nobody looks at the weights, the other heads may have the same steps.
            let is_unseen = matches!(self.steps, StepsOfHeads::Forgotten(None));
            let alike = if is_unseen { self.graph.steps_of_head(begun, of_head(head)) } else { None };
            self.graph.forget_since(begun, &mix);
            if let Some(steps) = alike {
                let others: Vec<[NodeId; 3]> = (head + 1..heads).map(of_head).collect();
                mixes.extend(self.mixed_together(&steps, &others)?);
                break;
            }
        }
        self.head = Head::default();
        let weights = if together {
            self.over_heads(&waiting)?
        } else if reads_wait {
            let mean = self.mean("S", &waiting)?;
            self.each_head(heads, |pipeline, _| pipeline.weights_from(mean))?
        } else {
            waiting
        };
        let weights = match common {
            HeadSharing::FirstWeights => vec![weights[0]; heads],
            HeadSharing::MeanWeights => vec![self.mean("A", &weights)?; heads],
            _ => weights,
        };
        let mixed = |pipeline: &mut Self, head: usize| pipeline.mix(weights[head], values[group(head)]);
        mixes.extend(self.each_head(weights.len(), mixed)?.concat());
        if heads > 1 && common == HeadSharing::MeanMixes {
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
    fn mix(&mut self, mut weights: NodeId, values: NodeId) -> Result<Vec<NodeId>> {
        if let Some(decimals) = self.recipe.weight_decimals {
            weights = self.add("A_rounded", Op::Round(decimals), &[weights])?;
        }
        let number = self.head.number;
        if let (StepsOfHeads::Forgotten(Some(look)), Some(numbers)) =
            (self.steps, self.graph[weights].tensor())
        {
            look(number.unwrap_or(1), numbers);
        }
        if number.is_none() {
            return Ok(vec![weights, values]);
        }
        let (step, sites) = (Stage::Mixed.of_head(number), [Site::Mixes]);
        let name = step.to_string();
        let mix = self.graph.add(&self.name_before(&sites, &name), Op::Product, &[weights, values])?;
        let mix = self.altered(&sites, &name, mix)?;
        self.graph.mark(mix, step);
        Ok(vec![mix])
    }

    /// Queries, keys or values of each head, normed and rotated; on the fast path all heads in one, where they are only normed, and
    /// together.
    pub(super) fn of_role(
        &mut self,
        role: Role,
        sources: &Sources,
        frequencies: Option<NodeId>,
    ) -> Result<Vec<NodeId>> {
        let Recipe { heads, kv_heads: groups, split_roles: roles, .. } = *self.recipe;
        let [first_query, first_key] = self.first_positions(sources);
        let [q, k, v] = *sources;
        let ((node, source), count, first, whole, site, is_split) = match role {
            Role::Q => (q, heads, first_query, Site::WholeQueries, Site::Queries, roles.q),
            Role::K => (k, groups, first_key, Site::WholeKeys, Site::Keys, roles.k),
            _ => (v, groups, first_key, Site::WholeValues, Site::Values, roles.v),
        };
        let place = first - self.recipe.positions.first;
        let node = self.altered_from(&[whole], role.name(), (node, place))?;
        let normed = self.normed_whole(role, node, count)?;
        if self.kernel.is_some() && normed != node && frequencies.is_none() {
            return Ok(vec![normed]);
        }
        let how = if is_split { self.recipe.split } else { Split::Blocks };
        let blocks = match heads {
            1 => vec![normed],
            _ => split_once(self.graph, source, normed, count, how)?,
        };
        let altered = |pipeline: &mut Self, head: usize| {
            let name = format!("{}{}", role.name(), pipeline.head.suffix);
            pipeline.altered_from(&[site], &name, (blocks[head], place))
        };
        let blocks = self.each_head(blocks.len(), altered)?;
        if role == Role::V && !self.rotates_values() {
            return Ok(blocks);
        }
        self.prepared((role, first), blocks, frequencies)
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
        let (heads, scores) =
            (self.recipe.heads, Shape { rows: self.shape(q).rows, cols: self.shape(k).rows });
        let Shape { rows, cols } = self.shape(id);
        let is_own = heads > 1 && cols == heads * scores.cols && (stacked == 1 || stacked == heads);
        let fits = rows == scores.rows && (is_own || stacked == 1 && cols == scores.cols);
        if self.recipe.comparison == ScoreRows::QueriesWithKeys && !fits {
            let what = if role == Role::Bias { "bias" } else { "mask" };
            let found = match stacked {
                1 => self.shape(id).to_string(),
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
        if is_own {
            let forms = self.graph.forms_steps();
            self.graph.form_steps(forms && self.kernel.is_none());
            split_once(self.graph, role, id, heads, Split::Blocks)?;
            self.graph.form_steps(forms);
        }
        Ok(())
    }

    /// Weights that sum to 1 over the heads, for each query and key.
    fn over_heads(&mut self, reads: &[NodeId]) -> Result<Vec<NodeId>> {
        let Shape { rows, cols } = self.shape(reads[0]);
        let line = |(head, &read): (usize, &NodeId)| {
            self.graph.add(&format!("S_line_{head}"), Op::Reshape { rows: 1, cols: rows * cols }, &[read])
        };
        let lines: Vec<NodeId> = (1..).zip(reads).map(line).collect::<Result<_>>()?;
        let stacked = self.graph.add("S_lines", Op::Stack(None), &lines)?;
        let softmax = softmax_with(self.recipe.guarded, Axis::Columns, self.recipe.base);
        let all = self.graph.add("A_lines", softmax, &[stacked])?;
        let weights = |head: usize| {
            let line = Op::Rows { start: head - 1, count: 1 };
            let line = self.graph.add(&format!("A_line_{head}"), line, &[all])?;
            let step = Stage::Weights.of_head(Some(head));
            let weights = self.graph.add(&step.to_string(), Op::Reshape { rows, cols }, &[line])?;
            self.graph.mark(weights, step);
            Ok(weights)
        };
        (1..=reads.len()).map(weights).collect()
    }

    /// The mean of one node of each head: `A_mean`.
    fn mean(&mut self, name: &str, of_heads: &[NodeId]) -> Result<NodeId> {
        let sum = self.graph.add(&format!("{name}_sum"), Op::Add, of_heads)?;
        self.graph.add(&format!("{name}_mean"), Op::Scale(Factor::Inverse(of_heads.len())), &[sum])
    }
}

/// The blocks of a node, split only once where two roles share the node.
pub(super) fn split_once(
    graph: &mut Graph,
    role: Role,
    whole: NodeId,
    heads: usize,
    how: Split,
) -> Result<Vec<NodeId>> {
    let of_head = |head| Stage::Role(role).of_head(Some(head));
    let known: Vec<NodeId> = (1..).map_while(|head| graph.at(of_head(head))).collect();
    if known.len() == heads && heads > 0 {
        return Ok(known);
    }
    let blocks = split(graph, role.name(), whole, heads, how)?;
    (1..).zip(&blocks).for_each(|(head, &block)| graph.mark(block, of_head(head)));
    Ok(blocks)
}

/// A block of columns for each head: `Q_1`, `Q_2` …
///
/// # Errors
/// If the columns cannot be shared out evenly, or a name is taken.
pub fn split(graph: &mut Graph, name: &str, whole: NodeId, heads: usize, how: Split) -> Result<Vec<NodeId>> {
    let Shape { rows, cols } = graph[whole].shape();
    check_split(name, cols, heads)?;
    let count = cols / heads;
    let mut from = whole;
    if how == Split::Reshaped {
        // The cells read row by row as (H, T, d), a block of T rows for each head.
        let stack = Op::Reshape { rows: rows * heads, cols: count };
        from = graph.add(&format!("{name}_reshaped"), stack, &[whole])?;
    }
    let block = |head: usize| {
        let block = match how {
            Split::Blocks => Op::Columns { start: head * count, count },
            Split::Interleaved => Op::EveryNthColumn { start: head, step: heads },
            Split::Reshaped => Op::Rows { start: head * rows, count: rows },
        };
        graph.add(&format!("{name}_{}", head + 1), block, &[from])
    };
    (0..heads).map(block).collect()
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
        let mut role_again = |role| self.role_again(role, result);
        let [q, k, v] = [role_again(Role::Q)?, role_again(Role::K)?, role_again(Role::V)?];
        let mut blocks = |name: &str, whole: NodeId, count: usize| match count {
            1 => Ok(vec![whole]),
            _ => split(self.graph, name, whole, count, Split::Blocks),
        };
        let (q, k, v) =
            (blocks("Q_again", q, heads)?, blocks("K_again", k, groups)?, blocks("V_again", v, groups)?);
        let mixes = self.each_head(heads, |pipeline, head| {
            let (suffix, group) = (format!("_again_{}", head + 1), key_value_head(head, heads, groups));
            pipeline.head = Head { number: None, suffix, ..pipeline.head.clone() };
            let weights = pipeline.weights_of([q[head], k[group]])?.weights;
            pipeline.add("O", Op::Product, &[weights, v[group]])
        })?;
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
        let given = |role: Role| self.graph.at(role);
        let weights = role.weights().and_then(given);
        let replaced = given(if weights.is_some() { Role::X } else { role });
        let shape = self.shape(result);
        if replaced.is_none_or(|replaced| self.shape(replaced) != shape) {
            return Err(Error::new(format!("the result is {shape}, and cannot go through attention again")));
        }
        let Some(weights) = weights else { return Ok(result) };
        let bias = role.weights().and_then(Role::bias).and_then(given);
        self.projected_with(&format!("{}_again", role.name()), Op::Product, [result, weights], bias)
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
