//! The computation graph: every matrix of a computation, with the op and the inputs that it was computed from.
//!
//! A [`Node`] is a name, an [`Op`], the nodes it reads and the value. Ops are plain data of a closed set: they can be
//! printed, written to JSON, run again on other inputs, and asked for the [`Term`]s of one cell.

mod address;
mod apply;
mod formula;
mod gradients;
mod node;
mod op;
mod ops;
pub mod recipes;
mod rerun;
mod rule;
pub mod saved;
mod side_by_side;
mod single;
mod slopes;
mod stage;
mod term;
mod terms;
mod warnings;

#[cfg(test)]
mod values_tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Index;
use std::sync::Arc;

use crate::attention::Axis;
use crate::error::{Error, ErrorKind, Result};
use crate::matrix::{Labels, Matrix, Shape};
use crate::memory;
use crate::tensor::{MOST_LOOKED_AT, Tensor};

use crate::foreign::{hidden, visible};
use crate::text::{choices, nearest};

pub use crate::attention::{Function, rounded};
pub use address::{Cells, LabelMatch, address_of, find_label, resolve, resolve_each};
pub use formula::{Convention, Equation, equation, formula, number_text};
pub use gradients::{BackwardPass, BackwardSteps, Gradient, Gradients, Start, detours};
pub use node::{Given, Node, NodeId, Value, Watch};
pub use op::{Factor, FusedSteps, Fusion, GeluForm, Op, OpKind, Origin, Side, Statistic};
pub use ops::back::WayBack;
pub use ops::definition::Arity;
pub(crate) use ops::softmax::{negative_log_softmax_of, softmax_of};
pub use side_by_side::{Difference, GraphPair, Movement, side_by_side};
pub use single::Precision;
pub use stage::{Role, Stage, Step};
pub use term::{Bindings, CellId, Notation, PlainSymbols, Rounding, Symbols, Term, symbolic, written};

/// At most this many numbers are recorded in one graph (8 bytes each).
pub const MAX_CELLS: usize = 20_000_000;

/// At most this many steps are recorded without numbers: of thousands of heads, the first say enough, and the limit of numbers holds
/// for each step that is computed.
const MOST_SKETCHED: usize = 10_000;

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
    /// True if steps are recorded as never formed: they have a shape and no numbers.
    shapes_alone: bool,
    /// True if it has the weights of a model.
    is_of_model: bool,
    /// The limit of the numbers recorded, where it is not [`MAX_CELLS`].
    limit: Option<usize>,
    /// The backward pass at its end.
    backward: Option<BackwardSteps>,
    /// What is otherwise than in the graph that this one is made after.
    prepared: Preparation,
    /// The tokens of a model's vocabulary, by their ids: labels of lines that stand for ids.
    vocabulary: Option<Labels>,
}

/// A given number that is replaced; row and column from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedNumber {
    /// The name of its node.
    pub node: String,
    /// The row, from 0.
    pub row: usize,
    /// The column, from 0.
    pub col: usize,
    /// The number that stands there instead.
    pub value: f64,
}

/// What is otherwise than in the graph before.
#[derive(Clone, Debug, Default, PartialEq)]
struct Preparation {
    numbers: Vec<ChangedNumber>,
    before: Option<Arc<Graph>>,
    /// For each node here, whether the graph before has one of this name, op and value.
    unchanged: Vec<bool>,
    /// Who sees how far it is, and may stop it.
    watch: Watch,
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
        if self.shapes_alone {
            return self.never_formed(name, Op::Given(origin), &[], tensor.shape());
        }
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
        if self.shapes_alone {
            return self.sketched(name, op, inputs, &shapes);
        }
        let value = op
            .check(op.name())
            .and_then(|()| op.arity().check(&op, inputs.len()))
            .and_then(|()| self.room_for(op.cells(&shapes)))
            .and_then(|()| self.known(name, &op, inputs).map_or_else(|| self.value(&op, inputs), Ok))
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

    /// Records a step with the shape that its inputs give it, and no numbers.
    fn sketched(&mut self, name: &str, op: Op, inputs: &[NodeId], shapes: &[Shape]) -> Result<NodeId> {
        if self.nodes.len() >= MOST_SKETCHED {
            return Err(Error::new("there are too many steps"));
        }
        op.arity().check(&op, inputs.len())?;
        let shape = op.shape_of(shapes)?;
        self.never_formed(name, op, inputs, shape)
    }

    /// Records numbers of the fast path in their own type, given or computed by the fused kernel.
    ///
    /// # Errors
    /// If the name is taken, or the numbers cannot be read.
    pub fn record(&mut self, name: &str, op: Op, inputs: &[NodeId], numbers: Tensor) -> Result<NodeId> {
        let numbers = numbers.loaded().map_err(|error| error.in_source(name))?;
        self.push(name, op, inputs, Value::Formed(numbers))
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
        let (inputs, step, label, collects) = (inputs.to_vec(), None, None, None);
        self.nodes.push(Node { name, op, inputs, value, step, label, collects });
        Ok(NodeId(self.nodes.len() - 1))
    }

    /// Sets the label of a node: formats for people write the label where its equation has its name.
    pub fn label(&mut self, id: NodeId, label: &str) {
        self.nodes[id.0].label = Some(label.to_string());
    }

    /// Names the rows and columns of a recorded node.
    pub fn name_lines(&mut self, id: NodeId, rows: Option<Labels>, cols: Option<Labels>) {
        if let Value::Formed(tensor) = &mut self.nodes[id.0].value {
            *tensor = tensor.clone().labelled(rows, cols);
        }
    }

    /// Names the rows and columns of a node as those of another.
    fn name_lines_as(&mut self, id: NodeId, other: NodeId) {
        let (rows, cols) = self[other].labels();
        let (rows, cols) = (rows.cloned(), cols.cloned());
        self.name_lines(id, rows, cols);
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

// Finding a node, and the matrix of a node.

impl Graph {
    /// The node of this name, in the layer that is recorded now or in the whole graph.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        let place = self.layer.and_then(|_| self.places.get(&self.in_layer(name)));
        place.or_else(|| self.places.get(name)).copied().map(NodeId)
    }

    /// The node of this name.
    ///
    /// # Errors
    /// If there is none: the error names the nearest and lists the others, as far as they fit a few lines.
    pub fn require(&self, name: &str) -> Result<NodeId> {
        self.find(name).ok_or_else(|| {
            let names: Vec<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
            let listed = choices(names.iter().copied());
            let error = Error::new(format!("there is no node `{name}`")).of_kind(ErrorKind::Unknown);
            // The matrix of all heads, or of all layers.
            let patterns = [format!("{name}_*"), format!("L*.{name}_*"), format!("L*.{name}")];
            let of_all = patterns.iter().find_map(|pattern| {
                let one = names.iter().find(|name| fits(pattern.as_bytes(), name.as_bytes()))?;
                Some(format!("write '{pattern}' for all of them, or one name, such as {one}"))
            });
            if let Some(how) = of_all.filter(|_| !name.is_empty()) {
                return error.help(how);
            }
            match nearest(name, names.iter().copied()) {
                Some(near) => error.help(format!("did you mean `{near}`? The nodes are {listed}")),
                None => error.help(format!("the nodes are {listed}")),
            }
        })
    }

    /// The names that a name stands for: itself, or with `*` for any characters those of all nodes that fit, such as `L*.A_*`. The
    /// only head of a layer has no number: `L*.A_*` finds its `L1.A`, too.
    ///
    /// # Errors
    /// If no node fits: that of [`Graph::require`].
    pub fn all_named(&self, name: &str) -> Result<Vec<String>> {
        if !name.contains('*') {
            return Ok(vec![name.to_string()]);
        }
        let fitting = |pattern: &str| -> Vec<String> {
            let names = self.nodes.iter().map(|node| &node.name);
            names.filter(|name| fits(pattern.as_bytes(), name.as_bytes())).cloned().collect()
        };
        let mut found = fitting(name);
        if let Some(whole) = name.strip_suffix("_*").filter(|_| found.is_empty()) {
            found = fitting(whole);
        }
        if found.is_empty() { self.require(name).map(|_| found) } else { Ok(found) }
    }

    /// The recorded matrix of a node.
    ///
    /// # Errors
    /// If the node is never formed, or has more numbers than are looked at.
    pub fn matrix(&self, id: NodeId) -> Result<&Matrix> {
        let node = &self[id];
        node.matrix().ok_or_else(|| {
            if node.is_never_formed() {
                Error::new(format!("`{}` is never formed", node.name))
                    .help("leave out --fast: the fast path does not compute this step")
            } else {
                let name = &node.name;
                Error::new(format!("`{name}` is {}, too large to take apart", node.shape())).help(format!(
                    "the limit is {MOST_LOOKED_AT} numbers; save them to a file: --save {name}=out.npy"
                ))
            }
        })
    }

    /// The last node: the result.
    pub fn last(&self) -> Option<NodeId> {
        self.nodes.len().checked_sub(1).map(NodeId)
    }
}

/// Returns true if a name fits a pattern, in which `*` stands for any characters.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    // The place after the last star, and that of the name from which it stands for one character more.
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => (star, p) = (Some((p + 1, n)), p + 1),
            Some(c) if *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => {
                let Some((after, from)) = star else { return false };
                star = Some((after, from + 1));
                (p, n) = (after, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

impl Index<NodeId> for Graph {
    type Output = Node;

    fn index(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }
}

// Which step of attention a node is, and the node of a step.

impl Graph {
    /// Says which step of attention a node is.
    pub fn mark(&mut self, id: NodeId, step: impl Into<Step>) {
        let step: Step = step.into();
        self.set_step(id, Some(step.in_layer(step.layer.or(self.layer))));
    }

    /// Sets the step that a node is, or takes it away.
    fn set_step(&mut self, id: NodeId, step: Option<Step>) {
        let before = std::mem::replace(&mut self.nodes[id.0].step, step);
        if before == step {
            return;
        }
        if let Some(before) = before.filter(|before| self.steps.get(before) == Some(&id.0)) {
            self.steps.remove(&before);
            let next = self.nodes.iter().position(|node| node.step == Some(before));
            self.steps.extend(next.map(|next| (before, next)));
        }
        if let Some(step) = step {
            let first = self.steps.entry(step).or_insert(id.0);
            *first = id.0.min(*first);
        }
    }

    /// The node that is this step and is called like another one, but for the numbers of its head and its layer; otherwise the first
    /// one that is this step: several steps have many nodes, as the backward pass has.
    pub fn like(&self, other: NodeId, step: Step) -> Option<NodeId> {
        let stem = stage::stem(&self[other].name);
        let same = |node: &Node| node.step == Some(step) && stage::stem(&node.name) == stem;
        self.nodes().find(|(_, node)| same(node)).map(|(id, _)| id).or_else(|| self.at(step))
    }

    /// The first node that is this step, in the layer that is recorded now.
    pub fn at(&self, step: impl Into<Step>) -> Option<NodeId> {
        let step: Step = step.into();
        self.steps.get(&step.in_layer(step.layer.or(self.layer))).copied().map(NodeId)
    }
}

// The layers of a model: names and weights.

impl Graph {
    /// From now on, names and steps are those of this layer, counted from 1: `Q` is recorded as `L3.Q`, and found again as `Q`.
    /// Returns the layer before.
    pub fn enter_layer(&mut self, layer: Option<usize>) -> Option<usize> {
        std::mem::replace(&mut self.layer, layer)
    }

    /// This graph, with at most this many numbers recorded.
    pub fn with_limit(self, limit: usize) -> Graph {
        Graph { limit: Some(limit), ..self }
    }

    /// This graph, with room for this many nodes.
    pub fn with_room_for(mut self, nodes: usize) -> Graph {
        self.nodes.reserve(nodes);
        self.places.reserve(nodes);
        self
    }

    /// This graph, with its steps computed in these numbers.
    pub fn in_precision(self, precision: Precision) -> Graph {
        Graph { precision, ..self }
    }

    /// This graph, in which steps have a shape and no numbers.
    pub(crate) fn with_shapes_alone(self) -> Graph {
        Graph { shapes_alone: true, ..self }
    }

    /// Whether steps are computed, and not recorded with their shapes alone.
    pub(crate) fn forms_steps(&self) -> bool {
        !self.shapes_alone
    }

    /// Records steps with their shapes alone from now on, or computes them again.
    pub(crate) fn form_steps(&mut self, forms: bool) {
        self.shapes_alone = !forms;
    }

    /// The numbers that its steps are computed in.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Records weights as they are: they stay in their type, and large ones in their file until they are asked for. They do not count as
    /// recorded.
    ///
    /// # Errors
    /// If the name is taken, or small weights cannot be read.
    pub fn weights(&mut self, name: &str, weights: Tensor, origin: Origin) -> Result<NodeId> {
        self.is_of_model = true;
        let shape = weights.shape();
        let is_small = shape.rows.saturating_mul(shape.cols) <= MOST_LOOKED_AT;
        let weights =
            if is_small { weights.loaded().map_err(|error| error.in_source(name))? } else { weights };
        self.push(name, Op::Given(origin), &[], Value::Formed(weights))
    }

    /// Says which labels are the tokens of the vocabulary, by their ids: a line that carries them is found as `token 464`, too.
    pub fn set_vocabulary(&mut self, names: Labels) {
        self.vocabulary = Some(names);
    }

    /// Returns true if labels are the tokens of the vocabulary.
    pub fn is_vocabulary(&self, labels: &Labels) -> bool {
        self.vocabulary.as_ref().is_some_and(|own| Arc::ptr_eq(own, labels))
    }

    /// Reads the numbers of a node that are still in a file.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn load(&mut self, id: NodeId) -> Result<()> {
        if let Value::Formed(tensor) = &mut self.nodes[id.0].value
            && tensor.is_stored()
        {
            *tensor = tensor.clone().loaded()?;
        }
        Ok(())
    }

    /// The number of nodes.
    pub(crate) fn recorded_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Forgets the numbers of the steps after the first `count` nodes that no later step reads: their shapes and ops stay, and there
    /// is room for others.
    pub(crate) fn forget_since(&mut self, count: usize, kept: &[NodeId]) {
        for (at, node) in self.nodes.iter_mut().enumerate().skip(count) {
            if let Value::Formed(tensor) = &node.value
                && !node.op.is_given()
                && !kept.contains(&NodeId(at))
            {
                let shape = tensor.shape();
                self.recorded = self.recorded.saturating_sub(shape.rows * shape.cols);
                node.value = Value::NeverFormed(shape);
            }
        }
    }

    /// A name in the layer that is recorded now.
    fn in_layer(&self, name: &str) -> String {
        match self.layer {
            Some(layer) => format!("L{layer}.{name}"),
            None => name.to_string(),
        }
    }
}

// A graph as it is shown: labels and other text from outside have escapes for invisible characters.

impl Graph {
    /// This graph with invisible characters escaped.
    pub fn made_visible(mut self) -> Graph {
        let show = |text: &mut String| {
            if let Cow::Owned(shown) = visible(text) {
                *text = shown;
            }
        };
        let vocabulary = self.vocabulary.as_ref().map(|own| (own.clone(), visible_labels(own)));
        let shown = |labels: Option<&Labels>| match (labels?, &vocabulary) {
            // What is shared stays shared: a vocabulary is long.
            (labels, Some((own, shown))) if Arc::ptr_eq(labels, own) => Some(shown.clone()),
            (labels, _) => Some(visible_labels(labels)),
        };
        self.vocabulary = vocabulary.as_ref().map(|(_, shown)| shown.clone());
        self.warnings.iter_mut().for_each(show);
        for node in &mut self.nodes {
            let (rows, cols) = node.labels();
            let (rows, cols) = (shown(rows), shown(cols));
            [&mut node.name].into_iter().chain(&mut node.label).chain(&mut node.collects).for_each(show);
            if let Op::Given(origin) = &mut node.op {
                show_origin(origin);
            }
            if let Value::Formed(tensor) = &mut node.value {
                *tensor = tensor.clone().labelled(rows, cols);
            }
        }
        self
    }
}

fn visible_labels(labels: &Labels) -> Labels {
    if labels.iter().all(|label| hidden(label).next().is_none()) {
        return labels.clone();
    }
    labels.iter().map(|label| visible(label).into_owned()).collect()
}

fn show_origin(origin: &mut Origin) {
    match origin {
        Origin::User(source) => *source = visible(source).into_owned(),
        Origin::Rows(rows) => rows.iter_mut().for_each(show_origin),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::matrix::Matrix;

    use super::{Origin, Role, Stage, fits, *};

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

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name, is_it) in [
            ("L*.A_*", "L12.A_3", true),
            ("L*.A_*", "L1.A", false),
            ("L*.A_*", "L1.S_masked_3", false),
            ("*", "", true),
            ("*ab", "aab", true),
            ("a*b*c", "axxbyc", true),
            ("a*b*c", "axxbyd", false),
            ("A", "A_1", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), is_it, "{pattern} {name}");
        }
    }

    #[test]
    fn a_step_is_found_at_the_first_node_that_is_marked_as_it() {
        let mut graph = Graph::new();
        let ids: Vec<NodeId> = ["a", "b", "c"]
            .into_iter()
            .map(|name| graph.given(name, Matrix::identity(1), Origin::Stated).unwrap())
            .collect();
        graph.mark(ids[2], Role::Q);
        graph.mark(ids[1], Role::Q);
        assert_eq!(graph.at(Role::Q), Some(ids[1]));
        graph.mark(ids[1], Role::K);
        assert_eq!((graph.at(Role::Q), graph.at(Role::K)), (Some(ids[2]), Some(ids[1])));
        graph.mark(ids[2], Stage::Output);
        assert_eq!((graph.at(Role::Q), graph.at(Stage::Output)), (None, Some(ids[2])));
    }

    #[test]
    fn layers_have_the_same_names_and_steps_each_for_itself() {
        let mut graph = Graph::new();
        for layer in 1..=2 {
            graph.enter_layer(Some(layer));
            let q = graph.given("Q", Matrix::filled(1, 1, layer as f64), Origin::Stated).unwrap();
            graph.mark(q, Stage::Scores);
            assert_eq!((graph.find("Q"), graph.at(Stage::Scores)), (Some(q), Some(q)));
            assert_eq!(graph[q].name, format!("L{layer}.Q"));
        }
        graph.enter_layer(None);
        assert_eq!(graph.find("Q"), None);
        let first = graph.find("L1.Q").unwrap();
        assert_eq!(graph.at(Stage::Scores.of_head(None).in_layer(Some(1))), Some(first));
    }
}
