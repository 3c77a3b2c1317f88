//! What a head looks at, measured on its pattern.
//!
//! Each measure is a share of the weights. The first token gets much of them in most heads, because the weights of a row have to sum
//! to 1 and a head without anything to look for leaves them there; so the other measures are shares of what is left without the
//! first token.

use crate::elementary::ln;
use crate::tensor::Tensor;

/// A place that a head may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Look {
    /// The token before.
    Previous,
    /// The first token.
    First,
    /// The token itself.
    Itself,
    /// An earlier token that is the same.
    Same,
    /// The token that followed the same token the last times: what comes next if the text repeats itself.
    Induction,
}

impl Look {
    /// All of them.
    pub const ALL: [Look; 5] = [Look::Previous, Look::First, Look::Itself, Look::Same, Look::Induction];

    /// Its name on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Look::Previous => "previous token",
            Look::First => "first token",
            Look::Itself => "itself",
            Look::Same => "same token",
            Look::Induction => "induction",
        }
    }

    /// The key that it looks at, as a rule: query i, key j, both from 1.
    pub fn rule(self) -> &'static str {
        match self {
            Look::Previous => "the weight of key i − 1",
            Look::First => "the weight of key 1",
            Look::Itself => "the weight of key i",
            Look::Same => "the weight of earlier keys j with the token of i",
            Look::Induction => "the weight of keys j whose token before, j − 1, is the token of i",
        }
    }

    /// Returns true if a query looks there when it looks at this key; both from 0.
    #[inline]
    pub(crate) fn is(self, ids: &[usize], query: usize, key: usize) -> bool {
        match self {
            Look::Previous => key + 1 == query,
            Look::First => key == 0,
            Look::Itself => key == query,
            Look::Same => key < query && ids[key] == ids[query],
            Look::Induction => key > 0 && key <= query && ids[key - 1] == ids[query] && key - 1 < query,
        }
    }
}

/// A share of the weights, between 0 and 1; none where no query of the text could look there.
pub type Share = Option<f64>;

/// What a head looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadMeasures {
    /// The shares, in the order of [`Look::ALL`]. All but that of the first token leave the first token out.
    pub shares: [Share; 5],
    /// The number of queries that each share rests on: those that could look there, without the first query.
    pub queries: [usize; 5],
    /// The mean entropy of the rows, in bits: 0 where each query looks at one key.
    pub entropy: f64,
    /// The key with the largest weight in the last row, counted from 0, and this weight.
    pub last: (usize, f64),
}

/// A share of the weights from which on a head is named after it.
pub const NAMED_FROM: f64 = 0.4;
/// The fewest queries that a share rests on, for a head to be named after it: one query is no habit.
pub const NAMED_BY: usize = 2;
/// A share of the first token from which on nothing else is said of a head.
pub const FIRST_FROM: f64 = 0.9;

impl HeadMeasures {
    /// The measures of a pattern over a text: rows are queries, the last ones of the text, columns are keys.
    pub fn of(pattern: &Tensor, ids: &[usize]) -> HeadMeasures {
        let shape = pattern.shape();
        let past = shape.cols.saturating_sub(shape.rows);
        let mut sums = [(0.0, 0.0); 5];
        let mut queries = [0; 5];
        let mut entropy = 0.0;
        for i in 0..shape.rows {
            let row: Vec<f64> = (0..shape.cols).map(|j| pattern.at(i, j)).collect();
            entropy += row.iter().filter(|&&x| x > 0.0).fold(0.0, |sum, x| sum - x * ln(*x)) / ln(2.0);
            for ((look, (there, whole)), count) in Look::ALL.into_iter().zip(&mut sums).zip(&mut queries) {
                *count += usize::from(look.add(ids, (past + i, &row), there, whole));
            }
        }
        let share = |(there, whole): (f64, f64)| (whole > 0.0).then(|| there / whole);
        let row = shape.rows.saturating_sub(1);
        let last = (0..if shape.rows == 0 { 0 } else { shape.cols }).map(|key| (key, pattern.at(row, key)));
        let last = last.fold((0, 0.0), |best, one| if one.1 > best.1 { one } else { best });
        HeadMeasures { shares: sums.map(share), queries, entropy: entropy / (shape.rows.max(1) as f64), last }
    }

    /// The share of one place.
    pub fn share(&self, look: Look) -> Share {
        Look::ALL.iter().position(|other| *other == look).and_then(|at| self.shares[at])
    }

    /// The number of queries that the share of a place rests on.
    pub fn queries(&self, look: Look) -> usize {
        Look::ALL.iter().position(|other| *other == look).map_or(0, |at| self.queries[at])
    }

    /// What the head is named after: the first token, if it has nearly all weights; else the place with the largest share of the
    /// rest, if that is large enough; else the first token, if it has at least half; else nothing. A share that rests on fewer than [`NAMED_BY`] queries names no head.
    pub fn name(&self) -> Option<(Look, f64)> {
        let share = |look: Look| self.share(look).filter(|_| self.queries(look) >= NAMED_BY);
        let first = share(Look::First).unwrap_or(0.0);
        if first >= FIRST_FROM {
            return Some((Look::First, first));
        }
        let others = Look::ALL.into_iter().filter(|look| *look != Look::First);
        let shares = others.filter_map(|look| Some((look, share(look)?)));
        let best = shares.fold(None, |best: Option<(Look, f64)>, (look, share)| match best {
            Some((_, most)) if most >= share => best,
            _ => Some((look, share)),
        });
        match best {
            Some((look, share)) if share >= NAMED_FROM => Some((look, share)),
            _ if first >= 0.5 => Some((Look::First, first)),
            _ => None,
        }
    }
}

impl Look {
    /// Adds the weights of one row: those that lie there, and all that are counted. Returns false if this query cannot look there.
    fn add(self, ids: &[usize], (query, row): (usize, &[f64]), there: &mut f64, whole: &mut f64) -> bool {
        // The first query has no choice.
        if query == 0 {
            return false;
        }
        let first_counts = self == Look::First;
        let keys = || (if first_counts { 0 } else { 1 })..row.len().min(query + 1);
        if !keys().any(|key| self.is(ids, query, key)) {
            return false;
        }
        *there += keys().filter(|&key| self.is(ids, query, key)).fold(0.0, |sum, key| sum + row[key]);
        *whole += keys().fold(0.0, |sum, key| sum + row[key]);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    #[test]
    fn a_pattern_on_the_diagonal_below_is_a_previous_token_head() {
        let pattern = Matrix::from_fn(4, 4, |i, j| if j + 1 == i || (i, j) == (0, 0) { 1.0 } else { 0.0 });
        let measures = HeadMeasures::of(&pattern.into(), &[5, 6, 7, 8]);
        assert_eq!(measures.share(Look::Previous), Some(1.0));
        assert_eq!((measures.share(Look::Itself), measures.entropy), (Some(0.0), 0.0));
        assert_eq!(measures.share(Look::Induction), None, "no token is repeated");
        // Of queries 2 to 4, one looks at the first token.
        assert_eq!(measures.share(Look::First), Some(1.0 / 3.0));
        assert_eq!(measures.name(), Some((Look::Previous, 1.0)));
    }

    #[test]
    fn induction_looks_at_what_followed_the_same_token() {
        // a b c a b: the second a looks at the first b, the second b at c.
        let pattern = Matrix::from_fn(5, 5, |i, j| f64::from(u8::from(matches!((i, j), (3, 1) | (4, 2)))));
        let measures = HeadMeasures::of(&pattern.into(), &[1, 2, 3, 1, 2]);
        assert_eq!(measures.share(Look::Induction), Some(1.0));
        // The only earlier token that is the same and not the first is b, and it is not looked at.
        assert_eq!(measures.share(Look::Same), Some(0.0));
        assert_eq!(measures.name(), Some((Look::Induction, 1.0)));
    }

    #[test]
    fn one_query_names_no_head() {
        // a b c a: the second a looks at b, and is the only query whose token came before.
        let pattern = Matrix::from_fn(4, 4, |i, j| f64::from(u8::from((i, j) == (3, 1))));
        let measures = HeadMeasures::of(&pattern.into(), &[1, 2, 3, 1]);
        assert_eq!((measures.share(Look::Induction), measures.queries(Look::Induction)), (Some(1.0), 1));
        assert_eq!((measures.queries(Look::Previous), measures.queries(Look::Same)), (2, 0));
        assert_eq!(measures.name(), None);
    }

    #[test]
    fn a_head_that_leaves_nearly_all_weights_at_the_first_token_is_named_after_it() {
        let rest = |i: usize, j: usize| {
            if j == 0 {
                0.95
            } else if j == i {
                0.05
            } else {
                0.0
            }
        };
        let measures = HeadMeasures::of(&Matrix::from_fn(3, 3, rest).into(), &[1, 2, 3]);
        assert_eq!(measures.name().map(|(look, _)| look), Some(Look::First));
        assert_eq!(measures.share(Look::Itself), Some(1.0));
        let even = HeadMeasures::of(&Matrix::from_fn(8, 8, |_, _| 0.125).into(), &[1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!((even.entropy, even.name()), (3.0, None));
    }
}
