//! Gradients: how much a loss changes with each number of a computation, as more nodes of the same graph.
//!
//! The gradient of a node `A` is the node `dA`, of the same shape. It is made of the ops that every other node is made of, so it
//! can be explained, compared, saved and run again like them. The walk goes from the loss to what it came from: each step that
//! reads a node hands a part of its own gradient on to it, and a node that several steps read gets the sum of these parts.

mod backward;
pub mod detours;
mod distances;
mod functions;
mod gradient;
mod naming;
mod norms;
mod positions;
mod products;
mod rows;
mod selections;
mod summaries;
mod walk;
mod way_back;

use super::{Graph, NodeId, Op, Origin};
use crate::error::{Error, ErrorKind, Result};
use crate::matrix::{Matrix, Shape};
use detours::Detour;
pub use gradient::{Gradient, Gradients, Start};
use walk::Walk;
pub use way_back::WayBack;

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
        let layer = self.layer.take();
        let gradients = self.gradients_of(loss, start, of, detours);
        self.layer = layer;
        gradients
    }

    fn gradients_of(
        &mut self,
        loss: NodeId,
        start: Start,
        of: &[NodeId],
        detours: &[Detour],
    ) -> Result<Gradients> {
        let walk = Walk::new(self, loss, of)?;
        let start = self.start(loss, start)?;
        let from = detours::start(detours, self, start)?;
        let all = walk.run(self, from, detours)?;
        Ok(Gradients { loss, start, all })
    }

    /// Records the gradient of the loss.
    fn start(&mut self, loss: NodeId, start: Start) -> Result<NodeId> {
        let name = naming::gradient(&self[loss].name);
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
        naming::as_of(self, id, loss);
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::Axis;

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
    fn the_numbers_of_the_backward_pass_follow_the_forward_ones_when_they_are_run_again() {
        let (mut graph, x) = graph();
        let y = graph.add("Y", Op::Multiply, &[x, x]).unwrap();
        let of_x = graph.gradients(y, Start::Ones, &[x]).unwrap().of(x).unwrap();
        let again = graph.run_again().unwrap();
        assert!(again.matrix(of_x).unwrap().same_bits(graph.matrix(of_x).unwrap()));
        assert_eq!(graph.matrix(of_x).unwrap()[(0, 2)], 8.0);
    }
}
