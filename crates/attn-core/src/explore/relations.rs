//! The cells that a cell was made of.

use std::collections::BTreeMap;

use crate::explain::decided;
use crate::graph::{CellId, Graph, NodeId, Term};

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

/// The operands of a cell, each once, in the order of writing: what a walk through them visits.
pub(super) fn operands(graph: &Graph, cell: CellId) -> Vec<CellId> {
    let term = graph.terms(cell);
    let mut found: Vec<CellId> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut add = |cell: CellId| {
        if seen.insert(cell) {
            found.push(cell);
        }
    };
    read(&term, &mut add);
    decided(graph, cell, &term).into_iter().for_each(&mut add);
    found
}

/// The operand that contributes most: of the largest summand of the outermost sum the first cell; the cell of the same row and column
/// where there is no sum; else the first.
pub(super) fn largest_operand(graph: &Graph, cell: CellId) -> Option<CellId> {
    let all = operands(graph, cell);
    let term = graph.terms(cell);
    let of_sum = outer_sum(&term).and_then(|summands| {
        let first_cell = |part: &Term| {
            let mut first = None;
            read(part, &mut |cell| first = first.or(Some(cell)));
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
