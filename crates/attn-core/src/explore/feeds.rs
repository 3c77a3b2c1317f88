//! The cells that a cell feeds: those of the next steps that read it.

use std::ops::Range;

use super::relations::sources;
use crate::attention::{Axis, WeightLayout};
use crate::graph::{CellId, Graph, NodeId, Op};
use crate::matrix::Shape;

/// For an op whose readers are found by asking each cell, at most this many parts of terms are read.
const MOST_READ: usize = 400_000;

/// Cells of one step that read the cell: a block of rows and columns, or some places.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Readers {
    Block(Range<usize>, Range<usize>),
    Asked,
}

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
        match readers(graph, id, input, cell) {
            Readers::Block(rows, cols) => {
                all.extend(rows.flat_map(|row| cols.clone().map(move |col| (row, col))));
            }
            Readers::Asked => {
                all = asked(graph, id, cell)?;
                break;
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

/// The readers in a step, by asking each of its cells.
fn asked(graph: &Graph, id: NodeId, cell: CellId) -> Option<Vec<(usize, usize)>> {
    let Shape { rows, cols } = graph[id].shape();
    let (mut read, mut found) = (0, Vec::new());
    for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
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

fn readers(graph: &Graph, id: NodeId, input: usize, cell: CellId) -> Readers {
    let node = &graph[id];
    let Shape { rows, cols } = node.shape();
    let (row, col) = (cell.row, cell.col);
    let (this_row, this_col) = (row..row + 1, col..col + 1);
    let before = |along: fn(Shape) -> usize| -> usize {
        node.inputs[..input].iter().map(|&other| along(graph[other].shape())).sum()
    };
    match (&node.op, input) {
        (Op::Product, 0) | (Op::ProductTransposed, 0) | (Op::Linear(_), 0) => {
            Readers::Block(this_row, 0..cols)
        }
        (Op::Product, 1) | (Op::Linear(WeightLayout::InOut), 1) => Readers::Block(0..rows, this_col),
        (Op::ProductTransposed, 1) | (Op::Linear(WeightLayout::OutIn), 1) => {
            Readers::Block(0..rows, row..row + 1)
        }
        (Op::Linear(_), 2) => Readers::Block(0..rows, this_col),
        (Op::TransposedProduct, 0) => Readers::Block(col..col + 1, 0..cols),
        (Op::TransposedProduct, 1) => Readers::Block(0..rows, this_col),
        (Op::Transpose, _) => Readers::Block(col..col + 1, row..row + 1),
        (Op::Softmax(Axis::Rows, _), 0) | (Op::RmsNorm(_) | Op::LayerNorm(_) | Op::MinusMean, 0) => {
            Readers::Block(this_row, 0..cols)
        }
        (Op::RmsNorm(_) | Op::LayerNorm(_), _) => Readers::Block(0..rows, this_col),
        (
            Op::Scale(_)
            | Op::Temperature(_)
            | Op::SoftCap(_)
            | Op::Relu
            | Op::Silu
            | Op::Gelu(_)
            | Op::NormalShare
            | Op::Root,
            0,
        ) => Readers::Block(this_row, this_col),
        (Op::Columns { start, count }, 0) if (*start..start + count).contains(&col) => {
            Readers::Block(this_row, col - start..col - start + 1)
        }
        (Op::Columns { .. }, 0) => Readers::Block(0..0, 0..0),
        (Op::Rows { start, count }, 0) if (*start..start + count).contains(&row) => {
            Readers::Block(row - start..row - start + 1, this_col)
        }
        (Op::Rows { .. }, 0) => Readers::Block(0..0, 0..0),
        (Op::Concatenate, _) => {
            let at = before(|shape| shape.cols) + col;
            Readers::Block(this_row, at..at + 1)
        }
        (Op::Stack(_), _) => {
            let at = before(|shape| shape.rows) + row;
            Readers::Block(at..at + 1, this_col)
        }
        // What is added, multiplied or masked may be one row for all rows, or one number for all cells.
        (Op::Add | Op::Subtract | Op::Multiply, _) if graph[cell.node].shape() == node.shape() => {
            Readers::Block(this_row, this_col)
        }
        _ => Readers::Asked,
    }
}
