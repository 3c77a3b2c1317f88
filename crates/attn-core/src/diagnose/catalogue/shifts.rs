//! Scaled or rearranged tokens, queries, keys and values.

use super::{Likelihood, Mistake, Way, altered, if_possible};
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{Alter, Site};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "tokens-scaled",
        likelihood: Likelihood::Common,
        slip: "The tokens were multiplied by a number before the projections.",
        why: "A transformer multiplies its embeddings by √d_model once; attention itself reads X as it is.",
        fix: "Compute Q, K and V from X itself.",
        symptom: "Q, K and V are all too large, or all too small, by the same factor.",
        demo: Some("qkv"),
        ways: |_, facts| facts.x.map_or_else(Vec::new, |x| scaled(x.cols, facts)),
    },
    Mistake {
        id: "rows-shifted",
        likelihood: Likelihood::Common,
        slip: "Queries, keys or values stand one row too early or too late.",
        why: "Key j and value j belong to the same token, and query i to row i of the result.",
        fix: "Use all rows in their order, without np.roll and without an index that is off by one.",
        symptom: "The scores, or the values, are the right ones of the neighbouring token.",
        demo: Some("lookup"),
        ways: |_, facts| if_possible(facts.keys > 1, shifted(facts)),
    },
    Mistake {
        id: "columns-standardised",
        likelihood: Likelihood::Rare,
        slip: "Columns were standardised: each minus its mean, over its standard deviation.",
        why: "Attention reads its numbers as they are; a norm over the tokens mixes them before attention does.",
        fix: "Leave the numbers as they are: no z-score and no batch norm.",
        symptom: "Each column of what was standardised has the mean 0 and the variance 1.",
        demo: Some("block"),
        ways: |_, facts| {
            let stages = [
                (Site::Tokens, "X before the projections"),
                (Site::TokensAndResidual, "X, and the residual"),
                (Site::Result, "the result"),
                (Site::QueriesAndKeys, "queries and keys"),
                (Site::Values, "the values"),
                (Site::Scores, "the scores"),
            ];
            let of_tokens = |stage: Site| matches!(stage, Site::Tokens | Site::TokensAndResidual);
            let possible = stages.into_iter().filter(|(stage, _)| facts.x.is_some() || !of_tokens(*stage));
            possible.map(|(stage, of)| Way::detailed(altered(stage, Alter::COLUMNS_NORMED), of)).collect()
        },
    },
];

/// X times the usual numbers.
fn scaled(width: usize, facts: &Facts) -> Vec<Way> {
    let root = (width as f64).sqrt();
    let length = (facts.keys as f64).sqrt();
    let factors = [
        (root, format!("times √{width}")),
        (1.0 / root, format!("divided by √{width}")),
        (width as f64, format!("times {width}")),
        (1.0 / width as f64, format!("divided by {width}")),
        (1.0 / length, format!("divided by √{}", facts.keys)),
        (2.0, "times 2".to_string()),
        (0.5, "divided by 2".to_string()),
    ];
    let way = |(factor, how): &(f64, String)| {
        let said =
            format!("The tokens were {} before the projections.", how.replacen("times", "multiplied by", 1));
        [(Site::Tokens, ""), (Site::TokensAndResidual, ", and the residual")].map(|(stage, and)| {
            Way::detailed(altered(stage, Alter::Times(*factor)), format!("{how}{and}")).saying(said.clone())
        })
    };
    factors.iter().flat_map(way).collect()
}

fn shifted(facts: &Facts) -> Vec<Way> {
    let stages = [
        (Site::Queries, "queries"),
        (Site::Keys, "keys"),
        (Site::Values, "values"),
        (Site::KeysAndValues, "keys and values"),
        (Site::Tokens, "tokens"),
    ];
    let moves = [
        (Alter::ROWS_LATER, "one row too late"),
        (Alter::ROWS_EARLIER, "one row too early"),
        (Alter::ROWS_REVERSED, "in reverse order"),
    ];
    let possible = stages.into_iter().filter(|(stage, _)| facts.x.is_some() || *stage != Site::Tokens);
    let way = |(stage, what): (Site, &'static str)| {
        moves.map(|(alter, how)| {
            let said = format!("The {what} stand {how}.");
            let change: Change = altered(stage, alter);
            Way::detailed(change, format!("{what} {how}")).saying(said)
        })
    };
    possible.flat_map(way).collect()
}
