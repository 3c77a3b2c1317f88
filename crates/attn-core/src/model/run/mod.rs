//! The graph of a model on a text: the embedding, the layers, the logits.

mod attention;
mod embedding;
mod layer;
mod logits;
mod mlp;
mod norms;
mod ported;

pub use layer::{LayerInput, LayerOutput};

use super::architecture::{Architecture, Block};
use super::tensors::{NamedWeight, Slot, Tensors};
use crate::attention::WeightLayout;
use crate::error::{Error, Result};
use crate::graph::recipes::Recipe;
use crate::graph::{Graph, NodeId, Op, Origin, Precision};
use crate::kernel::read_ahead;
use crate::matrix::Labels;
use crate::tensor::Tensor;

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
    pub(super) tensors: &'m Tensors<'m>,
}

impl<'m> ModelRun<'m> {
    /// The steps of this architecture on these weights.
    pub fn new(architecture: &'m Architecture, tensors: &'m Tensors<'m>) -> ModelRun<'m> {
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
