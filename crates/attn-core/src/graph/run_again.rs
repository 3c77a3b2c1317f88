//! Recording nodes whose numbers are known, and running a whole graph again from its given nodes.

use super::{Graph, Node, NodeId, Op, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::matrix::Shape;
use crate::text::clip;

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
        let value = match value {
            Value::Formed(tensor) => Value::Formed(tensor.loaded()?),
            never => never,
        };
        let shape = match &value {
            Value::Formed(tensor) => tensor.shape(),
            Value::NeverFormed(shape) => *shape,
        };
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
            can_run(node).map_err(|error| of_node(&node.name, error))?;
        }
        self.again(Graph::new(), |node| node.op.clone())
    }
}

/// # Errors
/// If a node has no numbers, or the fused kernel has computed it.
fn can_run(node: &Node) -> Result<()> {
    match (&node.op, &node.value) {
        (Op::Fused(_), _) => {
            Err(Error::new("the fused kernel has computed it, which cannot be run step by step")
                .help("leave out --fast: then every step is recorded"))
        }
        (_, Value::NeverFormed(_)) => {
            Err(Error::new("its numbers are not recorded, so it cannot be run again"))
        }
        (_, Value::Formed(_)) => Ok(()),
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
