//! The terms of ops on the lengths and angles of rows.

use std::cmp::Ordering;

use super::{InputReader, chosen, minus, over, root, times};
use crate::attention::{Order, range_factor};
use crate::graph::Term;

impl InputReader<'_> {
    /// The column of the number that is the j-th of row i in this order; of equal numbers the left one is the smaller.
    pub(super) fn column_of_rank(&self, order: Order, i: usize, j: usize) -> usize {
        let row: Vec<f64> = (0..self.width(0)).map(|k| self.value(0, i, k)).collect();
        let by_size = |a: &usize, b: &usize| {
            let numbers = row[*a].partial_cmp(&row[*b]).unwrap_or(Ordering::Equal);
            row[*a].is_nan().cmp(&row[*b].is_nan()).then(numbers).then(a.cmp(b))
        };
        let mut columns: Vec<usize> = (0..row.len()).collect();
        columns.sort_by(by_size);
        columns[if order == Order::Ascending { j } else { row.len() - 1 - j }]
    }

    pub(super) fn minus_mean(&self, i: usize, j: usize) -> Term {
        let row = Term::Sum((0..self.width(0)).map(|k| self.cell(0, i, k)).collect());
        minus(self.cell(0, i, j), over(row, Term::Number(self.width(0) as f64)))
    }

    /// The cells of a row, brought into the range in which their squares are numbers.
    fn in_range(&self, input: usize, i: usize) -> Vec<Term> {
        let cells: Vec<Term> = (0..self.width(input)).map(|k| self.cell(input, i, k)).collect();
        let factor = range_factor(cells.iter().map(|cell| cell.evaluate(self.graph)));
        cells.into_iter().map(|cell| scaled(cell, factor)).collect()
    }

    pub(super) fn rms_norm(&self, epsilon: f64, i: usize, j: usize) -> Term {
        let row = (0..self.width(0)).map(|k| self.cell(0, i, k)).collect();
        self.gained(self.over_root_mean_square(row, j, epsilon), j)
    }

    pub(super) fn layer_norm(&self, epsilon: f64, i: usize, j: usize) -> Term {
        let row: Vec<Term> = (0..self.width(0)).map(|k| self.cell(0, i, k)).collect();
        let mean = over(Term::Sum(row.clone()), Term::Number(self.width(0) as f64));
        let centred = row.into_iter().map(|cell| minus(cell, Term::Named("m"))).collect();
        let normed = self.gained(self.over_root_mean_square(centred, j, epsilon), j);
        let within = match self.inputs.len() {
            3 => Term::Sum(vec![normed, self.cell(2, 0, j)]),
            _ => normed,
        };
        Term::With { name: "m", is: Box::new(mean), within: Box::new(within) }
    }

    /// Part j of a row over the root of the mean of all their squares.
    fn over_root_mean_square(&self, row: Vec<Term>, j: usize, epsilon: f64) -> Term {
        let mean = over(sum_of_squares(&row), Term::Number(row.len() as f64));
        over(row[j].clone(), root(Term::Sum(vec![mean, Term::Number(epsilon)])))
    }

    /// The term times the gain of column j, where there is one.
    fn gained(&self, term: Term, j: usize) -> Term {
        if self.inputs.len() > 1 { times(term, self.cell(1, 0, j)) } else { term }
    }

    pub(super) fn cosine(&self, i: usize, j: usize) -> Term {
        let (a, b) = (self.in_range(0, i), self.in_range(1, j));
        let (length_a, length_b) = (sum_of_squares(&a), sum_of_squares(&b));
        if length_a.evaluate(self.graph) == 0.0 || length_b.evaluate(self.graph) == 0.0 {
            return chosen(Term::Number(0.0), "a row of zeros has no direction");
        }
        let dot = Term::Sum(a.into_iter().zip(b).map(|(a, b)| times(a, b)).collect());
        over(dot, times(root(length_a), root(length_b)))
    }

    pub(super) fn euclidean(&self, i: usize, j: usize) -> Term {
        let difference = |k| minus(self.cell(0, i, k), self.cell(1, j, k));
        let differences: Vec<Term> = (0..self.width(0)).map(difference).collect();
        let factor = range_factor(differences.iter().map(|difference| difference.evaluate(self.graph)));
        let differences: Vec<Term> = differences.into_iter().map(|term| scaled(term, factor)).collect();
        let length = root(sum_of_squares(&differences));
        if factor == 1.0 { length } else { over(length, Term::Number(factor)) }
    }

    pub(super) fn unit(&self, i: usize, j: usize) -> Term {
        let row = self.in_range(0, i);
        let length = sum_of_squares(&row);
        if length.evaluate(self.graph) == 0.0 {
            return chosen(Term::Number(0.0), "a row of zeros has no direction");
        }
        over(row[j].clone(), root(length))
    }
}

fn sum_of_squares(terms: &[Term]) -> Term {
    Term::Sum(terms.iter().map(|term| times(term.clone(), term.clone())).collect())
}

fn scaled(term: Term, factor: f64) -> Term {
    if factor == 1.0 { term } else { times(term, Term::Number(factor)) }
}
