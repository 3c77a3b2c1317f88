//! The graph of a model on a text: the embedding, the layers, the logits.

use std::collections::{BTreeMap, BTreeSet};

use half::bf16;

use crate::attention::{MatrixRule, WeightLayout};
use crate::error::{Error, Result};
use crate::graph::recipes::{
    HeadCache, HeadInputs, NormPlace, Positions as AttendPositions, Recipe, StepsOfHeads, heads_inside,
    removed,
};
use crate::graph::{Factor, Graph, NodeId, Op, Origin, Precision, Role, Stage};
use crate::kernel::read_ahead;
use crate::matrix::{Labels, Matrix};
use crate::params::{Gain, NormKind, NormSite, Positions, Projections};
use crate::tensor::{Dtype, Tensor};
use crate::text::counted;

use super::architecture::{AfterNorm, Architecture, Block, Conv1dReading, GateUse, Sublayers};
use super::tensors::{NamedWeight, Slot, Tensors};

/// The symbols of the biases of queries, keys and values.
const QKV_BIASES: [&str; 4] = ["b_Q", "b_K", "b_V", "b_Q b_K b_V"];

/// A text as a model reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The ids of its tokens.
    pub ids: Vec<usize>,
    /// The tokens, as rows and columns are named after them.
    pub tokens: Labels,
}

/// A model that can be run: its steps and its weights.
#[derive(Clone, Copy, Debug)]
pub struct ModelRun<'m> {
    pub(super) architecture: &'m Architecture,
    pub(super) tensors: &'m Tensors,
}

impl<'m> ModelRun<'m> {
    /// The steps of this architecture on these weights.
    pub fn new(architecture: &'m Architecture, tensors: &'m Tensors) -> ModelRun<'m> {
        ModelRun { architecture, tensors }
    }

    /// The number of layers.
    pub fn layers(&self) -> usize {
        self.architecture.blocks.len()
    }

    /// The recipe of a layer's attention; layers count from 1.
    ///
    /// # Errors
    /// If there is no such layer.
    pub fn recipe(&self, layer: usize) -> Result<&'m Recipe> {
        Ok(&self.block(layer)?.recipe)
    }

    /// A layer, counted from 1.
    pub(super) fn block(&self, layer: usize) -> Result<&'m Block> {
        layer.checked_sub(1).and_then(|at| self.architecture.blocks.get(at)).ok_or_else(|| {
            Error::new(format!("there is no layer {layer}"))
                .help(format!("the model has {} layers, counted from 1", self.layers()))
        })
    }

    /// Records a weight under a name, in memory, and gives the order of its numbers.
    fn weight(
        &self,
        graph: &mut Graph,
        name: &str,
        (slot, layer): (Slot, Option<usize>),
    ) -> Result<(NodeId, WeightLayout)> {
        let NamedWeight { name: in_file, layout, tensor } = self.tensors.loaded(slot, layer)?;
        if graph.precision() != Precision::Exact
            && let Some(next) = self.tensors.after(slot, layer)
        {
            read_ahead(next.each_ref().map(|next| next.as_ref().and_then(Tensor::bytes).unwrap_or_default()));
        }
        if let Some(known) = graph.find(name) {
            return Ok((known, layout));
        }
        Ok((graph.weights(name, tensor, Origin::Weights(in_file))?, layout))
    }

    /// A linear layer: x times a matrix, plus its bias where the model has one. `symbols` are those of the listing of weights,
    /// `names` those of the nodes of the matrix and of the bias.
    fn linear(
        &self,
        graph: &mut Graph,
        name: &str,
        x: NodeId,
        (symbols, names): ([&'static str; 2], [&str; 2]),
        layer: Option<usize>,
    ) -> Result<NodeId> {
        let weights = self.weight(graph, names[0], (Slot::Weight(symbols[0]), layer))?;
        let (weights, layout) = self.read_as_ported(graph, names[0], weights)?;
        let mut inputs = vec![x, weights];
        let bias = Slot::Weight(symbols[1]);
        let is_left_out = self.architecture.slips.without_qkv_bias && QKV_BIASES.contains(&symbols[1]);
        if self.tensors.has(bias, layer) && !is_left_out {
            inputs.push(self.weight(graph, names[1], (bias, layer))?.0);
        }
        graph.add(name, Op::Linear(layout), &inputs)
    }
}

// Changes of a model for one run: heads, sublayers and layers that are taken out.

/// What stands in for the output of a part that is taken out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Removal {
    /// 0.
    #[default]
    Zero,
    /// Its mean over the positions of the text.
    Mean,
}

/// Parts of a layer that are taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayerEdit {
    /// Query heads, counted from 1.
    pub heads: BTreeSet<usize>,
    /// The whole of attention.
    pub attention: bool,
    /// The MLP.
    pub mlp: bool,
}

/// Changes of a model for one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// Parts that are taken out, by their layers, counted from 1.
    pub layers: BTreeMap<usize, LayerEdit>,
    /// What stands in for them.
    pub removal: Removal,
    /// True if no query but the first sees the first token, so that the other weights sum to 1.
    pub without_first: bool,
}

impl Edits {
    /// Returns true if nothing is changed.
    pub fn is_nothing(&self) -> bool {
        self.layers.values().all(|edit| *edit == LayerEdit::default()) && !self.without_first
    }
}

// From the ids of tokens to the input of the first layer.

impl ModelRun<'_> {
    /// The input of the first layer, `E`: the embedding of each token, with what the model adds for its position and its kind.
    /// `first` is the position of the first token.
    ///
    /// # Errors
    /// If an id is outside the vocabulary, or the text is longer than the model's positions.
    pub fn embed(&self, graph: &mut Graph, text: &Text, first: usize) -> Result<NodeId> {
        let model = &self.architecture.model;
        let tokens = text.ids.len();
        let is_learned = matches!(model.positions, Positions::Learned(_));
        let is_normed = self.tensors.has(Slot::Gain(NormSite::Embedding), None);
        let is_sum = is_learned || model.token_types.is_some();
        let last = |name: &str, more: bool| if more { name.to_string() } else { "E".to_string() };

        let table = self.table(graph, "W_E")?;
        let rows = Op::TokenRows(text.ids.clone());
        let mut e = graph.add(
            &last("E_tokens", is_sum || is_normed || self.architecture.embedding_scaled),
            rows,
            &[table],
        )?;
        graph.name_lines(e, Some(text.tokens.clone()), None);
        let mut parts = vec![e];
        if let Positions::Learned(positions) = model.positions {
            let first = first + self.architecture.slips.position_shift;
            if (first + tokens) as u64 > positions {
                let error = Error::new(format!(
                    "the text has {}, but the model has positions for {positions}",
                    counted(first + tokens, "token")
                ));
                return Err(error.help("give a shorter text"));
            }
            let table = self.table(graph, "W_P")?;
            parts.push(graph.add("E_positions", Op::Rows { start: first, count: tokens }, &[table])?);
        }
        if model.token_types.is_some() {
            let table = self.table(graph, "W_T")?;
            parts.push(graph.add("E_types", Op::TokenRows(vec![0; tokens]), &[table])?);
        }
        if is_sum {
            e = graph.add(&last("E_sum", is_normed), Op::Add, &parts)?;
        }
        if self.architecture.embedding_scaled {
            let factor = Op::Scale(Factor::Number(self.embedding_factor()?));
            e = graph.add("E", factor, &[e])?;
        }
        self.normed(graph, "E", e, (NormSite::Embedding, None))
    }

    /// √d as Gemma has it: rounded to single precision, and to the type of the weights.
    ///
    /// # Errors
    /// If that type is not known.
    pub fn embedding_factor(&self) -> Result<f64> {
        let root = (self.architecture.model.hidden as f64).sqrt();
        if self.architecture.slips.embedding_factor_unrounded {
            return Ok(f64::from(root as f32));
        }
        Ok(match self.tensors.dtype()? {
            Dtype::Bf16 => bf16::from_f64(root).to_f64(),
            Dtype::F16 => half::f16::from_f64(root).to_f64(),
            Dtype::F32 | Dtype::F64 | Dtype::Bool => f64::from(root as f32),
        })
    }

    /// A remark on the factor of the embeddings, where it is another number in the type of the weights than in single precision.
    ///
    /// # Errors
    /// Those of [`ModelRun::embedding_factor`].
    pub fn rounded_factor(&self) -> Result<Option<String>> {
        if !self.architecture.embedding_scaled {
            return Ok(None);
        }
        let (used, d) = (self.embedding_factor()?, self.architecture.model.hidden);
        let single = (d as f64).sqrt() as f32;
        Ok((used != f64::from(single)).then(|| {
            let name = match self.tensors.dtype() {
                Ok(Dtype::F16) => "float16",
                _ => "bfloat16",
            };
            format!(
                "E is the embedding times {used}: √d = √{d} = {single}, rounded to {name}, the type of the weights, as in a \
                 model that runs in {name}; one that is loaded in float32 has {single}"
            )
        }))
    }

    /// A table of embeddings, which stays in its file: only the rows of the text are read.
    fn table(&self, graph: &mut Graph, symbol: &'static str) -> Result<NodeId> {
        let table = self.tensors.stored(Slot::Weight(symbol), None)?;
        graph.weights(symbol, table.tensor, Origin::Weights(table.name))
    }
}

// The norms of a layer.

impl ModelRun<'_> {
    /// The norm at a place, under this name; x itself where the model has none there.
    fn normed(
        &self,
        graph: &mut Graph,
        name: &str,
        x: NodeId,
        (site, layer): (NormSite, Option<usize>),
    ) -> Result<NodeId> {
        match self.norm_inputs(graph, x, (site, layer))? {
            Some(inputs) => graph.add(name, self.norm_op(), &inputs),
            None => Ok(x),
        }
    }

    /// What the norm at a place reads: x, its gain, and its bias where it has one; none where the model has no norm there.
    fn norm_inputs(
        &self,
        graph: &mut Graph,
        x: NodeId,
        (site, layer): (NormSite, Option<usize>),
    ) -> Result<Option<Vec<NodeId>>> {
        if self.architecture.norm.gain == Gain::Nothing {
            let is_there = matches!(site, NormSite::BeforeAttention | NormSite::BeforeMlp | NormSite::Final);
            return Ok(is_there.then(|| vec![x]));
        }
        if !self.tensors.has(Slot::Gain(site), layer) {
            return Ok(None);
        }
        let [gain_name, bias_name] = norm_names(site);
        let gain = self.gain(graph, gain_name, (Slot::Gain(site), layer))?;
        let mut inputs = vec![x, gain];
        let Architecture { norm, slips, .. } = self.architecture;
        let reads_bias = norm.kind == NormKind::LayerNorm && !slips.without_norm_bias;
        if reads_bias && self.tensors.has(Slot::Bias(site), layer) {
            inputs.push(self.weight(graph, bias_name, (Slot::Bias(site), layer))?.0);
        }
        Ok(Some(inputs))
    }

    /// The op of the model's norms.
    fn norm_op(&self) -> Op {
        let norm = self.architecture.norm;
        match norm.kind {
            NormKind::LayerNorm => Op::LayerNorm(norm.epsilon),
            NormKind::RmsNorm => Op::RmsNorm(norm.epsilon),
        }
    }

    /// A gain, and 1 more than what the file has where it stores the distance from 1.
    fn gain(&self, graph: &mut Graph, name: &str, slot: (Slot, Option<usize>)) -> Result<NodeId> {
        if self.architecture.norm.gain != Gain::FromOne {
            return Ok(self.weight(graph, name, slot)?.0);
        }
        let stored = self.weight(graph, &format!("{name}_stored"), slot)?.0;
        graph.add(name, Op::OnePlus, &[stored])
    }
}

/// The names of the nodes of a norm's gain and of its bias.
fn norm_names(site: NormSite) -> [&'static str; 2] {
    match site {
        NormSite::Embedding => ["g_E", "b_E"],
        NormSite::BeforeAttention => ["g_attention", "b_attention"],
        NormSite::AfterAttention => ["g_O", "b_O_norm"],
        NormSite::BeforeMlp => ["g_MLP", "b_MLP"],
        NormSite::AfterMlp => ["g_MLP_out", "b_MLP_out"],
        NormSite::Final => ["g_final", "b_final"],
    }
}

// One layer: two sublayers on the residual stream.

/// A layer under construction.
struct LayerBuilder<'a> {
    run: ModelRun<'a>,
    graph: &'a mut Graph,
    block: &'a Block,
    /// Its number, from 1.
    number: usize,
    edit: LayerEdit,
    edits: &'a Edits,
    /// What stays of the steps of each head.
    steps: StepsOfHeads<'a>,
}

impl ModelRun<'_> {
    /// Layer `layer`, counted from 1, on the residual stream x: the `L4.X` of the next layer, or `X_final`.
    ///
    /// # Errors
    /// If there is no such layer, its weights cannot be read, or more numbers would be recorded than the graph may have.
    pub fn layer(&self, graph: &mut Graph, layer: usize, x: NodeId, edits: &Edits) -> Result<NodeId> {
        let start = (x, HeadCache::default());
        self.layer_after(graph, layer, start, edits, StepsOfHeads::Kept).map(|(x, _)| x)
    }

    /// A layer after earlier tokens, whose keys and values are in a cache; and the cache after it.
    ///
    /// # Errors
    /// Those of [`ModelRun::layer`].
    pub(in crate::model) fn layer_after(
        &self,
        graph: &mut Graph,
        layer: usize,
        (x, past): (NodeId, HeadCache),
        edits: &Edits,
        steps: StepsOfHeads<'_>,
    ) -> Result<(NodeId, HeadCache)> {
        let block = self.block(layer)?;
        let before = graph.enter_layer(Some(layer));
        let edit = edits.layers.get(&layer).cloned().unwrap_or_default();
        let mut builder =
            LayerBuilder { run: *self, graph: &mut *graph, block, number: layer, edit, edits, steps };
        let output = builder.output(x, past);
        graph.enter_layer(before);
        output
    }
}

impl LayerBuilder<'_> {
    fn output(&mut self, x: NodeId, past: HeadCache) -> Result<(NodeId, HeadCache)> {
        let read = self.normed("X_normed", x, self.site(NormSite::BeforeAttention))?;
        let (output, cache) = self.attention(read, past)?;
        let output = self.unless_removed("O_removed", output, self.edit.attention)?;
        let x = match self.run.architecture.sublayers {
            Sublayers::Parallel => {
                let mlp = self.normed_mlp("X_normed_MLP", x, NormSite::BeforeMlp)?;
                self.leaving(Op::Add, &[x, output, mlp])
            }
            Sublayers::Sequential => self.sequential(x, output),
            Sublayers::AttentionAlone => self.leaving(Op::Add, &[x, output]),
        }?;
        Ok((x, cache))
    }

    fn sequential(&mut self, x: NodeId, output: NodeId) -> Result<NodeId> {
        let after = match self.run.architecture.slips.norms_moved {
            true if self.run.tensors.has(Slot::Gain(NormSite::AfterAttention), Some(self.number)) => {
                AfterNorm::Result
            }
            true => AfterNorm::Sum,
            false => self.run.architecture.after,
        };
        let middle = match after {
            AfterNorm::Result => {
                let output = self.normed("O_normed", output, self.site(NormSite::AfterAttention))?;
                self.graph.add("X_mid", Op::Add, &[x, output])?
            }
            AfterNorm::Sum => {
                let sum = self.graph.add("X_mid_sum", Op::Add, &[x, output])?;
                self.normed("X_mid", sum, self.site(NormSite::AfterAttention))?
            }
        };
        let mlp = self.normed_mlp("X_mid_normed", middle, self.site(NormSite::BeforeMlp))?;
        match after {
            AfterNorm::Result => {
                let mlp = self.normed("MLP_normed", mlp, self.site(NormSite::AfterMlp))?;
                self.leaving(Op::Add, &[middle, mlp])
            }
            AfterNorm::Sum => {
                let sum = self.graph.add("X_out_sum", Op::Add, &[middle, mlp])?;
                let site = (self.site(NormSite::AfterMlp), Some(self.number));
                match self.run.norm_inputs(self.graph, sum, site)? {
                    Some(inputs) => self.leaving(self.run.norm_op(), &inputs),
                    None => Ok(sum),
                }
            }
        }
    }

    /// The norm before the MLP, under this name, and the MLP, unless it is taken out.
    fn normed_mlp(&mut self, name: &str, x: NodeId, site: NormSite) -> Result<NodeId> {
        let read = self.normed(name, x, site)?;
        let mlp = self.mlp(read)?;
        self.unless_removed("MLP_removed", mlp, self.edit.mlp)
    }

    /// The place of the norm that stands here: in a port that moves them, what belongs after a sublayer stands before it, and the
    /// other way round.
    fn site(&self, site: NormSite) -> NormSite {
        if !self.run.architecture.slips.norms_moved {
            return site;
        }
        match site {
            NormSite::BeforeAttention => NormSite::AfterAttention,
            NormSite::AfterAttention => NormSite::BeforeAttention,
            NormSite::BeforeMlp => NormSite::AfterMlp,
            NormSite::AfterMlp => NormSite::BeforeMlp,
            NormSite::Embedding | NormSite::Final => site,
        }
    }

    fn normed(&mut self, name: &str, x: NodeId, site: NormSite) -> Result<NodeId> {
        self.run.normed(self.graph, name, x, (site, Some(self.number)))
    }

    /// A linear layer of this layer; see [`ModelRun::linear`].
    pub fn linear(
        &mut self,
        name: &str,
        x: NodeId,
        symbols: [&'static str; 2],
        names: [&str; 2],
    ) -> Result<NodeId> {
        self.run.linear(self.graph, name, x, (symbols, names), Some(self.number))
    }

    fn unless_removed(&mut self, name: &str, part: NodeId, is_removed: bool) -> Result<NodeId> {
        if !is_removed {
            return Ok(part);
        }
        removed(self.graph, name, part, self.edits.removal == Removal::Mean)
    }

    /// The stream after a layer, which belongs to the next one.
    fn leaving(&mut self, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        let next = (self.number < self.run.layers()).then_some(self.number + 1);
        self.graph.enter_layer(next);
        self.graph.add(if next.is_some() { "X" } else { "X_final" }, op, inputs)
    }
}

// The MLP of a layer.

impl LayerBuilder<'_> {
    /// The MLP: up, the function inside, down; with a gate, the function of the gate times the way up.
    pub fn mlp(&mut self, x: NodeId) -> Result<NodeId> {
        let inside = if self.run.architecture.model.gated {
            self.gated(x)?
        } else {
            let up = self.linear("MLP_up", x, ["W_up", "b_up"], ["W_up", "b_up"])?;
            self.graph.add("MLP_hidden", self.run.architecture.activation.op(), &[up])?
        };
        self.linear("MLP", inside, ["W_down", "b_down"], ["W_down", "b_down"])
    }

    fn gated(&mut self, x: NodeId) -> Result<NodeId> {
        let slip = self.run.architecture.slips.gate;
        // Which of the two weights makes the gate, and which the way up.
        let [gate, up] = if slip == GateUse::WeightsExchanged { [1, 0] } else { [0, 1] };
        let [gate, up] = if self.run.tensors.has(Slot::Weight("W_gate W_up"), Some(self.number)) {
            let symbols = ["W_gate W_up", "b_gate b_up"];
            let both = self.linear("MLP_gate_up", x, symbols, ["W_gate_up", "b_gate_up"])?;
            let count = self.graph[both].shape().cols / 2;
            let half = |at: usize| Op::Columns { start: at * count, count };
            let gate = self.graph.add("MLP_gate", half(gate), &[both])?;
            [gate, self.graph.add("MLP_up", half(up), &[both])?]
        } else {
            let weights = [["W_gate", "b_gate"], ["W_up", "b_up"]];
            let gate = self.linear("MLP_gate", x, weights[gate], weights[gate])?;
            [gate, self.linear("MLP_up", x, weights[up], weights[up])?]
        };
        let [gate, up] = if slip == GateUse::OnUp { [up, gate] } else { [gate, up] };
        let active = self.graph.add("MLP_active", self.run.architecture.activation.op(), &[gate])?;
        self.graph.add("MLP_hidden", Op::Multiply, &[active, up])
    }
}

// From the residual stream to a score for each token of the vocabulary.

impl ModelRun<'_> {
    /// `logits` of every row of the residual stream x: the final norm, times the unembedding.
    ///
    /// # Errors
    /// If the model has no head, or its weights cannot be read.
    pub fn logits(&self, graph: &mut Graph, x: NodeId) -> Result<NodeId> {
        if !self.tensors.has_head {
            return Err(Error::new("the model has no head, so there are no logits")
                .help("ask for the residual stream or for a layer"));
        }
        let read = match self.tensors.has(Slot::Weight("W_head"), None) {
            true => self.head_of_masked_words(graph, x)?,
            false => self.normed(graph, "X_final_normed", x, (NormSite::Final, None))?,
        };
        let symbol = if self.architecture.slips.tied { "W_E" } else { "W_U" };
        let weights = ([symbol, "b_U"], ["W_U", "b_U"]);
        match self.architecture.logit_cap {
            Some(cap) => {
                let logits = self.linear(graph, "logits_uncapped", read, weights, None)?;
                graph.add("logits", Op::SoftCap(cap), &[logits])
            }
            None => self.linear(graph, "logits", read, weights, None),
        }
    }

    /// BERT's way from the stream to the unembedding: a linear layer, a function, a norm.
    fn head_of_masked_words(&self, graph: &mut Graph, x: NodeId) -> Result<NodeId> {
        let weights = (["W_head", "b_head"], ["W_head", "b_head"]);
        let out = self.linear(graph, "H_linear", x, weights, None)?;
        let out = graph.add("H_active", self.architecture.head_activation.op(), &[out])?;
        let gain = self.weight(graph, "g_head", (Slot::Weight("g_head"), None))?.0;
        let bias = self.weight(graph, "beta_head", (Slot::Weight("beta_head"), None))?.0;
        graph.add("H", self.norm_op(), &[out, gain, bias])
    }
}

// Attention in a layer: projections, heads, output.

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
        recipe.positions = AttendPositions { first: past.tokens(), ..recipe.positions };
        self.mask_of_first(&mut recipe, self.graph[x].shape().rows, past.tokens())?;
        let removed_heads = self.edit.heads.clone();
        let inputs = HeadInputs {
            qkv,
            past,
            is_removed: &|head| removed_heads.contains(&head),
            by_mean: self.edits.removal == Removal::Mean,
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
    fn mask_of_first(&mut self, recipe: &mut Recipe, queries: usize, past: usize) -> Result<()> {
        if !self.edits.without_first {
            return Ok(());
        }
        recipe.mask.matrix = Some(MatrixRule::Block);
        let hides = |i: usize, j: usize| f64::from(u8::from(j == 0 && past + i > 0));
        let mask = Matrix::from_fn(queries, past + queries, hides);
        let mask = self.graph.given(Role::Mask.name(), mask, Origin::Stated)?;
        self.graph.mark(mask, Role::Mask);
        Ok(())
    }

    /// Queries, keys and values of all heads.
    fn projections(&mut self, x: NodeId) -> Result<[NodeId; 3]> {
        if self.run.architecture.projections == Projections::Separate {
            let mut one = |name: &str, weights: &'static str, bias: &'static str| {
                self.linear(name, x, [weights, bias], [weights, bias])
            };
            return Ok([one("Q", "W_Q", "b_Q")?, one("K", "W_K", "b_K")?, one("V", "W_V", "b_V")?]);
        }
        let all = self.linear("QKV", x, ["W_Q W_K W_V", "b_Q b_K b_V"], ["W_QKV", "b_QKV"])?;
        let (heads, groups) = (self.block.recipe.heads, self.block.recipe.kv_heads);
        let width = self.graph[all].shape().cols / (heads + 2 * groups);
        if self.run.architecture.projections == Projections::FusedByHead {
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

// Steps that only a mistaken port has; see [`Slips`](crate::model::Slips).

impl ModelRun<'_> {
    /// A matrix as a port reads it, that may take a matrix (in, out) for one (out, in).
    fn read_as_ported(
        &self,
        graph: &mut Graph,
        name: &str,
        (weights, layout): (NodeId, WeightLayout),
    ) -> Result<(NodeId, WeightLayout)> {
        let reading = self.architecture.slips.conv1d;
        if layout != WeightLayout::InOut || reading == Conv1dReading::AsStored {
            return Ok((weights, layout));
        }
        let (inside, outside) = (graph[weights].shape().rows, graph[weights].shape().cols);
        if inside == outside {
            return Ok((weights, WeightLayout::OutIn));
        }
        if reading == Conv1dReading::SquareTransposed {
            return Ok((weights, layout));
        }
        let name = format!("{name}_reshaped");
        if let Some(known) = graph.find(&name) {
            return Ok((known, WeightLayout::OutIn));
        }
        let cells: Vec<f64> =
            graph[weights].tensor().ok_or_else(|| Error::new("there are no weights"))?.cells().collect();
        let reshaped = Tensor::from(Matrix::from_row_major(outside, inside, &cells)?);
        Ok((graph.weights(&name, reshaped, Origin::Stated)?, WeightLayout::OutIn))
    }
}

impl LayerBuilder<'_> {
    /// Queries and keys, normed over all heads together where the model does it head by head, and the other way round.
    fn normed_in_another_width(&mut self, qkv: &mut [NodeId; 3], recipe: &mut Recipe) -> Result<()> {
        if recipe.qk_norm.place == NormPlace::Nowhere {
            return Ok(());
        }
        let roles = [(Role::Q, Role::QueryGain, recipe.heads), (Role::K, Role::KeyGain, recipe.kv_heads)];
        for (node, (role, gain, heads)) in qkv.iter_mut().zip(roles) {
            let gain = self.graph.at(gain).ok_or_else(|| Error::new("queries and keys have no norm"))?;
            *node = self.normed_otherwise([*node, gain], (role, heads), recipe.qk_norm.epsilon)?;
        }
        recipe.qk_norm.place = NormPlace::Nowhere;
        Ok(())
    }

    fn normed_otherwise(
        &mut self,
        [node, gain]: [NodeId; 2],
        (role, heads): (Role, usize),
        epsilon: f64,
    ) -> Result<NodeId> {
        let (width, gains) = (self.graph[node].shape().cols, self.graph[gain].shape().cols);
        let name = format!("{}_normed", role.name());
        let op = Op::RmsNorm(epsilon);
        if heads == 1 {
            return self.graph.add(&name, op, &[node, gain]);
        }
        if gains < width {
            let repeated = vec![gain; heads];
            let gain = self.graph.add(&format!("{name}_gains"), Op::Concatenate, &repeated)?;
            return self.graph.add(&name, op, &[node, gain]);
        }
        let count = width / heads;
        let mut blocks = Vec::new();
        for head in 0..heads {
            let columns = Op::Columns { start: head * count, count };
            let suffix = format!("of_{}", head + 1);
            let block = self.graph.add(&format!("{name}_columns_{suffix}"), columns.clone(), &[node])?;
            let gain = self.graph.add(&format!("{name}_gains_{suffix}"), columns, &[gain])?;
            blocks.push(self.graph.add(&format!("{name}_{suffix}"), op.clone(), &[block, gain])?);
        }
        self.graph.add(&name, Op::Concatenate, &blocks)
    }
}
