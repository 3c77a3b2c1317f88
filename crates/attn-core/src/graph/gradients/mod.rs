//! Gradients: how much a loss changes with each number of a computation, as more nodes of the same graph.
//!
//! The gradient of a node `A` is the node `dA`, of the same shape. It is made of the ops that every other node is made of, so it
//! can be explained, compared, saved and run again like them. The walk goes from the loss to what it came from: each step that
//! reads a node hands a part of its own gradient on to it, and a node that several steps read gets the sum of these parts.

mod backward;
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
        let layer = self.layer.take();
        let gradients = self.gradients_of(loss, start, of);
        self.layer = layer;
        gradients
    }

    fn gradients_of(&mut self, loss: NodeId, start: Start, of: &[NodeId]) -> Result<Gradients> {
        let walk = Walk::new(self, loss, of)?;
        let start = self.start(loss, start)?;
        let all = walk.run(self, start)?;
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
