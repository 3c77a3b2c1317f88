//! The terms of masks and of the softmax.

use super::{InputReader, chosen, minus, over};
use crate::attention::{Axis, Base, HidingRule, Mask, MatrixRule, Visibility};
use crate::graph::Term;

impl InputReader<'_> {
    pub(super) fn masked(&self, mask: &Mask, i: usize, j: usize) -> Term {
        let size = (self.height(0), self.width(0));
        let given = (self.inputs.len() > 1).then(|| self.value(1, i, j));
        match mask.visibility((i, j), size, given) {
            Visibility::Hidden(rule) => chosen(Term::Number(f64::NEG_INFINITY), why_hidden(rule)),
            Visibility::Visible
                if mask.matrix == Some(MatrixRule::Add) && !mask.inverted && given.is_some() =>
            {
                chosen(Term::Sum(vec![self.cell(0, i, j), self.cell(1, i, j)]), "the mask is added")
            }
            Visibility::Visible => chosen(self.cell(0, i, j), "no rule hides the key"),
        }
    }

    pub(super) fn pattern(&self, mask: &Mask, i: usize, j: usize) -> Term {
        let given = (self.inputs.len() > 1).then(|| self.value(1, i, j));
        match mask.visibility((i, j), (self.height(0), self.width(0)), given) {
            Visibility::Visible => chosen(Term::Number(1.0), "no rule hides the key"),
            Visibility::Hidden(rule) => chosen(Term::Number(0.0), why_hidden(rule)),
        }
    }

    pub(super) fn minus_max(&self, axis: Axis, i: usize, j: usize) -> Term {
        let cell = self.cell(0, i, j);
        if self.value(0, i, j) == f64::NEG_INFINITY {
            return chosen(cell, "a hidden score stays −∞");
        }
        if self.is_alone(axis, i, j) {
            return chosen(Term::Number(0.0), "it is the only score that is not hidden");
        }
        minus(cell, Term::Max(self.along(axis, i, j)))
    }

    pub(super) fn guarded(&self, i: usize, j: usize) -> Term {
        if (0..self.width(1)).all(|key| self.value(1, i, key) == f64::NEG_INFINITY) {
            chosen(Term::Number(0.0), "it may attend to nothing")
        } else {
            chosen(self.cell(0, i, j), "it may attend to something")
        }
    }

    pub(super) fn single_range(&self, i: usize, j: usize) -> Term {
        let cell = self.cell(0, i, j);
        match self.value(0, i, j) {
            x if x > f64::from(f32::MAX) => {
                chosen(Term::Number(f64::INFINITY), "single precision ends at 3.4e38")
            }
            x if x < f64::from(f32::MIN) => {
                chosen(Term::Number(f64::NEG_INFINITY), "single precision ends at −3.4e38")
            }
            _ => cell,
        }
    }

    /// Returns true if a cell that has left the range is the only visible one of its row.
    fn is_alone(&self, axis: Axis, i: usize, j: usize) -> bool {
        let shown = |cell: &Term| cell.evaluate(self.graph) != f64::NEG_INFINITY;
        self.value(0, i, j) == f64::INFINITY
            && self.along(axis, i, j).iter().filter(|cell| shown(cell)).count() == 1
    }

    pub(super) fn softmax(&self, axis: Axis, power: impl Fn(Term) -> Term, i: usize, j: usize) -> Term {
        let is_hidden = |cell: &Term| cell.evaluate(self.graph) == f64::NEG_INFINITY;
        if self.along(axis, i, j).iter().all(is_hidden) {
            return chosen(Term::Number(0.0), "it may attend to nothing");
        }
        let less_max = self.less_max(axis, i, j);
        self.softmax_over(axis, i, j, |cell| power(less_max(cell)))
    }

    /// What makes a cell that shares its row (or column) with (i, j) that cell minus the max m.
    fn less_max(&self, axis: Axis, i: usize, j: usize) -> impl Fn(Term) -> Term {
        let alone = self.places(axis, i, j).any(|(i, j)| self.is_alone(axis, i, j));
        move |cell| {
            if cell.evaluate(self.graph) == f64::NEG_INFINITY {
                chosen(cell, "a hidden score stays −∞")
            } else if alone {
                chosen(Term::Number(0.0), "it is the only score that is not hidden")
            } else {
                minus(cell, Term::Named("m"))
            }
        }
    }

    pub(super) fn negative_log_softmax(&self, i: usize, j: usize) -> Term {
        if self.value(0, i, j) == f64::NEG_INFINITY {
            return chosen(Term::Number(f64::INFINITY), "a hidden score has no share");
        }
        let cells = self.along(Axis::Rows, i, j);
        let less_max = self.less_max(Axis::Rows, i, j);
        let power = |cell| Term::Power(Base::E, Box::new(less_max(cell)));
        let logarithm = Term::Logarithm(Box::new(Term::Sum(cells.iter().cloned().map(power).collect())));
        let within = minus(logarithm, less_max(self.cell(0, i, j)));
        Term::With { name: "m", is: Box::new(Term::Max(cells)), within: Box::new(within) }
    }

    pub(super) fn softmax_with_sink(&self, head: usize, i: usize, j: usize) -> Term {
        let is_hidden = |cell: &Term| cell.evaluate(self.graph) == f64::NEG_INFINITY;
        let all = || self.along(Axis::Rows, i, j).into_iter().chain([self.cell(1, 0, head)]);
        if all().all(|cell| is_hidden(&cell)) {
            return chosen(Term::Number(0.0), "it may attend to nothing");
        }
        let power = |cell: Term| {
            let exponent = if is_hidden(&cell) {
                chosen(cell, "a hidden score stays −∞")
            } else if cell.evaluate(self.graph) == f64::INFINITY {
                chosen(Term::Number(0.0), "it has left the range, and is the max")
            } else {
                minus(cell, Term::Named("m"))
            };
            Term::Power(Base::E, Box::new(exponent))
        };
        let within = over(power(self.cell(0, i, j)), Term::Sum(all().map(power).collect()));
        Term::With { name: "m", is: Box::new(Term::Max(all().collect())), within: Box::new(within) }
    }

    pub(super) fn unguarded_softmax(&self, axis: Axis, base: Base, i: usize, j: usize) -> Term {
        self.softmax_over(axis, i, j, |cell| Term::Power(base, Box::new(minus(cell, Term::Named("m")))))
    }

    /// The power of a cell over the sum of all powers, in which m is the max of the cells.
    fn softmax_over(&self, axis: Axis, i: usize, j: usize, power: impl Fn(Term) -> Term) -> Term {
        let sum = Term::Sum(self.along(axis, i, j).into_iter().map(&power).collect());
        let within = Box::new(over(power(self.cell(0, i, j)), sum));
        Term::With { name: "m", is: Box::new(Term::Max(self.along(axis, i, j))), within }
    }
}

fn why_hidden(rule: HidingRule) -> &'static str {
    match rule {
        HidingRule::Future => "the key comes after the query",
        HidingRule::OutsideWindow => "the key lies outside the window",
        HidingRule::ByMatrix => "the mask matrix hides it",
        HidingRule::Own => "a token may not see itself",
        HidingRule::Inverted => "the rules show the key, and the mask is inverted",
    }
}
