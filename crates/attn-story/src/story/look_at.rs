//! What to look at in a step: one sentence, computed from its numbers.

use super::model::{Step, StepItem};
use super::sentence::in_sentence;
use crate::explore::most_telling;
use crate::graph::{CellId, Graph, NodeId, Op, Role, Stage, address_of};
use crate::tensor::Tensor;

/// The most parts of a mixture that are told one by one.
const MOST_PARTS: usize = 3;

/// What to look at in a step; `None` where nothing in it is computed, or nothing in it is a number.
pub(super) fn look_at(graph: &Graph, step: &Step) -> Option<String> {
    if let [StepItem::Plane(plane)] = &step.shown[..] {
        return plane.arrows.first().and_then(|&movement| furthest(graph, movement));
    }
    let nodes: Vec<NodeId> = step.shown.iter().flat_map(StepItem::nodes).collect();
    let nodes: Vec<NodeId> = nodes.into_iter().filter(|&id| graph[id].tensor().is_some()).collect();
    let &last = nodes.last()?;
    let told = match graph[last].step.map(|step| step.stage) {
        Some(Stage::Role(_)) => longest_key(graph, &nodes),
        Some(Stage::Scores | Stage::Weights) => largest_of_two_tokens(graph, last),
        Some(Stage::Scaled) => scaled(graph, last),
        Some(Stage::Masked) => hidden(graph, last),
        _ => None,
    };
    told.or_else(|| mixture(graph, last)).or_else(|| largest(graph, &nodes))
}

/// A number in a sentence: one that is not 0 is not told as 0, and one that is not whole not as a whole one.
fn told(number: f64) -> String {
    let texts = (4..=12).map(|places| in_sentence(number, places));
    match { texts }.find(|text| text != "0") {
        None if number == 0.0 => "0".to_string(),
        None => format!("{number:.1e}").replace('-', "−"),
        Some(text) if number.fract() != 0.0 && !text.contains(['.', 'e']) => format!("{text}.0000"),
        Some(text) => text,
    }
}

fn at(graph: &Graph, cell: CellId) -> Option<f64> {
    graph[cell.node].tensor()?.number(cell.row, cell.col)
}

/// The largest number among these nodes by a measure of the number: its first cell, and whether there are others. A hidden −∞ is
/// passed over; of numbers with ∞ or NaN among them none is the largest.
fn largest_cell(
    graph: &Graph,
    nodes: &[NodeId],
    measure: impl Fn(CellId, f64) -> Option<f64>,
) -> Option<(CellId, bool)> {
    let mut best: Option<(f64, CellId, bool)> = None;
    for &node in nodes {
        let shape = graph[node].shape();
        let stage = graph[node].step.map(|step| step.stage);
        let hides = !matches!(stage, Some(Stage::Scores | Stage::Scaled | Stage::Role(_)));
        for (row, col) in shape.places() {
            let cell = CellId { node, row, col };
            let number = at(graph, cell)?;
            if number.is_nan() || number == f64::INFINITY || (number == f64::NEG_INFINITY && !hides) {
                return None;
            }
            let Some(size) = measure(cell, number).filter(|size| size.is_finite()) else { continue };
            best = match best {
                Some((most, first, _)) if size == most => Some((most, first, true)),
                Some(best) if size < best.0 => Some(best),
                _ => Some((size, cell, false)),
            };
        }
    }
    best.map(|(_, cell, has_others)| (cell, has_others))
}

/// `The largest weight: A[cave,bat] = 0.0558.`
fn said(what: &str, graph: &Graph, (cell, has_others): (CellId, bool)) -> Option<String> {
    let number = format!("{} = {}", address_of(graph, cell), told(at(graph, cell)?));
    let (noun, rest) = what.split_at(what.find(' ').unwrap_or(what.len()));
    Some(match has_others {
        false => format!("The largest {noun}{rest}: {number}."),
        true => format!("One of the largest {noun}s{rest}: {number}."),
    })
}

/// The largest number of any step, by its size.
fn largest(graph: &Graph, nodes: &[NodeId]) -> Option<String> {
    let computed: Vec<NodeId> = nodes.iter().copied().filter(|&id| !graph[id].op.is_given()).collect();
    let found = largest_cell(graph, &computed, |_, x| Some(x.abs()))?;
    let shape = graph[found.0.node].shape();
    match at(graph, found.0)? {
        0.0 => Some("Every number is 0.".to_string()),
        _ if shape.rows * shape.cols == 1 && computed.len() == 1 => None,
        _ => said("number by size", graph, found),
    }
}

/// The largest score, or weight, of a query and the key of another token; where queries and keys are of different tokens, of all.
fn largest_of_two_tokens(graph: &Graph, node: NodeId) -> Option<String> {
    let is_weights = graph[node].step.is_some_and(|step| step.stage == Stage::Weights);
    let what = if is_weights { "weight" } else { "score" };
    let is_of_two = are_same_tokens(graph, node);
    let found = largest_cell(graph, &[node], |cell, x| (!is_of_two || cell.row != cell.col).then_some(x))?;
    match (is_of_two, at(graph, found.0)?) {
        (true, 0.0) if is_weights => Some("No token attends to another one.".to_string()),
        (true, _) => said(&format!("{what} between two different tokens"), graph, found),
        (false, _) => said(what, graph, found),
    }
}

/// Whether queries and keys are those of the same tokens.
fn are_same_tokens(graph: &Graph, node: NodeId) -> bool {
    let shape = graph[node].shape();
    let is_computed = |role| graph.at(role).is_some_and(|id| !graph[id].op.is_given());
    let are_same = match graph[node].labels() {
        (Some(rows), Some(cols)) => rows == cols,
        _ => graph.is_of_model() || [Role::Q, Role::K].into_iter().all(is_computed),
    };
    shape.rows == shape.cols && shape.rows > 1 && are_same
}

/// The largest score before the scaling, and after it.
fn scaled(graph: &Graph, node: NodeId) -> Option<String> {
    let &before = graph[node].inputs.first()?;
    let (largest, _) = largest_cell(graph, &[before], |_, x| Some(x.abs()))?;
    let [was, is] = [largest, CellId { node, ..largest }].map(|cell| at(graph, cell).map(told));
    Some(format!("The largest score by size was {} and is now {}.", was?, is?))
}

/// How many scores the mask hides.
fn hidden(graph: &Graph, node: NodeId) -> Option<String> {
    let &before = graph[node].inputs.first()?;
    let count = |node: NodeId, is_meant: fn(f64) -> bool| {
        graph[node].tensor().map(|tensor: &Tensor| tensor.cells().filter(|x| is_meant(*x)).count())
    };
    let is_hidden: fn(f64) -> bool = |x| x == f64::NEG_INFINITY;
    let hidden = count(node, is_hidden)?.saturating_sub(count(before, is_hidden)?);
    let all = count(node, |_| true)?;
    Some(match hidden {
        0 => "The mask hides no score here.".to_string(),
        1 => format!("The mask hides 1 of {all} scores."),
        hidden => format!("The mask hides {hidden} of {all} scores."),
    })
}

/// The longest key: a long vector makes large scores.
fn longest_key(graph: &Graph, nodes: &[NodeId]) -> Option<String> {
    let is_keys = |id: &&NodeId| graph[**id].step.is_some_and(|step| step.stage == Stage::Role(Role::K));
    let &keys = nodes.iter().find(is_keys)?;
    let tensor = graph[keys].tensor()?;
    let shape = tensor.shape();
    // Of numbers whose squares are 0 or ∞ no length is told.
    let square = |row: usize| (0..shape.cols).map(|col| squared(tensor.at(row, col))).sum::<f64>();
    let is_zero = |row: usize| (0..shape.cols).all(|col| tensor.at(row, col) == 0.0);
    if (0..shape.rows).any(|row| !square(row).is_normal() && !is_zero(row)) {
        return None;
    }
    let length = |row: usize| square(row).sqrt();
    let (longest, _) = largest_cell(graph, &[keys], |cell, _| Some(length(cell.row)))?;
    let most = length(longest.row);
    let count = (0..shape.rows).filter(|&row| length(row) == most).count();
    let which = if count == 1 { "The longest key" } else { "One of the longest keys" };
    (shape.rows > 1 && most > 0.0)
        .then(|| format!("{which}: {}, with the length {}.", row_name(graph, longest), told(most)))
}

fn squared(x: f64) -> f64 {
    x * x
}

/// `K[cave]`.
fn row_name(graph: &Graph, cell: CellId) -> String {
    let address = address_of(graph, CellId { col: 0, ..cell });
    let row = address.rsplit_once(',').map_or(address.as_str(), |(row, _)| row);
    format!("{row}]")
}

/// What a row of results is a mixture of: the row with the most telling weight, its largest parts first.
fn mixture(graph: &Graph, node: NodeId) -> Option<String> {
    let [weights, values] = graph[node].inputs[..] else { return None };
    let is_weights = graph[weights].step.is_some_and(|step| step.stage == Stage::Weights);
    if graph[node].op != Op::Product || !is_weights {
        return None;
    }
    let row = most_telling(graph, &[weights])?.row;
    let weight = |col: usize| at(graph, CellId { node: weights, row, col }).unwrap_or(0.0);
    let mut parts: Vec<usize> = (0..graph[weights].shape().cols).filter(|&col| weight(col) != 0.0).collect();
    parts.sort_by(|a, b| weight(*b).total_cmp(&weight(*a)));
    let rest = parts.split_off(parts.len().min(MOST_PARTS));
    let name = |row: usize| row_name(graph, CellId { node: values, row, col: 0 });
    let term = |key: usize| format!("{} · {}", told(weight(key)), name(key));
    let mut terms: Vec<String> = parts.into_iter().map(term).collect();
    match rest[..] {
        [] => {}
        [one] => terms.push(term(one)),
        _ => {
            let together = told(rest.iter().map(|&key| weight(key)).sum());
            terms.push(format!("{} values with {together} together", rest.len()));
        }
    }
    Some(format!("{} = {}.", row_name(graph, CellId { node, row, col: 0 }), terms.join(" + ")))
}

/// The token that moves furthest.
fn furthest(graph: &Graph, (from, to): (NodeId, NodeId)) -> Option<String> {
    let [before, after] = [graph[from].tensor()?, graph[to].tensor()?];
    let cols = before.shape().cols;
    let way = |row: usize| {
        (0..cols).map(|col| squared(after.at(row, col) - before.at(row, col))).sum::<f64>().sqrt()
    };
    let (cell, _) = largest_cell(graph, &[to], |cell, _| Some(way(cell.row)))?;
    let name = row_name(graph, CellId { node: from, ..cell });
    Some(match way(cell.row) {
        0.0 => "No token moves.".to_string(),
        length => format!("No token moves further than {name}: by {}.", told(length)),
    })
}
