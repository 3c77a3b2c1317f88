//! One layer: two sublayers on the residual stream.

use super::{ModelRun, Slot};
use crate::error::Result;
use crate::graph::recipes::{HeadCache, LookAtWeights, StepsOfHeads, removed};
use crate::graph::{Graph, NodeId, Op};
use crate::model::architecture::{AfterNorm, Block, Sublayers};
use crate::model::edits::{Edits, LayerEdit, Removal};
use crate::params::NormSite;

/// What a layer starts from.
#[derive(Clone, Debug)]
pub struct LayerInput<'a> {
    /// The residual stream.
    pub x: NodeId,
    /// The keys and values of earlier tokens; empty where there are none.
    pub past: HeadCache,
    /// The parts that are taken out.
    pub edits: &'a Edits,
}

/// What a layer gives.
#[derive(Clone, Debug)]
pub struct LayerOutput {
    /// The residual stream after it: the `L4.X` of the next layer, or `X_final`.
    pub x: NodeId,
    /// Its keys and values, with those of earlier tokens.
    pub cache: HeadCache,
}

/// The norms of a layer, by where they stand.
#[derive(Clone, Copy, Debug)]
struct NormSites {
    before_attention: NormSite,
    after_attention: NormSite,
    before_mlp: NormSite,
    after_mlp: NormSite,
    after: AfterNorm,
}

impl NormSites {
    /// What stands before a sublayer stands after the sum, and what stands after it before.
    fn moved(self, had_norms_after: bool) -> NormSites {
        NormSites {
            before_attention: self.after_attention,
            after_attention: self.before_attention,
            before_mlp: self.after_mlp,
            after_mlp: self.before_mlp,
            after: if had_norms_after { AfterNorm::Result } else { AfterNorm::Sum },
        }
    }
}

/// A layer under construction.
pub(super) struct LayerBuilder<'a> {
    pub run: ModelRun<'a>,
    pub graph: &'a mut Graph,
    pub block: &'a Block,
    /// Its number, from 1.
    pub number: usize,
    pub edit: LayerEdit,
    pub removal: Removal,
    pub without_first: bool,
    /// What stays of the steps of each head.
    pub steps: StepsOfHeads<'a>,
}

impl ModelRun<'_> {
    /// Layer `layer`, counted from 1, on the residual stream.
    ///
    /// # Errors
    /// If there is no such layer, its weights cannot be read, or more numbers would be recorded than the graph may have.
    pub fn layer(&self, graph: &mut Graph, layer: usize, input: LayerInput<'_>) -> Result<LayerOutput> {
        self.layer_of(graph, layer, input, StepsOfHeads::Kept)
    }

    /// A layer, of which the steps of each head are forgotten, once its weights have been looked at, where somebody looks.
    ///
    /// # Errors
    /// Those of [`ModelRun::layer`].
    pub(in crate::model) fn layer_in_passing(
        &self,
        graph: &mut Graph,
        layer: usize,
        input: LayerInput<'_>,
        look: Option<LookAtWeights<'_>>,
    ) -> Result<LayerOutput> {
        self.layer_of(graph, layer, input, StepsOfHeads::Forgotten(look))
    }

    fn layer_of(
        &self,
        graph: &mut Graph,
        layer: usize,
        input: LayerInput<'_>,
        steps: StepsOfHeads<'_>,
    ) -> Result<LayerOutput> {
        let block = self.block(layer)?;
        let before = graph.enter_layer(Some(layer));
        let LayerInput { x, past, edits } = input;
        let mut builder = LayerBuilder {
            run: *self,
            graph: &mut *graph,
            block,
            number: layer,
            edit: edits.layers.get(&layer).cloned().unwrap_or_default(),
            removal: edits.removal,
            without_first: edits.without_first,
            steps,
        };
        let output = builder.output(x, past);
        graph.enter_layer(before);
        output
    }
}

impl LayerBuilder<'_> {
    fn output(&mut self, x: NodeId, past: HeadCache) -> Result<LayerOutput> {
        let read = self.normed("X_normed", x, self.sites().before_attention)?;
        let (output, cache) = self.attention(read, past)?;
        let output = self.unless_removed("O_removed", output, self.edit.attention)?;
        let x = match self.block.sublayers {
            Sublayers::Parallel => self.parallel(x, output),
            Sublayers::Sequential => self.sequential(x, output),
            Sublayers::AttentionAlone => self.alone(x, output),
        }?;
        Ok(LayerOutput { x, cache })
    }

    fn parallel(&mut self, x: NodeId, output: NodeId) -> Result<NodeId> {
        let read = self.normed("X_normed_MLP", x, NormSite::BeforeMlp)?;
        let mlp = self.mlp(read)?;
        let mlp = self.unless_removed("MLP_removed", mlp, self.edit.mlp)?;
        let name = self.enter_next();
        self.graph.add(name, Op::Add, &[x, output, mlp])
    }

    /// The stream plus the result of attention is what the next layer reads.
    fn alone(&mut self, x: NodeId, output: NodeId) -> Result<NodeId> {
        let name = self.enter_next();
        self.graph.add(name, Op::Add, &[x, output])
    }

    fn sequential(&mut self, x: NodeId, output: NodeId) -> Result<NodeId> {
        let sites = self.sites();
        let middle = match sites.after {
            AfterNorm::Result => {
                let output = self.normed("O_normed", output, sites.after_attention)?;
                self.graph.add("X_mid", Op::Add, &[x, output])?
            }
            AfterNorm::Sum => {
                let sum = self.graph.add("X_mid_sum", Op::Add, &[x, output])?;
                self.normed("X_mid", sum, sites.after_attention)?
            }
        };
        let read = self.normed("X_mid_normed", middle, sites.before_mlp)?;
        let mlp = self.mlp(read)?;
        let mlp = self.unless_removed("MLP_removed", mlp, self.edit.mlp)?;
        match sites.after {
            AfterNorm::Result => {
                let mlp = self.normed("MLP_normed", mlp, sites.after_mlp)?;
                let name = self.enter_next();
                self.graph.add(name, Op::Add, &[middle, mlp])
            }
            AfterNorm::Sum => {
                let sum = self.graph.add("X_out_sum", Op::Add, &[middle, mlp])?;
                let site = (sites.after_mlp, Some(self.number));
                let Some(inputs) = self.run.norm_inputs(self.graph, sum, site)? else { return Ok(sum) };
                let name = self.enter_next();
                self.graph.add(name, self.run.norm_op(), &inputs)
            }
        }
    }

    /// The norms of this layer, by where they stand.
    fn sites(&self) -> NormSites {
        let own = NormSites {
            before_attention: NormSite::BeforeAttention,
            after_attention: NormSite::AfterAttention,
            before_mlp: NormSite::BeforeMlp,
            after_mlp: NormSite::AfterMlp,
            after: self.block.after,
        };
        if self.run.architecture.slips.norms_moved { own.moved(self.has_norms_after()) } else { own }
    }

    fn has_norms_after(&self) -> bool {
        self.run.tensors.has(Slot::Gain(NormSite::AfterAttention), Some(self.number))
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
        removed(self.graph, name, part, self.removal == Removal::Mean)
    }

    /// The stream after a layer belongs to the next one.
    fn enter_next(&mut self) -> &'static str {
        if self.number < self.run.layers() {
            self.graph.enter_layer(Some(self.number + 1));
            "X"
        } else {
            self.graph.enter_layer(None);
            "X_final"
        }
    }
}
