//! Masks, which decide which keys a query may attend to.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::matrix::{Matrix, Shape};

/// The rules that hide keys from queries. A pair is visible when every rule allows it.
///
/// T queries over N keys: query i stands at position `offset + i` among the keys, where `offset` is N − T when the
/// queries are the last tokens (as when decoding with a cache), and 0 when both are aligned to the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mask {
    /// No key after the query's own position.
    pub causal: bool,
    /// Only keys less than this many positions away.
    pub window: Option<usize>,
    /// The number of first keys that stay visible although they lie outside the window.
    pub keep_first: usize,
    /// Queries and keys are aligned at the first token, not at the last.
    pub from_start: bool,
    /// The meaning of a second input, a matrix of the scores' shape.
    pub matrix: Option<MatrixRule>,
    /// No token sees itself.
    pub hides_own: bool,
    /// Inverts the rules: visible cells are those that the rules hide.
    pub inverted: bool,
}

/// The meaning of the cells of a mask matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatrixRule {
    /// Not zero: may attend.
    Allow,
    /// Not zero: may not attend.
    Block,
    /// A number that is added to the score; −∞ hides the key.
    Add,
}

/// The visibility of a key to a query: visible, or hidden by a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// The score stays.
    Visible,
    /// The score becomes −∞.
    Hidden(HidingRule),
}

/// The rule that hides a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HidingRule {
    /// The key comes after the query.
    Future,
    /// The key is a window or more away.
    OutsideWindow,
    /// The mask matrix says so.
    ByMatrix,
    /// The key is the query's own token.
    Own,
    /// The rules let it through, and they are turned round.
    Inverted,
}

impl HidingRule {
    /// Why it hides the key.
    pub(crate) fn why(self) -> &'static str {
        match self {
            HidingRule::Future => "the key comes after the query",
            HidingRule::OutsideWindow => "the key lies outside the window",
            HidingRule::ByMatrix => "the mask matrix hides it",
            HidingRule::Own => "a token may not see itself",
            HidingRule::Inverted => "the rules show the key, and the mask is inverted",
        }
    }
}

impl Mask {
    /// Returns true if any rule is set.
    pub fn is_some(&self) -> bool {
        self.causal || self.window.is_some() || self.matrix.is_some() || self.hides_own || self.inverted
    }

    /// The visibility of key `j` of `keys` to query `i` of `queries` (from 0); `cell` is the mask matrix at (i, j).
    pub fn visibility(&self, at: (usize, usize), size: (usize, usize), cell: Option<f64>) -> Visibility {
        match (self.hidden_by(at, size, cell), self.inverted) {
            (Some(rule), false) => Visibility::Hidden(rule),
            (None, true) => Visibility::Hidden(HidingRule::Inverted),
            _ => Visibility::Visible,
        }
    }

    /// Returns true if query `i` sees key `j`; see [`Mask::visibility`].
    pub fn is_visible(&self, at: (usize, usize), size: (usize, usize), cell: Option<f64>) -> bool {
        self.visibility(at, size, cell) == Visibility::Visible
    }

    /// The first rule that hides a key, before the rules are turned round.
    fn hidden_by(&self, at: (usize, usize), size: (usize, usize), cell: Option<f64>) -> Option<HidingRule> {
        let ((i, j), (queries, keys)) = (at, size);
        // The position of the query plus `queries`, so that it cannot go below zero where T > N.
        let (position, key) =
            if self.from_start { (i + queries, j + queries) } else { (keys + i, j + queries) };
        if self.causal && key > position {
            return Some(HidingRule::Future);
        }
        if j >= self.keep_first && self.window.is_some_and(|window| key.abs_diff(position) >= window) {
            return Some(HidingRule::OutsideWindow);
        }
        if self.hides_own && key == position {
            return Some(HidingRule::Own);
        }
        let allowed = match (self.matrix, cell) {
            (Some(MatrixRule::Allow), Some(cell)) => cell != 0.0,
            (Some(MatrixRule::Block), Some(cell)) => cell == 0.0,
            (Some(MatrixRule::Add), Some(cell)) => cell != f64::NEG_INFINITY,
            _ => true,
        };
        (!allowed).then_some(HidingRule::ByMatrix)
    }

    /// Returns true if each query sees keys next to each other: only the order of the tokens and the window hide some.
    pub(crate) fn is_range(&self) -> bool {
        self.matrix.is_none() && !self.inverted && !self.hides_own && self.keep_first == 0
    }

    /// The keys that query `i` sees, of a mask that [is a range](Mask::is_range).
    pub(crate) fn range_of(&self, i: usize, size: Shape) -> Range<usize> {
        let Shape { rows: queries, cols: keys } = size;
        // The position of the query plus `queries`, as above.
        let position = if self.from_start { i + queries } else { keys + i };
        let window = self.window.unwrap_or(usize::MAX);
        let start = (position + 1).saturating_sub(window.saturating_add(queries)).min(keys);
        let ahead = if self.causal { window.min(1) } else { window };
        let end = position.saturating_add(ahead).saturating_sub(queries).min(keys);
        start..end.max(start)
    }

    /// The pattern as a matrix of the given shape: 1 where query i may attend to key j, 0 elsewhere. `matrix` is the mask
    /// matrix, of that shape, where there is a rule for it.
    pub fn pattern(&self, queries: usize, keys: usize, matrix: Option<&Matrix>) -> Matrix {
        Matrix::from_fn(queries, keys, |i, j| {
            let cell = matrix.map(|matrix| matrix[(i, j)]);
            f64::from(u8::from(self.is_visible((i, j), (queries, keys), cell)))
        })
    }
}

/// The error of a matrix for all scores (`what` it is) that has another shape than they.
pub(crate) fn does_not_fit(what: &str, shape: Shape, scores: Shape) -> Error {
    Error::new(format!("a {shape} {what} does not fit {scores} scores"))
        .help(format!("make the {what} {scores}: a row for each query, and a column for each key"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(mask: Mask, queries: usize, keys: usize) -> Vec<String> {
        let matrix = mask.pattern(queries, keys, None);
        (0..queries).map(|i| matrix.row(i).map(|x| if x == 1.0 { '1' } else { '0' }).collect()).collect()
    }

    #[test]
    fn a_causal_mask_over_as_many_keys_as_queries_is_lower_triangular() {
        let causal = Mask { causal: true, ..Mask::default() };
        assert_eq!(pattern(causal, 3, 3), ["100", "110", "111"]);
    }

    #[test]
    fn fewer_queries_than_keys_are_the_last_ones_unless_aligned_to_the_start() {
        let causal = Mask { causal: true, ..Mask::default() };
        assert_eq!(pattern(causal, 2, 4), ["1110", "1111"]);
        assert_eq!(pattern(Mask { from_start: true, ..causal }, 2, 4), ["1000", "1100"]);
    }

    #[test]
    fn more_queries_than_keys_leave_the_first_queries_with_nothing() {
        let causal = Mask { causal: true, ..Mask::default() };
        assert_eq!(pattern(causal, 4, 2), ["00", "00", "10", "11"]);
    }

    #[test]
    fn the_keys_that_a_query_sees_are_those_of_the_rules() {
        let masks =
            [None, Some(0), Some(1), Some(3), Some(50)].into_iter().flat_map(|window| {
                [(false, false), (false, true), (true, false), (true, true)]
                    .map(|(causal, from_start)| Mask { causal, window, from_start, ..Mask::default() })
            });
        for mask in masks {
            for (queries, keys) in [(1, 1), (5, 5), (2, 6), (6, 2), (1, 7), (4, 0)] {
                for i in 0..queries {
                    let seen: Vec<usize> =
                        (0..keys).filter(|j| mask.is_visible((i, *j), (queries, keys), None)).collect();
                    let range = mask.range_of(i, Shape { rows: queries, cols: keys });
                    assert_eq!(
                        range.collect::<Vec<_>>(),
                        seen,
                        "{mask:?}, {queries} queries, {keys} keys, {i}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_window_of_two_sees_itself_and_its_neighbours() {
        let window = Mask { window: Some(2), ..Mask::default() };
        assert_eq!(pattern(window, 4, 4), ["1100", "1110", "0111", "0011"]);
        assert_eq!(pattern(Mask { causal: true, ..window }, 4, 4), ["1000", "1100", "0110", "0011"]);
    }

    #[test]
    fn kept_keys_stay_visible_outside_the_window_and_hidden_in_the_future() {
        let kept = Mask { causal: true, window: Some(2), keep_first: 1, ..Mask::default() };
        assert_eq!(pattern(kept, 4, 4), ["1000", "1100", "1110", "1011"]);
        assert_eq!(pattern(kept, 2, 4), ["1110", "1011"]);
        let all = Mask { keep_first: 9, ..kept };
        assert_eq!(pattern(all, 3, 3), pattern(Mask { causal: true, ..Mask::default() }, 3, 3));
    }

    #[test]
    fn a_token_that_may_not_see_itself_sees_the_others() {
        let strict = Mask { causal: true, hides_own: true, ..Mask::default() };
        assert_eq!(pattern(strict, 3, 3), ["000", "100", "110"]);
        assert_eq!(pattern(strict, 2, 4), ["1100", "1110"]);
        assert_eq!(pattern(Mask { causal: false, ..strict }, 3, 3), ["011", "101", "110"]);
    }

    #[test]
    fn turned_round_the_causal_mask_shows_the_future_alone() {
        let inverted = Mask { causal: true, inverted: true, ..Mask::default() };
        assert_eq!(pattern(inverted, 3, 3), ["011", "001", "000"]);
        assert_eq!(pattern(Mask { hides_own: true, ..inverted }, 3, 3), ["111", "011", "001"]);
    }
}
