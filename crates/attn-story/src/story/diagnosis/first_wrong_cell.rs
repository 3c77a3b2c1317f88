//! The first wrong cell, computed both ways: correctly, and with the mistake.

use super::mistakes::ids;
use crate::diagnose::{JudgedNode, NamedMistake, Verdict};
use crate::error::Result;
use crate::explain::{Depth, LongSums, explain};
use crate::graph::{
    CellId, Convention, Difference, Graph, GraphPair, NodeId, Term, address_of, formula, side_by_side,
};
use crate::story::{ExplainedCell, Step, StepItem};

/// Ends the names of the nodes of the mistaken computation.
const SUFFIX: &str = "_wrong";

/// Both computations in one graph, and the steps in which they differ.
pub(super) struct BothWays {
    /// The right one, and the nodes that differ from it.
    pub graph: Graph,
    /// The first wrong cell, and the first cell that differs where that is another.
    pub steps: Vec<Step>,
}

/// Explains the first cell in which a node differs from what is right.
///
/// # Errors
/// If both computations together are too large to be held, or a cell is made of too many numbers to be written out.
pub(super) fn both_ways(right: &Graph, wrong: &JudgedNode, named: &NamedMistake) -> Result<BothWays> {
    let both = side_by_side(right.clone(), (*named.graph).clone().without_warnings(), SUFFIX)?;
    let place = match &wrong.verdict {
        Verdict::Wrong(distance) => Some((&distance.node, distance.difference.first)),
        _ => None,
    };
    let row = place.map(|(_, (row, _))| row);
    let first = place.and_then(|(node, at)| Some((differing(&both).find(|pair| pair.name == *node)?, at)));
    let parting =
        differing(&both).next().filter(|pair| first.is_none_or(|(first, _)| first.name != pair.name));
    let mut steps = Vec::new();
    if let Some((pair, at)) = first {
        let address = |node| address_of(&both.graph, CellId { node, row: at.0, col: at.1 });
        let cell = pair.base.map_or(String::new(), address);
        let text = format!("The first wrong cell, {cell}, computed correctly and with the mistake.");
        steps.extend(step(&text, &both, pair, at, named)?);
    }
    if let Some((pair, at)) = parting.and_then(|pair| Some((pair, cell(&both, pair, row)?))) {
        let text = "The first step in which the two computations differ.";
        steps.extend(step(text, &both, pair, at, named)?);
    }
    if let Some(Step { text, .. }) = steps.last_mut() {
        text.push_str(&one_sided(&both));
    }
    Ok(BothWays { graph: both.graph, steps })
}

/// The steps that only one of the two computations has: “Only the correct computation has S_scaled = S · 1/√2.”
fn one_sided(both: &GraphPair) -> String {
    let of = |ids: Vec<NodeId>, who: &str| {
        let formulas: Vec<String> =
            ids.iter().take(2).map(|&id| formula(&both.graph, id, Convention::Rows, false)).collect();
        if formulas.is_empty() {
            String::new()
        } else {
            format!(" Only the {who} computation has {}.", formulas.join(" and "))
        }
    };
    let alone = |base: bool| {
        let pairs = both.differences.iter();
        pairs.filter_map(move |pair| match (pair.base, pair.other) {
            (Some(id), None) if base => Some(id),
            (None, Some(id)) if !base => Some(id),
            _ => None,
        })
    };
    format!("{}{}", of(alone(true).collect(), "correct"), of(alone(false).collect(), "mistaken"))
}

/// The computed steps of both whose numbers differ.
fn differing(both: &GraphPair) -> impl Iterator<Item = &Difference> {
    let is_computed = |id: Option<NodeId>| id.is_some_and(|id| !both.graph[id].op.is_given());
    both.differences
        .iter()
        .filter(move |pair| is_computed(pair.base) && is_computed(pair.other) && pair.change.is_some())
}

/// A cell that differs: the first of this row, or else the one that differs most.
fn cell(both: &GraphPair, pair: &Difference, row: Option<usize>) -> Option<(usize, usize)> {
    let change = both.graph[pair.change?].matrix()?;
    let in_row = row.filter(|&i| i < change.rows());
    let found = in_row.and_then(|i| Some((i, change.row(i).position(|x| x != 0.0)?)));
    found.or_else(|| both.movement(pair).map(|movement| (movement.furthest.row, movement.furthest.col)))
}

fn step(
    text: &str,
    both: &GraphPair,
    pair: &Difference,
    (row, col): (usize, usize),
    named: &NamedMistake,
) -> Result<Option<Step>> {
    let (Some(base), Some(other)) = (pair.base, pair.other) else { return Ok(None) };
    let mut of = Vec::new();
    for (caption, node) in [("right".to_string(), base), (format!("with {}", ids(named)), other)] {
        of.extend(explained(&both.graph, caption, node, row, col)?);
    }
    let shown = vec![StepItem::Explained { of, side_by_side: true }];
    Ok(Some(Step { text: text.into(), shown, ..Step::default() }))
}

/// The cell that a cell was copied from: one of a head, not of the concatenated heads.
fn computed(graph: &Graph, mut cell: CellId) -> CellId {
    loop {
        cell = match graph.terms(cell) {
            Term::Cell(earlier) => earlier,
            Term::Sum(terms) => match terms[..] {
                [Term::Cell(earlier)] => earlier,
                _ => return cell,
            },
            _ => return cell,
        };
    }
}

fn explained(
    graph: &Graph,
    caption: String,
    node: NodeId,
    row: usize,
    col: usize,
) -> Result<Vec<ExplainedCell>> {
    let cell = computed(graph, CellId { node, row, col });
    let explanations = explain(graph, &[cell], Depth::Levels(1), LongSums::Shortened)?;
    Ok(explanations
        .into_iter()
        .map(|explanation| ExplainedCell { caption: caption.clone(), explanation })
        .collect())
}
