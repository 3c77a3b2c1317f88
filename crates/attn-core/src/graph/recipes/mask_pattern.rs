//! Wrong patterns of visible keys, as mistakes in the mask make them.

use serde::{Deserialize, Serialize};

use crate::attention::{Mask, MatrixRule};
use crate::matrix::Matrix;

/// A wrong pattern, made from the right mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MaskPattern {
    /// The causal diagonal stands this many keys later.
    Later(i32),
    /// The mask matrix hides queries instead of keys: its first row is read as a column.
    OnQueries,
    /// It hides queries and keys.
    OnQueriesAndKeys,
    /// One row of the mask matrix is used for all rows.
    OneRow(MaskLine),
    /// One column of it is used for all columns.
    OneColumn(MaskLine),
    /// Rows and columns are exchanged.
    Turned,
    /// Each token sees itself alone.
    ItselfOnly,
    /// The first key is visible to all.
    FirstKeyShown,
    /// The first key is hidden from all.
    FirstKeyHidden,
    /// The last key is hidden from all.
    LastKeyHidden,
    /// Each token sees the keys of its own block, of this width.
    Blocks(usize),
    /// A key is visible if any of several masks allows it.
    AnyMask,
    /// The mask matrix hides one key more at each edge of the hidden keys.
    Wider,
    /// It hides one key less.
    Narrower,
    /// The columns of all masks together stand in reverse order.
    Reversed,
    /// Those of the mask matrix alone.
    MatrixReversed,
    /// The columns of all masks together stand one place later, or earlier; the one that falls off comes in at the other end.
    Rolled(i32),
}

/// The row or column of a mask matrix that is used for all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MaskLine {
    /// The first.
    First,
    /// The last.
    Last,
    /// A key is visible if any of them allows it.
    Any,
}

impl MaskPattern {
    /// The mask rule that reads such a pattern as a matrix.
    pub fn mask() -> Mask {
        Mask { matrix: Some(MatrixRule::Allow), ..Mask::default() }
    }

    /// The pattern, 1 where a key is visible to a query, from the right mask, its matrix, and the numbers of queries and keys. Of a
    /// matrix for each head, side by side, it is the pattern of each.
    pub fn pattern(self, mask: &Mask, matrix: Option<&Matrix>, (queries, keys): (usize, usize)) -> Matrix {
        if let Some(all) = matrix.filter(|all| all.cols() > keys) {
            let own = |head| Matrix::from_fn(queries, keys, |i, j| all[(i, head * keys + j)]);
            let heads =
                (0..all.cols() / keys).map(|head| self.pattern(mask, Some(&own(head)), (queries, keys)));
            let heads: Vec<Matrix> = heads.collect();
            return Matrix::from_fn(queries, all.cols(), |i, j| heads[j / keys][(i, j % keys)]);
        }
        let rules = Mask { matrix: None, ..*mask };
        let given = Mask { matrix: mask.matrix, ..Mask::default() };
        let size = (queries, keys);
        let (by_rules, by_matrix) =
            (rules.pattern(queries, keys, None), given.pattern(queries, keys, matrix));
        let shows = |i: usize, j: usize| by_rules[(i, j)] == 1.0;
        let allows = |i: usize, j: usize| by_matrix[(i, j)] == 1.0;
        let is_seen = |i: usize, j: usize| shows(i, j) && allows(i, j);
        let line = |line: MaskLine, count: usize, allows: &dyn Fn(usize) -> bool| match line {
            MaskLine::First => allows(0),
            MaskLine::Last => allows(count - 1),
            MaskLine::Any => (0..count).any(allows),
        };
        let offset = if mask.from_start { 0 } else { keys as i64 - queries as i64 };
        let around = |j: usize| j.saturating_sub(1)..(j + 2).min(keys);
        let sees = |i: usize, j: usize| match self {
            MaskPattern::Later(keys) => {
                let open = Mask { causal: false, ..*mask };
                let cell = matrix.map(|matrix| matrix[(i, j)]);
                let others = open.is_visible((i, j), size, cell);
                others && (j as i64) <= i as i64 + offset + i64::from(keys)
            }
            MaskPattern::OnQueries => shows(i, j) && i < keys && allows(0, i),
            MaskPattern::OnQueriesAndKeys => is_seen(i, j) && i < keys && allows(0, i),
            MaskPattern::OneRow(which) => shows(i, j) && line(which, queries, &|row| allows(row, j)),
            MaskPattern::OneColumn(which) => shows(i, j) && line(which, keys, &|col| allows(i, col)),
            MaskPattern::Turned => i < keys && j < queries && is_seen(j, i),
            MaskPattern::ItselfOnly => j as i64 == i as i64 + offset,
            MaskPattern::FirstKeyShown => j == 0 || is_seen(i, j),
            MaskPattern::FirstKeyHidden => j != 0 && is_seen(i, j),
            MaskPattern::LastKeyHidden => j + 1 != keys && is_seen(i, j),
            MaskPattern::Blocks(width) => {
                let width = width.max(1) as i64;
                (i as i64 + offset).div_euclid(width) == (j as i64).div_euclid(width)
            }
            MaskPattern::AnyMask => shows(i, j) || allows(i, j),
            MaskPattern::Wider => shows(i, j) && around(j).all(|key| allows(i, key)),
            MaskPattern::Narrower => shows(i, j) && around(j).any(|key| allows(i, key)),
            MaskPattern::Reversed => is_seen(i, keys - 1 - j),
            MaskPattern::MatrixReversed => shows(i, j) && allows(i, keys - 1 - j),
            MaskPattern::Rolled(later) => {
                let from = (j as i64 - i64::from(later)).rem_euclid(keys as i64) as usize;
                is_seen(i, from)
            }
        };
        Matrix::from_fn(queries, keys, |i, j| f64::from(u8::from(sees(i, j))))
    }
}
