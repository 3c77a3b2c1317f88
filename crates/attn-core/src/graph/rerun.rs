//! A graph made after another: with some numbers changed, where what does not depend on a change is taken from the graph before;
//! run again from its given nodes; restored from a file; with nodes of another graph.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::matrix::{Matrix, Shape};
use crate::tensor::{Dtype, Tensor};
use crate::text::clip;

use super::{ChangedNumber, Graph, Node, NodeId, Op, Origin, Precision, Preparation, Role, Value, Watch};

impl Graph {
    /// This graph, in which given nodes will have these numbers. The last one for a cell counts.
    pub fn with_numbers(mut self, changed: Vec<ChangedNumber>) -> Graph {
        self.prepared.numbers = changed;
        self
    }

    /// This graph, which is about to be made like `before`: steps whose op and inputs are the same there are not computed again.
    /// Both have the same bits in every cell, since an op gives the same bits for the same inputs.
    pub fn after(mut self, before: Arc<Graph>) -> Graph {
        self.prepared.before = Some(before);
        self
    }

    /// This graph, which is about to be made while somebody watches.
    pub fn watched(mut self, watch: Watch) -> Graph {
        self.prepared.watch = watch;
        self
    }

    /// This graph, complete: it needs the graph before no longer.
    pub fn completed(mut self) -> Graph {
        self.prepared = Preparation::default();
        self
    }

    /// The same steps once more, recorded in `graph`, with the op that `op_of` chooses for each. Nodes keep their places.
    ///
    /// # Errors
    /// If a step cannot be computed, which no change of numbers causes.
    pub fn again(&self, mut graph: Graph, op_of: impl Fn(&Node) -> Op) -> Result<Graph> {
        (graph.precision, graph.limit, graph.is_of_model) = (self.precision, self.limit, self.is_of_model);
        for node in &self.nodes {
            let id = match (&node.op, &node.value) {
                (Op::Given(origin), Value::Formed(tensor)) if tensor.is_exact() && !tensor.is_stored() => {
                    graph.given(&node.name, tensor.clone(), origin.clone())?
                }
                (Op::Given(origin), Value::Formed(tensor)) => {
                    let with_changes =
                        graph.origin_with_changes(&node.name, origin.clone(), tensor.shape().rows);
                    let tensor = graph.with_changed_numbers(&node.name, tensor.clone())?;
                    // Weights do not count as recorded, even changed ones.
                    let id = graph.push(&node.name, node.op.clone(), &[], Value::Formed(tensor))?;
                    graph.nodes[id.0].op = Op::Given(with_changes);
                    id
                }
                (_, Value::NeverFormed(_)) | (Op::Fused(_), _) => {
                    graph.push(&node.name, node.op.clone(), &node.inputs, node.value.clone())?
                }
                (_, Value::Formed(_)) => graph.add(&node.name, op_of(node), &node.inputs)?,
            };
            if graph[id].labels() != node.labels() {
                let (rows, cols) = node.labels();
                graph.name_lines(id, rows.cloned(), cols.cloned());
            }
            graph.describe(id, node);
        }
        // Nodes keep their places.
        graph.backward.clone_from(&self.backward);
        Ok(graph)
    }

    /// Gives a node the step, the label and the word for its inputs that another one has.
    fn describe(&mut self, id: NodeId, like: &Node) {
        self.set_step(id, like.step);
        let here = &mut self.nodes[id.0];
        (here.label, here.collects) = (like.label.clone(), like.collects.clone());
    }

    /// A given matrix with the numbers that replace some of its own.
    pub(super) fn with_changed_numbers(&self, name: &str, tensor: Tensor) -> Result<Tensor> {
        let own = self.in_layer(name);
        let here: Vec<&ChangedNumber> =
            self.prepared.numbers.iter().filter(|number| number.node == own).collect();
        if here.is_empty() {
            return Ok(tensor);
        }
        let Shape { rows: height, cols: width } = tensor.shape();
        if let Some(outside) = here.iter().find(|number| number.row >= height || number.col >= width) {
            let (row, col) = (outside.row + 1, outside.col + 1);
            return Err(Error::new(format!("{name} is {height}×{width} and has no cell [{row},{col}]")));
        }
        if let Some(number) = here.iter().find(|number| !number.value.is_finite() && !takes_infinity(name)) {
            let (row, col) = (number.row + 1, number.col + 1);
            return Err(Error::new(format!("{name}[{row},{col}] would be infinite"))
                .help("give a finite number: −∞ is for scores, a mask or a bias"));
        }
        if self.precision != Precision::Exact && tensor.dtype() == Dtype::F32 {
            let cells: Vec<_> = here.iter().map(|number| (number.row, number.col, number.value)).collect();
            return tensor.replaced::<f32>(&cells);
        }
        let (rows, cols) = (tensor.row_labels().cloned(), tensor.col_labels().cloned());
        let before = tensor.into_matrix()?;
        let here: BTreeMap<(usize, usize), f64> =
            here.iter().map(|number| ((number.row, number.col), number.value)).collect();
        let changed = |i: usize, j: usize| here.get(&(i, j)).copied().unwrap_or(before[(i, j)]);
        let changed = Matrix::from_fn(height, width, changed).labelled_by(rows.as_ref(), cols.as_ref());
        if self.precision == Precision::Exact { Ok(changed.into()) } else { Tensor::rounded::<f32>(&changed) }
    }

    /// The origin of a given matrix of this many rows: those with a changed number are given by hand.
    pub(super) fn origin_with_changes(&self, name: &str, origin: Origin, rows: usize) -> Origin {
        let name = self.in_layer(name);
        let changed: BTreeSet<usize> = self
            .prepared
            .numbers
            .iter()
            .filter(|number| number.node == name)
            .map(|number| number.row)
            .collect();
        match origin {
            origin if changed.is_empty() => origin,
            Origin::Rows(origins) if origins.len() == rows => {
                let of_row = |(row, origin)| if changed.contains(&row) { by_hand() } else { origin };
                Origin::Rows(origins.into_iter().enumerate().map(of_row).collect())
            }
            _ => by_hand(),
        }
    }

    /// The numbers that a step has in the graph before, if nothing that it reads has changed since.
    pub(super) fn known(&self, name: &str, op: &Op, inputs: &[NodeId]) -> Option<Tensor> {
        let before = self.prepared.before.as_deref()?;
        let node = &before[before.find(&self.in_layer(name))?];
        let same_inputs = || {
            node.inputs.len() == inputs.len()
                && node.inputs.iter().zip(inputs).all(|(there, here)| {
                    self.prepared.unchanged.get(here.0) == Some(&true)
                        && before[*there].name == self[*here].name
                })
        };
        node.tensor().filter(|_| node.op == *op && same_inputs()).cloned()
    }

    /// Remembers whether a node that is about to be recorded is the same as in the graph before.
    pub(super) fn note_change(&mut self, name: &str, value: &Value) {
        let Some(before) = self.prepared.before.as_deref() else { return };
        let same = |there: &Value| match (there, value) {
            (Value::Formed(there), Value::Formed(here)) => {
                let labels = |tensor: &Tensor| (tensor.row_labels().cloned(), tensor.col_labels().cloned());
                let is_in_file = there.is_stored() && here.is_stored();
                labels(there) == labels(here) && (is_in_file || there.same_bits(here))
            }
            (there, here) => there == here,
        };
        // A step that is computed otherwise but has the same result changes nothing for those that read it.
        let unchanged = before.places.get(name).is_some_and(|&place| same(&before.nodes[place].value));
        self.prepared.unchanged.push(unchanged);
    }
}

/// Whether a given matrix of this name may have infinite numbers: a mask, a bias, and scores may, what is multiplied may not.
fn takes_infinity(name: &str) -> bool {
    let role = Role::all().find(|role| role.name() == name);
    role.is_none_or(|role| matches!(role, Role::Mask | Role::Bias))
}

/// The origin of a number that was typed in the place of another.
fn by_hand() -> Origin {
    Origin::User("hand".into())
}

// Recording nodes whose numbers are known, and running a whole graph again from its given nodes.

impl Graph {
    /// Records a node with the numbers that it is known to have; they are not computed. Names and steps are taken as they are,
    /// whatever the layer that is recorded now.
    ///
    /// # Errors
    /// If the name is taken, an input does not come before it, the op cannot make this shape from those of the inputs, or there
    /// is no room for the numbers. Each names the node.
    pub fn restore(&mut self, node: Node) -> Result<NodeId> {
        let name = node.name.clone();
        let layer = self.layer.take();
        let restored = self.restored(node);
        self.layer = layer;
        restored.map_err(|error| of_node(&name, error))
    }

    fn restored(&mut self, Node { name, op, inputs, value, step, label, collects }: Node) -> Result<NodeId> {
        if inputs.iter().any(|input| input.0 >= self.nodes.len()) {
            return Err(Error::new("an input does not come before it").of_kind(ErrorKind::Unknown));
        }
        let shapes: Vec<Shape> = inputs.iter().map(|&id| self[id].shape()).collect();
        let value = value.loaded()?;
        let shape = value.shape();
        op.check_fits(&shapes, shape)?;
        if self.counts(&op, &value) {
            self.room_for(shape.rows.saturating_mul(shape.cols))?;
        }
        let id = self.push(&name, op, &inputs, value)?;
        self.set_step(id, step);
        let here = &mut self.nodes[id.0];
        (here.label, here.collects) = (label, collects);
        Ok(id)
    }

    /// Applies every op again, in order, from the numbers of the given nodes. The exact path gives the same bits again. Names of
    /// rows and columns, labels and steps stay as they are, and the warnings are those of the new numbers.
    ///
    /// # Errors
    /// If a step has no numbers or comes from the fused kernel, so that it cannot be run step by step, or an op refuses its
    /// inputs. Each names the step.
    pub fn run_again(&self) -> Result<Graph> {
        for node in &self.nodes {
            let why = match (&node.op, &node.value) {
                (Op::Fused(_), _) => {
                    Error::new("the fused kernel has computed it, which cannot be run step by step")
                        .help("leave out --fast: then every step is recorded")
                }
                (_, Value::NeverFormed(_)) => {
                    Error::new("its numbers are not recorded, so it cannot be run again")
                }
                (_, Value::Formed(_)) => continue,
            };
            return Err(of_node(&node.name, why));
        }
        self.again(Graph::new(), |node| node.op.clone())
    }
}

/// An error in a node, which the sentence names: its place is the file's, which the caller knows.
pub(super) fn of_node(name: &str, error: Error) -> Error {
    match error {
        Error::Unusable(mut problem) => {
            let inside = problem.place.take().map_or_else(String::new, |place| format!("{place}: "));
            problem.what = format!("node `{}`: {inside}{}", clip(name), problem.what);
            Error::Unusable(problem)
        }
        output => output,
    }
}

// Nodes that were given in place of being computed, as steps again: a backward pass then goes through them.

impl Graph {
    /// This graph, in which each node that is given here, and computed in `right`, counts as computed as it is there. Its numbers
    /// stay. Nodes whose inputs this graph does not have stay given.
    pub fn computed_as(mut self, right: &Graph) -> Graph {
        for at in 0..self.nodes.len() {
            let name = &self.nodes[at].name;
            let Some(there) = right.find(name).map(|id| &right[id]) else { continue };
            if !self.nodes[at].op.is_given() || there.op.is_given() {
                continue;
            }
            let here = |id: &NodeId| self.find(&right[*id].name).filter(|id| id.position() < at);
            let inputs: Option<Vec<NodeId>> = there.inputs.iter().map(here).collect();
            if let Some(inputs) = inputs {
                (self.nodes[at].op, self.nodes[at].inputs) = (there.op.clone(), inputs);
            }
        }
        self
    }
}

// Nodes of another graph, with all that they were computed from.

impl Graph {
    /// Records nodes of another graph in this one, with all that they were computed from and the numbers they have there. Each
    /// gets the suffix behind its name; the weights of a model keep their names, and are recorded once. Numbers that are in a
    /// file are read.
    ///
    /// # Errors
    /// If a name is taken, there is no room for the numbers, or they cannot be read.
    pub fn adopt(&mut self, other: &Graph, wanted: &[NodeId], suffix: &str) -> Result<Vec<NodeId>> {
        let is_needed = other.needed(wanted);
        let mut here: Vec<Option<NodeId>> = vec![None; other.nodes.len()];
        for (id, node) in other.nodes().filter(|(id, _)| is_needed[id.0]) {
            let inputs: Vec<NodeId> = node.inputs.iter().filter_map(|input| here[input.0]).collect();
            here[id.0] = Some(self.adopt_node(node, &inputs, suffix)?);
        }
        let place = |id: &NodeId| here[id.0].ok_or_else(|| Error::new("a node is missing"));
        wanted.iter().map(place).collect()
    }

    /// The nodes that some nodes are computed from, and these themselves.
    fn needed(&self, wanted: &[NodeId]) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        for id in wanted {
            needed[id.0] = true;
        }
        // Inputs come before what reads them.
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if needed[at] {
                node.inputs.iter().for_each(|input| needed[input.0] = true);
            }
        }
        needed
    }

    /// The steps on the way from some nodes to `result`, which is the last of them if it depends on any.
    pub fn between(&self, from: &[NodeId], result: NodeId) -> Vec<NodeId> {
        let is_needed = self.needed(&[result]);
        let mut between: BTreeSet<NodeId> = BTreeSet::new();
        for id in (0..=result.0).map(NodeId).filter(|id| is_needed[id.0] && !from.contains(id)) {
            if self[id].inputs.iter().any(|input| from.contains(input) || between.contains(input)) {
                between.insert(id);
            }
        }
        between.into_iter().collect()
    }

    /// Steps once more, with other nodes in the place of some, as nodes of new names; the last of them. A step that is there already
    /// under its new name, the same op on the same inputs, is not made again.
    ///
    /// # Errors
    /// If there is no step, a new name is taken, or an op refuses its inputs.
    pub fn once_more(
        &mut self,
        steps: &[NodeId],
        replaced: &[(NodeId, NodeId)],
        new_name: impl Fn(&str) -> String,
    ) -> Result<NodeId> {
        let mut copies: BTreeMap<NodeId, NodeId> = replaced.iter().copied().collect();
        let mut last = Err(Error::new("there is no step to run again"));
        for &id in steps {
            let node = self[id].clone();
            let inputs: Vec<NodeId> =
                node.inputs.iter().map(|input| *copies.get(input).unwrap_or(input)).collect();
            let name = new_name(&node.name);
            let is_same = |known: &NodeId| self[*known].op == node.op && self[*known].inputs == inputs;
            let copy = match self.find(&name).filter(is_same) {
                Some(known) => known,
                None => self.add(&name, node.op.clone(), &inputs)?,
            };
            self.describe(copy, &node);
            copies.insert(id, copy);
            last = Ok(copy);
        }
        last
    }

    fn adopt_node(&mut self, node: &Node, inputs: &[NodeId], suffix: &str) -> Result<NodeId> {
        let is_weight = matches!(node.op, Op::Given(Origin::Weights(_)));
        if let Some(known) = self.find(&node.name).filter(|_| is_weight) {
            return Ok(known);
        }
        let name = if is_weight { node.name.clone() } else { format!("{}{suffix}", node.name) };
        let value = node.value.clone().loaded()?;
        self.room_for(node.shape().rows.saturating_mul(node.shape().cols))?;
        let id = self.push(&name, node.op.clone(), inputs, value)?;
        self.describe(id, node);
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use crate::attention::WeightLayout;
    use crate::graph::recipes::{AttendInputs, Recipe, attend};
    use crate::graph::{Given, Op, Origin, Start};
    use crate::matrix::Matrix;

    use super::*;

    fn tokens() -> AttendInputs {
        AttendInputs::of_tokens(
            Matrix::of([[3.0, 3.0], [4.0, 0.0], [0.0, 5.0]]).rows_named(&["bat", "cave", "racket"]),
        )
    }

    fn changed(value: f64) -> Vec<ChangedNumber> {
        vec![ChangedNumber { node: "X".into(), row: 1, col: 0, value }]
    }

    #[test]
    fn the_same_steps_with_another_number_have_the_bits_of_a_fresh_graph() {
        let before = Arc::new(attend(&Recipe::causal(), tokens()).unwrap());
        let edited = Graph::new().after(Arc::clone(&before)).with_numbers(changed(7.5));
        let edited = before.again(edited, |node| node.op.clone()).unwrap();
        let mut inputs = tokens();
        let x = Matrix::of([[3.0, 3.0], [7.5, 0.0], [0.0, 5.0]]).rows_named(&["bat", "cave", "racket"]);
        inputs.x = Some(Given::new(x, by_hand()));
        let fresh = attend(&Recipe::causal(), inputs).unwrap();
        assert_eq!(edited.completed(), fresh);
    }

    #[test]
    fn what_reads_nothing_changed_is_not_computed_again() {
        let mut before = Graph::new();
        let build = |graph: &mut Graph| {
            let x = graph.given("X", Matrix::of([[1.0, 2.0]]), Origin::Stated).unwrap();
            let y = graph.given("Y", Matrix::of([[3.0, 4.0]]), Origin::Stated).unwrap();
            let a = graph.add("A", Op::Transpose, &[x]).unwrap();
            let b = graph.add("B", Op::Transpose, &[y]).unwrap();
            [a, b]
        };
        build(&mut before);
        let y = vec![ChangedNumber { node: "Y".into(), row: 0, col: 1, value: 9.0 }];
        let mut graph = Graph::new().after(Arc::new(before)).with_numbers(y);
        let [a, b] = build(&mut graph);
        assert_eq!(graph.prepared.unchanged, [true, false, true, false]);
        assert!(graph.known("A", &Op::Transpose, &graph[a].inputs.clone()).is_some());
        assert!(graph.known("B", &Op::Transpose, &graph[b].inputs.clone()).is_none());
        assert_eq!(graph.matrix(b).unwrap()[(1, 0)], 9.0);
    }

    #[test]
    fn edited_weights_do_not_count_as_recorded() {
        let mut before = Graph::new().with_limit(4);
        let weights = Tensor::rounded::<f32>(&Matrix::identity(2)).unwrap();
        let w = before.weights("W", weights, Origin::Weights("w".into())).unwrap();
        let x = before.given("X", Matrix::of([[1.0, 2.0]]), Origin::Stated).unwrap();
        let z = before.add("Z", Op::Linear(WeightLayout::InOut), &[x, w]).unwrap();
        let number = ChangedNumber { node: "W".into(), row: 0, col: 1, value: 0.1 };
        let edited = Graph::new().with_numbers(vec![number]);
        let edited = before.again(edited, |node| node.op.clone()).unwrap();
        assert_eq!(
            edited.matrix(z).unwrap()[(0, 1)],
            0.1 + 2.0,
            "on the exact path 0.1 is not rounded to f32"
        );
    }

    #[test]
    fn a_number_outside_its_matrix_is_an_error() {
        let mut graph = Graph::new().with_numbers(changed(1.0));
        let error = graph.given("X", Matrix::identity(1), Origin::Stated).unwrap_err().to_string();
        assert!(error.contains("has no cell [2,1]"), "{error}");
    }

    #[test]
    fn a_backward_pass_goes_through_a_step_with_other_numbers() {
        let x = || Matrix::of([[1.0, 2.0]]);
        let mut right = Graph::new();
        let id = right.given("X", x(), Origin::Stated).unwrap();
        right.add("Y", Op::Multiply, &[id, id]).unwrap();
        let mut own = Graph::new();
        let id = own.given("X", x(), Origin::Stated).unwrap();
        let y = own.given("Y", Matrix::of([[7.0, 8.0]]), Origin::Stated).unwrap();
        let z = own.add("Z", Op::Multiply, &[y, y]).unwrap();
        assert!(own.clone().gradients(z, Start::Ones, &[id]).is_err());
        let mut own = own.computed_as(&right);
        let of_x = own.gradients(z, Start::Ones, &[id]).unwrap().of(id).unwrap();
        // dX = 2 Y · 2 X, with the numbers of Y that are given.
        assert_eq!(*own.matrix(of_x).unwrap(), Matrix::of([[28.0, 64.0]]));
    }

    #[test]
    fn what_is_needed_comes_along_and_weights_are_shared() {
        let mut other = Graph::new();
        let w = other.weights("W", Matrix::of([[2.0]]).into(), Origin::Weights("w".into())).unwrap();
        let x = other.given("X", Matrix::of([[3.0]]), Origin::Stated).unwrap();
        other.given("Y", Matrix::of([[5.0]]), Origin::Stated).unwrap();
        let product = other.add("Z", Op::Product, &[x, w]).unwrap();
        let mut graph = Graph::new();
        for suffix in ["_a", "_b"] {
            let ids = graph.adopt(&other, &[product], suffix).unwrap();
            assert_eq!(graph[ids[0]].name, format!("Z{suffix}"));
            assert_eq!(graph.matrix(ids[0]).unwrap()[(0, 0)], 6.0);
        }
        let names: Vec<&str> = graph.nodes().map(|(_, node)| node.name.as_str()).collect();
        assert_eq!(names, ["W", "X_a", "Z_a", "X_b", "Z_b"]);
        assert!(graph.adopt(&other, &[product], "_a").is_err());
    }
}
