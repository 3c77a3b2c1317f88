//! The computation graph: every matrix of a computation, with the op and the inputs that it was computed from.
//!
//! A [`Node`] is a name, an [`Op`], the nodes it reads and the value. Ops are plain data of a closed set: they can be
//! printed, written to JSON, run again on other inputs, and asked for the [`Term`]s of one cell.

mod address;
mod adopt;
mod apply;
mod arity;
mod computed_as;
mod equation;
mod find;
mod fits;
mod formula;
mod gradients;
mod label;
mod layers;
mod named;
mod named_lines;
mod node;
mod notation;
mod op;
mod op_form;
mod op_json;
mod op_parameters;
mod origin;
mod prepared;
pub mod recipes;
mod rounding;
mod run_again;
pub mod saved;
mod side_by_side;
mod single;
mod stage;
mod step_form;
mod steps;
mod symbols;
mod term;
mod terms;
mod visible;
mod warnings;
mod watch;

pub use address::{Cells, address_of, resolve, resolve_each};
pub use apply::rounded;
pub use arity::Arity;
pub use equation::{Convention, Equation};
pub use formula::{equation, formula, number_text};
pub use gradients::{BackwardPass, BackwardSteps, Gradient, Gradients, Start, WayBack, detours};
pub use label::{LabelMatch, find_label};
pub use node::{Given, Node, NodeId, Value};
pub use notation::{Function, Notation, PlainSymbols, symbolic, written};
pub use op::{Op, OpKind};
pub use op_parameters::{Factor, FusedSteps, Fusion, GeluForm, Side, Statistic};
pub use origin::Origin;
pub use prepared::ChangedNumber;
pub use rounding::Rounding;
pub use side_by_side::{Difference, GraphPair, Movement, side_by_side};
pub use single::Precision;
pub use stage::{Role, Stage, Step};
pub use symbols::Symbols;
pub use term::{Bindings, CellId, Term};
pub use watch::Watch;

use std::collections::{BTreeMap, HashMap};

use crate::attention::Axis;
use crate::error::{Error, ErrorKind, Result};
use crate::matrix::{Labels, Matrix, Shape};
use crate::memory;
use crate::tensor::Tensor;

/// At most this many numbers are recorded in one graph (8 bytes each).
pub const MAX_CELLS: usize = 20_000_000;

/// A computation: nodes in the order of computing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    nodes: Vec<Node>,
    /// The place of each node, by its name.
    places: HashMap<String, usize>,
    /// The place of the first node of each step.
    steps: HashMap<Step, usize>,
    /// The number of numbers recorded.
    recorded: usize,
    /// True if the fused kernel has computed a node.
    is_fused: bool,
    warnings: Vec<String>,
    instead: BTreeMap<String, Given>,
    /// The layer that nodes are recorded in, from 1; none outside a model.
    layer: Option<usize>,
    /// The numbers that steps are computed in.
    precision: Precision,
    /// True if it has the weights of a model.
    is_of_model: bool,
    /// The limit of the numbers recorded, where it is not [`MAX_CELLS`].
    limit: Option<usize>,
    /// The backward pass at its end.
    backward: Option<BackwardSteps>,
    /// What is otherwise than in the graph that this one is made after.
    prepared: prepared::Preparation,
    /// The tokens of a model's vocabulary, by their ids: labels of lines that stand for ids.
    vocabulary: Option<Labels>,
}

impl Graph {
    /// A graph without nodes.
    pub fn new() -> Graph {
        Graph::default()
    }

    /// Records a matrix that is given, not computed, for the exact path: in `f64`, which changes no number.
    ///
    /// # Errors
    /// If the name is taken, there is no room for the numbers, or they cannot be read.
    pub fn given(&mut self, name: &str, numbers: impl Into<Tensor>, origin: Origin) -> Result<NodeId> {
        let tensor: Tensor = numbers.into();
        let Shape { rows, cols } = tensor.shape();
        self.room_for(rows.saturating_mul(cols)).map_err(|error| error.in_source(name))?;
        let matrix = tensor.into_matrix().map_err(|error| error.in_source(name))?;
        let matrix = self.with_changed_numbers(name, matrix.into())?;
        let origin = self.origin_with_changes(name, origin, rows);
        self.push(name, Op::Given(origin), &[], Value::Formed(matrix))
    }

    /// From now on, nodes of these names are recorded as given, with these matrices, instead of being computed.
    pub fn take_instead(&mut self, given: BTreeMap<String, Given>) {
        self.instead = given;
    }

    /// Computes a node from earlier nodes, and records the op; a replacement matrix, if one is set, is recorded instead.
    ///
    /// # Errors
    /// If the name is taken, or the inputs do not fit the op; the error names the step. If a [`Watch`] stops it.
    pub fn add(&mut self, name: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        self.prepared.watch.reached(self.nodes.len())?;
        if let Some(Given { tensor, origin }) = self.instead.remove(name) {
            return self.given(name, tensor, origin);
        }
        let shapes: Vec<Shape> = inputs.iter().map(|&id| self[id].shape()).collect();
        let value = op
            .check_parameters()
            .and_then(|()| self.room_for(op.cells(&shapes)))
            .and_then(|()| self.value_of(name, &op, inputs))
            .map_err(|error| {
                let names: Vec<&str> = inputs.iter().map(|&id| self[id].name.as_str()).collect();
                error.in_source(format!("{name}, computed from {}", names.join(" and ")))
            })?;
        self.warnings.extend(self.warning(name, &op, inputs));
        self.push(name, op, inputs, Value::Formed(value))
    }

    /// Records that a step exists whose matrix is never formed.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn never_formed(&mut self, name: &str, op: Op, inputs: &[NodeId], shape: Shape) -> Result<NodeId> {
        self.push(name, op, inputs, Value::NeverFormed(shape))
    }

    /// Records numbers of the fast path in their own type, given or computed by the fused kernel.
    ///
    /// # Errors
    /// If the name is taken, or the numbers cannot be read.
    pub fn record(&mut self, name: &str, op: Op, inputs: &[NodeId], numbers: Tensor) -> Result<NodeId> {
        let numbers = numbers.loaded().map_err(|error| error.in_source(name))?;
        self.push(name, op, inputs, Value::Formed(numbers))
    }

    /// The value of an op on these nodes, known from the graph before where nothing that it reads has changed.
    fn value_of(&self, name: &str, op: &Op, inputs: &[NodeId]) -> Result<Tensor> {
        self.known(name, op, inputs).map_or_else(|| self.value(op, inputs), Ok)
    }

    /// The value of an op on these nodes.
    fn value(&self, op: &Op, inputs: &[NodeId]) -> Result<Tensor> {
        if let Precision::Single(machine) = self.precision {
            return op.apply_in_single(&self.tensors(inputs)?, machine);
        }
        if op.reads_in_place() {
            return op.apply_in_place(&self.tensors(inputs)?).map(Tensor::from);
        }
        let matrices: Vec<&Matrix> = inputs.iter().map(|&id| self.matrix(id)).collect::<Result<_>>()?;
        op.apply(&matrices).map(Tensor::from)
    }

    /// The numbers of some nodes, wherever they are.
    fn tensors(&self, ids: &[NodeId]) -> Result<Vec<&Tensor>> {
        // A node without numbers has no matrix either: the error says so.
        let tensor = |&id: &NodeId| self[id].tensor().ok_or_else(|| self.matrix(id).err());
        ids.iter()
            .map(tensor)
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| error.unwrap_or_else(|| Error::new("a step has no numbers")))
    }

    /// The warning about a step that has just been computed, if there is one.
    fn warning(&self, name: &str, op: &Op, inputs: &[NodeId]) -> Option<String> {
        if op.reads_in_place() || self.precision != Precision::Exact {
            return None;
        }
        let matrices: Vec<&Matrix> = inputs.iter().map(|&id| self.matrix(id).ok()).collect::<Option<_>>()?;
        match op {
            Op::Softmax(Axis::Rows, _) | Op::SoftmaxWithSink { .. } => {
                self.warning_of_weights(name, inputs[0], matrices[0])
            }
            _ => op.warning(name, &matrices),
        }
    }

    /// Checks that this many more numbers may be recorded.
    fn room_for(&self, more: usize) -> Result<()> {
        let (recorded, limit) = (self.recorded, self.limit.unwrap_or(MAX_CELLS));
        match recorded.saturating_add(more) {
            cells if cells > limit => Err(Error::new(format!(
                "it would have {more} numbers. With the {recorded} recorded before, that is more than the limit of {limit}"
            ))
            .of_kind(ErrorKind::TooLarge)
            .help(match self.limit {
                Some(_) => "raise the limit of the numbers that are recorded, or give fewer tokens",
                None => "give smaller matrices: every intermediate matrix is stored and shown",
            })),
            cells => memory::room(memory::bytes_of::<f64>(cells.saturating_add(more))),
        }
    }

    /// Returns true if the numbers of such a node count as recorded: those of weights, even changed ones, and of the fused kernel do
    /// not.
    fn counts(&self, op: &Op, value: &Value) -> bool {
        if self.is_of_model && matches!(op, Op::Given(Origin::Weights(_))) {
            return false;
        }
        let is_exact = matches!(value, Value::Formed(tensor) if tensor.is_exact());
        let is_formed = matches!(value, Value::Formed(_));
        is_exact || is_formed && self.precision != Precision::Exact && !op.is_given()
    }

    fn push(&mut self, name: &str, op: Op, inputs: &[NodeId], value: Value) -> Result<NodeId> {
        let name = self.in_layer(name);
        if self.places.contains_key(&name) {
            return Err(Error::new(format!("two nodes of one graph are called `{name}`")));
        }
        if let Value::Formed(tensor) = &value
            && self.counts(&op, &value)
        {
            self.recorded += tensor.shape().rows * tensor.shape().cols;
        }
        self.is_fused |= matches!(op, Op::Fused(_));
        self.note_change(&name, &value);
        self.places.insert(name.clone(), self.nodes.len());
        self.nodes.push(Node {
            name,
            op,
            inputs: inputs.to_vec(),
            value,
            step: None,
            label: None,
            collects: None,
        });
        Ok(NodeId(self.nodes.len() - 1))
    }

    /// Sets the label of a node: formats for people write the label where its equation has its name.
    pub fn label(&mut self, id: NodeId, label: &str) {
        self.nodes[id.0].label = Some(label.to_string());
    }

    /// Names the rows and columns of a recorded node.
    pub fn name_lines(&mut self, id: NodeId, rows: Option<Labels>, cols: Option<Labels>) {
        let value = &mut self.nodes[id.0].value;
        if let Value::Formed(tensor) = value {
            *value = Value::Formed(tensor.clone().labelled(rows, cols));
        }
    }

    /// Says that a node only collects its inputs, which are these: “runs”.
    pub fn collects(&mut self, id: NodeId, what: &str) {
        self.nodes[id.0].collects = Some(what.to_string());
    }

    /// Returns true if the fused kernel has computed a part of it.
    pub fn is_fused(&self) -> bool {
        self.is_fused
    }

    /// Returns true if it has the weights of a model.
    pub fn is_of_model(&self) -> bool {
        self.is_of_model
    }

    /// Returns true if its matrices are those of a model or of the fused kernel: too large to be shown whole.
    pub fn is_large(&self) -> bool {
        self.is_fused || self.is_of_model
    }

    /// The nodes in the order of computing.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(i, node)| (NodeId(i), node))
    }

    /// This graph without its warnings, for a computation that is known to be wrong.
    pub fn without_warnings(mut self) -> Graph {
        self.warnings.clear();
        self
    }

    /// The warnings: fully masked rows, rows without a direction.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_remembers_how_it_was_made() {
        let mut graph = Graph::new();
        let x = graph.given("X", Matrix::of([[1.0, 2.0]]), Origin::Stated).unwrap();
        let s = graph.add("S", Op::ProductTransposed, &[x, x]).unwrap();
        assert_eq!(graph[s].inputs, [x, x]);
        assert_eq!(graph.matrix(s).unwrap()[(0, 0)], 5.0);
        assert_eq!(graph.last(), Some(s));
    }

    #[test]
    fn a_name_is_used_once_and_a_wrong_name_finds_its_neighbour() {
        let mut graph = Graph::new();
        graph.given("S_scaled", Matrix::identity(1), Origin::Stated).unwrap();
        assert!(graph.given("S_scaled", Matrix::identity(1), Origin::Stated).is_err());
        let error = graph.require("S_scald").unwrap_err().to_string();
        assert!(error.contains("did you mean `S_scaled`? The nodes are S_scaled"), "{error}");
    }

    #[test]
    fn of_many_nodes_some_are_listed_and_the_nearest_of_all_is_found() {
        let mut graph = Graph::new();
        for i in 1..=150 {
            graph.given(&format!("S_scaled_{i}"), Matrix::identity(1), Origin::Stated).unwrap();
        }
        let error = graph.require("zzz").unwrap_err().to_string();
        assert!(error.ends_with(" S_scaled_40 and 110 more"), "{error}");
        let error = graph.require("S_scald_149").unwrap_err().to_string();
        assert!(error.contains("did you mean `S_scaled_149`?"), "{error}");
    }

    #[test]
    fn shapes_that_do_not_fit_name_the_step() {
        let mut graph = Graph::new();
        let x = graph.given("X", Matrix::identity(2), Origin::Stated).unwrap();
        let w = graph.given("W_Q", Matrix::identity(3), Origin::Stated).unwrap();
        let error = graph.add("Q", Op::Product, &[x, w]).unwrap_err().to_string();
        assert!(error.starts_with("Q, computed from X and W_Q: a 2×2 matrix"), "{error}");
    }
}
