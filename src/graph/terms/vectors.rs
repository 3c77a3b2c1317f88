//! The terms of what is computed from the lengths and angles of rows.

use super::{Reader, chosen, minus, over, root, times};
use crate::attention::Base;
use crate::graph::Term;

impl Reader<'_> {
    pub(super) fn squares(&self, input: usize, i: usize) -> Term {
        let square = |k| times(self.cell(input, i, k), self.cell(input, i, k));
        Term::Sum((0..self.width(input)).map(square).collect())
    }

    pub(super) fn minus_mean(&self, i: usize, j: usize) -> Term {
        let row = Term::Sum((0..self.width(0)).map(|k| self.cell(0, i, k)).collect());
        minus(self.cell(0, i, j), over(row, Term::Number(self.width(0) as f64)))
    }

    pub(super) fn rms_norm(&self, epsilon: f64, i: usize, j: usize) -> Term {
        let mean = over(self.squares(0, i), Term::Number(self.width(0) as f64));
        over(self.cell(0, i, j), root(Term::Sum(vec![mean, Term::Number(epsilon)])))
    }

    pub(super) fn cosine(&self, i: usize, j: usize) -> Term {
        let lengths = times(root(self.squares(0, i)), root(self.squares(1, j)));
        if self.squares(0, i).evaluate(self.graph) == 0.0 || self.squares(1, j).evaluate(self.graph) == 0.0 {
            return chosen(Term::Number(0.0), "a row of zeros has no direction");
        }
        over(self.dot(i, j), lengths)
    }

    pub(super) fn euclidean(&self, i: usize, j: usize) -> Term {
        let square = |k| {
            let difference = minus(self.cell(0, i, k), self.cell(1, j, k));
            times(difference.clone(), difference)
        };
        root(Term::Sum((0..self.width(0)).map(square).collect()))
    }

    pub(super) fn unit(&self, i: usize, j: usize) -> Term {
        if self.squares(0, i).evaluate(self.graph) == 0.0 {
            return chosen(Term::Number(0.0), "a row of zeros has no direction");
        }
        over(self.cell(0, i, j), root(self.squares(0, i)))
    }

    pub(super) fn rotary(&self, first: usize, base: f64, i: usize, j: usize) -> Term {
        let width = self.width(0);
        let half = width / 2;
        let angle = angle(first + i, j % half, width, base);
        let own = times(self.cell(0, i, j), Term::Cosine(Box::new(angle.clone())));
        let other = times(self.cell(0, i, (j + half) % width), Term::Sine(Box::new(angle)));
        if j < half { minus(own, other) } else { Term::Sum(vec![own, other]) }
    }
}

/// `position / base^(2 · pair / width)`.
pub(super) fn angle(position: usize, pair: usize, width: usize, base: f64) -> Term {
    let exponent = over(Term::Number(2.0 * pair as f64), Term::Number(width as f64));
    let power = Term::Power(Base::Number(base), Box::new(exponent));
    over(Term::Number(position as f64), power)
}
