//! Alterations of tokens, queries, keys and values besides their projection.

use crate::attention::Mask;
use crate::diagnose::{Change, Facts};
use crate::graph::GeluForm;
use crate::graph::recipes::{Alter, Combine, NormPlace, OtherMatrix, PositionKind, Recipe, Site};

use super::{Way, Ways, altered, each_altered, if_possible, operators};

/// The ways to make the mistakes of this file.
pub(super) const WAYS: &[Ways] = &[
    ("layer-norm", |recipe, facts| named_norm(Alter::LAYER_NORM, "a layer norm", recipe, facts)),
    ("rms-norm", |recipe, facts| named_norm(Alter::RMS_NORM, "an RMS norm", recipe, facts)),
    ("unit-rows", |recipe, facts| normed(Alter::UNIT_ROWS, "", recipe, facts)),
    ("positions-added", positions),
    ("rotary-positions", |recipe, facts| {
        let rotated = |stage, detail| Way::detailed(altered(stage, Alter::RotaryHalves), detail);
        let neighbours = altered(Site::QueriesAndKeys, Alter::RotaryNeighbours);
        let ways = vec![
                Way::detailed(neighbours, "neighbouring columns"),
                rotated(Site::QueriesAndKeys, "halves"),
                rotated(Site::Queries, "queries alone").saying(
                    "The queries alone were rotated by their positions: RoPE, which the exercise does not ask for.",
                ),
                rotated(Site::Roles, "values too").saying(
                    "Queries, keys and values were rotated by their positions: RoPE, which the exercise does not ask for.",
                ),
            ];
        let is_rotated = matches!(recipe.positions.kind, PositionKind::Rotary(_));
        if_possible(facts.d_k.is_multiple_of(2) && !is_rotated, ways)
    }),
    ("padding-zeroed", |recipe, facts| if_possible(facts.hides_keys, zeroed(recipe, facts))),
    ("inputs-rounded", |_, facts| rounded(facts)),
    ("values-altered", altered_values),
    ("queries-keys-altered", |recipe, facts| {
        let what = [
            (Alter::SOFTMAX, "a softmax of each row"),
            (Alter::CENTRED, "the mean of each row subtracted"),
            (Alter::COLUMNS_CENTRED, "the mean of each column subtracted"),
            (Alter::Relu, "a ReLU"),
        ];
        let of =
            [(Site::Queries, "queries"), (Site::Keys, "keys"), (Site::QueriesAndKeys, "queries and keys")];
        let ways = what.iter().flat_map(|&(alter, what)| {
            of.map(|(stage, of)| Way::detailed(altered(stage, alter), format!("{what}: {of}")))
        });
        let order = [(Alter::COLUMNS_REVERSED, "the columns of the queries in reverse order")];
        let order = each_altered(Site::Queries, order);
        ways.chain(order).chain(operators::ways("queries-keys-altered", recipe, facts)).collect()
    }),
    ("output-negated", |_, _| vec![Way::plain(altered(Site::Result, Alter::Negated))]),
    ("rows-reversed", |_, _| vec![Way::plain(altered(Site::Result, Alter::ROWS_REVERSED))]),
    ("columns-reversed", |_, _| vec![Way::plain(altered(Site::Result, Alter::COLUMNS_REVERSED))]),
    ("rows-off-by-one", |_, facts| {
        let ways = [
            (Alter::FIRST_ROW_MISSING, "the first row is missing"),
            (Alter::LAST_ROW_MISSING, "the last row is missing"),
            (Alter::FIRST_ROW_TWICE, "the first row stands twice"),
        ];
        if_possible(facts.q.rows > 1, each_altered(Site::Result, ways))
    }),
    ("rows-pooled", |_, _| {
        let ways = [
            (Alter::MEAN_OF_ROWS, "averaged to one row"),
            (Alter::SUM_OF_ROWS, "added up to one row"),
            (Alter::CUMULATIVE, "each row the sum of all rows up to it"),
        ];
        each_altered(Site::Result, ways)
    }),
    ("padded-outputs-zeroed", padded_outputs),
    ("attention-twice", |_, facts| twice(facts)),
    ("activation-added", |_, facts| {
        let of = |stage, place: &'static str, fix: &'static str| {
            FUNCTIONS.map(|(alter, what)| {
                Way::detailed(altered(stage, alter), format!("{what}, to {place}"))
                    .saying(format!("A function was applied to {place}: {what}."))
                    .fixing(fix)
            })
        };
        let mut ways = of(Site::Result, "the result", "Hand in the result as it is.").to_vec();
        if facts.projects {
            ways.extend(of(Site::Heads, "the heads before W_O", "Multiply the heads by W_O as they are."));
        }
        ways
    }),
    ("result-truncated", |_, _| {
        let way = |decimals: u32| {
            Way::detailed(
                altered(Site::Result, Alter::Truncated(decimals)),
                super::decimals(decimals).replacen("to ", "after ", 1),
            )
        };
        (0..=5).map(way).collect()
    }),
];

/// The mistakes without a name of their own, and all operators. Negated values give the negative result, or X minus it.
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
    let mut ways = each_altered(Site::Values, alters);
    ways.extend(operators::ways("values-altered", recipe, facts));
    ways
}

/// A norm at every stage; and the residual with this norm after it, as in a block of a transformer: one slip, not two.
fn named_norm(norm: Alter, name: &str, recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let mut ways = normed(norm, name, recipe, facts);
    let add_and_norm = Way::detailed(altered(Site::Result, norm), "of X + O")
        .with(Change::Residual(true))
        .saying(format!("X was added to the result, and the sum went through {name}: “Add & Norm”."))
        .fixing("Hand in O alone: the residual and the norm belong to the block around attention.");
    ways.extend(if_possible(facts.x.is_some() && !recipe.output.residual, vec![add_and_norm]));
    ways
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

/// The mistake of hiding rows that should stay.
fn padded_outputs(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
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
