//! Finding a cell by an address, a label, a number or the name of a step.

use crate::elementary;
use crate::graph::{CellId, Cells, Graph, NodeId, resolve};
use crate::matrix::Labels;

/// The cell that a text means, seen from this cell: an address, a row or a column of this matrix by its label, the next cell with
/// this number, or a step whose name begins so.
pub(super) fn found(graph: &Graph, from: CellId, text: &str) -> Option<CellId> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    addressed(graph, from, text)
        .or_else(|| labelled(graph, from, text))
        .or_else(|| with_number(graph, from, text))
        .or_else(|| named(graph, from, text))
}

fn addressed(graph: &Graph, from: CellId, text: &str) -> Option<CellId> {
    match resolve(graph, text).ok()? {
        Cells::Cell(cell) => Some(cell),
        Cells::Row(node, row) => Some(CellId { node, row, col: 0 }),
        Cells::Node(node) => Some(within(graph, CellId { node, ..from })),
    }
}

/// The nearest cell that a node has.
pub(super) fn within(graph: &Graph, cell: CellId) -> CellId {
    let shape = graph[cell.node].shape();
    let last = |count: usize| count.saturating_sub(1);
    CellId { row: cell.row.min(last(shape.rows)), col: cell.col.min(last(shape.cols)), ..cell }
}

/// The next row of this label after the cell's, or the next column.
fn labelled(graph: &Graph, from: CellId, text: &str) -> Option<CellId> {
    let (rows, cols) = graph[from.node].labels();
    let after = |labels: Option<&Labels>, at: usize| {
        let labels = labels?;
        let order = (at + 1..labels.len()).chain(0..=at.min(labels.len().saturating_sub(1)));
        order.into_iter().find(|&place| labels.get(place).is_some_and(|label| label.trim() == text))
    };
    let row = after(rows, from.row).map(|row| CellId { row, ..from });
    row.or_else(|| after(cols, from.col).map(|col| CellId { col, ..from }))
}

/// The next cell, in the order of reading, whose number is this one when rounded to its decimals; then those of the next steps.
fn with_number(graph: &Graph, from: CellId, text: &str) -> Option<CellId> {
    let typed = text.replace('−', "-");
    let wanted: f64 = typed.parse().ok()?;
    let decimals = typed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let near = 0.5 * elementary::pow(10.0, -(decimals.min(17) as f64));
    let is_it = |x: f64| x == wanted || (x - wanted).abs() <= near && decimals > 0;
    let nodes: Vec<NodeId> = graph.nodes().map(|(id, _)| id).collect();
    let start = from.node.position();
    let place_after = |cell: CellId| {
        let later = nodes.iter().cycle().skip(start).take(nodes.len() + 1);
        let mut is_first = true;
        for &node in later {
            let shape = graph[node].shape();
            let tensor = graph[node].tensor().filter(|tensor| !tensor.is_stored());
            let skip = if is_first { cell.row * shape.cols + cell.col + 1 } else { 0 };
            is_first = false;
            let Some(tensor) = tensor else { continue };
            let mut cells = (skip..shape.rows * shape.cols).map(|at| (at / shape.cols, at % shape.cols));
            if let Some((row, col)) = cells.find(|&(row, col)| tensor.number(row, col).is_some_and(is_it)) {
                return Some(CellId { node, row, col });
            }
        }
        None
    };
    place_after(from)
}

/// The next step whose name begins with the text, whatever the case of its letters.
fn named(graph: &Graph, from: CellId, text: &str) -> Option<CellId> {
    let text = text.to_lowercase();
    let is_named = |node: &NodeId| {
        let name = graph[*node].name.to_lowercase();
        name.starts_with(&text) || name.rsplit('.').next().is_some_and(|name| name.starts_with(&text))
    };
    let nodes: Vec<NodeId> = graph.nodes().map(|(id, _)| id).collect();
    let order = nodes.iter().cycle().skip(from.node.position() + 1).take(nodes.len());
    order.copied().find(|node| is_named(node)).map(|node| within(graph, CellId { node, ..from }))
}
