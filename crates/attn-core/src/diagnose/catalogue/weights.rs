//! Mistakes between scores and weights.

use super::{Likelihood, Mistake, Way, to_decimals, when};
use crate::attention::Base;
use crate::diagnose::Change;
use crate::graph::recipes::{Divisor, Normalise, NormaliseAxis, ScoreFunction};

pub(super) const MISTAKES: &[Mistake] = &[
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
