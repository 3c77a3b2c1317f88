//! The maximum error of an answer that is computed from operands as they are shown.
//!
//! A student sees `0.59` and `0.41`, and multiplies these. So each operand is taken as an interval, of everything that is
//! shown like it, and the term of the cell is evaluated over the intervals. A whole number is shown as it is.

use std::rc::Rc;

use crate::elementary::pow;
use crate::error::{Error, Result};
use crate::graph::{CellId, Cells, Graph, NodeId, Op, Term, resolve};

/// A computed cell, and the cells that it is computed from.
pub(super) struct ShownOperands {
    graph: Rc<Graph>,
    term: Term,
}

/// The smallest and the largest number that something can be.
type Interval = (f64, f64);

impl ShownOperands {
    /// The operands of the cell at an address; of a row or a node, those of the first cell.
    ///
    /// # Errors
    /// If there is no such cell, or its node is never formed.
    pub fn of(graph: Rc<Graph>, address: &str) -> Result<ShownOperands> {
        let cell = match resolve(&graph, address)? {
            Cells::Cell(cell) => cell,
            Cells::Row(node, row) => CellId { node, row, col: 0 },
            Cells::Node(node) => CellId { node, row: 0, col: 0 },
        };
        graph.matrix(cell.node)?;
        if let Op::Fused(_) = graph[cell.node].op {
            return Err(Error::new("the fused kernel does not store how it is computed"));
        }
        let term = graph.terms(cell);
        Ok(ShownOperands { graph, term })
    }

    /// The names of the nodes of its operands, each once.
    pub fn operands(&self) -> Vec<&str> {
        let mut nodes: Vec<NodeId> = Vec::new();
        let mut terms = vec![&self.term];
        while let Some(term) = terms.pop() {
            match term {
                Term::Cell(cell) if !nodes.contains(&cell.node) => nodes.push(cell.node),
                other => terms.extend(other.parts().into_iter().rev()),
            }
        }
        nodes.into_iter().map(|id| self.graph[id].name.as_str()).collect()
    }

    /// The maximum error of a cell that is computed from operands rounded to this many decimals.
    ///
    /// # Errors
    /// If it is not made of sums, differences and products of cells and numbers.
    pub fn slack(&self, decimals: usize) -> Result<f64> {
        let value = self.term.evaluate(&self.graph);
        let (least, most) = self.interval(&self.term, decimals).ok_or_else(|| {
            Error::new("it is more than sums and products of cells")
                .help("leave out “from … decimals”, and write the tolerance that its rounded operands need")
        })?;
        Ok((value - least).max(most - value))
    }

    fn interval(&self, term: &Term, decimals: usize) -> Option<Interval> {
        let of = |term: &Term| self.interval(term, decimals);
        let all = |terms: &[Term]| terms.iter().map(of).collect::<Option<Vec<Interval>>>();
        match term {
            Term::Cell(_) => Some(shown_alike(term.evaluate(&self.graph), decimals)),
            Term::Number(number) => Some((*number, *number)),
            Term::Sum(terms) => {
                Some(all(terms)?.into_iter().fold((0.0, 0.0), |sum, term| (sum.0 + term.0, sum.1 + term.1)))
            }
            Term::Product(terms) => Some(all(terms)?.into_iter().fold((1.0, 1.0), product)),
            Term::Difference(from, of_which) => {
                let (from, of_which) = (of(from)?, of(of_which)?);
                Some((from.0 - of_which.1, from.1 - of_which.0))
            }
            _ => None,
        }
    }
}

/// Everything that is shown like this number.
fn shown_alike(number: f64, decimals: usize) -> Interval {
    if number.fract() == 0.0 || !number.is_finite() {
        return (number, number);
    }
    let shown: f64 = format!("{number:.decimals$}").parse().unwrap_or(number);
    let half = pow(10.0, -(decimals as f64)) / 2.0;
    (shown - half, shown + half)
}

fn product(left: Interval, right: Interval) -> Interval {
    let corners = [left.0 * right.0, left.0 * right.1, left.1 * right.0, left.1 * right.1];
    (corners.into_iter().fold(f64::INFINITY, f64::min), corners.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::{Axis, Base};
    use crate::graph::Origin;
    use crate::matrix::Matrix;

    /// `O = A V` of one row of weights and two values, and what follows from them.
    fn graph() -> Rc<Graph> {
        let mut graph = Graph::new();
        let a = graph.given("A", Matrix::of([[0.594, 0.406]]), Origin::Stated).unwrap();
        let v = graph.given("V", Matrix::of([[3.0], [-1.2]]), Origin::Stated).unwrap();
        graph.add("O", Op::Product, &[a, v]).unwrap();
        graph.add("moved", Op::Subtract, &[v, v]).unwrap();
        graph.add("P", Op::Softmax(Axis::Rows, Base::E), &[a]).unwrap();
        Rc::new(graph)
    }

    fn operands(address: &str) -> ShownOperands {
        ShownOperands::of(graph(), address).unwrap()
    }

    #[test]
    fn each_operand_may_be_whatever_is_shown_like_it() {
        // By hand: 0.585…0.595 times 3, and 0.405…0.415 times −1.205…−1.195; the exact number is 1.2948.
        let output = operands("O[1,1]");
        let most: f64 = 0.595 * 3.0 - 0.405 * 1.195;
        let least: f64 = 0.585 * 3.0 - 0.415 * 1.205;
        let slack = output.slack(2).unwrap();
        assert!((slack - (1.2948 - least).max(most - 1.2948)).abs() < 1e-12, "{slack}");
        assert_eq!(output.operands(), ["A", "V"]);
    }

    #[test]
    fn more_digits_allow_less_and_whole_numbers_nothing() {
        let output = operands("O[1,1]");
        let at = |decimals| output.slack(decimals).unwrap();
        assert!(at(1) > at(2) && at(2) > at(3));
        let whole = operands("moved[1,1]");
        assert!(whole.slack(0).unwrap() < 1e-12);
    }

    #[test]
    fn what_is_more_than_sums_and_products_is_refused() {
        assert!(operands("P[1,1]").slack(2).is_err());
        assert!(ShownOperands::of(graph(), "Q[1,1]").is_err());
    }
}
