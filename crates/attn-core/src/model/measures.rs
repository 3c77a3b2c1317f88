//! What a head attends to, measured on its pattern.
//!
//! A measure is the mean of a weight: for the token before, the mean of A[i, i − 1]. It is the score that TransformerLens and the
//! papers have, and heads are ranked and named by it. The first token gets much of the weights in most heads, because the weights of
//! a row have to sum to 1 and a head without anything to look for leaves them there; so a second number stands beside each mean: the
//! share of what the other keys get.

use crate::elementary::ln;
use crate::tensor::Tensor;

/// A place that a head may attend to.
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

    /// Its place among all of them.
    fn place(self) -> usize {
        self as usize
    }

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

    /// The key that it attends to, as a rule: query i, key j, both from 1.
    pub fn rule(self) -> &'static str {
        match self {
            Look::Previous => "the weight of key i − 1",
            Look::First => "the weight of key 1",
            Look::Itself => "the weight of key i",
            Look::Same => "the weight of earlier keys j with the token of i",
            Look::Induction => "the weight of keys j whose token before, j − 1, is the token of i",
        }
    }

    /// Returns true if a query attends there when it attends to this key; both from 0.
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

/// A part of the weights, between 0 and 1; none where no query of the text could attend there.
pub type Share = Option<f64>;

/// What a head attends to.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadMeasures {
    /// The mean weight of each place, in the order of [`Look::ALL`]: over all queries but the first, which has no choice, that have
    /// such a key.
    pub means: [Share; 5],
    /// The share of each place in the weights of the other keys, without that of the first key; none for the first key itself.
    pub shares: [Share; 5],
    /// The number of queries that each mean rests on.
    pub queries: [usize; 5],
    /// The mean entropy of the rows, in bits: 0 where each query attends to one key.
    pub entropy: f64,
    /// The key with the largest weight in the last row, counted from 0, and this weight.
    pub last: (usize, f64),
}

/// A mean weight from which on a head is named after its place.
pub const NAMED_FROM: f64 = 0.4;
/// The fewest queries that a mean rests on, for a head to be named after it: one query is no habit.
pub const NAMED_BY: usize = 2;

/// The sums over the queries that can attend to one place.
#[derive(Clone, Copy, Default)]
struct Sums {
    queries: usize,
    /// The weights of the place, with and without the first key.
    there: [f64; 2],
    /// All weights but that of the first key.
    others: f64,
}

impl HeadMeasures {
    /// The measures of a pattern over a text: rows are queries, the last ones of the text, columns are keys.
    pub fn of(pattern: &Tensor, ids: &[usize]) -> HeadMeasures {
        let shape = pattern.shape();
        let past = shape.cols.saturating_sub(shape.rows);
        let mut sums = [Sums::default(); 5];
        let mut entropy = 0.0;
        for i in 0..shape.rows {
            let row: Vec<f64> = (0..shape.cols).map(|j| pattern.at(i, j)).collect();
            entropy += row.iter().filter(|&&x| x > 0.0).fold(0.0, |sum, x| sum - x * ln(*x)) / ln(2.0);
            for (look, sums) in Look::ALL.into_iter().zip(&mut sums) {
                sums.add(look, ids, past + i, &row);
            }
        }
        let row = shape.rows.saturating_sub(1);
        let last = (0..if shape.rows == 0 { 0 } else { shape.cols }).map(|key| (key, pattern.at(row, key)));
        let last = last.fold((0, 0.0), |best, one| if one.1 > best.1 { one } else { best });
        HeadMeasures {
            means: sums.map(|sums| (sums.queries > 0).then(|| sums.there[0] / sums.queries as f64)),
            shares: sums.map(|sums| (sums.others > 0.0).then(|| sums.there[1] / sums.others)),
            queries: sums.map(|sums| sums.queries),
            entropy: entropy / (shape.rows.max(1) as f64),
            last,
        }
    }

    /// The mean weight of one place.
    pub fn mean(&self, look: Look) -> Share {
        self.means[look.place()]
    }

    /// The share of one place without the first key.
    pub fn share(&self, look: Look) -> Share {
        self.shares[look.place()]
    }

    /// The number of queries that the mean of a place rests on.
    pub fn queries(&self, look: Look) -> usize {
        self.queries[look.place()]
    }

    /// What the head is named after: the place with the largest mean weight, if that is large enough. A mean that rests on fewer than
    /// [`NAMED_BY`] queries names no head.
    pub fn name(&self) -> Option<(Look, f64)> {
        let named = Look::ALL.into_iter().filter(|look| self.queries(*look) >= NAMED_BY);
        let means = named.filter_map(|look| Some((look, self.mean(look)?)));
        let best = means.fold(None, |best: Option<(Look, f64)>, one| match best {
            Some(best) if best.1 >= one.1 => Some(best),
            _ => Some(one),
        });
        best.filter(|(_, mean)| *mean >= NAMED_FROM)
    }
}

impl Sums {
    /// Adds the weights of one row, where its query can attend to this place.
    fn add(&mut self, look: Look, ids: &[usize], query: usize, row: &[f64]) {
        // The first query has no choice.
        let keys = 0..row.len().min(query + 1);
        let is_there = |key: &usize| look.is(ids, query, *key);
        if query == 0 || !keys.clone().any(|key| is_there(&key)) {
            return;
        }
        self.queries += 1;
        self.there[0] += keys.clone().filter(is_there).fold(0.0, |sum, key| sum + row[key]);
        if look != Look::First && keys.clone().skip(1).any(|key| is_there(&key)) {
            self.there[1] += keys.clone().skip(1).filter(is_there).fold(0.0, |sum, key| sum + row[key]);
            self.others += keys.skip(1).fold(0.0, |sum, key| sum + row[key]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    /// The measures of a pattern of these rows.
    fn measures(size: usize, ids: &[usize], cell: impl Fn(usize, usize) -> f64) -> HeadMeasures {
        HeadMeasures::of(&Matrix::from_fn(size, size, cell).into(), ids)
    }

    #[test]
    fn a_pattern_on_the_diagonal_below_is_a_previous_token_head() {
        let on = |i: usize, j: usize| f64::from(u8::from(j + 1 == i || (i, j) == (0, 0)));
        let measures = measures(4, &[5, 6, 7, 8], on);
        assert_eq!((measures.mean(Look::Previous), measures.share(Look::Previous)), (Some(1.0), Some(1.0)));
        assert_eq!((measures.mean(Look::Itself), measures.entropy), (Some(0.0), 0.0));
        assert_eq!(measures.mean(Look::Induction), None, "no token is repeated");
        // Of queries 2 to 4, one attends to the first token.
        assert_eq!((measures.mean(Look::First), measures.share(Look::First)), (Some(1.0 / 3.0), None));
        assert_eq!(measures.name(), Some((Look::Previous, 1.0)));
    }

    #[test]
    fn induction_attends_to_what_followed_the_same_token() {
        // a b c a b: the second a attends to the first b, the second b to c.
        let on = |i, j| f64::from(u8::from(matches!((i, j), (3, 1) | (4, 2))));
        let measures = measures(5, &[1, 2, 3, 1, 2], on);
        assert_eq!(measures.mean(Look::Induction), Some(1.0));
        assert_eq!(measures.mean(Look::Same), Some(0.0));
        assert_eq!(measures.name(), Some((Look::Induction, 1.0)));
    }

    #[test]
    fn one_query_names_no_head() {
        // a b c a: the second a attends to b, and is the only query whose token came before.
        let measures = measures(4, &[1, 2, 3, 1], |i, j| f64::from(u8::from((i, j) == (3, 1))));
        assert_eq!((measures.mean(Look::Induction), measures.queries(Look::Induction)), (Some(1.0), 1));
        assert_eq!((measures.queries(Look::Previous), measures.queries(Look::Same)), (3, 1));
        assert_eq!(measures.name(), None);
    }

    #[test]
    fn the_name_is_that_of_the_largest_mean_weight_and_the_share_leaves_out_the_first_key() {
        let rest = |first: f64| {
            move |i: usize, j: usize| if j == 0 { first } else { f64::from(u8::from(j == i)) * (1.0 - first) }
        };
        let sink = measures(8, &[1, 2, 3, 4, 5, 6, 7, 8], rest(0.75));
        assert_eq!((sink.mean(Look::Itself), sink.share(Look::Itself)), (Some(0.25), Some(1.0)));
        assert_eq!(sink.name(), Some((Look::First, 0.75)));
        let own = measures(8, &[1, 2, 3, 4, 5, 6, 7, 8], rest(0.25));
        assert_eq!(own.name(), Some((Look::Itself, 0.75)));
        let even = measures(8, &[1, 2, 3, 4, 5, 6, 7, 8], |_, _| 0.125);
        assert_eq!((even.entropy, even.name()), (3.0, None));
    }
}
