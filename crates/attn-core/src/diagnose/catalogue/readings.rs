//! Mistakes after the last step: functions, orders and norms of the result.

use super::{Likelihood, Mistake, Way, altered, tokens};
use crate::diagnose::Facts;
use crate::graph::GeluForm;
use crate::graph::recipes::{Alter, Combine, OtherMatrix, Site};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "output-negated",
        likelihood: Likelihood::Common,
        slip: "The result has the wrong sign.",
        why: "The values are mixed with positive weights: nothing turns their sign round.",
        fix: "Hand in A V, without a minus sign.",
        symptom: "Every number is the negative of the right one.",
        demo: Some("weighted-sum"),
        ways: |_, _| vec![Way::plain(altered(Site::Result, Alter::Negated))],
    },
    Mistake {
        id: "rows-reversed",
        likelihood: Likelihood::Common,
        slip: "The rows of the result stand in reverse order.",
        why: "Row i of the result belongs to query i.",
        fix: "Keep the order of the queries.",
        symptom: "The right rows are there, from the last to the first.",
        demo: Some("order"),
        ways: |_, _| vec![Way::plain(altered(Site::Result, Alter::ROWS_REVERSED))],
    },
    Mistake {
        id: "columns-reversed",
        likelihood: Likelihood::Rare,
        slip: "The columns of the result stand in reverse order.",
        why: "Column j of the result belongs to feature j.",
        fix: "Keep the order of the columns.",
        symptom: "The right columns are there, from the last to the first.",
        demo: Some("weighted-sum"),
        ways: |_, _| vec![Way::plain(altered(Site::Result, Alter::COLUMNS_REVERSED))],
    },
    Mistake {
        id: "rows-off-by-one",
        likelihood: Likelihood::Common,
        slip: "The loop over the rows is off by one: a row is missing, and another stands twice.",
        why: "Every query has one row in the result, in its own place.",
        fix: "Let the loop run over all queries, from the first to the last: range(T).",
        symptom: "Two rows are equal.",
        demo: Some("vectorize"),
        ways: |_, facts| {
            let ways = [
                (Alter::FIRST_ROW_MISSING, "the first row is missing"),
                (Alter::LAST_ROW_MISSING, "the last row is missing"),
                (Alter::FIRST_ROW_TWICE, "the first row stands twice"),
            ];
            let ways = ways.map(|(alter, detail)| Way::detailed(altered(Site::Result, alter), detail));
            super::if_possible(facts.q.rows > 1, ways.to_vec())
        },
    },
    Mistake {
        id: "rows-pooled",
        likelihood: Likelihood::Common,
        slip: "The rows of the result were added up or averaged.",
        why: "Attention gives every query a row of its own; pooling comes later, if at all.",
        fix: "Hand in all rows of the result.",
        symptom: "The result has one row, or each row contains those before it.",
        demo: Some("pooling"),
        ways: |_, _| {
            let ways = [
                (Alter::MEAN_OF_ROWS, "averaged to one row"),
                (Alter::SUM_OF_ROWS, "added up to one row"),
                (Alter::CUMULATIVE, "each row the sum of all rows up to it"),
            ];
            ways.map(|(alter, detail)| Way::detailed(altered(Site::Result, alter), detail)).to_vec()
        },
    },
    Mistake {
        id: "padded-outputs-zeroed",
        likelihood: Likelihood::Common,
        slip: "The rows of padded tokens were set to 0 in the result.",
        why: "The mask hides padded keys; the rows of padded queries are ignored later, not changed here.",
        fix: "Leave the rows of padded queries as they come out.",
        symptom: "Some rows are 0, and the others are right.",
        demo: Some("mask"),
        ways: tokens::padded_outputs,
    },
    Mistake {
        id: "attention-twice",
        likelihood: Likelihood::Common,
        slip: "The result went through attention again.",
        why: "One layer attends once; each further layer of a model has weights of its own.",
        fix: "Hand in the result of one pass through attention.",
        symptom: "All steps before the result are right, and the rows of the result are more alike than they should be.",
        demo: Some("block"),
        ways: |_, facts| twice(facts),
    },
    Mistake {
        id: "activation-added",
        likelihood: Likelihood::Rare,
        slip: "A function was applied to the result.",
        why: "Attention ends with a product; functions such as a ReLU belong to the perceptron after it.",
        fix: "Hand in the product itself.",
        symptom: "The result has no negative numbers, or none above 1.",
        demo: Some("mlp"),
        ways: |_, facts| {
            let of = |stage, place: &'static str, fix: &'static str| {
                FUNCTIONS.map(|(alter, what)| {
                    Way::detailed(altered(stage, alter), format!("{what}, to {place}"))
                        .saying(format!("A function was applied to {place}: {what}."))
                        .fixing(fix)
                })
            };
            let mut ways = of(Site::Result, "the result", "Hand in the result as it is.").to_vec();
            if facts.projects {
                ways.extend(of(
                    Site::Heads,
                    "the heads before W_O",
                    "Multiply the heads by W_O as they are.",
                ));
            }
            ways
        },
    },
    Mistake {
        id: "result-truncated",
        likelihood: Likelihood::Common,
        slip: "The result was cut off after some decimals instead of rounded.",
        why: "Cutting off makes every number too small in size, by up to a unit of its last digit.",
        fix: "Round to the nearest number, or hand in all digits.",
        symptom: "Every number is nearer to 0 than the right one.",
        demo: Some("context"),
        ways: |_, _| {
            let way = |decimals: u32| {
                Way::detailed(
                    altered(Site::Result, Alter::Truncated(decimals)),
                    super::decimals(decimals).replacen("to ", "after ", 1),
                )
            };
            (0..=5).map(way).collect()
        },
    },
];

/// Activation functions, for a result that is taken for a layer of a perceptron.
const FUNCTIONS: [(Alter, &str); 16] = [
    (Alter::Relu, "ReLU"),
    (Alter::LeakyRelu, "a leaky ReLU"),
    (Alter::Elu, "ELU"),
    (Alter::Gelu(GeluForm::Erf), "GELU"),
    (Alter::Gelu(GeluForm::Tanh), "GELU, approximated by a tanh"),
    (Alter::Silu, "SiLU"),
    (Alter::Softplus, "softplus"),
    (Alter::Absolute, "the absolute value"),
    (Alter::Squared, "the square"),
    (Alter::Exponential, "exp"),
    (Alter::Sigmoid, "a sigmoid"),
    (Alter::Tanh, "tanh"),
    (Alter::SOFTMAX_OF_COLUMNS, "a softmax down the columns"),
    (Alter::OVER_SUM, "division by the sum of each row"),
    (Alter::CENTRED, "the mean of each row subtracted"),
    (Alter::COLUMNS_CENTRED, "the mean of each column subtracted"),
];

/// The result as the input of a second pass; or the weights alone once more.
fn twice(facts: &Facts) -> Vec<Way> {
    let again = altered(Site::Result, Alter::AttendedAgain);
    // Where a row sees nothing, a second pass without a guard is NaN everywhere, as after many other mistakes.
    let is_guarded = facts.empty_rows == 0;
    let of_tokens = facts.from_tokens && facts.x == Some(facts.result);
    let of_roles = facts.x.is_none() && [facts.q, facts.v].iter().all(|shape| *shape == facts.result);
    let mut ways = Vec::new();
    if of_tokens && is_guarded {
        ways.push(
            Way::detailed(again, "as tokens")
                .saying("The result went through attention again, in the place of X.")
                .fixing("Hand in the result of one pass: in a notebook, do not assign the result to X and run the cell again."),
        );
    } else if of_roles && is_guarded && facts.q.rows == facts.keys {
        ways.push(
            Way::detailed(again, "as queries, keys and values")
                .saying("The result went through attention again, in the place of Q, K and V."),
        );
    }
    if facts.q.rows == facts.keys {
        let weights = Alter::With(Combine::Product, OtherMatrix::Itself);
        ways.push(
            Way::detailed(altered(Site::Weights, weights), "the weights alone")
                .saying("The weights were applied twice: you computed A (A V) instead of A V.")
                .fixing("Multiply V by the weights once."),
        );
    }
    ways
}
