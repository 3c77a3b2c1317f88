//! More tokens after a text: each layer reads the keys and values of earlier tokens from its cache.

use super::edits::Removal;
use super::forward::{Forward, numbers};
use super::run::{LayerInput, ModelRun, Text};
use crate::attention::RopeScaling;
use crate::error::Result;
use crate::graph::recipes::{PositionKind, Rotary};
use crate::graph::{Graph, NodeId, Op, Origin};
use crate::matrix::Labels;
use crate::tensor::Tensor;

impl ModelRun<'_> {
    /// A pass over a text and more tokens after it. Only the new tokens are computed, to the bits of a pass over all of them; where
    /// the rotation of earlier keys depends on the length of the text, everything is computed again.
    ///
    /// # Errors
    /// Those of [`ModelRun::forward`].
    pub fn continued(&self, forward: Forward, more: &Text) -> Result<Forward> {
        let past = forward.text.ids.len();
        let text = Text {
            ids: [&forward.text.ids[..], &more.ids[..]].concat(),
            tokens: forward.text.tokens.iter().chain(more.tokens.iter()).cloned().collect(),
        };
        let is_mean = forward.options.edits.removal == Removal::Mean && !forward.options.edits.is_nothing();
        if self.rotations_change(past, text.ids.len()) || is_mean {
            return self.forward(text, forward.options);
        }
        let Forward { options, mut streams, mut caches, heads, .. } = forward;
        let mut graph = options.graph();
        let x = self.embed(&mut graph, more, past)?;
        let mut rows = numbers(&graph, x)?;
        for layer in 1..=self.layers() {
            put_below(&options.graph(), &mut streams[layer - 1], &rows, &text.tokens)?;
            let mut graph = options.graph();
            let x = self.stream_of(&mut graph, layer, rows)?;
            let past = std::mem::take(&mut caches[layer - 1]);
            let input = LayerInput { x, past, edits: &options.edits };
            let output = self.layer_in_passing(&mut graph, layer, input, None)?;
            rows = numbers(&graph, output.x)?;
            caches[layer - 1] = output.cache;
        }
        let last = streams.len() - 1;
        put_below(&options.graph(), &mut streams[last], &rows, &text.tokens)?;
        Ok(Forward { options, text, streams, caches, heads })
    }

    /// Returns true if keys of the first `from` tokens are rotated otherwise in a text of `to` tokens.
    fn rotations_change(&self, from: usize, to: usize) -> bool {
        let changes = |layer: usize| {
            let Ok(recipe) = self.recipe(layer) else { return false };
            let PositionKind::Rotary(Rotary { scaling: Some(scaling), .. }) = recipe.positions.kind else {
                return false;
            };
            match scaling {
                RopeScaling::Dynamic { original, .. } => to as f64 > original,
                RopeScaling::LongRope { original, .. } => from as f64 <= original && to as f64 > original,
                RopeScaling::Linear { .. } | RopeScaling::Llama3 { .. } | RopeScaling::Yarn(_) => false,
            }
        };
        (1..=self.layers()).any(changes)
    }

    /// Records some rows of the residual stream that enters a layer.
    pub(super) fn stream_of(&self, graph: &mut Graph, layer: usize, rows: Tensor) -> Result<NodeId> {
        if layer == 1 {
            return graph.weights("E", rows, Origin::Stream(1));
        }
        let before = graph.enter_layer(Some(layer));
        let x = graph.weights("X", rows, Origin::Stream(layer));
        graph.enter_layer(before);
        x
    }
}

/// Puts rows below those of a tensor, in the numbers of the graph, under these names.
fn put_below(graph: &Graph, above: &mut Tensor, rows: &Tensor, names: &Labels) -> Result<()> {
    if above.append(rows, Some(names))? {
        return Ok(());
    }
    let mut graph = Graph::new().in_precision(graph.precision()).with_limit(usize::MAX);
    let inputs = [
        graph.weights("above", above.clone(), Origin::Cache)?,
        graph.weights("rows", rows.clone(), Origin::Cache)?,
    ];
    let all = graph.add("all", Op::Stack(Some(names.clone())), &inputs)?;
    *above = numbers(&graph, all)?;
    Ok(())
}
