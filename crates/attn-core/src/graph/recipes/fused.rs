//! The graph of a pipeline on the fast path: the same steps, most of them recorded as never formed.

use attn_kernel::{Heads, Kernels, Layout, Machine, Real, Resources};

use crate::attention::{FastAttention, FusedOutput, HeadOf, attend_fast, key_value_head};
use crate::error::{Error, Result};
use crate::graph::ops::positions::alibi_of;
use crate::graph::warnings::{ZeroRow, warning_of_rows};
use crate::graph::{Factor, FusedSteps, Fusion, Graph, MAX_CELLS, NodeId, Op, Origin, Role, Stage, Step};
use crate::matrix::{Labels, Shape};
use crate::memory;
use crate::tensor::{Dtype, Element, Tensor};

use super::attend::{AttendInputs, HeadCache, InType, Pipeline, Sources, Start, StepsOfHeads};
use super::heads::split_once;
use super::output::OutputSteps;
use super::positions::{buckets, places};
use super::recipe::{NormPlace, PositionKind, QkNorm, Recipe, Score, Split};

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
    match dtype {
        Dtype::F32 => run::<f32>(recipe, inputs, machine),
        Dtype::F64 => run::<f64>(recipe, inputs, machine),
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
    recipe: &Recipe,
    inputs: AttendInputs,
    machine: Machine,
) -> Result<(Graph, Resources)> {
    let in_type: InType = Tensor::in_type::<T>;
    let mut all = Graph::new();
    let mut pipeline = Pipeline { kernel: Some(in_type), ..Pipeline::new(&mut all, recipe) };
    pipeline.check(&inputs)?;
    check(recipe)?;
    if inputs.backward.is_some() {
        return Err(Error::new("the fast path keeps no steps that a backward pass could read"));
    }
    pipeline.check_room(&inputs)?;
    let Start { sources, own, w_o, x } = pipeline.start(inputs)?;
    let [q, k, v] = sources.map(|(id, _)| id);
    let after = pipeline.after(w_o, x, own)?;
    room_behind_the_heads(&pipeline, after, [q, v])?;
    let graph = &*pipeline.graph;
    let of_heads = |id: NodeId, heads: usize| {
        let numbers = in_type(graph.tensors(&[id])?[0].clone());
        numbers.map_err(|error| error.in_source(&*graph[id].name))?.of_heads(heads)
    };
    let numbers = [of_heads(q, recipe.heads)?, of_heads(k, recipe.kv_heads)?, of_heads(v, recipe.kv_heads)?];
    let [queries, keys, values] = [heads::<T>(&numbers[0])?, heads(&numbers[1])?, heads(&numbers[2])?];
    let beside = |role: Role| graph.at(role).and_then(|id| graph[id].tensor()).cloned();
    let (bias, mask) = (beside(Role::Bias), beside(Role::Mask));
    let scores = (recipe.heads, keys.layout().rows);
    let sinks = pipeline.sinks::<T>()?;
    let relative = pipeline.relative_bias::<T>([q, k])?;
    let problem = FastAttention {
        q: queries,
        k: keys,
        v: values,
        scale: recipe.scale.factor(keys.layout().columns).map_or(1.0, |factor| factor.value()),
        bias: bias.as_ref().and_then(|numbers| for_heads(numbers, scores)),
        relative_bias: relative
            .as_ref()
            .map(|(numbers, layout)| Heads::new("biases by distance", numbers, *layout))
            .transpose()?,
        temperature: recipe.temperature,
        soft_cap: recipe.soft_cap,
        sinks: sinks.as_deref(),
        mask: recipe.mask,
        truth: mask.as_ref().and_then(|numbers| for_heads(numbers, scores)),
        mask_added: mask.as_ref().and_then(|numbers| for_heads(numbers, scores)),
    };
    let fused = attend_fast(&problem, machine)?;
    let used = fused.used;
    let last = record(&mut pipeline, sources, after, fused, &problem)?;
    pipeline.finish(last, after)?;
    all.warn_of_range();
    Ok((all, used))
}

/// Checks that the steps after the heads, which read a matrix of `f64`, have room for one.
fn room_behind_the_heads(pipeline: &Pipeline<'_>, after: OutputSteps, [q, v]: [NodeId; 2]) -> Result<()> {
    let (tokens, width) = (pipeline.shape(q).rows, pipeline.shape(v).cols);
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

/// The cells of a bias or a mask for this many heads and keys, if they are of this type: where all heads share them, again for each.
fn for_heads<T: Element>(numbers: &Tensor, (heads, keys): (usize, usize)) -> Option<Heads<'_, T>> {
    let own = numbers.layout();
    let head_stride = match own.heads {
        1 if own.columns == keys => 0,
        1 => keys * own.column_stride,
        _ => own.head_stride,
    };
    let layout = Layout { heads, columns: keys, head_stride, ..own };
    Heads::new("a matrix beside the scores", numbers.slice()?, layout).ok()
}

/// Records the steps that are not formed, and the results of the kernel; returns the heads side by side.
fn record<T: Element + Real>(
    pipeline: &mut Pipeline<'_>,
    sources: Sources,
    after: OutputSteps,
    fused: FusedOutput<T>,
    problem: &FastAttention<'_, T>,
) -> Result<NodeId> {
    let [q, k, v] = sources.map(|(id, _)| id);
    let (heads, groups) = (pipeline.recipe.heads, pipeline.recipe.kv_heads);
    let Recipe { temperature, soft_cap, mask: rules, .. } = *pipeline.recipe;
    let scale = pipeline.recipe.scale.factor(pipeline.shape(k).cols / groups);
    let steps = FusedSteps { scale, temperature, soft_cap, mask: rules };
    let mut read = pipeline.never_formed([q, k, v])?;
    let graph = &mut *pipeline.graph;
    let [sink, table, bias, mask] =
        [Role::Sink, Role::PositionTable, Role::Bias, Role::Mask].map(|role| graph.at(role));
    read.extend(sink);
    let (labels, cols) = (graph[q].labels().0.cloned(), graph[v].labels().1.cloned());
    let (tokens, width) = (graph[q].shape().rows, graph[v].shape().cols / groups);
    let cols = cols.map(|cols| {
        let block = |head| &cols[key_value_head(head, heads, groups) * width..][..width];
        (0..heads).flat_map(block).cloned().collect()
    });
    // The same for heads that see the same keys.
    let mut known: Vec<Option<ZeroRow>> = vec![None; tokens];
    for (head, lse) in fused.lse.chunks(tokens.max(1)).enumerate() {
        if problem.own_heads() > 1 {
            known.fill(None);
        }
        let may_attend = |i| problem.may_attend(head, i);
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
    let inputs = [Some(q), Some(k), Some(v), sink, table, bias, mask];
    let inputs: Vec<NodeId> = inputs.into_iter().flatten().collect();
    recorded(graph, after.stage(), Op::Fused(Fusion::Output(steps)), &inputs, output)
}

impl Pipeline<'_> {
    /// Records the steps up to the weights as never formed; returns the input of each head's softmax.
    fn never_formed(&mut self, [q, k, v]: [NodeId; 3]) -> Result<Vec<NodeId>> {
        let (heads, groups) = (self.recipe.heads, self.recipe.kv_heads);
        self.graph.form_steps(false);
        let queries = self.blocks(Role::Q, q, heads)?;
        let keys = self.blocks(Role::K, k, groups)?;
        self.blocks(Role::V, v, groups)?;
        let reads = self.each_head(heads, |pipeline, head| {
            let pair = [queries[head], keys[key_value_head(head, heads, groups)]];
            Ok(pipeline.weights_of(pair)?.read)
        })?;
        self.graph.form_steps(true);
        Ok(reads)
    }

    /// The heads of a role: those that it was put together from, or its blocks.
    fn blocks(&mut self, role: Role, whole: NodeId, count: usize) -> Result<Vec<NodeId>> {
        match self.graph[whole].op {
            _ if self.recipe.heads == 1 => Ok(vec![whole]),
            Op::Concatenate => Ok(self.graph[whole].inputs.clone()),
            _ => split_once(self.graph, role, whole, count, Split::Blocks),
        }
    }
}

// What the fused kernel reads beside given tensors: queries and keys normed or rotated, sinks, biases by distance.

impl Pipeline<'_> {
    /// Puts Q and K with all their heads normed and rotated, the heads side by side, in their place, if it is the kernel that reads them.
    pub fn prepare_whole(&mut self, sources: &mut Sources) -> Result<()> {
        let is_prepared = self.recipe.qk_norm.place != NormPlace::Nowhere
            || matches!(self.recipe.positions.kind, PositionKind::Rotary(_));
        if self.kernel.is_none() || !is_prepared {
            return Ok(());
        }
        let before = *sources;
        let frequencies = self.frequencies(&before)?;
        let stages = [[Stage::QueriesNormed, Stage::QueriesRotated], [Stage::KeysNormed, Stage::KeysRotated]];
        for ((stages, role), source) in stages.iter().zip([Role::Q, Role::K]).zip(sources) {
            let blocks = self.of_role(role, &before, frequencies)?;
            let is_of_all = |id: NodeId| self.graph[id].step.is_some_and(|step| step.head.is_none());
            source.0 = match blocks[..] {
                [one] if is_of_all(one) => one,
                _ => self.step(stages[usize::from(frequencies.is_some())], (Op::Concatenate, blocks))?,
            };
        }
        Ok(())
    }

    /// The sinks in the type of the kernel.
    pub fn sinks<T: Real>(&self) -> Result<Option<Vec<T>>> {
        let Some(sink) = self.graph.at(Role::Sink) else { return Ok(None) };
        Ok(Some(self.graph.matrix(sink)?.cells().map(T::from_f64).collect()))
    }

    /// The biases by distance over the temperature, a row of N + T − 1 numbers for each head: the number for query i and key j is
    /// at j − i + T − 1.
    pub fn relative_bias<T: Real>(&self, [q, k]: [NodeId; 2]) -> Result<Option<(Vec<T>, Layout)>> {
        let heads = self.recipe.heads;
        let places = places(self.graph, self.recipe, [q, k]);
        let bias: Box<dyn Fn(usize, i64) -> f64> = match self.recipe.positions.kind {
            PositionKind::Alibi { .. } => {
                Box::new(move |head, distance| alibi_of(HeadOf { head, heads }, distance))
            }
            PositionKind::Buckets { furthest } => {
                let (table, buckets) = buckets(self.graph, self.recipe, furthest)?;
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

// The heads of attention inside a larger graph: a layer of a model gives queries, keys and values, and goes on with the result.

/// What the heads of a layer start from.
pub(crate) struct HeadInputs<'a> {
    /// Queries, keys and values of all heads.
    pub qkv: [NodeId; 3],
    /// Keys and values of earlier tokens.
    pub past: HeadCache,
    /// Returns true for a head, counted from 1, whose output is taken out.
    pub is_removed: &'a dyn Fn(usize) -> bool,
    /// True if the mean of its output stands in for it, and not 0.
    pub by_mean: bool,
    /// What stays of the steps of each head.
    pub steps: StepsOfHeads<'a>,
}

/// The heads of attention side by side, `C`, from queries, keys and values that the graph has, and the cache after them. A mask matrix,
/// gains of the norms of queries and keys, and LongRoPE's divisors are read from the nodes of their roles.
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
    let mut pipeline = Pipeline { past, steps: inputs.steps, ..Pipeline::new(graph, recipe) };
    let joined = pipeline.joined_heads(&inputs)?;
    Ok((joined, pipeline.past.unwrap_or_default()))
}

impl Pipeline<'_> {
    fn joined_heads(&mut self, inputs: &HeadInputs<'_>) -> Result<NodeId> {
        let [q, k, v] = inputs.qkv;
        self.fit(inputs.qkv)?;
        let mut heads = self.heads([(q, Role::Q), (k, Role::K), (v, Role::V)])?;
        let name = Stage::Joined.name();
        let joined = match (self.recipe.heads, &heads[..]) {
            (1, [weights, values]) if (inputs.is_removed)(1) => {
                let mix = self.graph.add("C_whole", Op::Product, &[*weights, *values])?;
                removed(self.graph, name, mix, inputs.by_mean)?
            }
            (1, [weights, values]) => self.graph.add(name, Op::Product, &[*weights, *values])?,
            _ => {
                for (head, mix) in (1..).zip(&mut heads).filter(|(head, _)| (inputs.is_removed)(*head)) {
                    *mix = removed(self.graph, &format!("O_removed_{head}"), *mix, inputs.by_mean)?;
                }
                self.merged(heads, name)?
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
            let suffix = if several { format!("_{}", head + 1) } else { String::new() };
            let names = ["past", "all"].map(|what| format!("{}_{what}{suffix}", role.name()));
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
