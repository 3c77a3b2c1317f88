//! A student's answers.

use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, Step};
use crate::matrix::Matrix;

use super::equivalent_forms::later_steps;

/// A student's numbers for one node, or for that node of every head.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The node: `O`, or `A` where `A_1`, `A_2` … are handed in as one stack.
    pub name: String,
    /// One matrix, or one for each head.
    pub matrices: Vec<Matrix>,
    /// The decimals that the file carries; `None` where they are not counted.
    pub decimals: Option<usize>,
    /// The significant digits that the file has of each number, where it has as many of each; `None` where it has as many decimals.
    pub digits: Option<usize>,
    /// The unit roundoff of the file's number type; 0 for text.
    pub roundoff: f64,
}

/// An answer with its matrices assigned to nodes of the right answer.
#[derive(Clone)]
pub(super) struct Part<'a> {
    pub answer: &'a Answer,
    /// One for each head where the node comes in heads; under the bare name where there are not as many as heads.
    pub matrices: Vec<(String, &'a Matrix)>,
    /// The number of matrices of the right answer at these nodes.
    pub expected: usize,
    /// The first node that they are for.
    pub first: NodeId,
}

impl Part<'_> {
    /// The number of cells of all its matrices.
    pub(super) fn cells(&self) -> usize {
        self.matrices.iter().map(|(_, matrix)| matrix.rows() * matrix.cols()).sum()
    }

    /// The step that its nodes are, without the head: `S_scaled`.
    pub(super) fn step_name(&self) -> Option<String> {
        let step = Step::parse(&self.matrices.first()?.0)?;
        Some(step.stage.name().to_string())
    }
}

impl Answer {
    /// The answer in its place in the graph of the right answer.
    ///
    /// # Errors
    /// If there is no such node, or it is given and not computed.
    pub(super) fn part(&self, right: &Graph) -> Result<Part<'_>> {
        let of_head = |head: usize| format!("{}_{}", self.name, head + 1);
        // Q, K and V are cut into heads, and so are their gradients: a stack of them is meant as these.
        let is_split = matches!(&*self.name, "Q" | "K" | "V" | "dQ" | "dK" | "dV");
        let whole = right.find(&self.name).filter(|_| self.matrices.len() == 1 || !is_split);
        let heads = match whole {
            Some(_) => 0,
            None => (0..).take_while(|&head| right.find(&of_head(head)).is_some()).count(),
        };
        let first = if heads == 0 { right.require(&self.name)? } else { right.require(&of_head(0))? };
        if right[first].op.is_given() {
            return Err(Error::new(format!(
                "{} is given, not computed: there is nothing to check",
                self.name
            ))
            .help("hand in what was computed: S, A, O …"));
        }
        let node = |head: usize| if heads == self.matrices.len() { of_head(head) } else { self.name.clone() };
        let matrices = self.matrices.iter().enumerate().map(|(head, matrix)| (node(head), matrix)).collect();
        Ok(Part { answer: self, matrices, expected: heads.max(1), first })
    }
}

/// The readings of a part: as the step of its name, and as each later step of the scores.
pub(super) fn readings<'p>(part: &Part<'p>, right: &Graph) -> Vec<Part<'p>> {
    let mut all = vec![part.clone()];
    let later = |(node, _): &(String, _)| later_steps(right, node).collect::<Vec<_>>();
    let steps: Vec<Vec<String>> = part.matrices.iter().map(later).collect();
    for at in 0..steps.first().map_or(0, Vec::len) {
        let renamed = part
            .matrices
            .iter()
            .zip(&steps)
            .filter_map(|((_, matrix), steps)| Some((steps.get(at)?.clone(), *matrix)));
        all.push(Part { matrices: renamed.collect(), ..part.clone() });
    }
    all
}
