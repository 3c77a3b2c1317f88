//! The graph of a pipeline on the fast path: the same steps, most of them recorded as never formed.

use attn_kernel::{Heads, Kernels, Layout, Machine, Real, Resources};

use crate::attention::{
    FastAttention, FusedOutput, HeadOf, MaskCells, MatrixRule, Pairs, attend_fast, key_value_head,
};
use crate::error::{Error, Result};
use crate::graph::ops::positions::alibi_of;
use crate::graph::warnings::{ZeroRow, warning_of_rows};
use crate::graph::{
    Factor, FusedSteps, Fusion, Given, Graph, MAX_CELLS, NodeId, Op, Origin, Role, Stage, Step,
};
use crate::matrix::{Labels, Shape};
use crate::memory;
use crate::tensor::{Dtype, Element, Tensor};

use super::attend::{AttendInputs, HeadCache, Pipeline, SharedNodes, StepsOfHeads, check_fused, named};
use super::heads::{mark_heads, split, split_never_formed};
use super::output::OutputSteps;
use super::positions::{buckets, places};
use super::recipe::{NormPlace, PositionKind, QkNorm, Recipe, Score, Split};
use super::weights::{BiasAndMask, suffix, weights_never_formed};

/// Every head has its own nodes; a graph of more heads would be unreadable.
const MOST_HEADS: usize = 1024;

/// Builds and runs the pipeline on the fast path: Q, K and V as given or computed, the steps up to the weights without
/// values, `LSE` with a column for each head, and `O` last. The steps before and after the heads (projections, residual)
/// are computed one by one as in [`super::attend`]. Queries, keys, values, mask and bias are read in `dtype`; numbers of another
/// type are rounded to the nearest. Returns also the resources that the kernel used.
///
/// # Errors
/// If matrices are missing or do not fit, the kernel lacks a step of the recipe, or this processor lacks the instructions that
/// `machine` names.
pub fn attend_fused(
    recipe: &Recipe,
    inputs: AttendInputs,
    dtype: Dtype,
    machine: Machine,
) -> Result<(Graph, Resources)> {
    let pipeline = Pipeline { graph: Graph::new(), recipe, past: None, steps: StepsOfHeads::Kept };
    match dtype {
        Dtype::F32 => run::<f32>(pipeline, inputs, machine),
        Dtype::F64 => run::<f64>(pipeline, inputs, machine),
        Dtype::F16 | Dtype::Bf16 | Dtype::Bool => {
            Err(Error::new(format!("attention cannot be computed with the type {}", dtype.name()))
                .help("give f32 or f64"))
        }
    }
}

/// # Errors
/// If the kernel lacks a step of the recipe.
fn check(recipe: &Recipe) -> Result<()> {
    if recipe.score == Score::Cosine {
        return Err(Error::new("the fast path cannot compute cosine scores")
            .help("leave out --score cosine or --fast"));
    }
    if recipe.heads > MOST_HEADS {
        return Err(Error::new(format!(
            "there are {} heads, but at most {MOST_HEADS} are allowed",
            recipe.heads
        )));
    }
    let QkNorm { place, epsilon, .. } = recipe.qk_norm;
    let plain = Recipe {
        heads: recipe.heads,
        kv_heads: recipe.kv_heads,
        positions: recipe.positions.without_mistakes(),
        qk_norm: QkNorm { place, epsilon, ..QkNorm::default() },
        scale: recipe.scale,
        temperature: recipe.temperature,
        soft_cap: recipe.soft_cap,
        mask: recipe.mask,
        output: recipe.output,
        ..Recipe::default()
    };
    if plain == *recipe {
        return Ok(());
    }
    Err(Error::new("the fast path does not support one of these options"))
}

fn run<T: Element + Kernels>(
    mut pipeline: Pipeline<'_>,
    mut inputs: AttendInputs,
    machine: Machine,
) -> Result<(Graph, Resources)> {
    let recipe = pipeline.recipe;
    pipeline.check(inputs.mask.is_some())?;
    check(recipe)?;
    if inputs.backward.is_some() {
        return Err(Error::new("the fast path keeps no steps that a backward pass could read"));
    }
    check_fused(recipe, &inputs)?;
    let mechanisms = inputs.take_mechanisms();
    let AttendInputs { x, w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, q, k, v, mask, bias, tokens, .. } = inputs;
    let tokens = tokens.as_ref();
    let x = pipeline.optional(Role::X, x.map(|x| named(x, tokens)))?;
    pipeline.reads_tokens([&q, &k, &v].into_iter().any(Option::is_none))?;
    let x = pipeline.positioned(x)?;
    let mut role = |role: Role, own: Option<Given>, weights: [Option<Given>; 2]| match own {
        Some(own) if weights[1].is_none() => given::<T>(&mut pipeline.graph, role, named(own, tokens)),
        own => {
            let id = pipeline.role(role, own, x, weights)?;
            let matrix = pipeline.graph.matrix(id)?;
            Ok((id, Tensor::rounded::<T>(matrix).map_err(|error| error.in_source(role.name()))?))
        }
    };
    let (q, mut queries) = role(Role::Q, q, [w_q, b_q])?;
    let (k, mut keys) = role(Role::K, k, [w_k, b_k])?;
    let (v, values) = role(Role::V, v, [w_v, b_v])?;
    pipeline.fit(q, k, v)?;
    pipeline.mechanisms(mechanisms)?;
    let own = [q, k, v];
    let [q, k] = if pipeline.prepares_heads() {
        let prepared = pipeline.prepared_whole([q, k])?;
        let in_type = |id: NodeId| Tensor::rounded::<T>(pipeline.graph.matrix(id)?);
        (queries, keys) = (in_type(prepared[0])?, in_type(prepared[1])?);
        prepared
    } else {
        [q, k]
    };
    let graph = &mut pipeline.graph;
    let bias = bias.map(|bias| given::<T>(graph, Role::Bias, bias)).transpose()?;
    pipeline.fits_scores("bias", bias.as_ref().map(|(id, _)| *id), [q, k])?;
    pipeline.check_bias_under_cap(bias.as_ref().map(|(id, _)| *id))?;
    let graph = &mut pipeline.graph;
    let of_mask = |mask| match recipe.mask.matrix {
        Some(MatrixRule::Allow | MatrixRule::Block) => given::<bool>(graph, Role::Mask, mask),
        Some(MatrixRule::Add) | None => given::<T>(graph, Role::Mask, mask),
    };
    let mask = mask.map(of_mask).transpose()?;
    pipeline.fits_scores("mask", mask.as_ref().map(|(id, _)| *id), [q, k])?;
    let w_o = pipeline.optional(Role::WO, w_o)?;
    pipeline.output_bias(w_o, b_o)?;
    let after = pipeline.after(w_o, x, own)?;
    room_behind_the_heads(&pipeline, after, [q, v])?;
    let numbers =
        [queries.of_heads(recipe.heads)?, keys.of_heads(recipe.kv_heads)?, values.of_heads(recipe.kv_heads)?];
    let [queries, keys, values] = [heads::<T>(&numbers[0])?, heads(&numbers[1])?, heads(&numbers[2])?];
    let sinks = pipeline.sinks::<T>()?;
    let relative = pipeline.relative_bias::<T>([q, k])?;
    let problem = FastAttention {
        q: queries,
        k: keys,
        v: values,
        scale: recipe.scale.factor(keys.layout().columns).map_or(1.0, |factor| factor.value()),
        bias: bias.as_ref().and_then(|(_, numbers)| pairs(numbers)),
        relative_bias: relative
            .as_ref()
            .map(|(numbers, layout)| Heads::new("biases by distance", numbers, *layout))
            .transpose()?,
        temperature: recipe.temperature,
        soft_cap: recipe.soft_cap,
        sinks: sinks.as_deref(),
        mask: recipe.mask,
        mask_cells: mask.as_ref().and_then(|(_, numbers)| mask_cells(numbers)),
    };
    let fused = attend_fast(&problem, machine)?;
    let [bias, mask] = [&bias, &mask].map(|beside| beside.as_ref().map(|(id, _)| *id));
    let sources = SharedNodes { q, k, mixed: v, roles: [Role::Q, Role::K, Role::V], bias, mask };
    let used = fused.used;
    let last = record(&mut pipeline, sources, after, fused, |i| problem.may_attend(i))?;
    pipeline.finish(last, after)?;
    pipeline.graph.warn_of_range();
    Ok((pipeline.graph, used))
}

/// Checks that the steps after the heads, which read a matrix of `f64`, have room for one.
fn room_behind_the_heads(pipeline: &Pipeline<'_>, after: OutputSteps, [q, v]: [NodeId; 2]) -> Result<()> {
    let (tokens, width) = (pipeline.shape(q).0, pipeline.shape(v).1);
    let width = width / pipeline.recipe.kv_heads * pipeline.recipe.heads;
    let shape = Shape { rows: tokens, cols: width };
    if after.is_nothing() || tokens.saturating_mul(width) <= MAX_CELLS {
        return Ok(());
    }
    Err(Error::new(format!(
        "`{}` is {shape}, but W_O and the residual take at most {MAX_CELLS} numbers",
        after.stage().name()
    ))
    .help("leave out W_O and --residual, and save the heads with --save O=out.npy"))
}

/// Numbers as the kernel reads them.
fn heads<T: Element>(numbers: &Tensor) -> Result<Heads<'_, T>> {
    let types = (numbers.dtype().name(), T::DTYPE.name());
    let wrong = || Error::new(format!("the numbers have the type {}, but it should be {}", types.0, types.1));
    numbers.heads().ok_or_else(wrong)
}

/// Records the given tensor of a role in the type T that the kernel reads.
fn given<T: Element>(
    graph: &mut Graph,
    role: Role,
    Given { tensor, origin }: Given,
) -> Result<(NodeId, Tensor)> {
    let numbers = tensor.in_type::<T>().map_err(|error| error.in_source(role.name()))?;
    Ok((recorded(graph, role, Op::Given(origin), &[], numbers.clone())?, numbers))
}

/// Records numbers as a step.
fn recorded(
    graph: &mut Graph,
    step: impl Into<Step>,
    op: Op,
    inputs: &[NodeId],
    numbers: Tensor,
) -> Result<NodeId> {
    let step = step.into();
    let id = graph.record(&step.to_string(), op, inputs, numbers)?;
    graph.mark(id, step);
    Ok(id)
}

/// The cells for pairs of a query and a key, if there is one head and the numbers are of this type.
fn pairs<T: Element>(numbers: &Tensor) -> Option<Pairs<'_, T>> {
    Pairs::new(numbers.slice()?, numbers.layout()).ok()
}

/// The cells of a mask.
fn mask_cells<T: Element>(numbers: &Tensor) -> Option<MaskCells<'_, T>> {
    let truth = pairs(numbers).map(MaskCells::Truth);
    truth.or_else(|| pairs(numbers).map(MaskCells::Added))
}

/// Records the steps that are not formed, and the results of the kernel; returns the heads side by side.
fn record<T: Element + Real>(
    pipeline: &mut Pipeline<'_>,
    sources: SharedNodes,
    after: OutputSteps,
    fused: FusedOutput<T>,
    may_attend: impl Fn(usize) -> bool,
) -> Result<NodeId> {
    let SharedNodes { q, k, mixed: v, bias, mask, .. } = sources;
    let (heads, groups) = (pipeline.recipe.heads, pipeline.recipe.kv_heads);
    let Recipe { temperature, soft_cap, mask: rules, .. } = *pipeline.recipe;
    let sink = pipeline.graph.at(Role::Sink);
    let graph = &mut pipeline.graph;
    let scale = pipeline.recipe.scale.factor(graph[k].shape().cols / groups);
    let steps = FusedSteps { scale, temperature, soft_cap, mask: rules };
    let mut read = never_formed(graph, pipeline.recipe, sources)?;
    read.extend(sink);
    let (labels, cols) = (graph[q].labels().0.cloned(), graph[v].labels().1.cloned());
    let (tokens, width) = (graph[q].shape().rows, graph[v].shape().cols / groups);
    let cols = cols.map(|cols| {
        let block = |head| &cols[key_value_head(head, heads, groups) * width..][..width];
        (0..heads).flat_map(block).cloned().collect()
    });
    // The same for every head.
    let mut known: Vec<Option<ZeroRow>> = vec![None; tokens];
    for (head, lse) in fused.lse.chunks(tokens.max(1)).enumerate() {
        // A sink is part of the sum, also where no key is visible.
        let is_zero = |i: &usize| match sink {
            Some(_) => !may_attend(*i),
            None => lse[*i] == T::NEG_INFINITY,
        };
        let rows = (0..lse.len()).filter(is_zero).map(|i| {
            let row = || if may_attend(i) { ZeroRow::Overflowed(i) } else { ZeroRow::FullyMasked(i) };
            *known[i].get_or_insert_with(row)
        });
        let rows = rows.collect();
        let name = Stage::Weights.of_head((heads > 1).then_some(head + 1)).to_string();
        graph.warnings.extend(warning_of_rows(&name, labels.as_ref(), rows, T::DTYPE));
    }
    let by_heads = Layout { row_stride: 1, column_stride: tokens, ..Layout::stacked(1, tokens, heads) };
    let names = (heads > 1).then(|| (1..=heads).map(|head| format!("head {head}")).collect());
    let lse = Tensor::new(fused.lse, by_heads)?.labelled(labels.clone(), names);
    recorded(graph, Stage::Lse, Op::Fused(Fusion::LogSumExp), &read, lse)?;
    let layout = Layout::side_by_side(heads, tokens, width);
    let output = Tensor::new(fused.output, layout)?.labelled(labels, cols);
    if !after.is_nothing() {
        // The next step reads the whole matrix.
        output.matrix()?;
    }
    let table = graph.at(Role::PositionTable);
    let inputs = [Some(q), Some(k), Some(v), sink, table, bias, mask];
    let inputs: Vec<NodeId> = inputs.into_iter().flatten().collect();
    recorded(graph, after.stage(), Op::Fused(Fusion::Output(steps)), &inputs, output)
}

/// Records the steps up to the weights as never formed; returns the input of each head's softmax.
fn never_formed(graph: &mut Graph, recipe: &Recipe, sources: SharedNodes) -> Result<Vec<NodeId>> {
    let additions = BiasAndMask { bias: sources.bias, mask: sources.mask };
    if recipe.heads == 1 {
        let weights = weights_never_formed(graph, recipe, None, [sources.q, sources.k], additions)?;
        return Ok(vec![weights.read]);
    }
    let queries = heads_of(graph, Role::Q, sources.q, recipe.heads)?;
    let keys = heads_of(graph, Role::K, sources.k, recipe.kv_heads)?;
    split_never_formed(graph, Role::V, sources.mixed, recipe.kv_heads)?;
    let head = |(head, &query): (usize, &NodeId)| {
        let key = keys[key_value_head(head, recipe.heads, recipe.kv_heads)];
        let weights = weights_never_formed(graph, recipe, Some(head + 1), [query, key], additions)?;
        Ok(weights.read)
    };
    queries.iter().enumerate().map(head).collect()
}

/// The heads of a role: those that it was put together from, or its blocks, never formed.
fn heads_of(graph: &mut Graph, role: Role, whole: NodeId, heads: usize) -> Result<Vec<NodeId>> {
    if graph[whole].op == Op::Concatenate {
        return Ok(graph[whole].inputs.clone());
    }
    split_never_formed(graph, role, whole, heads)
}

// What the fused kernel reads beside given tensors: queries and keys normed or rotated, sinks, biases by distance.

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
        mark_heads(&mut self.graph, role, &blocks);
        let mut heads: Vec<(NodeId, Option<usize>)> = blocks.into_iter().zip((1..).map(Some)).collect();
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
    /// The sinks in the type of the kernel.
    pub fn sinks<T: Real>(&self) -> Result<Option<Vec<T>>> {
        let Some(sink) = self.graph.at(Role::Sink) else { return Ok(None) };
        Ok(Some(self.graph.matrix(sink)?.cells().map(T::from_f64).collect()))
    }

    /// The biases by distance over the temperature, a row of N + T − 1 numbers for each head: the number for query i and key j is
    /// at j − i + T − 1.
    pub fn relative_bias<T: Real>(&self, [q, k]: [NodeId; 2]) -> Result<Option<(Vec<T>, Layout)>> {
        let heads = self.recipe.heads;
        let places = places(&self.graph, self.recipe, [q, k]);
        let bias: Box<dyn Fn(usize, i64) -> f64> = match self.recipe.positions.kind {
            PositionKind::Alibi { .. } => {
                Box::new(move |head, distance| alibi_of(HeadOf { head, heads }, distance))
            }
            PositionKind::Buckets { furthest } => {
                let (table, buckets) = buckets(&self.graph, self.recipe, furthest)?;
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

// The heads of attention inside a larger graph: a layer of a model gives queries, keys and values, and goes on with the result.

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
                let mut kept = heads;
                for (head, mix) in (1..).zip(&mut kept).filter(|(head, _)| (inputs.is_removed)(*head)) {
                    *mix = removed(&mut self.graph, &format!("O_removed_{head}"), *mix, inputs.by_mean)?;
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
