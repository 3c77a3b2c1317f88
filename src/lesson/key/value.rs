//! The source of the numbers of expressions.

use crate::error::Result;
use crate::matrix::Matrix;

/// The source of the numbers of the runs.
pub trait Values {
    /// The cells that an address of a run names: a whole node, a row as 1×n, a cell as 1×1, each with its labels.
    ///
    /// # Errors
    /// If there is no such run, or the address names nothing in it.
    fn matrix(&self, run: &str, address: &str) -> Result<Matrix>;

    /// The maximum error of a cell that is computed from operands rounded to this many decimals.
    ///
    /// # Errors
    /// Those of [`Values::matrix`]; and if the cell is not a sum or product of other cells.
    fn slack(&self, run: &str, address: &str, decimals: usize) -> Result<f64>;
}
