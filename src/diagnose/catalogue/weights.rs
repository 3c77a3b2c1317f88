//! Mistakes between scores and weights.

use super::{Mistake, Way, to_decimals, when};
use crate::attention::Base;
use crate::diagnose::Change;
use crate::graph::build::Normalise;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "softmax-axis",
        slip: "The softmax was taken over the queries, where it belongs over the keys.",
        why: "Each query shares out one unit of attention among the keys; it is the rows of the weights that sum to 1.",
        symptom: "The columns of the weights sum to 1, and the rows do not.",
        demo: "columns",
        ways: |_, _| vec![Way::plain(Change::Normalise(Normalise::OverQueries))],
    },
    Mistake {
        id: "softmax-whole",
        slip: "One softmax was taken over the whole matrix, where each row has one of its own.",
        why: "Every query has its own unit of attention to share out.",
        symptom: "All weights together sum to 1, and the result is far too small.",
        demo: "weights",
        ways: |_, _| vec![Way::plain(Change::Normalise(Normalise::OverAll))],
    },
    Mistake {
        id: "no-softmax",
        slip: "The softmax was left out: the scores were used as weights.",
        why: "Scores may be negative and of any size; weights are positive and sum to 1.",
        symptom: "The weights are negative or above 1; with a mask the result is infinite or NaN.",
        demo: "weights",
        ways: |_, _| vec![Way::plain(Change::Normalise(Normalise::Not))],
    },
    Mistake {
        id: "sum-normalised",
        slip: "The scores were divided by their sum, where the softmax belongs.",
        why: "Scores have both signs: their sum may be near 0 or negative, and then the shares mean nothing.",
        symptom: "The rows sum to 1, but some weights are negative or above 1.",
        demo: "weights",
        ways: |_, _| vec![Way::plain(Change::Normalise(Normalise::BySum))],
    },
    Mistake {
        id: "softmax-base-2",
        slip: "Powers of 2 were taken in the softmax, where powers of e belong.",
        why: "2ˣ is e to the power of 0.69 x: it is a softmax at a higher temperature.",
        symptom: "The weights are a little too even.",
        demo: "weights",
        ways: |_, _| vec![Way::plain(Change::Base(Base::Number(2.0)))],
    },
    Mistake {
        id: "empty-row-nan",
        slip: "A row that may attend to nothing became NaN, where its weights are 0.",
        why: "−∞ minus −∞ is no number: a softmax needs a guard for a row in which everything is hidden.",
        symptom: "Whole rows are NaN, and all others are right.",
        demo: "mask",
        ways: |_, facts| when(facts.empty_rows > 0, Change::Unguarded),
    },
    Mistake {
        id: "weights-rounded",
        slip: "The weights were rounded before they mixed the values.",
        why: "What is cut off is multiplied by the values, and the rows no longer sum to 1. Round what is shown, never what \
              is computed with.",
        symptom: "The result is right to a digit or two.",
        demo: "context",
        ways: |_, _| to_decimals(Change::WeightDecimals),
    },
];
