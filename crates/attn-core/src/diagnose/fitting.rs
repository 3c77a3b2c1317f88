//! Shared code for mistakes with a number of their own: the fit of a computation, and the number in words.

use crate::graph::Graph;

use super::Slip;
use super::answer::Part;
use super::candidates::{Variant, standing_for};
use super::catalogue;
use super::numbers::NodeNumbers;
use super::search::{Fit, Search};

/// Usual dropout rates.
pub(super) const DROPOUT: [f64; 5] = [0.05, 0.1, 0.2, 0.25, 0.5];

/// The slip of a mistake of the catalogue.
pub(super) fn slip(id: &str, detail: Option<String>) -> Option<Slip> {
    Some(Slip::detailed(catalogue::find(id).ok()?, detail))
}

/// A fit with `solved` numbers solved for: the strongest evidence of that many cells does not count.
pub(super) fn fit(
    search: &Search<'_>,
    part: &Part<'_>,
    slip: Slip,
    graph: Graph,
    solved: usize,
) -> Option<Fit> {
    let numbers: Vec<NodeNumbers> = part
        .matrices
        .iter()
        .map(|(node, _)| Some(NodeNumbers::of(standing_for(&graph, node)?.clone())))
        .collect::<Option<_>>()?;
    let of = |node: &str| numbers.get(part.matrices.iter().position(|(known, _)| known == node)?);
    let (residual, log_chance) = search.evidence(&of, part)?;
    let cells: usize = part.matrices.iter().map(|(_, matrix)| matrix.rows() * matrix.cols()).sum();
    let left = cells.saturating_sub(solved) as f64 / cells.max(1) as f64;
    let log_chance = log_chance * left;
    Some(Fit { variant: Variant::fitted(slip), graph: Some(graph), residual, reading: 0, log_chance })
}
