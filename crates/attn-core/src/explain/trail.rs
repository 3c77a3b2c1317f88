//! The way down from a number of a model to its weights: which operands are followed, and where a level ends.
//!
//! A number of a model is made of thousands of others, and a tree with all of them would be of no use. So a tree follows the largest
//! term of each cell, and a level goes as far as the next weights.

use crate::graph::{Bindings, CellId, Graph, Op, Origin, Term};

/// The terms that are kept of long sums below a cell that was asked for.
pub(super) const KEPT_BELOW: usize = 3;

/// The operands that a cell owes most to: those of the largest term of a sum, of the numerator of a quotient.
pub fn main_operands(graph: &Graph, term: &Term) -> Vec<CellId> {
    let mut cells = Vec::new();
    collect(graph, term, &Bindings::default(), &mut cells);
    cells
}

fn collect(graph: &Graph, term: &Term, names: &Bindings<'_>, cells: &mut Vec<CellId>) {
    match term {
        Term::Cell(cell) if !cells.contains(cell) => cells.push(*cell),
        Term::Sum(terms) => {
            let size = |term: &Term| match term {
                // What is left out is followed nowhere.
                Term::Rest { .. } => -1.0,
                term => term.value(graph, names).abs(),
            };
            let largest = terms.iter().fold(None, |best: Option<(f64, &Term)>, term| match best {
                Some((most, _)) if most >= size(term) => best,
                _ => Some((size(term), term)),
            });
            if let Some((_, largest)) = largest {
                collect(graph, largest, names, cells);
            }
        }
        Term::Quotient(above, _) => collect(graph, above, names, cells),
        Term::Difference(from, _) => collect(graph, from, names, cells),
        Term::With { name, is, within } => {
            let inner = names.and(name, is.value(graph, names));
            collect(graph, within, &inner, cells);
        }
        other => other.parts().into_iter().for_each(|part| collect(graph, part, names, cells)),
    }
}

/// The operands that a tree follows: the main ones, and those that pass a given number on, which takes one line more.
pub(super) fn followed(graph: &Graph, shown: &Term, operands: &[CellId]) -> Vec<CellId> {
    let main = main_operands(graph, shown);
    let ends = |&cell: &CellId| {
        let is_derived = !graph[cell.node].op.is_given() && graph[cell.node].inputs.len() == 1;
        is_derived && passed_on(&graph.terms(cell)).is_some_and(|source| is_final(graph, source))
    };
    operands.iter().copied().filter(|cell| main.contains(cell) || ends(cell)).collect()
}

/// The cell that a term passes on: as it is, hidden by no mask, or times a constant.
pub fn passed_on(term: &Term) -> Option<CellId> {
    match term {
        Term::Cell(cell) => Some(*cell),
        Term::Choice { taken, .. } => passed_on(taken),
        Term::Product(terms) => {
            let mut others = terms.iter().filter(|term| !is_constant(term));
            others.next().filter(|_| others.next().is_none()).and_then(passed_on)
        }
        Term::Quotient(above, below) if is_constant(below) => passed_on(above),
        _ => None,
    }
}

fn is_constant(term: &Term) -> bool {
    match term {
        Term::Number(_) => true,
        Term::Cell(_) | Term::Leaf(..) | Term::Named(_) | Term::Rest { .. } => false,
        other => other.parts().into_iter().all(is_constant),
    }
}

/// Returns true if a level ends with a cell: one that was asked for, or one that reads weights. A cell that passes another one on
/// ends none.
pub(super) fn ends_level(graph: &Graph, term: &Term, operands: &[CellId], is_asked: bool) -> bool {
    let is_weight = |cell: &CellId| matches!(graph[cell.node].op, Op::Given(Origin::Weights(_)));
    passed_on(term).is_none() && (is_asked || operands.iter().any(is_weight))
}

/// Returns true if a cell is a number that is given, and not recorded while the model ran: such a one is explained in the layer before.
pub(super) fn is_final(graph: &Graph, cell: CellId) -> bool {
    matches!(&graph[cell.node].op, Op::Given(origin) if !matches!(origin, Origin::Stream(_)))
}
