//! The norms of a layer.

use super::{ModelRun, Slot};
use crate::error::Result;
use crate::graph::{Graph, NodeId, Op};
use crate::model::architecture::Gain;
use crate::params::{NormKind, NormSite};

impl ModelRun<'_> {
    /// The norm at a place, under this name; x itself where the model has none there.
    pub(super) fn normed(
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
    pub(super) fn norm_inputs(
        &self,
        graph: &mut Graph,
        x: NodeId,
        (site, layer): (NormSite, Option<usize>),
    ) -> Result<Option<Vec<NodeId>>> {
        if self.architecture.norm.gain == Gain::Nothing {
            return Ok(has_norm_without_gain(site).then(|| vec![x]));
        }
        if !self.tensors.has(Slot::Gain(site), layer) {
            return Ok(None);
        }
        let gain = self.gain(graph, gain_name(site), (Slot::Gain(site), layer))?;
        let mut inputs = vec![x, gain];
        let has_bias = self.tensors.has(Slot::Bias(site), layer) && !self.norms_without_bias();
        if has_bias {
            inputs.push(self.weight(graph, bias_name(site), (Slot::Bias(site), layer))?.0);
        }
        Ok(Some(inputs))
    }

    /// Returns true if the biases of the norms are left out by mistake.
    fn norms_without_bias(&self) -> bool {
        self.architecture.slips.without_norm_bias || self.architecture.norm.kind == NormKind::RmsNorm
    }

    /// The op of the model's norms.
    pub(super) fn norm_op(&self) -> Op {
        let norm = self.architecture.norm;
        match norm.kind {
            NormKind::LayerNorm => Op::LayerNorm(norm.epsilon),
            NormKind::RmsNorm => Op::RmsNorm(norm.epsilon),
        }
    }

    /// A gain, and 1 more than what the file has where it stores the distance from 1.
    pub(super) fn gain(&self, graph: &mut Graph, name: &str, slot: (Slot, Option<usize>)) -> Result<NodeId> {
        if self.architecture.norm.gain != Gain::FromOne {
            return Ok(self.weight(graph, name, slot)?.0);
        }
        let stored = self.weight(graph, &format!("{name}_stored"), slot)?.0;
        graph.add(name, Op::OnePlus, &[stored])
    }
}

/// Returns true if a model whose norms have no weights has one at this place.
fn has_norm_without_gain(site: NormSite) -> bool {
    matches!(site, NormSite::BeforeAttention | NormSite::BeforeMlp | NormSite::Final)
}

/// The name of the node of a gain.
fn gain_name(site: NormSite) -> &'static str {
    match site {
        NormSite::Embedding => "g_E",
        NormSite::BeforeAttention => "g_attention",
        NormSite::AfterAttention => "g_O",
        NormSite::BeforeMlp => "g_MLP",
        NormSite::AfterMlp => "g_MLP_out",
        NormSite::Final => "g_final",
    }
}

/// The name of the node of a norm's bias.
fn bias_name(site: NormSite) -> &'static str {
    match site {
        NormSite::Embedding => "b_E",
        NormSite::BeforeAttention => "b_attention",
        NormSite::AfterAttention => "b_O_norm",
        NormSite::BeforeMlp => "b_MLP",
        NormSite::AfterMlp => "b_MLP_out",
        NormSite::Final => "b_final",
    }
}
