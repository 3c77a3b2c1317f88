//! Plans for batches, made when the first batch of a shape comes, and what they find.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::error::Result;
use crate::graph::NodeId;
use crate::kernel::SimdLevel;
use crate::model::Look;

use super::example::{Batch, Example, ExampleGraph, ExampleModel};
use super::number::Number;
use super::plan::{Leaves, Plan};
use super::size::WeightsInMemory;

/// A head, by its layer and its number from 0, that looks at this pattern, or at all that a query sees.
pub(super) type HeldHead = ((usize, usize), Option<Pattern>);

/// The scores of each head, layer by layer: one for each pattern; none where no query could look there.
pub(super) type HeadScores = Vec<Vec<Vec<Option<f64>>>>;

/// A plan for batches of one shape.
#[derive(Debug)]
pub(super) struct Compiled<T> {
    pub(super) plan: Plan<T>,
    pub(super) loss: NodeId,
    logits: NodeId,
    pub(super) gradients: Vec<NodeId>,
    heads: Vec<Vec<NodeId>>,
}

/// The plans that have been made.
#[derive(Debug)]
pub(super) struct Plans<T> {
    /// The registers that they compute in.
    pub(super) simd: SimdLevel,
    /// By the number of tokens and of examples.
    pub(super) made: BTreeMap<(usize, usize), Compiled<T>>,
}

impl<T: Number> Plans<T> {
    /// None yet.
    pub(super) fn new(simd: SimdLevel) -> Plans<T> {
        Plans { simd, made: BTreeMap::new() }
    }

    /// The computation of a batch, forward and back, with these weights.
    ///
    /// # Errors
    /// If the batch does not fit the model, or there is no room for its numbers.
    pub(super) fn run(
        &mut self,
        model: &ExampleModel,
        weights: &[Vec<T>],
        batch: &Batch,
    ) -> Result<&Compiled<T>> {
        let compiled = self.with_weights(model, weights, batch)?;
        compiled.plan.run(batch)?;
        Ok(compiled)
    }

    /// The plan for a batch, with these weights, before it runs.
    ///
    /// # Errors
    /// If the batch does not fit the model, or there is no room for its numbers.
    pub(super) fn with_weights(
        &mut self,
        model: &ExampleModel,
        weights: &[Vec<T>],
        batch: &Batch,
    ) -> Result<&mut Compiled<T>> {
        let compiled = match self.made.entry((batch.length, batch.examples())) {
            Entry::Occupied(made) => made.into_mut(),
            Entry::Vacant(place) => place.insert(Compiled::new(model, weights, batch, self.simd)?),
        };
        for (at, numbers) in weights.iter().enumerate() {
            compiled.plan.weight_mut(at)?.copy_from_slice(numbers);
        }
        Ok(compiled)
    }
}

impl<T: Number> Compiled<T> {
    /// The plan of the graph of any example of this length.
    fn new(model: &ExampleModel, weights: &[Vec<T>], batch: &Batch, simd: SimdLevel) -> Result<Compiled<T>> {
        let example = Example { tokens: vec![0; batch.length], targets: vec![Some(0); batch.length] };
        let weights = WeightsInMemory::new(model.size(), weights)?;
        let ExampleGraph { graph, logits, loss, weights: gradients, of_sum, heads } =
            model.graph(weights, &example, batch.length)?;
        let leaves =
            Leaves { tokens: &example.tokens, one_hot: loss.one_hot, by_counted: [loss.loss, of_sum] };
        let kept = [&[logits], &heads.concat()[..]].concat();
        let summed = [&gradients[..], &[loss.loss]].concat();
        let plan = Plan::compile(&graph, leaves, batch.examples(), (&kept, &summed), simd)?;
        Ok(Compiled { plan, loss: loss.loss, logits, gradients, heads })
    }

    /// Computes a batch, up to its loss, where a head, by its layer and its number from 0, looks at a pattern in place of its own
    /// weights, or at all that a query sees.
    pub(super) fn run_with(
        &mut self,
        batch: &Batch,
        ((layer, head), pattern): HeldHead,
        causal: bool,
    ) -> Result<()> {
        let examples = batch.tokens.chunks(batch.length).zip(batch.targets.chunks(batch.length));
        let weights = |(tokens, targets)| weights_instead(pattern, tokens, targets, causal);
        let held: Vec<T> = examples.flat_map(weights).collect();
        self.plan.run_holding(batch, (self.heads[layer][head], &held), self.loss)
    }

    /// The logits of all tokens.
    pub(super) fn logits(&self) -> Result<&[T]> {
        self.plan.numbers(self.logits)
    }

    /// The mean loss of the batch.
    pub(super) fn loss(&self) -> Result<f64> {
        Ok(self.plan.numbers(self.loss)?.iter().fold(0.0, |sum, x| sum + x.to_f64()))
    }

    /// The share of targets that have the largest logit of their row; of equal ones the first counts.
    pub(super) fn accuracy(&self, batch: &Batch) -> Result<f64> {
        let logits = self.logits()?;
        let cols = logits.len() / batch.tokens.len().max(1);
        let (mut right, mut counted) = (0, 0);
        for (row, target) in logits.chunks_exact(cols.max(1)).zip(&batch.targets) {
            let Some(target) = *target else { continue };
            counted += 1;
            right += usize::from(largest(row) == target);
        }
        Ok(right as f64 / f64::from(counted.max(1)))
    }

    /// The scores of the heads over all examples of the batch.
    pub(super) fn scores(&self, batch: &Batch, patterns: &[Pattern], causal: bool) -> Result<HeadScores> {
        let of_head = |id: &NodeId| -> Result<Vec<Option<f64>>> {
            let weights = self.plan.numbers(*id)?;
            Ok(patterns.iter().map(|pattern| mean_score(*pattern, weights, batch, causal)).collect())
        };
        self.heads.iter().map(|layer| layer.iter().map(of_head).collect()).collect()
    }
}

/// The place of the largest number, of equals the first.
pub(super) fn largest<N: PartialOrd>(row: &[N]) -> usize {
    (0..row.len()).fold(0, |best, at| if row[at] > row[best] { at } else { best })
}

fn mean_score<T: Number>(pattern: Pattern, weights: &[T], batch: &Batch, causal: bool) -> Option<f64> {
    let (length, square) = (batch.length, batch.length * batch.length);
    let (mut sum, mut queries) = (0.0, 0);
    for (example, weights) in weights.chunks_exact(square.max(1)).enumerate() {
        let range = example * length..(example + 1) * length;
        let (tokens, targets) = (&batch.tokens[range.clone()], &batch.targets[range]);
        if let Some((more, count)) = pattern.score(weights, tokens, targets, causal) {
            sum += more;
            queries += count;
        }
    }
    (queries > 0).then(|| sum / queries as f64)
}

// What the heads of a model look at while it learns.

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

    /// The keys of this place among the first `visible` ones.
    fn keys(
        self,
        tokens: &[usize],
        target: Option<usize>,
        query: usize,
        visible: usize,
    ) -> impl Iterator<Item = usize> {
        (0..visible).filter(move |key| match self {
            Pattern::Look(look) => look.is(tokens, query, *key),
            Pattern::Mirror => key + query + 1 == tokens.len(),
            Pattern::Answer => target == Some(tokens[*key]),
        })
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
            let keys = self.keys(tokens, targets[query], query, visible);
            let (found, there) = keys.fold((false, 0.0), |(_, there), key| (true, there + row[key].to_f64()));
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
        let of_pattern = pattern.map(|pattern| pattern.keys(tokens, targets[query], query, visible));
        let mut keys: Vec<usize> = of_pattern.into_iter().flatten().collect();
        if keys.is_empty() {
            keys = (0..visible).collect();
        }
        let mut weights = vec![T::ZERO; tokens.len()];
        for key in &keys {
            weights[*key] = T::from_f64(1.0 / keys.len() as f64);
        }
        weights
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
