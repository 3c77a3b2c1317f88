//! A cell of a node, and an order of the columns of a row.

use std::fmt;

use super::table::Table;

/// One cell of a node.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
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

impl Order {
    /// Another order of the same columns.
    pub fn with_positions(&self, positions: &[usize]) -> Order {
        Order { positions: positions.to_vec(), table: self.table.clone() }
    }

    /// Letters and names, where the columns have letters: `B A C: cave, bat, racket`.
    pub fn lettered(&self) -> String {
        let letters: Vec<String> =
            self.positions.iter().filter_map(|&at| ('A'..='Z').nth(at)).map(String::from).collect();
        let names: Vec<String> = self.positions.iter().map(|&at| self.table.col_name(at)).collect();
        format!("{}: {}", letters.join(" "), names.join(", "))
    }
}

impl fmt::Display for Order {
    /// The text that a student types: `cave bat racket`, with commas if a label has a blank.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.positions.iter().map(|&at| self.table.col_name(at)).collect();
        let has_blank = names.iter().any(|name| name.contains(char::is_whitespace));
        f.write_str(&names.join(if has_blank { ", " } else { " " }))
    }
}
