//! The cells that a cell was made of, those that it feeds, the one to look at first, and the one that a text means.

use std::collections::HashSet;
use std::ops::Range;

use crate::attention::{Axis, WeightLayout};
use crate::elementary;
use crate::explain::{decided, each_cell};
use crate::graph::{CellId, Cells, Graph, Node, NodeId, Op, Stage, Term, resolve};
use crate::matrix::{Labels, Shape};

/// The cells that a cell was made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources {
    /// The places (row, column) in each node, sorted; the nodes in the order of writing.
    pub cells: Vec<(NodeId, Vec<(usize, usize)>)>,
    /// How many parts of terms were read.
    pub read: usize,
}

/// The cells that a cell was made of: those in its terms, and those that decide which case of its formula holds.
pub fn sources(graph: &Graph, cell: CellId) -> Sources {
    let (all, read) = read(graph, cell);
    let mut cells: Vec<(NodeId, Vec<(usize, usize)>)> = Vec::new();
    for CellId { node, row, col } in all {
        match cells.iter_mut().find(|(of, _)| *of == node) {
            Some((_, places)) => places.push((row, col)),
            None => cells.push((node, vec![(row, col)])),
        }
    }
    for (_, places) in &mut cells {
        places.sort_unstable();
        places.dedup();
    }
    Sources { cells, read }
}

/// The cells that a cell was made of, in the order of writing, and the number of the parts of its term.
fn read(graph: &Graph, cell: CellId) -> (Vec<CellId>, usize) {
    let term = graph.terms(cell);
    let mut cells = Vec::new();
    let parts = each_cell(&term, &mut |cell| cells.push(cell));
    cells.extend(decided(graph, cell, &term));
    (cells, parts)
}

/// The operands of a cell, each once, in the order of writing: what a walk through them visits.
pub(super) fn operands(graph: &Graph, cell: CellId) -> Vec<CellId> {
    let mut seen = HashSet::new();
    read(graph, cell).0.into_iter().filter(|cell| seen.insert(*cell)).collect()
}

/// The operand that contributes most: of the largest summand of the outermost sum the first cell; the cell of the same row and column
/// where there is no sum; else the first.
pub(super) fn largest_operand(graph: &Graph, cell: CellId) -> Option<CellId> {
    let all = operands(graph, cell);
    let term = graph.terms(cell);
    let of_sum = outer_sum(&term).and_then(|summands| {
        let first_cell = |part: &Term| {
            let mut first = None;
            each_cell(part, &mut |cell| first = first.or(Some(cell)));
            first
        };
        let sized = summands.iter().filter_map(|part| Some((first_cell(part)?, part.evaluate(graph).abs())));
        let larger = |best: Option<(CellId, f64)>, (cell, size): (CellId, f64)| match best {
            Some((_, most)) if size <= most || size.is_nan() => best,
            _ => Some((cell, size)),
        };
        sized.fold(None, larger).map(|(cell, _)| cell)
    });
    let same_place = || all.iter().find(|other| (other.row, other.col) == (cell.row, cell.col)).copied();
    of_sum.or_else(same_place).or_else(|| all.first().copied())
}

/// The summands of a term that is a sum of at least two.
fn outer_sum(term: &Term) -> Option<&[Term]> {
    match term {
        Term::Sum(summands) if summands.len() > 1 => Some(summands),
        Term::Choice { taken, .. } => outer_sum(taken),
        _ => None,
    }
}

// The cells that a cell feeds: those of the next steps that read it.

/// For an op whose readers are found by asking each cell, at most this many parts of terms are read.
const MOST_READ: usize = 400_000;

/// The cells that read this one directly, by their node: places (row, column), sorted.
///
/// Where a step is so large that asking each of its cells would take long, and its op does not say it otherwise, it is left out.
pub fn fed_by(graph: &Graph, cell: CellId) -> Vec<(NodeId, Vec<(usize, usize)>)> {
    let readers = graph.nodes().filter(|(id, node)| *id > cell.node && node.inputs.contains(&cell.node));
    let places = |(id, _)| Some((id, places(graph, id, cell)?)).filter(|(_, places)| !places.is_empty());
    readers.filter_map(places).collect()
}

fn places(graph: &Graph, id: NodeId, cell: CellId) -> Option<Vec<(usize, usize)>> {
    let node = &graph[id];
    let mut all: Vec<(usize, usize)> = Vec::new();
    for (input, _) in node.inputs.iter().enumerate().filter(|(_, input)| **input == cell.node) {
        let Some((rows, cols)) = readers(graph, id, input, cell) else {
            all = asked(graph, id, cell)?;
            break;
        };
        all.extend(rows.flat_map(|row| cols.clone().map(move |col| (row, col))));
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

/// The readers in a step, by asking each of its cells.
fn asked(graph: &Graph, id: NodeId, cell: CellId) -> Option<Vec<(usize, usize)>> {
    let (mut read, mut found) = (0, Vec::new());
    for (row, col) in graph[id].shape().places() {
        let of = sources(graph, CellId { node: id, row, col });
        read += of.read;
        if of.cells.iter().any(|(node, places)| *node == cell.node && places.contains(&(cell.row, cell.col)))
        {
            found.push((row, col));
        }
        if read > MOST_READ {
            return None;
        }
    }
    Some(found)
}

/// The rows and columns of a step that read the cell; `None` where each of its cells has to be asked.
fn readers(graph: &Graph, id: NodeId, input: usize, cell: CellId) -> Option<(Range<usize>, Range<usize>)> {
    let node = &graph[id];
    let Shape { rows, cols } = node.shape();
    let (row, col) = (cell.row, cell.col);
    let (this_row, this_col) = (row..row + 1, col..col + 1);
    let before = |along: fn(Shape) -> usize| -> usize {
        node.inputs[..input].iter().map(|&other| along(graph[other].shape())).sum()
    };
    Some(match (&node.op, input) {
        (Op::Product | Op::ProductTransposed | Op::Linear(_) | Op::Softmax(Axis::Rows, _), 0)
        | (Op::RmsNorm(_) | Op::LayerNorm(_) | Op::MinusMean, 0) => (this_row, 0..cols),
        (Op::ProductTransposed | Op::Linear(WeightLayout::OutIn), 1) => (0..rows, this_row),
        (Op::TransposedProduct, 0) => (this_col, 0..cols),
        (Op::Product | Op::TransposedProduct | Op::Linear(_) | Op::RmsNorm(_) | Op::LayerNorm(_), _) => {
            (0..rows, this_col)
        }
        (Op::Transpose, _) => (this_col, this_row),
        (Op::Scale(_) | Op::Temperature(_) | Op::SoftCap(_) | Op::Relu | Op::Silu, 0)
        | (Op::Gelu(_) | Op::NormalShare | Op::Root, 0) => (this_row, this_col),
        (Op::Columns { start, count }, 0) if (*start..start + count).contains(&col) => {
            (this_row, col - start..col - start + 1)
        }
        (Op::Rows { start, count }, 0) if (*start..start + count).contains(&row) => {
            (row - start..row - start + 1, this_col)
        }
        (Op::Columns { .. } | Op::Rows { .. }, 0) => (0..0, 0..0),
        (Op::Concatenate, _) => {
            let at = before(|shape| shape.cols) + col;
            (this_row, at..at + 1)
        }
        (Op::Stack(_), _) => {
            let at = before(|shape| shape.rows) + row;
            (at..at + 1, this_col)
        }
        // What is added, multiplied or masked may be one row for all rows, or one number for all cells.
        (Op::Add | Op::Subtract | Op::Multiply, _) if graph[cell.node].shape() == node.shape() => {
            (this_row, this_col)
        }
        _ => return None,
    })
}

// The cell to look at first.

/// The most telling cell of some nodes: in the last matrix of attention weights the largest weight by which a token attends to
/// another one; without weights the number of the largest size in the last matrix that was computed. A number that is shown as 0 or
/// 1 tells little: a sum, a difference, a weight without a choice. `None` where no cell has another number.
pub fn most_telling(graph: &Graph, nodes: &[NodeId]) -> Option<CellId> {
    let is_matrix = |id: NodeId| graph[id].shape().rows > 1 && graph[id].shape().cols > 1;
    let last = |is_meant: &dyn Fn(NodeId) -> bool| {
        nodes.iter().rev().filter(|&&id| is_meant(id)).find_map(|&id| largest(graph, id))
    };
    last(&|id| is_matrix(id) && is_weights(&graph[id]))
        .or_else(|| last(&|id| is_matrix(id) && !graph[id].op.is_given()))
        .or_else(|| last(&|id| !graph[id].op.is_given()))
}

fn is_weights(node: &Node) -> bool {
    let is_loss = node.step.is_some_and(|step| step.stage == Stage::Loss);
    matches!(node.op, Op::Softmax(..) | Op::SoftmaxWithSink { .. }) && !is_loss
}

/// Whether a number and another one are the same with four decimals.
pub fn is_shown_as(number: f64, other: f64) -> bool {
    (number - other).abs() < 0.00005
}

/// The number of the largest size that is not shown as 0 or 1, the first one of equal ones; of weights not that of a token on itself.
fn largest(graph: &Graph, node: NodeId) -> Option<CellId> {
    let tensor = graph[node].tensor()?;
    let shape = tensor.shape();
    let is_of_tokens = is_weights(&graph[node]) && shape.rows == shape.cols;
    let mut best: Option<(f64, CellId)> = None;
    for (row, col) in shape.places().filter(|&(row, col)| !(is_of_tokens && row == col)) {
        let size = tensor.at(row, col).abs();
        let is_telling = size.is_finite() && !is_shown_as(size, 0.0) && !is_shown_as(size, 1.0);
        if is_telling && best.is_none_or(|(most, _)| size > most) {
            best = Some((size, CellId { node, row, col }));
        }
    }
    best.map(|(_, cell)| cell)
}

// Finding a cell by an address, a label, a number or the name of a step.

/// The cell that a text means, seen from this cell: an address, a row or a column of this matrix by its label, the next cell with
/// this number, or a step whose name begins so.
pub(super) fn found(graph: &Graph, from: CellId, text: &str) -> Option<CellId> {
    let text = Some(text.trim()).filter(|text| !text.is_empty())?;
    let addressed = resolve(graph, text).ok().map(|cells| match cells {
        Cells::Cell(cell) => cell,
        Cells::Row(node, row) => CellId { node, row, col: 0 },
        Cells::Node(node) => within(graph, CellId { node, ..from }),
    });
    addressed
        .or_else(|| labelled(graph, from, text))
        .or_else(|| with_number(graph, from, text))
        .or_else(|| named(graph, from, text))
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
    let in_node = |(at, &node): (usize, &NodeId)| {
        let shape = graph[node].shape();
        let tensor = graph[node].tensor().filter(|tensor| !tensor.is_stored())?;
        let skip = if at == 0 { from.row * shape.cols + from.col + 1 } else { 0 };
        let mut cells = (skip..shape.rows * shape.cols).map(|at| (at / shape.cols, at % shape.cols));
        let (row, col) = cells.find(|&(row, col)| tensor.number(row, col).is_some_and(is_it))?;
        Some(CellId { node, row, col })
    };
    nodes.iter().cycle().skip(start).take(nodes.len() + 1).enumerate().find_map(in_node)
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
