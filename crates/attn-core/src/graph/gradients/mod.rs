//! Gradients: how much a loss changes with each number of a computation, as more nodes of the same graph.
//!
//! The gradient of a node `A` is the node `dA`, of the same shape. It is made of the ops that every other node is made of, so it
//! can be explained, compared, saved and run again like them. The walk goes from the loss to what it came from: each step that
//! reads a node hands a part of its own gradient on to it, and a node that several steps read gets the sum of these parts.

pub mod detours;

use crate::error::{Error, ErrorKind, Result};
use crate::matrix::{Matrix, Shape};

use super::ops::back::{Backward, WayBack};
use super::stage::{gradient_name, name_beside, part_name};
use super::{Factor, Graph, NodeId, Op, Origin, Stage, Step};
use detours::{Detour, Part};

pub use super::node::{BackwardPass, BackwardSteps, Gradient, Gradients, Start};

impl Graph {
    /// Adds the gradients of a loss with respect to some nodes, and of every node between: `dA` for `A`.
    ///
    /// # Shapes
    /// A gradient has the shape of its node.
    /// # Errors
    /// If the start does not fit the loss, the loss depends on none of the nodes, a step between them has no gradient (the error
    /// says why), the gradients of this graph are there already, or there is no room.
    pub fn gradients(&mut self, loss: NodeId, start: Start, of: &[NodeId]) -> Result<Gradients> {
        self.gradients_with(loss, start, of, &[])
    }

    /// The same with some steps done otherwise than they should be: what a backward pass with mistakes in it gives.
    ///
    /// # Errors
    /// As [`Graph::gradients`], and if matrices do not fit a step that is done otherwise; the steps before it are there then.
    pub fn gradients_with(
        &mut self,
        loss: NodeId,
        start: Start,
        of: &[NodeId],
        detours: &[Detour],
    ) -> Result<Gradients> {
        // Names are taken as they are, whatever the layer that is recorded now.
        let layer = self.layer.take();
        let gradients = Walk::new(self, loss, of).and_then(|walk| self.walked(walk, start, detours));
        self.layer = layer;
        gradients
    }

    fn walked(&mut self, walk: Walk, start: Start, detours: &[Detour]) -> Result<Gradients> {
        let loss = walk.loss;
        let begun = self.nodes.len();
        let start = self.start(loss, start)?;
        if start.position() >= begun {
            self.mark_backward(start, loss);
        }
        let from = detours::start(detours, self, start)?;
        let all = walk.run(self, from, detours)?;
        for gradient in &all {
            gradient.steps.iter().for_each(|step| self.mark_backward(*step, gradient.of));
        }
        Ok(Gradients { loss, start, all })
    }

    /// Marks a node of the backward pass, in the head and the layer of the node whose gradient it belongs to.
    fn mark_backward(&mut self, id: NodeId, of: NodeId) {
        let place = self[of].step;
        let (head, layer) = place.map_or((None, None), |step| (step.head, step.layer));
        self.set_step(id, Some(Step { stage: Stage::Backward, head, layer }));
    }

    /// The backward pass that this graph ends with, if a [`BackwardPass`] has added one.
    pub fn backward(&self) -> Option<&BackwardSteps> {
        self.backward.as_ref()
    }

    /// Keeps what was added, so that the two ways can be told apart.
    pub(in crate::graph) fn ends_with(&mut self, backward: BackwardSteps) {
        self.backward = Some(backward);
    }

    /// Records the gradient of the loss.
    fn start(&mut self, loss: NodeId, start: Start) -> Result<NodeId> {
        let name = gradient_name(&self[loss].name);
        let shape = self[loss].shape();
        let of = self[loss].name.clone();
        let fits = |given: Shape| {
            if given == shape {
                return Ok(());
            }
            Err(Error::new(format!("{name} is {given}, but {of} is {shape}"))
                .of_kind(ErrorKind::Shape)
                .help(format!("give one number for each cell of {of}")))
        };
        let id = match start {
            Start::Ones => self.add(&name, Op::Ones { rows: shape.rows, cols: shape.cols }, &[])?,
            Start::Cell(row, col) => {
                let one = |i, j| if (i, j) == (row, col) { 1.0 } else { 0.0 };
                self.given(&name, Matrix::from_fn(shape.rows, shape.cols, one), Origin::Stated)?
            }
            Start::Given(given) => {
                fits(given.shape())?;
                self.given(&name, given.tensor, given.origin)?
            }
            Start::Node(node) => {
                fits(self[node].shape())?;
                if self[node].name == name { node } else { self.add(&name, Op::Add, &[node])? }
            }
        };
        self.name_lines_as(id, loss);
        Ok(id)
    }
}

// The walk from the loss to what it was computed from.

/// The nodes between the loss and what is asked for, each with the steps that hand a part of their gradient on to it.
struct Walk {
    loss: NodeId,
    /// By the position of the node.
    readers: Vec<Vec<Part>>,
}

impl Walk {
    /// # Errors
    /// If a step between has no gradient, or nothing lies between.
    pub fn new(graph: &Graph, loss: NodeId, of: &[NodeId]) -> Result<Walk> {
        let nodes = loss.position() + 1;
        let mut leads = vec![false; nodes];
        for (id, node) in graph.nodes().take(nodes) {
            let on = |(input, read): (usize, &NodeId)| {
                leads[read.position()] && !matches!(node.op.way_back(input), WayBack::Ends(_))
            };
            leads[id.position()] = of.contains(&id) || node.inputs.iter().enumerate().any(on);
        }
        let mut readers: Vec<Vec<Part>> = vec![Vec::new(); nodes];
        for (id, node) in graph.nodes().take(nodes).collect::<Vec<_>>().into_iter().rev() {
            if id != loss && readers[id.position()].is_empty() {
                continue;
            }
            for (input, read) in node.inputs.iter().enumerate().filter(|(_, read)| leads[read.position()]) {
                match node.op.way_back(input) {
                    WayBack::Through => readers[read.position()].push(Part { reader: id, input }),
                    WayBack::Ends(_) => {}
                    WayBack::Refused(why) => {
                        let name = &graph[*read].name;
                        let gradient = gradient_name(name);
                        return Err(Error::new(format!(
                            "there is no {gradient}: {} is computed from {name}, and {why}",
                            node.name
                        ))
                        .help(format!("take the gradient of a computation without {}", node.name)));
                    }
                }
            }
        }
        for of_node in &mut readers {
            of_node.reverse();
        }
        if readers.iter().all(Vec::is_empty) {
            let name = &graph[loss].name;
            return Err(Error::new(format!(
                "{name} depends on none of the numbers whose gradients are asked for"
            ))
            .help("start at a step that is computed from them, such as O"));
        }
        Ok(Walk { loss, readers })
    }

    /// Adds the gradients, from the loss back, with some steps done otherwise.
    pub fn run(self, graph: &mut Graph, start: NodeId, detours: &[Detour]) -> Result<Vec<Gradient>> {
        let mut known: Vec<Option<NodeId>> = vec![None; self.readers.len()];
        known[self.loss.position()] = Some(start);
        let mut all = Vec::new();
        let between: Vec<NodeId> = graph.nodes().map(|(id, _)| id).take(self.loss.position()).collect();
        for of in between.into_iter().rev().filter(|of| !self.readers[of.position()].is_empty()) {
            let begun = graph.recorded_nodes();
            let id = self.gradient(graph, of, &known, detours)?;
            graph.name_lines_as(id, of);
            known[of.position()] = Some(id);
            let steps = graph.nodes().map(|(id, _)| id).skip(begun).collect();
            all.push(Gradient { of, id, steps });
        }
        Ok(all)
    }

    /// The gradient of a node whose readers have theirs.
    fn gradient(
        &self,
        graph: &mut Graph,
        of: NodeId,
        known: &[Option<NodeId>],
        detours: &[Detour],
    ) -> Result<NodeId> {
        let readers = &self.readers[of.position()];
        let name = gradient_name(&graph[of].name);
        let of_reader = |part: &Part| {
            known[part.reader.position()]
                .ok_or_else(|| Error::new(format!("a gradient that {name} needs is missing")))
        };
        if let Some((op, order)) = put_together(graph, of, readers) {
            let parts: Vec<NodeId> =
                order.iter().map(|at| of_reader(&readers[*at])).collect::<Result<_>>()?;
            return graph.add(&name, op, &parts);
        }
        let (readers, count) = detours::kept(detours, graph, readers.clone());
        if let [reader] = readers[..] {
            return handed_on(graph, reader, of_reader(&reader)?, name.clone(), detours);
        }
        let mut parts = Vec::new();
        for part in &readers {
            let reads_again = readers.iter().filter(|other| other.reader == part.reader).count() > 1;
            let input = reads_again.then_some(part.input);
            let name = part_name(&graph[of].name, &graph[part.reader].name, input);
            let part = handed_on(graph, *part, of_reader(part)?, name, detours)?;
            graph.name_lines_as(part, of);
            parts.push(part);
        }
        if count == 1 {
            return graph.add(&name, Op::Add, &parts);
        }
        let sum = graph.add(&name_beside(&name, "sum"), Op::Add, &parts)?;
        graph.add(&name, Op::Scale(Factor::Inverse(count)), &[sum])
    }
}

/// The part of its gradient that a step hands on to one of its inputs.
fn handed_on(
    graph: &mut Graph,
    Part { reader: id, input }: Part,
    gradient: NodeId,
    name: String,
    detours: &[Detour],
) -> Result<NodeId> {
    let factor = detours::times(detours, graph, id, input);
    let own = if factor.is_some() { name_beside(&name, "before") } else { name.clone() };
    let op = graph[id].op.clone();
    let mut step = Backward::new(graph, id, gradient, own);
    let part = match (detours::handed_on(detours, &mut step, input), op.way_back(input)) {
        (Some(other), _) => other,
        (None, WayBack::Through) => op.back(&mut step, input),
        (None, WayBack::Ends(why) | WayBack::Refused(why)) => Err(Error::new(why)),
    }?;
    match factor {
        Some(number) => graph.add(&name, Op::Scale(Factor::Number(number)), &[part]),
        None => Ok(part),
    }
}

/// How the gradients of a node's readers stand side by side (or on top of each other) in its own, where each of them reads another
/// block and together they read all of it once, as heads do: the op, and the readers in order.
fn put_together(graph: &Graph, of: NodeId, readers: &[Part]) -> Option<(Op, Vec<usize>)> {
    if readers.len() < 2 {
        return None;
    }
    let block = |part: &Part| match graph[part.reader].op {
        Op::Columns { start, count } => Some((true, start, count)),
        Op::Rows { start, count } => Some((false, start, count)),
        _ => None,
    };
    let blocks: Vec<(bool, usize, usize)> = readers.iter().map(block).collect::<Option<_>>()?;
    let are_columns = blocks[0].0;
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|at| blocks[*at].1);
    let mut end = 0;
    for at in &order {
        let (is_column, start, count) = blocks[*at];
        if is_column != are_columns || start != end {
            return None;
        }
        end += count;
    }
    let shape = graph[of].shape();
    let whole = if are_columns { shape.cols } else { shape.rows };
    (end == whole).then_some((if are_columns { Op::Concatenate } else { Op::Stack(None) }, order))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::{Axis, Base};

    fn graph() -> (Graph, NodeId) {
        let mut graph = Graph::new();
        let x = Matrix::of([[1.0, 2.0, 4.0], [3.0, -1.0, 0.5]]).rows_named(&["bat", "cave"]);
        let x = graph.given("X", x, Origin::Stated).unwrap();
        (graph, x)
    }

    #[test]
    fn a_node_that_one_step_reads_twice_gets_both_parts() {
        let (mut graph, x) = graph();
        let s = graph.add("S", Op::ProductTransposed, &[x, x]).unwrap();
        let gradients = graph.gradients(s, Start::Cell(0, 1), &[x]).unwrap();
        // S[bat,cave] is the dot product of both rows: each gets the other one.
        let of_x = graph.matrix(gradients.of(x).unwrap()).unwrap();
        assert_eq!(*of_x, Matrix::of([[3.0, -1.0, 0.5], [1.0, 2.0, 4.0]]).rows_named(&["bat", "cave"]));
        assert!(graph.find("dX_from_S_as_1").is_some() && graph.find("dX_from_S_as_2").is_some());
    }

    #[test]
    fn blocks_that_make_the_whole_stand_side_by_side_and_others_are_put_in_their_place() {
        for (start, expected) in [(1, Op::Concatenate), (0, Op::Add)] {
            let (mut graph, x) = graph();
            let first = graph.add("Q_1", Op::Columns { start: 0, count: 1 }, &[x]).unwrap();
            let second = graph.add("Q_2", Op::Columns { start, count: 2 }, &[x]).unwrap();
            let y = graph.add("Y", Op::Concatenate, &[first, second]).unwrap();
            let gradients = graph.gradients(y, Start::Ones, &[x]).unwrap();
            let of_x = gradients.of(x).unwrap();
            assert_eq!(graph[of_x].op, expected);
            let row: Vec<f64> = graph.matrix(of_x).unwrap().row(0).collect();
            assert_eq!(row, if start == 1 { [1.0, 1.0, 1.0] } else { [2.0, 1.0, 0.0] });
        }
    }

    #[test]
    fn a_step_without_a_gradient_is_refused_with_the_reason_and_nothing_is_added() {
        let (mut graph, x) = graph();
        let rounded = graph.add("R", Op::Round(1), &[x]).unwrap();
        let sum = graph.add("sum", Op::Sums(Axis::Whole), &[rounded]).unwrap();
        let error = graph.gradients(sum, Start::Ones, &[x]).unwrap_err().to_string();
        assert!(error.contains("there is no dX: R is computed from X, and rounding is flat"), "{error}");
        assert_eq!(graph.nodes().count(), 3);
        assert!(graph.gradients(sum, Start::Ones, &[rounded]).is_ok());
    }

    #[test]
    fn a_gradient_belongs_to_the_backward_pass_in_the_head_and_the_layer_of_its_node() {
        let (mut graph, x) = graph();
        for head in [1, 2] {
            let s = graph.add(&format!("L3.S_{head}"), Op::ProductTransposed, &[x, x]).unwrap();
            graph.mark(s, Stage::Scores.of_head(Some(head)).in_layer(Some(3)));
            let a = graph.add(&format!("L3.A_{head}"), Op::Softmax(Axis::Rows, Base::E), &[s]).unwrap();
            graph.mark(a, Stage::Weights.of_head(Some(head)).in_layer(Some(3)));
            graph.gradients(a, Start::Ones, &[s]).unwrap();
        }
        let step = |name: &str| graph[graph.find(name).unwrap()].step;
        let of_head = |head| Some(Stage::Backward.of_head(Some(head)).in_layer(Some(3)));
        assert_eq!(
            (step("L3.dA_1"), step("L3.dS_2"), step("L3.dA_mean_2")),
            (of_head(1), of_head(2), of_head(2))
        );
        // The same number of another head.
        let (mean, other) = (graph.find("L3.dA_mean_1").unwrap(), graph.find("L3.dA_mean_2"));
        assert_eq!(graph.like(mean, of_head(2).unwrap()), other);
        assert_eq!(graph.at(Stage::Scores.of_head(Some(2)).in_layer(Some(3))), graph.find("L3.S_2"));
    }

    #[test]
    fn the_numbers_of_the_backward_pass_follow_the_forward_ones_when_they_are_run_again() {
        let (mut graph, x) = graph();
        let y = graph.add("Y", Op::Multiply, &[x, x]).unwrap();
        let of_x = graph.gradients(y, Start::Ones, &[x]).unwrap().of(x).unwrap();
        let again = graph.run_again().unwrap();
        assert!(again.matrix(of_x).unwrap().same_bits(graph.matrix(of_x).unwrap()));
        assert_eq!(graph.matrix(of_x).unwrap()[(0, 2)], 8.0);
    }
}
