//! What a student hands in.

use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId};
use crate::matrix::Matrix;

/// A student's numbers for one node, or for that node of every head.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The node: `O`, or `A` where `A_1`, `A_2` … are handed in as one stack.
    pub name: String,
    /// One matrix, or one for each head.
    pub matrices: Vec<Matrix>,
    /// The decimals that the file carries; `None` where they are not counted.
    pub decimals: Option<usize>,
    /// The unit roundoff of the type in which the file stores its numbers; 0 for text.
    pub roundoff: f64,
}

impl Answer {
    /// The names of the nodes that the matrices are for, in the graph of the right answer.
    ///
    /// # Errors
    /// If there is no such node, it is given and not computed, or the heads are not as many as the matrices.
    pub fn nodes(&self, right: &Graph) -> Result<Vec<(String, &Matrix)>> {
        if let Some(id) = right.find(&self.name) {
            return match &self.matrices[..] {
                [matrix] => computed(right, id).map(|()| vec![(self.name.clone(), matrix)]),
                several => Err(Error::new(format!(
                    "a stack of {} matrices for {}, which is one",
                    several.len(),
                    self.name
                ))
                .help("hand in one matrix")),
            };
        }
        let of_head = |head: usize| format!("{}_{}", self.name, head + 1);
        let heads = (0..).take_while(|&head| right.find(&of_head(head)).is_some()).count();
        if heads == 0 {
            right.require(&self.name)?;
        }
        if heads != self.matrices.len() {
            return Err(Error::new(format!(
                "{} comes in {heads} heads, and {} handed in",
                self.name,
                if self.matrices.len() == 1 {
                    "one matrix is".into()
                } else {
                    format!("{} are", self.matrices.len())
                }
            ))
            .help(format!("hand in a stack (H, T, N), or one of them as {}=FILE", of_head(0))));
        }
        if let Some(id) = right.find(&of_head(0)) {
            computed(right, id)?;
        }
        Ok(self.matrices.iter().enumerate().map(|(head, matrix)| (of_head(head), matrix)).collect())
    }
}

fn computed(right: &Graph, id: NodeId) -> Result<()> {
    match right[id].op.is_given() {
        true => {
            Err(Error::new(format!("{} is given, not computed: there is nothing to check", right[id].name))
                .help("hand in what was computed: S, A, O …"))
        }
        false => Ok(()),
    }
}
