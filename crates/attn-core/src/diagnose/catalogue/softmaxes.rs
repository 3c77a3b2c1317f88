//! A softmax that goes wrong, or is taken where it should not be.

use crate::attention::{Base, Mask};
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{
    AfterNormalise, Alter, Divisor, Hiding, Normalise, NormaliseAxis, Recipe, ScoreFunction, Shift, Site,
};

use super::fitted::OWN_SUM_WITH_SINK;
use super::{Likelihood, Mistake, Way, altered, if_possible, to_decimals, when};

/// exp of more than this overflows.
pub(super) const OVERFLOWS: f64 = 709.0;
/// exp without the maximum subtracted.
const NAIVE: Normalise = Normalise {
    function: ScoreFunction::Exponential,
    shift: Shift::Nothing,
    divisor: Divisor::Sum,
    along: NormaliseAxis::Keys,
    then: AfterNormalise::Mixed,
    single: false,
};
/// The softmax as it should be.
const RIGHT: Normalise = Normalise { shift: Shift::Max, ..NAIVE };

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "softmax-overflow",
        likelihood: Likelihood::Classic,
        slip: "exp overflowed: the largest score of each row was not subtracted first.",
        why: "Above 709.78 (88.7 in single precision) exp(x) is ∞, and ∞/∞ is NaN.",
        fix: "Subtract each row's maximum before exp: the weights stay the same, and nothing overflows.",
        symptom: "Rows with large scores are NaN, and the others are right.",
        demo: Some("weights"),
        ways: |_, facts| {
            let said = format!(
                "exp overflowed: the largest score is {:.0}, and the largest score of each row was not subtracted first.",
                facts.max_score
            );
            let fix = format!(
                "exp overflowed, because the largest score is {:.0}: subtract each row's maximum before exp.",
                facts.max_score
            );
            let naive = |single| {
                Way::plain(Change::Normalise(Normalise { single, ..NAIVE })).saying(&said).fixing(&fix)
            };
            let mut ways = if_possible(facts.max_score > OVERFLOWS, vec![naive(false)]);
            if facts.max_score > 88.0 {
                ways.push(Way { detail: Some("in single precision".into()), ..naive(true) });
            }
            ways
        },
    },
    Mistake {
        id: "softmax-keepdims",
        likelihood: Likelihood::Classic,
        slip: "keepdims=True is missing: the sum of row j divided column j.",
        why: "Without keepdims the sums are a row of numbers, and NumPy spreads them over the rows, not the columns.",
        fix: "Write `E / E.sum(axis=-1, keepdims=True)`, and the same for the maximum.",
        symptom: "Neither the rows nor the columns of the weights sum to 1; with as many queries as keys no error appears.",
        demo: Some("weights"),
        ways: |_, facts| {
            let sum = Normalise { divisor: Divisor::MisplacedSum, ..RIGHT };
            let way = |normalise, detail| Way::detailed(Change::Normalise(normalise), detail);
            let missing = |what: &str| format!("keepdims=True is missing: {what}.");
            let ways = vec![
                way(sum, "the sum").saying(missing("the sum of row j divided column j")),
                way(Normalise { shift: Shift::Nothing, ..sum }, "the sum, without a maximum")
                    .saying(missing("the sum of row j divided column j")),
                way(Normalise { shift: Shift::Misplaced, ..sum }, "the sum and the maximum").saying(missing(
                    "the maximum of row j was subtracted from column j, and the sum of row j divided it",
                )),
                way(Normalise { shift: Shift::Misplaced, ..RIGHT }, "the maximum")
                    .saying(missing("the maximum of row j was subtracted from column j")),
            ];
            if_possible(facts.q.rows == facts.keys, ways)
        },
    },
    Mistake {
        id: "softmax-unnormalised",
        likelihood: Likelihood::Classic,
        slip: "The exponentials were not divided by their sum.",
        why: "Each query distributes its attention: its weights have to sum to 1.",
        fix: "Divide each row of exp(S) by its sum.",
        symptom: "The rows of the weights do not sum to 1.",
        demo: Some("weights"),
        ways: |_, facts| {
            let plain = Normalise { divisor: Divisor::Nothing, ..NAIVE };
            let ways = vec![
                Way::plain(Change::Normalise(plain)),
                Way::detailed(
                    Change::Normalise(Normalise { shift: Shift::Max, ..plain }),
                    "after subtracting the maximum",
                ),
            ];
            ways.into_iter().map(|way| with_sink(way, facts)).collect()
        },
    },
    Mistake {
        id: "softmax-heads",
        likelihood: Likelihood::Common,
        slip: "The softmax was taken over the heads instead of the keys.",
        why: "Each head distributes its own attention over the keys.",
        fix: "Take the softmax along the last axis: axis=-1.",
        symptom: "The weights of all heads for one query and key sum to 1.",
        demo: Some("multihead"),
        ways: |recipe, _| {
            when(recipe.heads > 1, Change::Normalise(Normalise { along: NormaliseAxis::Heads, ..RIGHT }))
        },
    },
    Mistake {
        id: "softmax-twice",
        likelihood: Likelihood::Classic,
        slip: "The softmax was taken twice.",
        why: "The weights are all between 0 and 1, so a second softmax makes them nearly equal.",
        fix: "Take the softmax once; check whether the function that gives the weights has one already.",
        symptom: "The weights are almost uniform, and hidden keys have some.",
        demo: Some("weights"),
        ways: |recipe, _| {
            let again = |then| Change::Normalise(Normalise { then, ..RIGHT });
            let mut ways = vec![Way::plain(again(AfterNormalise::Again))];
            if recipe.mask.is_some() {
                ways.push(Way::detailed(again(AfterNormalise::AgainMasked), "with the mask both times"));
            }
            ways
        },
    },
    Mistake {
        id: "log-softmax",
        likelihood: Likelihood::Common,
        slip: "The logarithms of the weights mixed the values: log_softmax instead of softmax.",
        why: "Logarithms of weights are negative, and −∞ for a hidden key.",
        fix: "Use softmax; log_softmax belongs in a loss.",
        symptom: "No weight is above 0; with a mask the result is infinite or NaN.",
        demo: Some("weights"),
        ways: |recipe, _| {
            let then = |then| Change::Normalise(Normalise { then, ..RIGHT });
            let mut ways = vec![Way::plain(then(AfterNormalise::Logarithm))];
            if recipe.mask.is_some() {
                ways.push(Way::detailed(then(AfterNormalise::LogarithmOfVisible), "hidden weights 0"));
            }
            ways
        },
    },
    Mistake {
        id: "softmax-features",
        likelihood: Likelihood::Common,
        slip: "A softmax was taken over the features of a token.",
        why: "The softmax belongs to the scores of one query over all keys; features are mixed as they are.",
        fix: "Take the softmax of the scores, and of nothing else.",
        symptom: "The rows of the result, or of the values, sum to 1.",
        demo: Some("weights"),
        ways: |recipe, _| {
            let mut ways = vec![
                Way::detailed(altered(Site::Values, Alter::SOFTMAX), "of the values"),
                Way::detailed(altered(Site::Result, Alter::SOFTMAX), "of the result"),
                Way::detailed(altered(Site::Heads, Alter::SOFTMAX), "of the heads before W_O"),
                Way::detailed(altered(Site::Mixes, Alter::SOFTMAX), "of what each head mixes"),
            ];
            let identity =
                Normalise { function: ScoreFunction::Identity, divisor: Divisor::Nothing, ..RIGHT };
            let late = Way::detailed(
                altered(Site::Result, Alter::SOFTMAX),
                "of the result, in place of the weights",
            )
            .with(Change::Normalise(identity));
            ways.push(if recipe.mask.is_some() { late.with(Change::Hiding(Hiding::Zero)) } else { late });
            ways
        },
    },
    Mistake {
        id: "column-maximum",
        likelihood: Likelihood::Common,
        slip: "The maximum of each column was subtracted before exp, and then the rows were divided by their sums.",
        why: "What is subtracted must be the same for all scores of a row, or it changes the weights.",
        fix: "Subtract the maximum of each row: `S.max(axis=-1, keepdims=True)`.",
        symptom: "The rows sum to 1, and keys with large scores everywhere have too little weight.",
        demo: Some("weights"),
        ways: |_, _| vec![Way::plain(Change::Normalise(Normalise { shift: Shift::OfColumns, ..RIGHT }))],
    },
    Mistake {
        id: "softmax-wrong-sum",
        likelihood: Likelihood::Common,
        slip: "The exponentials were divided by something other than the sum of their row.",
        why: "Only the sum of its own row makes the weights of a query sum to 1.",
        fix: "Divide each row of exp(S) by its own sum.",
        symptom: "The rows of the weights do not sum to 1.",
        demo: Some("weights"),
        ways: |_, facts| {
            let divisors = [
                (Divisor::ColumnSum, "the sum of the column"),
                (Divisor::WholeSum, "the sum of all"),
                (Divisor::FirstSum, "the sum of the first row"),
                // An exponential over the max of its row is one after subtracting the max, not divided.
                (Divisor::Count, "the number of keys"),
                (Divisor::SumAnd(1.0), "the sum and 1"),
            ];
            let ways = divisors.iter().flat_map(|&(divisor, what)| {
                // The sum and 1, without a maximum, is a sink of 0.
                let is_other_sink = facts.has_sink && matches!(divisor, Divisor::SumAnd(_));
                // Without a maximum, columns and the whole are a softmax along another axis, and large scores overflow: both have a
                // name of their own.
                let is_named = matches!(divisor, Divisor::ColumnSum | Divisor::WholeSum)
                    || facts.max_score > OVERFLOWS
                    || is_other_sink;
                let shifts = [(Shift::Max, ""), (Shift::Nothing, ", without a maximum")];
                let count = if is_named { 1 } else { 2 };
                shifts.into_iter().take(count).map(move |(shift, how)| {
                    let normalise = Normalise { divisor, shift, ..RIGHT };
                    Way::detailed(Change::Normalise(normalise), format!("{what}{how}")).saying(format!(
                        "The exponentials were divided by {what} instead of the sum of their row."
                    ))
                })
            });
            ways.map(|way| with_sink(way, facts)).collect()
        },
    },
    Mistake {
        id: "softmax-base-10",
        likelihood: Likelihood::Rare,
        slip: "The softmax used powers of 10 instead of powers of e.",
        why: "10ˣ is e to the power of 2.3 x: it is a softmax at a lower temperature.",
        fix: "Use exp, not powers of 10.",
        symptom: "The weights are too sharp.",
        demo: Some("weights"),
        ways: |_, _| vec![Way::plain(Change::Base(Base::Number(10.0)))],
    },
    Mistake {
        id: "uniform-weights",
        likelihood: Likelihood::Common,
        slip: "Every key weighs the same: the scores were not used.",
        why: "Attention is a weighted mean; with equal weights it is only a mean.",
        fix: "Use the softmax of the scores as weights.",
        symptom: "All weights of a row are equal.",
        demo: Some("pooling"),
        ways: |recipe, _| {
            // The limit of a softmax at an infinite temperature.
            let even = Change::Temperature(1e300);
            let mut ways = vec![Way::plain(even)];
            if recipe.mask.is_some() {
                ways.push(Way::detailed(even, "hidden keys too").with(Change::Mask(Mask::default())));
            }
            ways
        },
    },
];

/// The same way, with a fix that names the sink where the exercise has one.
fn with_sink(way: Way, facts: &Facts) -> Way {
    if facts.has_sink { way.fixing(OWN_SUM_WITH_SINK) } else { way }
}

// Mistakes between scores and weights.

pub(super) const WEIGHTS: &[Mistake] = &[
    Mistake {
        id: "softmax-axis",
        likelihood: Likelihood::Classic,
        slip: "The softmax was taken over the queries instead of the keys.",
        why: "Each query distributes its attention over the keys, so each row of the weights sums to 1.",
        fix: "Take the softmax along each row: axis=-1.",
        symptom: "The columns of the weights sum to 1, and the rows do not.",
        demo: Some("columns"),
        ways: |_, _| {
            vec![Way::plain(Change::Normalise(Normalise {
                along: NormaliseAxis::Queries,
                ..Normalise::default()
            }))]
        },
    },
    Mistake {
        id: "softmax-whole",
        likelihood: Likelihood::Classic,
        slip: "One softmax was taken over the whole matrix instead of one for each row.",
        why: "Each query distributes its own attention: each row sums to 1.",
        fix: "Take the softmax of each row separately: sum along axis=-1 with keepdims=True.",
        symptom: "All weights together sum to 1, and the result is far too small.",
        demo: Some("weights"),
        ways: |_, _| {
            vec![Way::plain(Change::Normalise(Normalise {
                along: NormaliseAxis::All,
                ..Normalise::default()
            }))]
        },
    },
    Mistake {
        id: "no-softmax",
        likelihood: Likelihood::Classic,
        slip: "The softmax was left out: the scores were used as weights.",
        why: "Scores can be negative and of any size; weights are positive and sum to 1.",
        fix: "Take the softmax of each row of the scores before you mix the values.",
        symptom: "The weights are negative or above 1; with a mask the result is infinite or NaN.",
        demo: Some("weights"),
        ways: |_, _| {
            vec![Way::plain(Change::Normalise(Normalise {
                function: ScoreFunction::Identity,
                divisor: Divisor::Nothing,
                ..Normalise::default()
            }))]
        },
    },
    Mistake {
        id: "sum-normalised",
        likelihood: Likelihood::Classic,
        slip: "The scores were divided by their sum instead of going through a softmax.",
        why: "Scores have both signs: their sum can be near 0 or negative, and then the quotients mean nothing.",
        fix: "Take exp of the scores first, then divide each row by its sum.",
        symptom: "The rows sum to 1, but some weights are negative or above 1.",
        demo: Some("weights"),
        ways: |_, _| {
            vec![Way::plain(Change::Normalise(Normalise {
                function: ScoreFunction::Identity,
                ..Normalise::default()
            }))]
        },
    },
    Mistake {
        id: "softmax-base-2",
        likelihood: Likelihood::Classic,
        slip: "The softmax used powers of 2 instead of powers of e.",
        why: "2ˣ is e to the power of 0.69 x: it is a softmax at a higher temperature.",
        fix: "Use exp, not powers of 2.",
        symptom: "The weights are a little too even.",
        demo: Some("weights"),
        ways: |_, _| vec![Way::plain(Change::Base(Base::Number(2.0)))],
    },
    Mistake {
        id: "empty-row-nan",
        likelihood: Likelihood::Classic,
        slip: "A row that may attend to nothing became NaN; its weights should be 0.",
        why: "−∞ − (−∞) is NaN: a softmax needs a special case for a row in which every score is hidden.",
        fix: "Give a row without visible keys the weights 0.",
        symptom: "Whole rows are NaN, and all others are right.",
        demo: Some("mask"),
        ways: |_, facts| when(facts.empty_rows > 0, Change::Unguarded),
    },
    Mistake {
        id: "weights-rounded",
        likelihood: Likelihood::Classic,
        slip: "The weights were rounded before they were multiplied by the values.",
        why: "Rounding errors are multiplied by the values, and the rows no longer sum to 1.",
        fix: "Round only what you print; compute with all digits.",
        symptom: "The result is right to a digit or two.",
        demo: Some("context"),
        ways: |_, _| to_decimals(Change::WeightDecimals),
    },
];

// Other functions in place of the softmax, and things done to weights.

pub(super) const FUNCTIONS: &[Mistake] = &[
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
                .chain(super::operators::ways("weights-altered", recipe, facts))
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
