//! The graph of one example: the model, the loss, and the gradient of every weight.

use crate::error::{Error, Result};
use crate::graph::recipes::{CrossEntropy, cross_entropy_in_batch};
use crate::graph::{Graph, NodeId, Op, Origin, Start};
use crate::matrix::Labels;
use crate::model::{Architecture, Edits, ModelRun, Tensors, Text};

use super::size::{ModelSize, WeightsInMemory};

/// A computation on one example, with its gradients.
#[derive(Clone, Debug)]
pub struct ExampleGraph {
    /// All steps, forward and back.
    pub graph: Graph,
    /// The scores of the symbols that may come next.
    pub logits: NodeId,
    /// The steps of the loss.
    pub loss: CrossEntropy,
    /// The gradient of each weight, in the order of [`ModelSize::weights`].
    pub weights: Vec<NodeId>,
    /// The gradient of the sum of the losses.
    pub of_sum: NodeId,
    /// The weights of attention of each head, layer by layer.
    pub heads: Vec<Vec<NodeId>>,
}

/// What the graphs of all examples have in common.
#[derive(Clone, Debug)]
pub struct ExampleModel {
    size: ModelSize,
    architecture: Architecture,
    /// The symbols by their ids.
    vocabulary: Labels,
}

impl ExampleModel {
    /// A model of this size; `vocabulary` are the labels of its symbols.
    ///
    /// # Errors
    /// If a size does not fit another.
    pub fn new(size: ModelSize, vocabulary: Labels) -> Result<ExampleModel> {
        Ok(ExampleModel { architecture: size.architecture()?, size, vocabulary })
    }

    /// The size.
    pub fn size(&self) -> &ModelSize {
        &self.size
    }

    /// The computation on one example of a batch, in which `counted` tokens have a target.
    ///
    /// # Errors
    /// If the example does not fit the model, or there is no room for its numbers.
    pub fn graph(&self, weights: WeightsInMemory, example: &Example, counted: usize) -> Result<ExampleGraph> {
        let tensors = Tensors::find(&self.architecture, weights)?;
        let run = ModelRun::new(&self.architecture, &tensors);
        let mut graph = Graph::new();
        let logits = self.logits(&run, &mut graph, example)?;
        let loss = cross_entropy_in_batch(&mut graph, logits, &example.targets, counted)?;
        let names = self.size.weights();
        let of: Vec<NodeId> =
            names.iter().map(|weight| weight_node(&graph, &weight.name)).collect::<Result<_>>()?;
        let gradients = graph.gradients(loss.loss, Start::Ones, &of)?;
        let missing = || Error::new("the loss does not depend on a weight");
        let weights = of.iter().map(|id| gradients.of(*id).ok_or_else(missing)).collect::<Result<_>>()?;
        let of_sum = gradients.of(loss.sum).ok_or_else(missing)?;
        let heads = self.heads(&graph)?;
        Ok(ExampleGraph { graph, logits, loss, weights, of_sum, heads })
    }

    fn logits(&self, run: &ModelRun<'_>, graph: &mut Graph, example: &Example) -> Result<NodeId> {
        let tokens = example.tokens.iter().map(|id| self.vocabulary[*id].clone()).collect();
        let text = Text { ids: example.tokens.clone(), tokens };
        graph.set_vocabulary(self.vocabulary.clone());
        let mut x = run.embed(graph, &text, 0)?;
        let edits = Edits::default();
        for layer in 1..=run.layers() {
            x = run.layer(graph, layer, x, &edits)?;
        }
        run.logits(graph, x)
    }

    fn heads(&self, graph: &Graph) -> Result<Vec<Vec<NodeId>>> {
        let of_head = |layer: usize, head: usize| graph.require(&self.size.head_name(layer, head));
        let of_layer = |layer| (0..self.size.heads).map(|head| of_head(layer, head)).collect();
        (0..self.size.layers).map(of_layer).collect()
    }
}

/// The node of a weight, by its name in the file.
fn weight_node(graph: &Graph, name: &str) -> Result<NodeId> {
    let is = |origin: &Origin| matches!(origin, Origin::Weights(of) if of == name);
    let node = graph.nodes().find(|(_, node)| matches!(&node.op, Op::Given(origin) if is(origin)));
    node.map(|(id, _)| id).ok_or_else(|| Error::new(format!("no step reads the weight {name}")))
}

// Examples, and batches of them.

/// A sequence of tokens, and what has to be predicted at each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The ids of the tokens.
    pub tokens: Vec<usize>,
    /// The id that each token has to predict; none where nothing is asked.
    pub targets: Vec<Option<usize>>,
}

/// Some examples of one length, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The number of tokens of an example.
    pub length: usize,
    /// The tokens of all examples.
    pub tokens: Vec<usize>,
    /// The targets of all examples.
    pub targets: Vec<Option<usize>>,
}

impl Batch {
    /// These examples, filled up to the longest with the symbol 0 and without targets there.
    pub fn of(examples: &[Example]) -> Batch {
        let length = examples.iter().map(|example| example.tokens.len()).max().unwrap_or(0);
        let mut batch = Batch { length, tokens: Vec::new(), targets: Vec::new() };
        for (Example { tokens, targets }, end) in examples.iter().zip((1..).map(|count| count * length)) {
            batch.tokens.extend(tokens);
            batch.tokens.resize(end, 0);
            batch.targets.extend(targets);
            batch.targets.resize(end, None);
        }
        batch
    }

    /// The number of examples.
    pub fn examples(&self) -> usize {
        self.tokens.len() / self.length.max(1)
    }

    /// One of the examples, from 0, with what fills it up.
    pub fn example(&self, at: usize) -> Example {
        let range = at * self.length..(at + 1) * self.length;
        Example { tokens: self.tokens[range.clone()].to_vec(), targets: self.targets[range].to_vec() }
    }

    /// The number of tokens that have a target.
    pub fn counted(&self) -> usize {
        self.targets.iter().flatten().count()
    }
}
