//! The explanation of a cell: the term that its op's rule gives where a number is an expression.

use crate::attention::Axis;
use crate::attention::number::{Function, Number};
use crate::matrix::Shape;

use super::rule::{Request, line_of};
use super::{CellId, Graph, NodeId, Term};

impl Graph {
    /// The expression that a cell of a node came from, in cells of the nodes it reads. Evaluating it gives the recorded bits.
    pub fn terms(&self, cell: CellId) -> Term {
        self[cell.node].op.rule(&OneCell { graph: self, cell }).term
    }
}

/// One cell is asked for, and the inputs are the cells of nodes.
struct OneCell<'a> {
    graph: &'a Graph,
    cell: CellId,
}

impl OneCell<'_> {
    fn inputs(&self) -> &[NodeId] {
        &self.graph[self.cell.node].inputs
    }
}

impl Request for OneCell<'_> {
    type Number = Traced;
    type Answer = Traced;

    fn at(&self, input: usize, row: usize, col: usize) -> Traced {
        let term = Term::Cell(CellId { node: self.inputs()[input], row, col });
        Traced { value: term.evaluate(self.graph), term }
    }
    fn inputs(&self) -> usize {
        self.inputs().len()
    }
    fn shape(&self, input: usize) -> Shape {
        self.graph[self.inputs()[input]].shape()
    }
    fn recorded(&self, phrase: impl FnOnce() -> String) -> Traced {
        let value = Term::Cell(self.cell).evaluate(self.graph);
        Traced { value, term: Term::Leaf(value, phrase()) }
    }
    fn cells(&self, cell: impl Fn(usize, usize) -> Traced) -> Traced {
        cell(self.cell.row, self.cell.col)
    }
    fn lines<L: Fn(usize) -> Traced>(&self, axis: Axis, line: impl Fn(usize) -> L) -> Traced {
        let width = self.inputs().first().map_or(0, |_| self.shape(0).cols);
        let (number, place) = line_of(axis, (self.cell.row, self.cell.col), width);
        line(number)(place)
    }
}

/// A number with the term that it came from.
#[derive(Clone)]
struct Traced {
    value: f64,
    term: Term,
}

/// The values of some numbers, and their terms.
fn apart(parts: impl IntoIterator<Item = Traced>) -> (Vec<f64>, Vec<Term>) {
    parts.into_iter().map(|Traced { value, term }| (value, term)).unzip()
}

impl Number for Traced {
    fn of(x: f64) -> Traced {
        Traced { value: x, term: Term::Number(x) }
    }
    fn value(&self) -> f64 {
        self.value
    }
    fn sum(parts: impl IntoIterator<Item = Traced>) -> Traced {
        let (values, terms) = apart(parts);
        Traced { value: f64::sum(values), term: Term::Sum(terms) }
    }
    fn product(parts: impl IntoIterator<Item = Traced>) -> Traced {
        let (values, terms) = apart(parts);
        Traced { value: f64::product(values), term: Term::Product(terms) }
    }
    fn max(parts: impl IntoIterator<Item = Traced>) -> Traced {
        let (values, terms) = apart(parts);
        Traced { value: Number::max(values), term: Term::Max(terms) }
    }
    fn minus(self, other: Traced) -> Traced {
        let term = Term::Difference(Box::new(self.term), Box::new(other.term));
        Traced { value: self.value - other.value, term }
    }
    fn over(self, other: Traced) -> Traced {
        let term = Term::Quotient(Box::new(self.term), Box::new(other.term));
        Traced { value: self.value / other.value, term }
    }
    fn function(self, function: Function) -> Traced {
        Traced { value: function.of(self.value), term: Term::Function(function, Box::new(self.term)) }
    }
    fn because(self, because: &'static str) -> Traced {
        Traced { value: self.value, term: Term::Choice { taken: Box::new(self.term), because } }
    }
    fn named(&self, name: &'static str) -> Traced {
        Traced { value: self.value, term: Term::Named(name) }
    }
    fn with(self, name: &'static str, quantity: &Traced) -> Traced {
        let (is, within) = (Box::new(quantity.term.clone()), Box::new(self.term));
        Traced { value: self.value, term: Term::With { name, is, within } }
    }
}
