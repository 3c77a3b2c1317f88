//! Shared code for mistakes in a part of the computation: some rows, or one head.

use std::collections::BTreeMap;

use crate::graph::{self, Given, Graph, Step};
use crate::matrix::Matrix;

use super::answer::Part;
use super::candidates::{Variant, standing_for};
use super::catalogue;
use super::numbers::NodeNumbers;
use super::plans::CandidateList;
use super::search::{Fit, Search};
use super::{Slip, Task};

/// The candidates that are tried in a part alone: mistakes with a name of their own first.
pub(super) fn lists(search: &Search<'_>) -> Vec<CandidateList> {
    let general =
        search.candidates.is_feasible(CandidateList::General, search.task).then_some(CandidateList::General);
    std::iter::once(CandidateList::Singles).chain(general).collect()
}

/// The number of candidates in some lists.
pub(super) fn count(search: &Search<'_>, lists: &[CandidateList]) -> usize {
    lists.iter().map(|list| search.candidates.count(*list)).sum()
}

/// A mistake that is made in a part of the computation alone, under the name of such mistakes.
pub(super) fn fit(
    search: &Search<'_>,
    part: &Part<'_>,
    variant: &Variant,
    (id, which): (&str, &str),
    splice: &dyn Fn(&Task, &Graph) -> Graph,
) -> Option<Fit> {
    let graph = splice(search.task, &search.task.with(variant.changes()));
    let numbers: Vec<NodeNumbers> = part
        .matrices
        .iter()
        .map(|(node, _)| Some(NodeNumbers::of(standing_for(&graph, node)?.clone())))
        .collect::<Option<_>>()?;
    let of = |node: &str| numbers.get(part.matrices.iter().position(|(known, _)| known == node)?);
    let (residual, log_chance) = search.evidence(&of, part)?;
    let inner = variant.slips.first()?;
    let said = format!("In {which} alone: {}", uncapitalised(&inner.sentence()));
    let slip = Slip::detailed(catalogue::find(id).ok()?, Some(format!("{which}: {}", inner.mistake.id)))
        .saying(said, Some(inner.fix().to_string()));
    Some(Fit { variant: Variant::fitted(slip), graph: Some(graph), residual, reading: 0, log_chance })
}

/// A sentence that goes on after a colon; symbols such as `K` keep their letters.
fn uncapitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            let rest = &sentence[first.len_utf8()..];
            first.to_lowercase().chain(rest.chars()).collect()
        }
        _ => sentence.to_string(),
    }
}

/// Whether a step comes after queries, keys and values.
pub(super) fn is_from_scores_on(step: Step) -> bool {
    !matches!(step.stage, graph::Stage::Role(_))
}

/// The exercise with some nodes taken from another computation.
pub(super) fn with_nodes(
    task: &Task,
    mistaken: &Graph,
    is_taken: impl Fn(Step) -> bool,
    splice: impl Fn(&Matrix, &Matrix) -> Matrix,
) -> Graph {
    let mut instead: BTreeMap<String, Given> = BTreeMap::new();
    for (_, node) in task.right().nodes() {
        let Some(step) = Step::parse(&node.name) else { continue };
        let pair = (node.matrix(), standing_for(mistaken, &node.name));
        if let (true, (Some(right), Some(other))) = (is_taken(step), pair)
            && right.shape() == other.shape()
        {
            instead.insert(node.name.clone(), splice(right, other).into());
        }
    }
    task.given_instead(instead).right().clone()
}
