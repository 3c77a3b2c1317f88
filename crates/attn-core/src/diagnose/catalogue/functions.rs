//! Other functions in place of the softmax, and things done to weights.

use super::{Likelihood, Mistake, Way, altered, general, if_possible};
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{Alter, Divisor, Hiding, Normalise, Recipe, ScoreFunction, Site};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "sigmoid-weights",
        likelihood: Likelihood::Common,
        slip: "A sigmoid was used instead of the softmax.",
        why: "A sigmoid judges each score on its own; the softmax makes the keys compete for one whole attention.",
        fix: "Take the softmax of each row of the scores.",
        symptom: "The weights lie between 0 and 1, and their rows do not sum to 1.",
        demo: Some("weights"),
        ways: |recipe, _| instead(recipe, ScoreFunction::Sigmoid, &PLAIN_OR_SUM),
    },
    Mistake {
        id: "relu-weights",
        likelihood: Likelihood::Common,
        slip: "A ReLU was used instead of the softmax.",
        why: "A ReLU gives negative scores no weight at all, and does not make the weights sum to 1.",
        fix: "Take the softmax of each row of the scores.",
        symptom: "Weights are exactly 0 where scores are negative.",
        demo: Some("weights"),
        ways: |recipe, _| instead(recipe, ScoreFunction::Relu, &PLAIN_OR_SUM),
    },
    Mistake {
        id: "tanh-weights",
        likelihood: Likelihood::Rare,
        slip: "A tanh was used instead of the softmax.",
        why: "tanh has both signs and does not make the weights sum to 1.",
        fix: "Take the softmax of each row of the scores.",
        symptom: "Weights lie between −1 and 1.",
        demo: Some("weights"),
        ways: |recipe, _| instead(recipe, ScoreFunction::Tanh, &PLAIN_OR_SUM),
    },
    Mistake {
        id: "squares-normalised",
        likelihood: Likelihood::Rare,
        slip: "The squares of the scores were used instead of their exponentials.",
        why: "A square is large for negative scores too; exp keeps their order.",
        fix: "Take exp of the scores first, then divide each row by its sum.",
        symptom: "Strongly negative scores have large weights.",
        demo: Some("weights"),
        ways: |recipe, _| instead(recipe, ScoreFunction::Squared, &PLAIN_OR_SUM),
    },
    Mistake {
        id: "absolute-normalised",
        likelihood: Likelihood::Common,
        slip: "The scores, or their absolute values, took the place of the exponentials.",
        why: "Without exp, negative scores become negative weights, or as large as positive ones.",
        fix: "Take exp of the scores first, then divide each row by its sum.",
        symptom: "The absolute values of each row of the weights sum to 1.",
        demo: Some("weights"),
        ways: |recipe, _| {
            let sizes =
                [(Divisor::Sum, "absolute values"), (Divisor::Nothing, "absolute values, not divided")];
            let ways = instead(recipe, ScoreFunction::Absolute, &sizes);
            let signed = instead(recipe, ScoreFunction::Identity, &[(Divisor::SizeSum, "with their signs")]);
            ways.into_iter().chain(signed).collect()
        },
    },
    Mistake {
        id: "l2-normalised",
        likelihood: Likelihood::Common,
        slip: "Each row was divided by its Euclidean length instead of its sum.",
        why: "The weights of a query have to sum to 1; here their squares do.",
        fix: "Divide the exponentials of each row by their sum.",
        symptom: "The squares of each row of the weights sum to 1.",
        demo: Some("weights"),
        ways: |recipe, _| {
            let mut ways =
                instead(recipe, ScoreFunction::Identity, &[(Divisor::Length, "the scores themselves")]);
            let powers = Normalise { divisor: Divisor::Length, ..Normalise::default() };
            ways.push(Way::detailed(Change::Normalise(powers), "the exponentials"));
            ways
        },
    },
    Mistake {
        id: "scores-divided",
        likelihood: Likelihood::Rare,
        slip: "The scores were divided by a number instead of going through a softmax.",
        why: "Scores can be negative and of any size; exp makes them positive, and the sum of the row makes them shares.",
        fix: "Take the softmax of each row of the scores.",
        symptom: "The weights are multiples of the scores.",
        demo: Some("weights"),
        ways: |recipe, _| {
            let divisors = [
                (Divisor::Count, "the number of keys"),
                (Divisor::Max, "the largest of the row"),
                (Divisor::WholeSum, "the sum of all"),
                (Divisor::ColumnSum, "the sum of the column"),
                (Divisor::MisplacedSum, "the sum of row j for column j"),
            ];
            instead(recipe, ScoreFunction::Identity, &divisors)
        },
    },
    Mistake {
        id: "hard-maximum",
        likelihood: Likelihood::Common,
        slip: "The key with the largest score took all the weight: an argmax instead of a softmax.",
        why: "A softmax lets every key keep a share, which is what makes attention trainable.",
        fix: "Take the softmax of each row of the scores.",
        symptom: "Every row of the weights has one 1 and nothing else.",
        demo: Some("lookup"),
        ways: |_, _| {
            let hard = Normalise { function: ScoreFunction::HardMaximum, ..Normalise::default() };
            vec![Way::plain(Change::Normalise(hard))]
        },
    },
    Mistake {
        id: "weights-turned",
        likelihood: Likelihood::Classic,
        slip: "The weights were transposed: you computed Aᵀ V instead of A V.",
        why: "Row i of A holds the weights of query i, and these mix the values.",
        fix: "Multiply A by V without transposing it: `A @ V`.",
        symptom: "A is right, and the result is not.",
        demo: Some("weighted-sum"),
        ways: |_, facts| {
            let ways = vec![Way::plain(altered(Site::Weights, Alter::Transposed))];
            if_possible(facts.q.rows == facts.keys, ways)
        },
    },
    Mistake {
        id: "weights-altered",
        likelihood: Likelihood::Rare,
        slip: "Something was done to the weights before they mixed the values.",
        why: "The weights mix the values as they come from the softmax.",
        fix: "Multiply the weights by V as they are.",
        symptom: "The weights are right, and the result is not.",
        demo: Some("weighted-sum"),
        ways: |recipe, facts| {
            altered_weights(recipe, facts)
                .into_iter()
                .chain(general::ways("weights-altered", recipe, facts))
                .collect()
        },
    },
];

/// The function alone, or over the sum of the row.
const PLAIN_OR_SUM: [(Divisor, &str); 4] = [
    (Divisor::Nothing, "not divided"),
    (Divisor::Sum, "divided by the sum of the row"),
    (Divisor::SumAnd(1e-9), "divided by the sum of the row and 1e-9"),
    (Divisor::Length, "divided by the length of the row"),
];

/// A function in place of the softmax, divided by each of these. With a mask also with 0 in the hidden cells, before or after it:
/// −∞ there would give NaN.
fn instead(recipe: &Recipe, function: ScoreFunction, divisors: &[(Divisor, &str)]) -> Vec<Way> {
    let mut ways = Vec::new();
    for &(divisor, what) in divisors {
        let change = Change::Normalise(Normalise { function, divisor, ..Normalise::default() });
        ways.push(Way::detailed(change, what));
        if recipe.mask.is_some() {
            let hidden = Way::detailed(change, format!("{what}, hidden scores 0"));
            ways.push(hidden.with(Change::Hiding(Hiding::Zero)));
            let late = Way::detailed(change, format!("{what}, hidden weights 0"));
            ways.push(late.with(Change::Hiding(Hiding::AfterSoftmax)));
        }
    }
    ways
}

/// The mistakes without a name of their own. Negated weights give the negative result, or X minus it.
fn altered_weights(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let mut alters = vec![
        (Alter::Squared, "squared"),
        (Alter::COLUMNS_REVERSED, "columns in reverse order"),
        (Alter::SOFTMAX_OF_COLUMNS, "a second softmax, over the queries"),
        (Alter::CENTRED, "the mean of each row subtracted"),
    ];
    // Without a residual these are running sums of the result.
    if recipe.output.residual {
        alters.push((Alter::CUMULATIVE, "a running sum over the queries"));
    }
    let count = facts.keys as f64;
    alters.push((Alter::Times(count), "times the number of keys"));
    alters.push((Alter::Times(1.0 / count), "divided by the number of keys"));
    alters.into_iter().map(|(alter, detail)| Way::detailed(altered(Site::Weights, alter), detail)).collect()
}
