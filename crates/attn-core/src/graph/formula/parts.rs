//! Parts of matrices as an equation names them: rows, columns, blocks, several matrices together.

use super::FormulaWriter;
use crate::graph::equation::Convention;

/// A sum of more is written with its first two and its last.
const MOST_SUMMANDS: usize = 8;

impl FormulaWriter<'_> {
    /// A sum of all inputs; of many, the first two and the last.
    pub(super) fn sum(&self) -> String {
        match self.inputs {
            [first, second, .., last] if self.inputs.len() > MOST_SUMMANDS => {
                let [first, second] = [first, second].map(|id| self.name(*id, false));
                format!("{first} + {second} + … + {}", self.name(*last, false))
            }
            _ => self.joined(" + "),
        }
    }

    /// All inputs of a node that only collects them: `collected from the two runs`.
    pub(super) fn collected(&self, what: &str) -> String {
        format!("collected from {}", all_of(self.inputs.len(), what))
    }

    /// Inputs side by side in rows, counted: `the four heads side by side`.
    pub(super) fn side_by_side(&self, what: &str) -> String {
        let how = match self.convention {
            Convention::Rows => "side by side",
            Convention::Columns => "one below the other",
        };
        format!("{} {how}", all_of(self.inputs.len(), what))
    }

    /// `[a | b]` for parts side by side, `[a ; b]` for parts one above the other; the conventions swap them.
    pub(super) fn put_together(&self, side_by_side: bool) -> String {
        if side_by_side == (self.convention == Convention::Rows) {
            format!("[{}]", self.joined(" | "))
        } else {
            format!("[{}]", self.joined(" ; "))
        }
    }

    pub(super) fn block_sums(&self, rows: usize, cols: usize) -> String {
        let (rows, cols) = match self.convention {
            Convention::Rows => (rows, cols),
            Convention::Columns => (cols, rows),
        };
        format!("sum of each {rows}×{cols} block of {}", self.input(0))
    }

    pub(super) fn part(&self, of_rows: bool, start: usize, count: usize) -> String {
        let of_rows = of_rows != (self.convention == Convention::Columns);
        let what = if of_rows { "row" } else { "column" };
        match count {
            1 => format!("{what} {} of {}", start + 1, self.input(0)),
            _ => format!("{what}s {}…{} of {}", start + 1, start + count, self.input(0)),
        }
    }

    /// “rows” for the rows of a matrix, which the column convention turns into columns.
    pub(super) fn lines(&self, of_rows: bool) -> &'static str {
        if of_rows != (self.convention == Convention::Columns) { "rows" } else { "columns" }
    }

    /// “row” for a row of a matrix, which the column convention turns into a column.
    pub(super) fn line(&self, of_row: bool) -> &'static str {
        if of_row != (self.convention == Convention::Columns) { "row" } else { "column" }
    }

    pub(super) fn every_nth(&self, start: usize, step: usize) -> String {
        let what = if self.convention == Convention::Columns { "rows" } else { "columns" };
        format!("{what} {}, {}, … of {}", start + 1, start + step + 1, self.input(0))
    }

    /// One input, or the first and the last of several: `S_1 … S_8`.
    pub(super) fn listed(&self) -> String {
        match self.inputs.len() {
            0 | 1 => self.input(0),
            several => format!("{} … {}", self.input(0), self.input(several - 1)),
        }
    }
}

/// “the two runs”, “the 13 runs”: all of several things, their number in words as far as it is short.
fn all_of(count: usize, things: &str) -> String {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    match WORDS.get(count) {
        Some(word) => format!("the {word} {things}"),
        None => format!("the {count} {things}"),
    }
}
