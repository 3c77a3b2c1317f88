//! The expression that a cell came from, as data in the order of computing.

use super::{Graph, NodeId};
use crate::attention::Base;
use crate::elementary;

/// A cell of a node; row and column from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CellId {
    /// The node.
    pub node: NodeId,
    /// The row, from 0.
    pub row: usize,
    /// The column, from 0.
    pub col: usize,
}

/// An expression over cells of earlier nodes. Evaluating it gives the recorded bits of the cell it explains.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// The value of another node's cell.
    Cell(CellId),
    /// A number that is part of the formula.
    Number(f64),
    /// The sum from left to right, starting at +0.0.
    Sum(Vec<Term>),
    /// The product from left to right.
    Product(Vec<Term>),
    /// The first minus the second.
    Difference(Box<Term>, Box<Term>),
    /// The first divided by the second.
    Quotient(Box<Term>, Box<Term>),
    /// The base raised to a term.
    Power(Base, Box<Term>),
    /// The square root.
    Root(Box<Term>),
    /// The largest of some terms, the first of equals; NaN where one is.
    Max(Vec<Term>),
    /// The term without its sign.
    Size(Box<Term>),
    /// The sine of an angle in radians.
    Sine(Box<Term>),
    /// The cosine of an angle in radians.
    Cosine(Box<Term>),
    /// The term rounded to a number of decimals.
    Rounded(Box<Term>, u32),
    /// One of several cases of a formula: the one that holds, and why.
    Choice {
        /// The case that holds.
        taken: Box<Term>,
        /// Why it does, as a clause: «the key comes after the query».
        because: &'static str,
    },
    /// A number that is not derived but given or checked: what it is, as a phrase.
    Leaf(f64, String),
}

impl Term {
    /// The value of the expression over the recorded values of the graph; NaN where it reads a node never formed.
    pub fn evaluate(&self, graph: &Graph) -> f64 {
        match self {
            Term::Cell(CellId { node, row, col }) => {
                graph[*node].matrix().map_or(f64::NAN, |matrix| matrix[(*row, *col)])
            }
            Term::Number(number) | Term::Leaf(number, _) => *number,
            Term::Sum(terms) => terms.iter().fold(0.0, |sum, term| sum + term.evaluate(graph)),
            Term::Product(terms) => terms.split_first().map_or(1.0, |(first, rest)| {
                rest.iter().fold(first.evaluate(graph), |p, t| p * t.evaluate(graph))
            }),
            Term::Difference(a, b) => a.evaluate(graph) - b.evaluate(graph),
            Term::Quotient(a, b) => a.evaluate(graph) / b.evaluate(graph),
            Term::Power(base, exponent) => base.power(exponent.evaluate(graph)),
            Term::Root(term) => term.evaluate(graph).sqrt(),
            Term::Max(terms) => {
                let larger = |max: f64, x: f64| if max.is_nan() || x <= max { max } else { x };
                terms.iter().map(|term| term.evaluate(graph)).fold(f64::NEG_INFINITY, larger)
            }
            Term::Size(term) => term.evaluate(graph).abs(),
            Term::Sine(angle) => elementary::sin(angle.evaluate(graph)),
            Term::Cosine(angle) => elementary::cos(angle.evaluate(graph)),
            Term::Rounded(term, decimals) => super::apply::rounded(term.evaluate(graph), *decimals),
            Term::Choice { taken, .. } => taken.evaluate(graph),
        }
    }
}
