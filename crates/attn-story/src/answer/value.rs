//! What a question is answered by, and what the key of a lesson computes.

use std::fmt;

use super::place::{Cell, Order};
use crate::graph::number_text;
use crate::matrix::Matrix;

/// Cells of a run, not yet made into one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// The numbers: of a whole node, or 1×n of a row.
    pub matrix: Matrix,
    /// The run.
    pub run: String,
    /// The address in the run.
    pub address: String,
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number: one cell, or what a function makes of several.
    Number(f64),
    /// A node or a row.
    Cells(Cells),
    /// The place of a cell.
    Cell(Cell),
    /// The order of a row.
    Order(Order),
    /// Whether a comparison holds.
    Truth(bool),
    /// The letter of an option, a capital. No expression has such a value, but a question may have it as its answer.
    Letter(char),
}

impl Value {
    /// The kind of value: “a number”, “a row or a matrix” …
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Number(_) => "a number",
            Value::Cells(_) => "a row or a matrix",
            Value::Cell(_) => "a cell",
            Value::Order(_) => "an order",
            Value::Truth(_) => "true or false",
            Value::Letter(_) => "a letter",
        }
    }

    /// The number, also where it is the only one of a 1×1 matrix.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Cells(Cells { matrix, .. }) if matrix.rows() == 1 && matrix.cols() == 1 => {
                Some(matrix[(0, 0)])
            }
            _ => None,
        }
    }

    /// The letter of an option.
    pub fn letter(&self) -> Option<char> {
        if let Value::Letter(letter) = self { Some(*letter) } else { None }
    }

    /// The text that a student types: a cell without its node, `cave,bat`.
    pub fn typed(&self) -> String {
        if let Value::Cell(cell) = self { cell.typed() } else { self.to_string() }
    }

    /// An order by the letters of its columns, with their names: `B A C: cave, bat, racket`.
    pub fn lettered(&self) -> Option<String> {
        if let Value::Order(order) = self { Some(order.lettered()) } else { None }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => f.write_str(&number_text(*number)),
            Value::Cells(cells) => write!(f, "{} ({})", cells.address, cells.matrix.shape()),
            Value::Cell(cell) => cell.fmt(f),
            Value::Order(order) => order.fmt(f),
            Value::Truth(truth) => truth.fmt(f),
            Value::Letter(letter) => letter.fmt(f),
        }
    }
}
