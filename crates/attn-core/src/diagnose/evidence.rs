//! The most telling cells of a student's matrix.

use crate::graph::{CellId, Graph, address_of};

use super::answer::Part;
use super::candidates::{Candidate, standing_for};
use super::compare::{distance, hiding_like};
use super::tolerance::{CellTolerance, Tolerance};

/// One cell: the student's number, the right one, and that of the mistake.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The node: `A_2` for the second head of `A`.
    pub node: String,
    /// Row and column from 0.
    pub at: (usize, usize),
    /// The student's number.
    pub yours: f64,
    /// The right number; `None` where the shapes differ.
    pub right: Option<f64>,
    /// The number that the named mistake gives; `None` if no mistake is named.
    pub mistaken: Option<f64>,
}

impl Evidence {
    /// `O[bat,1]`; a cell of another shape than the right matrix has no labels.
    pub fn address(&self, right: &Graph) -> String {
        let (row, col) = self.at;
        match right.find(&self.node).filter(|_| self.right.is_some()) {
            Some(node) => address_of(right, CellId { node, row, col }),
            None => format!("{}[{},{}]", self.node, row + 1, col + 1),
        }
    }
}

/// The number of shown cells.
const SHOWN: usize = 3;

/// The cells that are furthest off, the furthest first; a cell that is right is no evidence. Where a graph is compared whose
/// matrices have another shape than the student's, the first cells that are not 0.
pub(super) fn evidence(
    part: &Part<'_>,
    right: &Graph,
    candidate: Option<&Candidate>,
    tolerance: &Tolerance,
) -> Vec<Evidence> {
    let mut all: Vec<(f64, Evidence)> = Vec::new();
    for (node, yours) in &part.matrices {
        let right = standing_for(right, node).filter(|right| right.shape() == yours.shape());
        let mistaken = candidate.and_then(|candidate| candidate.matrix(node));
        let mistaken = mistaken.filter(|mistaken| mistaken.shape() == yours.shape());
        let allowed = CellTolerance::between(part.answer, right.unwrap_or(yours), tolerance);
        let told = right.map_or(std::borrow::Cow::Borrowed(*yours), |right| hiding_like(yours, right));
        for at in (0..yours.rows()).flat_map(|i| (0..yours.cols()).map(move |j| (i, j))) {
            let own = told[at];
            let off = match (right, &mistaken) {
                (Some(right), _) if distance(own, right[at]) > allowed.around(right[at]) => {
                    distance(own, right[at])
                }
                (None, Some(_)) if own != 0.0 => 0.0,
                _ => continue,
            };
            let cell = Evidence {
                node: node.clone(),
                at,
                yours: own,
                right: right.map(|right| right[at]),
                mistaken: mistaken.as_ref().map(|mistaken| mistaken[at]),
            };
            all.push((off, cell));
        }
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter().take(SHOWN).map(|(_, cell)| cell).collect()
}
