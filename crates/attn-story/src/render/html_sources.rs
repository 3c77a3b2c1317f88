//! The sources of a cell: the cells in its terms, in a short form, and its sum in symbols.

use super::cell_lines::short_derivation;
use super::explained::{Derivation, ExplanationWriter};
use crate::explain::Note;
use crate::explore::{Sources, sources};
use crate::graph::{CellId, Graph, NodeId, Precision};
use crate::matrix::Shape;

/// The most numbers that are read for the cells of one page; later cells have no marks.
const MOST_READ: usize = 2_000_000;
/// A table of more cells shows no formulas.
const MOST_WITH_FORMULA: usize = 144;

/// Finds the sources of cells, up to a limit on the numbers read.
#[derive(Default)]
pub struct SourceFinder {
    read: usize,
}

impl SourceFinder {
    /// The cells that a cell was made of: `3:r2` for the second row of node 3, `5:c1` for the first column of node 5,
    /// `4:1,2` for a single cell, `4:*` for all; separated by spaces. `None` where there are none, or too many.
    pub fn from(&mut self, graph: &Graph, cell: CellId) -> Option<String> {
        if self.read > MOST_READ || graph[cell.node].op.is_given() || !is_readable(graph, cell.node) {
            return None;
        }
        let Sources { cells, read } = sources(graph, cell);
        self.read += read;
        let part = |(node, places): &(NodeId, Vec<(usize, usize)>)| {
            format!("{}:{}", node.position(), shortest(places, graph[*node].shape()))
        };
        let parts: Vec<String> = cells.iter().map(part).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }
}

/// Returns true if the terms of a node's cells can be read: of a model in single precision, whatever its size.
fn is_readable(graph: &Graph, node: NodeId) -> bool {
    let is_single = graph.precision() != Precision::Exact && graph[node].tensor().is_some();
    is_single || graph[node].matrix().is_some()
}

/// Places of a matrix, sorted: a row, a column, everything, or one after the other.
fn shortest(places: &[(usize, usize)], shape: Shape) -> String {
    let (first, last) = (places[0], places[places.len() - 1]);
    let (row, column) = (first.0 + 1, first.1 + 1);
    match places.len() {
        count if first.0 == last.0 && count == shape.cols => format!("r{row}"),
        count if count == shape.rows && places.iter().all(|place| place.1 == first.1) => format!("c{column}"),
        count if count == shape.rows * shape.cols => "*".to_string(),
        _ => places.iter().map(|(row, col)| format!("{},{}", row + 1, col + 1)).collect::<Vec<_>>().join(";"),
    }
}

/// The sum of a cell in symbols, in numbers, and its value: `o12 = a11·v12 + a12·v22 = 0.5·1 + 0.5·2 = 1.5`. `None` for a
/// number that is not derived, and in tables of many cells.
pub fn sum(writer: &ExplanationWriter<'_>, graph: &Graph, cell: CellId, in_table: usize) -> Option<String> {
    if in_table > MOST_WITH_FORMULA || graph[cell.node].matrix().is_none() {
        return None;
    }
    let (explanation, Derivation { lines, with, .. }) = short_derivation(writer, graph, cell)?;
    let mut sum = writer.symbols.cell(cell);
    for (sign, line) in lines {
        sum.push_str(&format!(" {} {line}", sign.text()));
    }
    if let Some((name, is, value)) = with {
        sum.push_str(&format!(", with {name} = {is} = {value}"));
    }
    for note in explanation.notes {
        let sign = match note {
            Note::Because(_) => ",",
            Note::Decided(_) => ";",
            _ => continue,
        };
        sum.push_str(&format!("{sign} {}", note.text(graph, |x| writer.number(x))));
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::{Axis, Base, Pairing, Rotation};
    use crate::graph::{Op, Origin};
    use crate::kernel::{Layout, Machine};
    use crate::matrix::Matrix;
    use crate::tensor::Tensor;

    fn made(graph: &Graph, name: &str, row: usize, col: usize) -> Option<String> {
        SourceFinder::default().from(graph, CellId { node: graph.find(name).unwrap(), row, col })
    }

    #[test]
    fn a_large_matrix_of_a_model_in_single_precision_has_sources_too() {
        let mut graph = Graph::new().in_precision(Precision::Single(Machine::here()));
        let tensor = |rows: usize, cols: usize| {
            Tensor::new(vec![0.5_f32; rows * cols], Layout::stacked(1, rows, cols)).unwrap()
        };
        let x = graph.weights("X", tensor(400, 3), Origin::Stated).unwrap();
        let w = graph.weights("W", tensor(3, 300), Origin::Stated).unwrap();
        let p = graph.add("P", Op::Product, &[x, w]).unwrap();
        graph.add("relu", Op::Relu, &[p]).unwrap();
        assert_eq!(made(&graph, "P", 399, 299).as_deref(), Some("0:r400 1:c300"));
        assert_eq!(made(&graph, "relu", 398, 0).as_deref(), Some("2:399,1"));
    }

    #[test]
    fn rows_columns_and_single_cells_are_written_short() {
        let mut graph = Graph::new();
        let x = graph.given("X", Matrix::filled(3, 2, 1.0), Origin::Stated).unwrap();
        let w = graph.given("W", Matrix::filled(2, 4, 1.0), Origin::Stated).unwrap();
        let p = graph.add("P", Op::Product, &[x, w]).unwrap();
        let a = graph.add("A", Op::Softmax(Axis::Rows, Base::E), &[p]).unwrap();
        let whole = graph.add("whole", Op::Sums(Axis::Whole), &[a]).unwrap();
        let turn = Rotation { first: 0, pairing: Pairing::Halves, magnitude: 1.0 };
        let f = graph.given("F", Matrix::filled(1, 2, 1.0), Origin::Stated).unwrap();
        graph.add("rotated", Op::Rotary(turn), &[a, f]).unwrap();
        graph.add("taken", Op::Columns { start: 1, count: 2 }, &[p]).unwrap();
        graph.add("sum", Op::Add, &[whole, whole]).unwrap();
        assert_eq!(made(&graph, "X", 0, 0), None);
        assert_eq!(made(&graph, "P", 1, 2).as_deref(), Some("0:r2 1:c3"));
        assert_eq!(made(&graph, "A", 2, 0).as_deref(), Some("2:r3"));
        assert_eq!(made(&graph, "whole", 0, 0).as_deref(), Some("3:*"));
        assert_eq!(made(&graph, "rotated", 1, 2).as_deref(), Some("3:2,1;2,3 5:c1"));
        assert_eq!(made(&graph, "taken", 1, 1).as_deref(), Some("2:2,3"));
        assert_eq!(made(&graph, "sum", 0, 0).as_deref(), Some("4:r1"));
    }
}
