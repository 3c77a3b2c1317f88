//! The terms of functions of one number.

use super::{InputReader, chosen, over, root, times};
use crate::attention::{Base, GELU_CUBIC};
use crate::graph::Term;

impl InputReader<'_> {
    pub(super) fn relu(&self, i: usize, j: usize) -> Term {
        if self.value(0, i, j) > 0.0 {
            chosen(self.cell(0, i, j), "it is positive")
        } else {
            chosen(Term::Number(0.0), "it is not positive")
        }
    }

    pub(super) fn elu_plus_one(&self, i: usize, j: usize) -> Term {
        if self.value(0, i, j) > 0.0 {
            chosen(Term::Sum(vec![self.cell(0, i, j), Term::Number(1.0)]), "it is positive")
        } else {
            chosen(Term::Power(Base::E, Box::new(self.cell(0, i, j))), "it is not positive")
        }
    }

    pub(super) fn silu(&self, i: usize, j: usize) -> Term {
        self.with_limit_0(i, j, || over(self.cell(0, i, j), self.one_and_power(i, j)))
    }

    /// 1 + e⁻ᵃ
    pub(super) fn one_and_power(&self, i: usize, j: usize) -> Term {
        let negative = times(Term::Number(-1.0), self.cell(0, i, j));
        let power = Term::Power(Base::E, Box::new(negative));
        Term::Sum(vec![Term::Number(1.0), power])
    }

    pub(super) fn soft_cap(&self, cap: f64, i: usize, j: usize) -> Term {
        let share = over(self.cell(0, i, j), Term::Number(cap));
        times(Term::Number(cap), Term::Tanh(Box::new(share)))
    }

    pub(super) fn normal_share(&self, i: usize, j: usize) -> Term {
        let share = over(self.cell(0, i, j), root(Term::Number(2.0)));
        let sum = Term::Sum(vec![Term::Number(1.0), Term::Erf(Box::new(share))]);
        times(Term::Number(0.5), sum)
    }

    pub(super) fn gelu(&self, i: usize, j: usize) -> Term {
        let share = over(self.cell(0, i, j), root(Term::Number(2.0)));
        self.half_times_one_and(Term::Erf(Box::new(share)), i, j)
    }

    pub(super) fn gelu_tanh(&self, i: usize, j: usize) -> Term {
        let cell = || self.cell(0, i, j);
        let factor = root(over(Term::Number(2.0), Term::Number(std::f64::consts::PI)));
        let cubic = Term::Product(vec![Term::Number(GELU_CUBIC), cell(), cell(), cell()]);
        let angle = times(factor, Term::Sum(vec![cell(), cubic]));
        self.half_times_one_and(Term::Tanh(Box::new(angle)), i, j)
    }

    /// `½ · a · (1 + share)`
    fn half_times_one_and(&self, share: Term, i: usize, j: usize) -> Term {
        self.with_limit_0(i, j, || {
            let sum = Term::Sum(vec![Term::Number(1.0), share]);
            Term::Product(vec![Term::Number(0.5), self.cell(0, i, j), sum])
        })
    }

    /// The term, and 0 where the cell is −∞.
    fn with_limit_0(&self, i: usize, j: usize, term: impl FnOnce() -> Term) -> Term {
        if self.value(0, i, j) == f64::NEG_INFINITY {
            return chosen(Term::Number(0.0), "this is its limit at −∞");
        }
        term()
    }
}
