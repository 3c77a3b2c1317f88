//! The sources of a cell: the cells in its terms, in a short form, and its sum in symbols.

use std::collections::BTreeMap;

use super::explained::{Derivation, ExplanationWriter, PlainTerms, Sign};
use crate::explain::{Explanation, Note, SHOWN, decided, notes, shortened};
use crate::graph::{CellId, Graph, NodeId, Precision, Term};
use crate::matrix::Shape;

/// The most numbers that are read for the cells of one page; later cells have no marks.
const MOST_READ: usize = 2_000_000;
/// A table of more cells shows no formulas.
const MOST_WITH_FORMULA: usize = 144;

/// Finds the sources of cells, up to a limit on the numbers read.
#[derive(Default)]
pub(super) struct SourceFinder {
    read: usize,
}

impl SourceFinder {
    /// The cells that a cell was made of: `3:r2` for the second row of node 3, `5:c1` for the first column of node 5,
    /// `4:1,2` for a single cell, `4:*` for all; separated by spaces. `None` where there are none, or too many.
    pub(super) fn from(&mut self, graph: &Graph, cell: CellId) -> Option<String> {
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

/// The cells that a cell was made of.
pub(super) struct Sources {
    /// The places in each node, sorted; the nodes in the order of writing.
    pub cells: Vec<(NodeId, Vec<(usize, usize)>)>,
    /// How many parts of terms were read.
    pub read: usize,
}

/// Returns true if the terms of a node's cells can be read: of a model in single precision, whatever its size.
fn is_readable(graph: &Graph, node: NodeId) -> bool {
    let is_single = graph.precision() != Precision::Exact && graph[node].tensor().is_some();
    is_single || graph[node].matrix().is_some()
}

/// The cells that a cell was made of: those in its terms, and those that decide which case of its formula holds.
pub(super) fn sources(graph: &Graph, cell: CellId) -> Sources {
    let term = graph.terms(cell);
    let mut cells: BTreeMap<NodeId, Vec<(usize, usize)>> = BTreeMap::new();
    let mut order = Vec::new();
    let mut add = |cell: CellId| {
        if !order.contains(&cell.node) {
            order.push(cell.node);
        }
        cells.entry(cell.node).or_default().push((cell.row, cell.col));
    };
    let read = read(&term, &mut add);
    decided(graph, cell, &term).into_iter().for_each(&mut add);
    let sorted = order.into_iter().filter_map(|node| {
        let mut places = cells.remove(&node)?;
        places.sort_unstable();
        places.dedup();
        Some((node, places))
    });
    Sources { cells: sorted.collect(), read }
}

/// Passes the cells of a term to `add`, in the order of writing; returns the number of its parts.
fn read(term: &Term, add: &mut impl FnMut(CellId)) -> usize {
    if let Term::Cell(cell) = term {
        add(*cell);
    }
    term.parts().into_iter().fold(1, |count, part| count + read(part, add))
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
pub(super) fn sum(
    writer: &ExplanationWriter<'_>,
    graph: &Graph,
    cell: CellId,
    in_table: usize,
) -> Option<String> {
    if in_table > MOST_WITH_FORMULA || graph[cell.node].matrix().is_none() {
        return None;
    }
    let term = graph.terms(cell);
    if let Term::Leaf(..) = term {
        return None;
    }
    let shown = shortened(graph, &term);
    let notes = notes(graph, cell, &shown);
    let value = Term::Cell(cell).evaluate(graph);
    let (address, operands) = (String::new(), Vec::new());
    let explanation = Explanation { cell, address, value, term, shown, kept: SHOWN, notes, operands };
    let Derivation { mut lines, with, .. } =
        writer
            .worked(&explanation, &PlainTerms::symbols(writer), |digits| PlainTerms::numbers(writer, digits));
    // In symbols, with the numbers put in, and the value: the steps between are for `--explain`.
    if lines.len() > 3 {
        let end = lines.len() - 1;
        let rounded = lines.drain(2..end).any(|(sign, _)| sign == Sign::Rounded);
        if let Some((sign, _)) = lines.last_mut().filter(|_| rounded) {
            *sign = Sign::Rounded;
        }
    }
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
