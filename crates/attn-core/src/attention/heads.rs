//! Heads that share keys and values, directions and orders in a matrix, rows of a table.

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::matrix::Matrix;
use crate::tensor::Tensor;

/// The key/value head that query head `head` reads: `⌈h · G / H⌉` with heads counted from 1; here from 0 on both sides.
///
/// # Panics
/// If there are no heads.
/// # Source
/// Ainslie et al. 2023, “GQA”, section 2.2.
pub fn key_value_head(head: usize, heads: usize, key_value_heads: usize) -> usize {
    head * key_value_heads / heads
}

// Directions and orders in a matrix.

/// The cells over which a softmax sums to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Each row on its own: over the keys of one query.
    Rows,
    /// Each column on its own.
    Columns,
    /// All cells of the matrix together.
    Whole,
}

/// Which number of a row comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The smallest.
    Ascending,
    /// The largest.
    Descending,
}

// The rows of an embedding table that a text has.

/// The row of each token: `out[i] = table[ids[i]]`, where ids count from 0. Of a table in a file only these rows are read.
///
/// # Shapes
/// `table` is (vocabulary, d); the result is (ids, d).
/// # Errors
/// If there is no such row, or it cannot be read.
pub fn token_rows(table: &Tensor, ids: &[usize]) -> Result<Matrix> {
    let shape = table.shape();
    if let Some((at, id)) = ids.iter().enumerate().find(|(_, id)| **id >= shape.rows) {
        return Err(Error::new(format!(
            "token {} has the id {id}, but the table has {} rows",
            at + 1,
            shape.rows
        ))
        .of_kind(ErrorKind::Shape)
        .help(format!("ids count from 0 to {}", shape.rows.saturating_sub(1))));
    }
    let mut rows = Vec::with_capacity(ids.len());
    for &id in ids {
        rows.push(table.row(id)?);
    }
    Ok(Matrix::from_fn(ids.len(), shape.cols, |i, j| rows[i][j]).with_col_labels(table.col_labels().cloned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grouped_heads_follow_the_ceiling_rule_counted_from_one() {
        for (heads, groups) in [(4_usize, 4), (4, 2), (4, 1), (32, 8), (6, 3)] {
            for h in 1..=heads {
                let ceiling = (h * groups).div_ceil(heads);
                assert_eq!(
                    key_value_head(h - 1, heads, groups) + 1,
                    ceiling,
                    "head {h} of {heads} over {groups}"
                );
            }
        }
    }

    #[test]
    fn a_repeated_token_has_the_same_row_again() {
        let table = Tensor::from(Matrix::of([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]));
        let rows = token_rows(&table, &[2, 0, 2]).unwrap();
        assert_eq!(rows, Matrix::of([[5.0, 6.0], [1.0, 2.0], [5.0, 6.0]]));
        let said = token_rows(&table, &[0, 3]).unwrap_err().to_string();
        assert!(said.starts_with("token 2 has the id 3, but the table has 3 rows"), "{said}");
    }
}
