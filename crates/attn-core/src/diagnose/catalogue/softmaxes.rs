//! A softmax that goes wrong, or is taken where it should not be.

use super::fitted::OWN_SUM_WITH_SINK;
use super::{Likelihood, Mistake, Way, altered, if_possible, when};
use crate::attention::{Base, Mask};
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{
    AfterNormalise, Alter, Divisor, Hiding, Normalise, NormaliseAxis, ScoreFunction, Shift, Site,
};

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
