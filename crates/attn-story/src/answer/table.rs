//! The rows and columns of a node, and how they are named.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::graph::{CellId, Cells, Graph, NodeId, Origin, address_of, resolve};
use crate::matrix::{Labels, Matrix, Shape};

/// A node by itself, whose cells are addressed as in the graph that it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedTable", into = "SavedTable")]
pub struct Table {
    graph: Graph,
    node: NodeId,
}

impl Table {
    /// A node of this name with these numbers and labels.
    ///
    /// # Errors
    /// If the matrix is larger than a graph records.
    pub fn new(name: &str, matrix: Matrix) -> Result<Table> {
        let mut graph = Graph::new();
        let node = graph.given(name, matrix, Origin::Stated)?;
        Ok(Table { graph, node })
    }

    /// The name of the node.
    pub fn name(&self) -> &str {
        &self.graph[self.node].name
    }

    /// Its rows and columns.
    pub fn shape(&self) -> Shape {
        self.graph[self.node].shape()
    }

    /// The position that an address such as `A[bat]` gives to its row.
    ///
    /// # Errors
    /// If there is no such row.
    pub fn row(&self, row: &str) -> Result<usize> {
        match resolve(&self.graph, &format!("{}[{row}]", self.name()))? {
            Cells::Row(_, row) => Ok(row),
            Cells::Cell(cell) => Ok(cell.row),
            Cells::Node(_) => Ok(0),
        }
    }

    /// The cell in a row and a column named by position or label, where capitals do not matter as long as one label is meant.
    ///
    /// # Errors
    /// If there is no such cell; the error says what there is.
    pub fn cell(&self, row: &str, col: &str) -> Result<(usize, usize)> {
        let matrix = self.graph.matrix(self.node)?;
        let (row, col) = (spelled(row, matrix.row_labels()), spelled(col, matrix.col_labels()));
        let address = format!("{}[{row},{col}]", self.name());
        match resolve(&self.graph, &address).map_err(|error| without_address(error, &address))? {
            Cells::Cell(cell) => Ok((cell.row, cell.col)),
            Cells::Row(_, row) => Ok((row, 0)),
            Cells::Node(_) => Ok((0, 0)),
        }
    }

    /// The address of a cell of this table, by labels where it has them.
    pub fn address(&self, row: usize, col: usize) -> String {
        address_of(&self.graph, CellId { node: self.node, row, col })
    }

    /// The labels of the rows; none where they have none.
    pub fn row_labels(&self) -> Vec<String> {
        labels(self.graph[self.node].matrix().and_then(Matrix::row_labels))
    }

    /// The labels of the columns; none where they have none.
    pub fn col_labels(&self) -> Vec<String> {
        labels(self.graph[self.node].matrix().and_then(Matrix::col_labels))
    }

    /// The name of a column, as in an address.
    pub fn col_name(&self, col: usize) -> String {
        let address = self.address(0, col);
        let name = address.strip_suffix(']').and_then(|address| address.rsplit_once(','));
        name.map_or_else(|| (col + 1).to_string(), |(_, name)| name.to_string())
    }
}

fn labels(labels: Option<&Labels>) -> Vec<String> {
    labels.map(|labels| labels.iter().cloned().collect()).unwrap_or_default()
}

/// The error about a row or a column, without the address that was composed of them.
fn without_address(error: Error, address: &str) -> Error {
    match error {
        Error::Unusable(mut problem) => {
            if let Some(what) = problem.what.strip_prefix(&format!("`{address}`: ")) {
                problem.what = what.to_string();
            }
            Error::Unusable(problem)
        }
        other => other,
    }
}

/// The label that a text means when capitals do not matter, with the `#2` of a repeated one; else the text itself.
fn spelled(text: &str, labels: Option<&Labels>) -> String {
    let text = text.trim();
    let meant = |text: &str| {
        let lower = text.to_lowercase();
        let labels = labels.map_or(&[][..], |labels| &labels[..]);
        let same = |label: &&String| label.trim().to_lowercase() == lower;
        let first = labels.iter().find(same)?;
        let only = labels.iter().filter(same).all(|label| label == first);
        (only && !labels.iter().any(|label| label == text)).then(|| first.clone())
    };
    let repeated = || {
        let (label, which) = text.rsplit_once('#')?;
        Some(format!("{}#{which}", meant(label)?))
    };
    meant(text).or_else(repeated).unwrap_or_else(|| text.to_string())
}

// A table as data.

/// The rows and columns of a node, without its numbers.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedTable {
    name: String,
    shape: [usize; 2],
    rows: Vec<String>,
    cols: Vec<String>,
}

/// The most rows or columns that a table without numbers is made for.
const MOST: usize = 1 << 12;

impl From<Table> for SavedTable {
    fn from(table: Table) -> SavedTable {
        let Shape { rows, cols } = table.shape();
        let (row_labels, col_labels) = (table.row_labels(), table.col_labels());
        SavedTable { name: table.name().to_string(), shape: [rows, cols], rows: row_labels, cols: col_labels }
    }
}

impl TryFrom<SavedTable> for Table {
    type Error = Error;

    fn try_from(saved: SavedTable) -> Result<Table> {
        let SavedTable { name, shape: [rows, cols], rows: row_labels, cols: col_labels } = saved;
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
/// If a place is not inside its table.
pub(super) fn is_inside(holds: bool) -> Result<()> {
    holds.then_some(()).ok_or_else(|| Error::new("this answer has a place outside its table"))
}

// A cell of a node, and an order of the columns of a row.

/// One cell of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Its row in the node, from 0.
    pub row: usize,
    /// Its column in the node, from 0.
    pub col: usize,
    /// Whether it was looked for in one row alone, so that a column says it all.
    pub in_given_row: bool,
    /// The node.
    pub table: Table,
}

/// The columns of a row, from the largest number to the smallest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The positions of the columns, from 0.
    pub positions: Vec<usize>,
    /// The row, by itself.
    pub table: Table,
}

impl Order {
    /// The names of the columns, in their own order.
    pub fn columns(&self) -> Vec<String> {
        (0..self.table.shape().cols).map(|at| self.table.col_name(at)).collect()
    }

    /// The names of the columns, from the largest number to the smallest.
    fn names(&self) -> Vec<String> {
        self.positions.iter().map(|&at| self.table.col_name(at)).collect()
    }

    /// Another order of the same columns.
    pub fn with_positions(&self, positions: &[usize]) -> Order {
        Order { positions: positions.to_vec(), table: self.table.clone() }
    }

    /// Letters and names, where the columns have letters: `B A C: cave, bat, racket`.
    pub fn lettered(&self) -> String {
        let letters: Vec<String> =
            self.positions.iter().filter_map(|&at| ('A'..='Z').nth(at)).map(String::from).collect();
        format!("{}: {}", letters.join(" "), self.names().join(", "))
    }
}

impl Cell {
    /// The text that a student types: `cave,bat`.
    pub fn typed(&self) -> String {
        let address = self.to_string();
        let inside = address.strip_prefix(self.table.name()).and_then(|rest| rest.strip_prefix('['));
        inside.and_then(|rest| rest.strip_suffix(']')).unwrap_or(&address).to_string()
    }
}

impl fmt::Display for Cell {
    /// The address, with labels if there are any: `A[cave,bat]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.table.address(self.row, self.col))
    }
}

impl fmt::Display for Order {
    /// The text that a student types: `cave bat racket`, with commas if a label has a blank.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names();
        let has_blank = names.iter().any(|name| name.contains(char::is_whitespace));
        f.write_str(&names.join(if has_blank { ", " } else { " " }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let a = Matrix::filled(3, 3, 0.0).rows_named(&["the", "Bat", "the"]).cols_named(&["x", "X", "Cave"]);
        Table::new("A", a).unwrap()
    }

    #[test]
    fn capitals_matter_only_where_they_tell_labels_apart() {
        assert_eq!(table().cell("BAT", "cave").unwrap(), (1, 2));
        assert_eq!(table().cell("The#2", "X").unwrap(), (2, 1));
        assert_eq!(table().cell(" 3 ", "x").unwrap(), (2, 0));
        assert_eq!(table().cell("1", "X").unwrap(), (0, 1));
        let twins = Matrix::filled(1, 2, 0.0).cols_named(&["cave", "Cave"]);
        assert!(Table::new("A", twins).unwrap().cell("1", "CAVE").is_err());
        assert!(table().cell("the", "x").unwrap_err().to_string().contains("names 2 rows"));
        assert!(table().cell("bta", "x").unwrap_err().to_string().contains("did you mean `Bat`"));
    }

    #[test]
    fn a_column_is_called_as_an_address_calls_it() {
        assert_eq!([0, 1, 2].map(|col| table().col_name(col)), ["x", "X", "Cave"]);
        let odd = Matrix::filled(1, 4, 0.0).cols_named(&["a,b", "x]", "the", "the"]);
        let odd = Table::new("A", odd).unwrap();
        assert_eq!([0, 1, 2, 3].map(|col| odd.col_name(col)), ["1", "2", "the#1", "the#2"]);
    }

    #[test]
    fn what_closes_a_bracket_is_no_position() {
        for text in ["1]", "1,1", "", "[", "#", "#1"] {
            assert!(table().cell(text, "1").is_err(), "{text}");
        }
    }
}
