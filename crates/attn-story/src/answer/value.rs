//! What a question is answered by, and what the key of a lesson computes.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::table::{Cell, Order, is_inside};
use crate::error::{Error, Result};
use crate::graph::number_text;
use crate::matrix::{Matrix, Shape};

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

// Answers as data. Numbers are texts, because JSON has no infinity.

/// What is written of an answer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SavedValue {
    Letter(char),
    Number(String),
    Cell(Cell),
    Order(Order),
    /// A value that nobody can type.
    Other,
}

impl From<Value> for SavedValue {
    fn from(value: Value) -> SavedValue {
        match value {
            Value::Letter(letter) => SavedValue::Letter(letter),
            Value::Number(number) => SavedValue::Number(number.to_string()),
            Value::Cell(cell) => SavedValue::Cell(cell),
            Value::Order(order) => SavedValue::Order(order),
            Value::Cells(_) | Value::Truth(_) => SavedValue::Other,
        }
    }
}

impl SavedValue {
    /// # Errors
    /// If a number is none, or a place lies outside its table.
    pub(super) fn value(self) -> Result<Value> {
        Ok(match self {
            SavedValue::Letter(letter) => Value::Letter(letter),
            SavedValue::Number(text) => Value::Number(saved_number(&text)?),
            SavedValue::Cell(cell) => {
                let Shape { rows, cols } = cell.table.shape();
                is_inside(cell.row < rows && cell.col < cols)?;
                Value::Cell(cell)
            }
            SavedValue::Order(order) => {
                is_inside(order.positions.iter().all(|&at| at < order.table.shape().cols))?;
                Value::Order(order)
            }
            SavedValue::Other => Value::Truth(false),
        })
    }
}

/// # Errors
/// If the text is not a number.
pub(super) fn saved_number(text: &str) -> Result<f64> {
    text.parse().map_err(|_| Error::new(format!("`{text}` is not a number")))
}
