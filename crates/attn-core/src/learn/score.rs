//! What the heads of a model look at while it learns.

use super::number::Number;
use crate::model::Look;

/// A place that a head may look at, of which a task says whether it helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// A place that has a name in every text.
    Look(Look),
    /// The place that mirrors its own.
    Mirror,
    /// The tokens that are the answer.
    Answer,
}

impl Pattern {
    /// Its name on the screen and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::Look(look) => look.name(),
            Pattern::Mirror => "mirror",
            Pattern::Answer => "answer",
        }
    }

    /// What its score is: query i, key j, both from 1, of T tokens.
    pub fn rule(self) -> &'static str {
        match self {
            Pattern::Look(look) => look.rule(),
            Pattern::Mirror => "the weight of key T + 1 − i of T tokens",
            Pattern::Answer => "the weight of keys whose token is what i has to predict",
        }
    }

    #[inline]
    fn is(self, tokens: &[usize], target: Option<usize>, query: usize, key: usize) -> bool {
        match self {
            Pattern::Look(look) => look.is(tokens, query, key),
            Pattern::Mirror => key + query + 1 == tokens.len(),
            Pattern::Answer => target == Some(tokens[key]),
        }
    }

    /// The mean weight that queries give to this place, over those that could look there: for a place that only what is asked for
    /// has, those with a target. None where no query could.
    ///
    /// `weights` is T × T, row by row.
    pub fn score<T: Number>(
        self,
        weights: &[T],
        tokens: &[usize],
        targets: &[Option<usize>],
        causal: bool,
    ) -> Option<(f64, usize)> {
        let (mut sum, mut queries) = (0.0, 0);
        for (query, row) in weights.chunks_exact(tokens.len().max(1)).enumerate() {
            let is_asked = targets[query].is_some() || matches!(self, Pattern::Look(Look::Previous));
            let visible = if causal { query + 1 } else { row.len() };
            if !is_asked {
                continue;
            }
            let (mut found, mut there) = (false, 0.0);
            for (key, weight) in row[..visible].iter().enumerate() {
                if self.is(tokens, targets[query], query, key) {
                    (found, there) = (true, there + weight.to_f64());
                }
            }
            queries += usize::from(found);
            sum += there;
        }
        (queries > 0).then_some((sum, queries))
    }
}

/// Weights for an example in place of those of a head, T × T, row by row: alike over the keys of a pattern, or over all that the
/// query sees where there is no pattern, or none of its keys.
pub(super) fn weights_instead<T: Number>(
    pattern: Option<Pattern>,
    tokens: &[usize],
    targets: &[Option<usize>],
    causal: bool,
) -> Vec<T> {
    let row = |query: usize| {
        let visible = if causal { query + 1 } else { tokens.len() };
        let is_there = |key: usize| {
            key < visible && pattern.is_none_or(|pattern| pattern.is(tokens, targets[query], query, key))
        };
        let there: Vec<bool> = match (0..tokens.len()).map(is_there).collect::<Vec<bool>>() {
            some if some.contains(&true) => some,
            _ => (0..tokens.len()).map(|key| key < visible).collect(),
        };
        let share = 1.0 / there.iter().filter(|there| **there).count() as f64;
        there.into_iter().map(move |there| if there { T::from_f64(share) } else { T::ZERO })
    };
    (0..tokens.len()).flat_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_that_looks_at_the_mirrored_place_scores_1() {
        let weights = [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0];
        let targets = [Some(7), Some(6), Some(5)];
        assert_eq!(Pattern::Mirror.score(&weights, &[5, 6, 7], &targets, false), Some((3.0, 3)));
        assert_eq!(Pattern::Answer.score(&weights, &[5, 6, 7], &targets, false), Some((3.0, 3)));
    }

    #[test]
    fn weights_instead_lie_at_the_pattern_or_alike_where_it_has_no_key() {
        let rows = |pattern: Option<Pattern>, causal: bool| -> Vec<f64> {
            weights_instead(pattern, &[0, 1, 0], &[None, None, Some(1)], causal)
        };
        let third = 1.0 / 3.0;
        assert_eq!(rows(None, true), [1.0, 0.0, 0.0, 0.5, 0.5, 0.0, third, third, third]);
        let previous = Pattern::Look(Look::Previous);
        assert_eq!(rows(Some(previous), true), [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        let induction = Pattern::Look(Look::Induction);
        assert_eq!(rows(Some(induction), true)[6..], [0.0, 1.0, 0.0]);
        assert_eq!(rows(Some(Pattern::Mirror), false), [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn induction_counts_the_queries_with_a_target() {
        // a b a b: the second a looks at the first b, the second b at itself.
        let mut weights = [0.0_f32; 16];
        (weights[2 * 4 + 1], weights[15]) = (0.75, 1.0);
        let targets = [None, None, Some(1), Some(0)];
        let induction = Pattern::Look(Look::Induction);
        assert_eq!(induction.score(&weights, &[0, 1, 0, 1], &targets, true), Some((0.75, 2)));
    }
}
