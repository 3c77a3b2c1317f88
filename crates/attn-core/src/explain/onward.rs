//! The cell to explain next on the way down to the weights of a model.

use super::trail::{is_final, main_operands, passed_on};
use super::tree::{Branch, Explanation};
use crate::graph::{CellId, Graph};

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
    use crate::graph::{Factor, Op, Origin, Term};
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
