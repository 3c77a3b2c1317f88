//! Nodes that were given in place of being computed, as steps again: a backward pass then goes through them.

use super::{Graph, NodeId};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Op, Origin, Start};
    use crate::matrix::Matrix;

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
}
