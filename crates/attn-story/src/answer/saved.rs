//! Answers as data. Numbers are texts, because JSON has no infinity.

use serde::{Deserialize, Serialize};

use super::place::{Cell, Order};
use super::table::Table;
use super::value::Value;
use crate::error::{Error, Result};
use crate::matrix::{Labels, Matrix, Shape};

/// What is written of an answer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum SavedValue {
    Letter(char),
    Number(String),
    Cell {
        row: usize,
        col: usize,
        in_given_row: bool,
        table: SavedTable,
    },
    Order {
        positions: Vec<usize>,
        table: SavedTable,
    },
    /// A value that nobody can type.
    Other,
}

/// The rows and columns of a node, without its numbers.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedTable {
    name: String,
    shape: [usize; 2],
    rows: Vec<String>,
    cols: Vec<String>,
}

/// The most rows or columns that a table without numbers is made for.
const MOST: usize = 1 << 12;

impl From<Value> for SavedValue {
    fn from(value: Value) -> SavedValue {
        match value {
            Value::Letter(letter) => SavedValue::Letter(letter),
            Value::Number(number) => SavedValue::Number(number.to_string()),
            Value::Cell(Cell { row, col, in_given_row, table }) => {
                SavedValue::Cell { row, col, in_given_row, table: table.into() }
            }
            Value::Order(Order { positions, table }) => SavedValue::Order { positions, table: table.into() },
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
            SavedValue::Number(text) => Value::Number(number(&text)?),
            SavedValue::Cell { row, col, in_given_row, table } => {
                let table = table.table()?;
                let Shape { rows, cols } = table.shape();
                is_inside(row < rows && col < cols)?;
                Value::Cell(Cell { row, col, in_given_row, table })
            }
            SavedValue::Order { positions, table } => {
                let table = table.table()?;
                is_inside(positions.iter().all(|&at| at < table.shape().cols))?;
                Value::Order(Order { positions, table })
            }
            SavedValue::Other => Value::Truth(false),
        })
    }
}

impl From<Table> for SavedTable {
    fn from(table: Table) -> SavedTable {
        let Shape { rows, cols } = table.shape();
        SavedTable {
            name: table.name().to_string(),
            shape: [rows, cols],
            rows: table.row_labels(),
            cols: table.col_labels(),
        }
    }
}

impl SavedTable {
    fn table(self) -> Result<Table> {
        let SavedTable { name, shape: [rows, cols], rows: row_labels, cols: col_labels } = self;
        let fits = |labels: &[String], count: usize| labels.is_empty() || labels.len() == count;
        is_inside(rows <= MOST && cols <= MOST && fits(&row_labels, rows) && fits(&col_labels, cols))?;
        let labels = |labels: Vec<String>| (!labels.is_empty()).then(|| Labels::from(labels));
        let matrix = Matrix::filled(rows, cols, 0.0)
            .with_row_labels(labels(row_labels))
            .with_col_labels(labels(col_labels));
        Table::new(&name, matrix)
    }
}

/// # Errors
/// If the text is not a number.
pub(super) fn number(text: &str) -> Result<f64> {
    text.parse().map_err(|_| Error::new(format!("`{text}` is not a number")))
}

fn is_inside(holds: bool) -> Result<()> {
    holds.then_some(()).ok_or_else(|| Error::new("this answer has a place outside its table"))
}
