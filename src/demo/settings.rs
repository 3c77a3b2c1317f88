//! What a user changes in a demo.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::matrix::Matrix;

/// The seed of document 000, and of every demo that draws.
pub const SEED: u32 = 0;

/// The settings that a user changes in a demo.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Numbers in place of the demo's own: node name to matrix and where it came from.
    pub set: BTreeMap<String, (Matrix, String)>,
    /// The seed of random matrices, in place of the demo's own.
    pub seed: Option<u32>,
    /// Changes of the finished computation, such as `X[1,2]=6` or `mask=none`.
    pub assignments: Vec<String>,
    /// Heads that are taken out of it: `A_2`.
    pub removed: Vec<String>,
}

/// The max number of rows or columns of a matrix of a demo, given or built in: a larger one would be too large to show.
const MOST_ROWS: usize = 2048;

impl Settings {
    /// Checks that the user's matrices are of a size that a demo can describe.
    ///
    /// # Errors
    /// If one has more than 2048 rows or columns, or holds +∞.
    pub fn check(&self) -> Result<()> {
        for (name, (matrix, source)) in &self.set {
            if matrix.rows().max(matrix.cols()) > MOST_ROWS {
                return Err(Error::new(format!(
                    "{name} is {}, but a demo takes at most {MOST_ROWS} rows and columns",
                    matrix.shape()
                ))
                .in_source(source.clone())
                .help("give a smaller matrix; attn attend takes larger ones"));
            }
            if matrix.cells().any(|x| x == f64::INFINITY) {
                return Err(Error::new(format!("{name} holds inf"))
                    .in_source(source.clone())
                    .help("write finite numbers, or -inf for a hidden score"));
            }
        }
        Ok(())
    }
}
