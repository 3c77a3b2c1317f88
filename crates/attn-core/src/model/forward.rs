//! A pass over a text, layer by layer: of each layer only its input, its cache and the measures of its heads are kept. A layer that
//! is asked for is computed again from its input, to the same bits.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use super::edits::Edits;
use super::measures::HeadMeasures;
use super::run::{LayerInput, ModelRun, Text};
use crate::error::{Error, Result};
use crate::graph::recipes::{HeadCache, LookAtWeights};
use crate::graph::{Graph, MAX_CELLS, NodeId, Op, Origin, Precision};
use crate::matrix::Labels;
use crate::tensor::Tensor;

/// The nodes of a layer with a dozen heads.
const USUAL_NODES: usize = 256;

/// How a pass is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct PassOptions {
    /// The numbers that steps are computed in.
    pub precision: Precision,
    /// The limit of the numbers that a graph records.
    pub limit: usize,
    /// The parts that are taken out.
    pub edits: Edits,
    /// Whether the patterns of the heads are measured.
    pub measured: bool,
}

impl Default for PassOptions {
    /// The exact path, with the usual limit and nothing taken out.
    fn default() -> PassOptions {
        PassOptions { precision: Precision::Exact, limit: MAX_CELLS, edits: Edits::default(), measured: true }
    }
}

/// What is kept of a pass.
#[derive(Clone, Debug)]
pub struct Forward {
    /// How it was computed.
    pub options: PassOptions,
    /// The text.
    pub text: Text,
    /// The input of each layer, and last the output of the last one.
    pub streams: Vec<Tensor>,
    /// The keys and values of each layer.
    pub caches: Vec<HeadCache>,
    /// The measures of each layer's heads, where they were asked for.
    pub heads: Vec<Vec<HeadMeasures>>,
}

impl PassOptions {
    /// An empty graph for such a pass.
    pub(super) fn graph(&self) -> Graph {
        Graph::new().in_precision(self.precision).with_limit(self.limit).with_room_for(USUAL_NODES)
    }
}

impl ModelRun<'_> {
    /// A pass over a text.
    ///
    /// # Errors
    /// If the text does not fit the model, weights cannot be read, or a layer records more numbers than the limit.
    pub fn forward(&self, text: Text, options: PassOptions) -> Result<Forward> {
        let mut graph = options.graph();
        let x = self.embed(&mut graph, &text, 0)?;
        let mut forward = Forward {
            streams: vec![numbers(&graph, x)?],
            text,
            caches: Vec::new(),
            heads: Vec::new(),
            options,
        };
        for layer in 1..=self.layers() {
            let mut graph = forward.options.graph();
            let x = self.entered(&forward, &mut graph, layer)?;
            let (edits, measures) = (&forward.options.edits, RefCell::new(Vec::new()));
            let measure = |_: usize, weights: &Tensor| {
                measures.borrow_mut().push(HeadMeasures::of(weights, &forward.text.ids));
            };
            let look: LookAtWeights<'_> = &measure;
            let input = LayerInput { x, past: HeadCache::default(), edits };
            let output =
                self.layer_in_passing(&mut graph, layer, input, forward.options.measured.then_some(look))?;
            forward.streams.push(numbers(&graph, output.x)?);
            forward.caches.push(output.cache);
            forward.heads.push(measures.into_inner());
        }
        Ok(forward)
    }

    /// The graph of some layers, counted from 1, with all their steps, computed again from the recorded residual stream; from
    /// layer 1 on, with the embedding.
    ///
    /// # Errors
    /// If there are no such layers, or they record more numbers than the limit.
    pub fn layers_again(&self, forward: &Forward, layers: RangeInclusive<usize>) -> Result<Graph> {
        let mut graph = forward.options.graph();
        let mut x = match *layers.start() {
            1 => self.embed(&mut graph, &forward.text, 0)?,
            first => self.entered(forward, &mut graph, first)?,
        };
        for layer in layers {
            let edits = &forward.options.edits;
            x = self.layer(&mut graph, layer, LayerInput { x, past: HeadCache::default(), edits })?.x;
        }
        Ok(graph)
    }

    /// The logits of some rows of the text, counted from 0.
    ///
    /// # Errors
    /// If the model has no head.
    pub fn logits_of(&self, forward: &Forward, rows: std::ops::Range<usize>) -> Result<Tensor> {
        let mut graph = forward.options.graph();
        let x = self.stream_rows(forward, &mut graph, forward.streams.len() - 1, rows)?;
        let logits = self.logits(&mut graph, x)?;
        numbers(&graph, logits)
    }

    /// What the residual stream would predict for one token, counted from 0, at each place: a row for the input of each layer, and
    /// last one for the output of the last layer. The weights of the head are read once for all of them.
    ///
    /// # Errors
    /// If the model has no head, or there is no such token.
    pub fn lens(&self, forward: &Forward, token: usize) -> Result<Tensor> {
        let mut graph = forward.options.graph();
        let mut rows = Vec::new();
        for (place, stream) in forward.streams.iter().enumerate() {
            let name = format!("X_{}", place + 1);
            rows.push(graph.weights(&name, part(stream, token..token + 1)?, Origin::Stream(place + 1))?);
        }
        let x = graph.add("X_final", Op::Stack(None), &rows)?;
        let logits = self.logits(&mut graph, x)?;
        numbers(&graph, logits)
    }

    /// Records the output of the last layer in a graph, as `X_final`.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn final_stream(&self, forward: &Forward, graph: &mut Graph) -> Result<NodeId> {
        self.stream_rows(forward, graph, forward.streams.len() - 1, 0..forward.text.ids.len())
    }

    fn stream_rows(
        &self,
        forward: &Forward,
        graph: &mut Graph,
        place: usize,
        rows: std::ops::Range<usize>,
    ) -> Result<NodeId> {
        let stream =
            forward.streams.get(place).ok_or_else(|| Error::new("there is no such residual stream"))?;
        let rows = if rows == (0..stream.shape().rows) { stream.clone() } else { part(stream, rows)? };
        graph.weights("X_final", rows, Origin::Stream(place + 1))
    }

    /// The residual stream that enters a layer, as it was recorded.
    fn entered(&self, forward: &Forward, graph: &mut Graph, layer: usize) -> Result<NodeId> {
        let stream = layer.checked_sub(1).and_then(|at| forward.streams.get(at));
        let stream = stream.ok_or_else(|| Error::new(format!("there is no layer {layer}")))?;
        self.stream_of(graph, layer, stream.clone())
    }
}

/// Some rows of a tensor in memory, in its type.
fn part(tensor: &Tensor, rows: std::ops::Range<usize>) -> Result<Tensor> {
    let cols = tensor.shape().cols;
    let labels: Option<Labels> =
        tensor.row_labels().map(|labels| labels[rows.clone()].iter().cloned().collect());
    let cells = || rows.clone().flat_map(|i| (0..cols).map(move |j| tensor.at(i, j)));
    let layout = crate::kernel::Layout::stacked(1, rows.len(), cols);
    let part = if tensor.is_exact() {
        Tensor::from(crate::matrix::Matrix::from_row_major(rows.len(), cols, &cells().collect::<Vec<_>>())?)
    } else {
        Tensor::new(cells().map(|x| x as f32).collect::<Vec<f32>>(), layout)?
    };
    Ok(part.labelled(labels, tensor.col_labels().cloned()))
}

/// The numbers of a node.
pub(super) fn numbers(graph: &Graph, node: NodeId) -> Result<Tensor> {
    graph[node].tensor().cloned().ok_or_else(|| Error::new(format!("`{}` is never formed", graph[node].name)))
}
