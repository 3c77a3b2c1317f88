//! The way down from a number of a model to its weights: which operands are followed, and where a level ends.
//!
//! A number of a model is made of so many others that a tree with all of them is of no use. So a tree follows the largest term of
//! each cell, and a level goes as far as the next weights.

use super::tree::{Branch, Explanation};
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
fn is_final(graph: &Graph, cell: CellId) -> bool {
    matches!(&graph[cell.node].op, Op::Given(origin) if !matches!(origin, Origin::Stream(_)))
}

/// The cell to explain next, on the way from an explained cell down to the weights: the first main operand that is not explained
/// below it, and of that the cell it passes on. None where the way has come to given numbers.
pub fn onward(graph: &Graph, explanation: &Explanation) -> Option<CellId> {
    let main = main_operands(graph, &explanation.shown);
    let mut next = main.into_iter().find(|&cell| !is_final(graph, cell))?;
    let branch = explanation.operands.iter().find(|branch| branch.cell() == next)?;
    if let Branch::Explained(below) = branch
        && !graph[next.node].op.is_given()
    {
        return onward(graph, below);
    }
    while let Some(source) = passed_on(&graph.terms(next)).filter(|&source| !is_final(graph, source)) {
        next = source;
    }
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::{Depth, LongSums, explain};
    use crate::graph::Factor;
    use crate::matrix::Matrix;
    use crate::tensor::Tensor;

    /// Scores from weights: x·W, its columns as q and k, q·kᵀ, scaled, softmax.
    fn graph() -> Graph {
        let mut graph = Graph::new();
        let x = Matrix::of([[1.0, 2.0], [3.0, -1.0]]);
        let x = graph.given("X", x, Origin::Stated).unwrap();
        let e = graph.add("E", Op::Add, &[x, x]).unwrap();
        let w = Tensor::from(Matrix::from_fn(2, 4, |i, j| (i * 4 + j) as f64 - 3.0));
        let w = graph.weights("W", w, Origin::Weights("w".into())).unwrap();
        let qk = graph.add("QK", Op::Product, &[e, w]).unwrap();
        let q = graph.add("Q", Op::Columns { start: 0, count: 2 }, &[qk]).unwrap();
        let k = graph.add("K", Op::Columns { start: 2, count: 2 }, &[qk]).unwrap();
        let s = graph.add("S", Op::ProductTransposed, &[q, k]).unwrap();
        let scaled = graph.add("S_scaled", Op::Scale(Factor::InverseRoot(2)), &[s]).unwrap();
        graph
            .add("A", Op::Softmax(crate::attention::Axis::Rows, crate::attention::Base::E), &[scaled])
            .unwrap();
        graph
    }

    fn tree(graph: &Graph, node: &str, depth: Depth) -> Explanation {
        let cell = CellId { node: graph.find(node).unwrap(), row: 1, col: 0 };
        explain(graph, &[cell], depth, LongSums::Shortened).unwrap().remove(0)
    }

    /// The names of the nodes whose cells are explained, and of those that are only named.
    fn names(graph: &Graph, explanation: &Explanation) -> (Vec<String>, Vec<String>) {
        let name = |cell: CellId| graph[cell.node].name.clone();
        let (mut explained, mut named) = (vec![name(explanation.cell)], Vec::new());
        for branch in &explanation.operands {
            match branch {
                Branch::Explained(below) => {
                    let (more, others) = names(graph, below);
                    explained.extend(more);
                    named.extend(others);
                }
                other => named.push(name(other.cell())),
            }
        }
        (explained, named)
    }

    #[test]
    fn two_levels_of_a_weight_of_attention_end_at_the_weights_of_the_model() {
        let graph = graph();
        let (explained, named) = names(&graph, &tree(&graph, "A", Depth::Levels(2)));
        for node in ["A", "S_scaled", "S", "Q", "K", "QK"] {
            assert!(explained.contains(&node.to_string()), "{node}: {explained:?}");
        }
        assert!(named.contains(&"W".to_string()) && named.contains(&"E".to_string()), "{named:?}");
        assert!(!explained.contains(&"E".to_string()), "{explained:?}");
        // Of the scores of the row, that of the weight itself is followed.
        assert_eq!(explained.iter().filter(|name| *name == "S_scaled").count(), 1);
    }

    #[test]
    fn one_level_of_a_cell_that_is_passed_on_goes_to_where_it_is_computed() {
        let graph = graph();
        let (explained, named) = names(&graph, &tree(&graph, "Q", Depth::Levels(1)));
        assert_eq!(explained, ["Q", "QK"]);
        assert!(named.contains(&"W".to_string()), "{named:?}");
        let (explained, _) = names(&graph, &tree(&graph, "A", Depth::Levels(1)));
        assert_eq!(explained, ["A"]);
    }

    #[test]
    fn the_way_goes_on_from_the_largest_operand_until_it_comes_to_given_numbers() {
        let graph = graph();
        let name = |cell: Option<CellId>| cell.map(|cell| graph[cell.node].name.clone());
        let next = |node: &str| name(onward(&graph, &tree(&graph, node, Depth::Levels(1))));
        assert_eq!(next("A").as_deref(), Some("S"), "the scale passes the score on");
        assert_eq!(next("S").as_deref(), Some("QK"));
        assert_eq!(next("QK").as_deref(), Some("E"));
        assert_eq!(next("E"), None);
    }

    #[test]
    fn a_sum_owes_most_to_its_largest_term_and_a_quotient_to_its_numerator() {
        let graph = graph();
        let cell = |row, col| CellId { node: graph.find("X").unwrap(), row, col };
        let of = |row, col| Term::Cell(cell(row, col));
        let sum = Term::Sum(vec![of(0, 0), of(1, 0), Term::Rest { count: 9, value: 99.0 }]);
        assert_eq!(main_operands(&graph, &sum), [cell(1, 0)]);
        let quotient = Term::Quotient(Box::new(of(0, 1)), Box::new(of(1, 0)));
        assert_eq!(main_operands(&graph, &quotient), [cell(0, 1)]);
        assert_eq!(passed_on(&quotient), None);
        let half = Term::Quotient(Box::new(of(0, 1)), Box::new(Term::Number(2.0)));
        assert_eq!(passed_on(&half), Some(cell(0, 1)));
    }
}
