//! Alterations of tokens, queries, keys and values besides their projection.

use crate::attention::Mask;
use crate::diagnose::{Change, Facts};
use crate::graph::GeluForm;
use crate::graph::recipes::{Alter, Combine, NormPlace, OtherMatrix, PositionKind, Recipe, Site};

use super::{Likelihood, Mistake, Way, altered, if_possible, tokens};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "layer-norm",
        likelihood: Likelihood::Common,
        slip: "A layer norm was applied that the exercise does not have.",
        why: "The norm belongs to the block around attention: it stands before it or after it, not in it.",
        fix: "Leave the layer norm out.",
        symptom: "Each row of what was normalised has the mean 0 and the variance 1.",
        demo: Some("block"),
        ways: |recipe, facts| {
            let mut ways = normed(Alter::LAYER_NORM, "a layer norm", recipe, facts);
            ways.extend(add_and_norm(Alter::LAYER_NORM, "a layer norm", recipe, facts));
            ways
        },
    },
    Mistake {
        id: "rms-norm",
        likelihood: Likelihood::Common,
        slip: "An RMS norm was applied that the exercise does not have.",
        why: "The norm belongs to the block around attention: it stands before it or after it, not in it.",
        fix: "Leave the RMS norm out.",
        symptom: "The squares of each row of what was normalised have the mean 1.",
        demo: Some("block"),
        ways: |recipe, facts| {
            let mut ways = normed(Alter::RMS_NORM, "an RMS norm", recipe, facts);
            ways.extend(add_and_norm(Alter::RMS_NORM, "an RMS norm", recipe, facts));
            ways
        },
    },
    Mistake {
        id: "unit-rows",
        likelihood: Likelihood::Rare,
        slip: "Rows were divided by their length.",
        why: "Attention compares and mixes vectors of any length; a unit length takes that away.",
        fix: "Use the rows as they are.",
        symptom: "The squares of each row of what was normalised sum to 1.",
        demo: Some("similarity"),
        ways: |recipe, facts| normed(Alter::UNIT_ROWS, "", recipe, facts),
    },
    Mistake {
        id: "positions-added",
        likelihood: Likelihood::Common,
        slip: "Sinusoidal positions were added to the tokens.",
        why: "The exercise starts from X as it is; positions are part of a model, not of attention.",
        fix: "Compute Q, K and V from X itself.",
        symptom: "The first row differs only through the cosines, which are 1 there.",
        demo: Some("order"),
        ways: positions,
    },
    Mistake {
        id: "rotary-positions",
        likelihood: Likelihood::Common,
        slip: "Queries and keys were rotated by their positions: RoPE, which the exercise does not ask for.",
        why: "The exercise compares Q and K as they are; rotary positions are part of a model, not of attention.",
        fix: "Compute the scores from Q and K as they are.",
        symptom: "The scores of a token with itself are right, and the others are not.",
        demo: Some("order"),
        ways: |recipe, facts| {
            let ways = vec![
                Way::detailed(
                    altered(Site::QueriesAndKeys, Alter::RotaryNeighbours),
                    "neighbouring columns",
                ),
                Way::detailed(altered(Site::QueriesAndKeys, Alter::RotaryHalves), "halves"),
                Way::detailed(altered(Site::Queries, Alter::RotaryHalves), "queries alone").saying(
                    "The queries alone were rotated by their positions: RoPE, which the exercise does not ask for.",
                ),
                Way::detailed(altered(Site::Roles, Alter::RotaryHalves), "values too").saying(
                    "Queries, keys and values were rotated by their positions: RoPE, which the exercise does not ask for.",
                ),
            ];
            let is_rotated = matches!(recipe.positions.kind, PositionKind::Rotary(_));
            if_possible(facts.d_k.is_multiple_of(2) && !is_rotated, ways)
        },
    },
    Mistake {
        id: "padding-zeroed",
        likelihood: Likelihood::Common,
        slip: "The padded tokens were set to 0 instead of being hidden.",
        why: "A key of zeros has the score 0, and e⁰ = 1: it still takes a share of the attention.",
        fix: "Hide padded tokens in the scores: set their columns to −∞ before the softmax.",
        symptom: "No weight is 0, and all padded keys of a row weigh the same.",
        demo: Some("mask"),
        ways: |recipe, facts| if_possible(facts.hides_keys, zeroed(recipe, facts)),
    },
    Mistake {
        id: "inputs-rounded",
        likelihood: Likelihood::Rare,
        slip: "Numbers were rounded before they were used.",
        why: "Rounding errors grow: the softmax turns a difference of scores into a ratio of weights.",
        fix: "Round only what you print; compute with all digits.",
        symptom: "The result is right to a digit or two.",
        demo: Some("context"),
        ways: |_, facts| rounded(facts),
    },
    Mistake {
        id: "values-altered",
        likelihood: Likelihood::Rare,
        slip: "Something was done to the values before they were mixed.",
        why: "The weights mix the values as they are.",
        fix: "Multiply the weights by V itself.",
        symptom: "The weights are right, and the result is not.",
        demo: Some("weighted-sum"),
        ways: |recipe, facts| {
            altered_values(recipe, facts)
                .into_iter()
                .chain(super::operators::ways("values-altered", recipe, facts))
                .collect()
        },
    },
    Mistake {
        id: "queries-keys-altered",
        likelihood: Likelihood::Rare,
        slip: "Something was done to the queries or keys before they were compared.",
        why: "The scores are the dot products of the queries and keys as they are.",
        fix: "Compute the scores from Q and K themselves.",
        symptom: "The scores are wrong, and Q, K and V are right.",
        demo: Some("pairwise"),
        ways: |recipe, facts| {
            let what = [
                (Alter::SOFTMAX, "a softmax of each row"),
                (Alter::CENTRED, "the mean of each row subtracted"),
                (Alter::COLUMNS_CENTRED, "the mean of each column subtracted"),
                (Alter::Relu, "a ReLU"),
            ];
            let of = [
                (Site::Queries, "queries"),
                (Site::Keys, "keys"),
                (Site::QueriesAndKeys, "queries and keys"),
            ];
            let ways = what.iter().flat_map(|&(alter, what)| {
                of.map(|(stage, of)| Way::detailed(altered(stage, alter), format!("{what}: {of}")))
            });
            let order =
                [(Site::Queries, Alter::COLUMNS_REVERSED, "the columns of the queries in reverse order")];
            let order = order.map(|(stage, alter, what)| Way::detailed(altered(stage, alter), what));
            ways.chain(order).chain(super::operators::ways("queries-keys-altered", recipe, facts)).collect()
        },
    },
];

/// The mistakes without a name of their own. Negated values give the negative result, or X minus it.
fn altered_values(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let mut alters = vec![
        (Alter::SOFTMAX_OF_COLUMNS, "a softmax down the columns of V"),
        (Alter::CENTRED, "the mean of each row of V subtracted"),
        (Alter::COLUMNS_CENTRED, "the mean of each column of V subtracted"),
        (Alter::CUMULATIVE, "a running sum over the rows of V"),
        (Alter::OVER_SUM, "each row of V divided by its sum"),
    ];
    // Of one head without W_O and residual these are the columns of the result.
    if recipe.heads > 1 || facts.projects || recipe.output.residual {
        alters.push((Alter::COLUMNS_REVERSED, "the columns of V in reverse order"));
    }
    alters.into_iter().map(|(alter, detail)| Way::detailed(altered(Site::Values, alter), detail)).collect()
}

/// The residual and a norm after it, as in a block of a transformer: one slip, not two.
fn add_and_norm(norm: Alter, name: &str, recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let way = Way::detailed(altered(Site::Result, norm), "of X + O")
        .with(Change::Residual(true))
        .saying(format!("X was added to the result, and the sum went through {name}: “Add & Norm”."))
        .fixing("Hand in O alone: the residual and the norm belong to the block around attention.");
    if_possible(facts.x.is_some() && !recipe.output.residual, vec![way])
}

/// A norm at every stage.
fn normed(alter: Alter, what: &str, recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let stages = [
        (Site::Tokens, "X before the projections"),
        (Site::TokensAndResidual, "X, and the residual"),
        (Site::Result, "the result"),
        (Site::Heads, "the heads before W_O"),
        (Site::Mixes, "what each head mixes"),
        (Site::QueriesAndKeys, "queries and keys"),
        (Site::Queries, "the queries"),
        (Site::Keys, "the keys"),
        (Site::Values, "the values"),
        (Site::Roles, "queries, keys and values"),
        (Site::Scores, "the scores"),
        (Site::Weights, "the weights"),
    ];
    let of_tokens = |stage: &Site| matches!(stage, Site::Tokens | Site::TokensAndResidual);
    // Queries and keys of length 1 are compared by their cosine, and weights of length 1 are exponentials over their length: both
    // have a name of their own.
    let is_named =
        |stage: &Site| alter == Alter::UNIT_ROWS && matches!(stage, Site::QueriesAndKeys | Site::Weights);
    // An exercise that norms queries and keys has an RMS norm there already.
    let has_norm = alter == Alter::RMS_NORM && recipe.qk_norm.place != NormPlace::Nowhere;
    let is_there = |stage: &Site| {
        has_norm && matches!(stage, Site::QueriesAndKeys | Site::Queries | Site::Keys | Site::Roles)
    };
    let possible = stages.into_iter().filter(|(stage, _)| {
        (facts.x.is_some() || !of_tokens(stage)) && !is_named(stage) && !is_there(stage)
    });
    let way = |(stage, of): (Site, &str)| {
        let said = if alter == Alter::UNIT_ROWS {
            format!("Each row of {of} was divided by its length, which the exercise does not ask for.")
        } else {
            format!("You applied {what} to {of}, which the exercise does not have.")
        };
        Way::detailed(altered(stage, alter), of).saying(said)
    };
    possible.map(way).collect()
}

fn positions(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    if recipe.positions.kind == PositionKind::Sinusoidal {
        let again = Way::detailed(altered(Site::Tokens, Alter::Positions(1)), "a second time")
            .saying("The vectors of the positions were added to X twice.")
            .fixing("Add them once.");
        return if_possible(recipe.positions.first == 0, vec![again]);
    }
    let to_roles = Way::detailed(altered(Site::QueriesAndKeys, Alter::Positions(1)), "to Q and K")
        .saying("Sinusoidal positions were added to the queries and keys.")
        .fixing("Compare Q and K as they are.");
    if !facts.from_tokens {
        return vec![to_roles];
    }
    let stage = if recipe.output.residual { Site::TokensAndResidual } else { Site::Tokens };
    let mut ways = vec![
        Way::detailed(altered(stage, Alter::Positions(1)), "once"),
        Way::detailed(altered(stage, Alter::Positions(2)), "twice")
            .saying("Sinusoidal positions were added to the tokens, and added again."),
        to_roles,
    ];
    if recipe.output.residual {
        ways.push(Way::detailed(altered(Site::Tokens, Alter::Positions(1)), "but not to the residual"));
    }
    ways
}

fn zeroed(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let padding = Alter::PaddingZeroed(Mask { matrix: recipe.mask.matrix, ..Mask::default() });
    let stages = [
        (Site::Tokens, "X"),
        (Site::TokensAndResidual, "X, and the residual"),
        (Site::Keys, "K"),
        (Site::Values, "V"),
        (Site::KeysAndValues, "K and V"),
        (Site::Roles, "Q, K and V"),
    ];
    let fits = |stage: Site| match stage {
        Site::Tokens | Site::TokensAndResidual => facts.x.is_some_and(|x| x.rows == facts.keys),
        Site::Roles => facts.q.rows == facts.keys,
        _ => true,
    };
    let way = |(stage, of): (Site, &str)| {
        Way::detailed(altered(stage, padding), of)
            .with(Change::Mask(Mask { matrix: None, ..recipe.mask }))
            .saying(format!("The padded rows of {of} were set to 0 instead of being hidden in the scores."))
    };
    stages.into_iter().filter(|(stage, _)| fits(*stage)).map(way).collect()
}

fn rounded(facts: &Facts) -> Vec<Way> {
    let stages = [
        (Site::Tokens, "X", "was"),
        (Site::Roles, "Q, K and V", "were"),
        (Site::QueriesAndKeys, "Q and K", "were"),
        (Site::Values, "V", "was"),
    ];
    let possible = stages.into_iter().filter(|(stage, ..)| facts.x.is_some() || *stage != Site::Tokens);
    let ways = possible.flat_map(|(stage, of, was)| {
        let rounded = (0..3).map(move |decimals| {
            let to = super::decimals(decimals);
            Way::detailed(altered(stage, Alter::Rounded(decimals)), format!("{of} {to}"))
                .saying(format!("{of} {was} rounded {to} before the next step."))
        });
        let cut =
            Way::detailed(altered(stage, Alter::Truncated(0)), format!("{of} cut off to whole numbers"))
                .saying(format!("{of} {was} cut off to whole numbers, as a conversion to int does."));
        rounded.chain([cut])
    });
    ways.collect()
}

/// The mistake of hiding rows that should stay, for other files.
pub(super) fn padded_outputs(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let padding = Alter::PaddingZeroed(Mask { matrix: recipe.mask.matrix, ..Mask::default() });
    let way = || Way::plain(altered(Site::Result, padding));
    let unmasked = Way { detail: Some("and no mask".into()), ..way() }
        .saying("The rows of padded tokens were set to 0 in the result, and padded keys were not hidden.")
        .fixing(
            "Hide padded keys before the softmax, and leave the rows of padded queries as they come out.",
        );
    let ways = vec![way(), unmasked.with(Change::Mask(Mask { matrix: None, ..recipe.mask }))];
    if_possible(facts.hides_keys && facts.q.rows == facts.keys, ways)
}

// Mistakes after the last step: functions, orders and norms of the result.

pub(super) const READINGS: &[Mistake] = &[
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
