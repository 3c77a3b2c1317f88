//! Every operator at every site, with sentences composed from the two tables. Mistakes with a name of their own are found before.

use super::operator_fixes::fix;
use super::operators::{Operator, Subject, operators};
use super::stages::{PLACES, StageWords};
use super::{Likelihood, Mistake, Way, altered};
use crate::diagnose::Facts;
use crate::graph::recipes::Recipe;

/// The ways of one mistake: everything that can be done at its stages.
pub(super) fn ways(id: &str, recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let places = PLACES.iter().filter(|place| place.id == id && (place.is_there)(recipe, facts));
    places
        .flat_map(|place| {
            operators(place, recipe, facts).into_iter().map(move |operator| way(place, &operator))
        })
        .collect()
}

fn way(place: &StageWords, operator: &Operator) -> Way {
    let way = Way::detailed(altered(place.stage, operator.alter), detail(place, operator));
    Way { general: true, ..way.saying(sentence(place, operator)).fixing(fix(place, operator.alter)) }
}

/// The clause of an operator, with “their” or “its” and “themselves” or “itself”.
fn done(place: &StageWords, operator: &Operator) -> String {
    let is_plural = match operator.of {
        Subject::All => place.plural,
        Subject::Parts(_) => true,
        Subject::Part(_) => false,
    };
    let done = operator.done.replace("{their}", if is_plural { "their" } else { "its" });
    if is_plural { done } else { done.replace("themselves", "itself") }
}

/// “The first row of the queries was set to 0 before the scores were computed.”
fn sentence(place: &StageWords, operator: &Operator) -> String {
    let (subject, verb) = match operator.of {
        Subject::All => (place.noun.to_string(), place.verb()),
        Subject::Parts(parts) => (format!("{parts} of {}", place.noun), "were"),
        Subject::Part(part) => (format!("{part} of {}", place.noun), "was"),
    };
    let done = done(place, operator);
    let rest = match place.when {
        "" => done.trim_end_matches(',').to_string(),
        when => format!("{done} {when}"),
    };
    let sentence = format!("{subject} {verb} {rest}.");
    let (first, rest) = sentence.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

/// “first row set to 0, after the scale”.
fn detail(place: &StageWords, operator: &Operator) -> String {
    let done = done(place, operator);
    let done = done.trim_end_matches(',');
    let what = match operator.of {
        Subject::All => done.to_string(),
        Subject::Parts(part) | Subject::Part(part) => format!("{} {done}", part.trim_start_matches("the ")),
    };
    if place.note.is_empty() { what } else { format!("{what}, {}", place.note) }
}

const fn general(
    id: &'static str,
    [slip, why, fix, symptom]: [&'static str; 4],
    demo: &'static str,
    ways: fn(&Recipe, &Facts) -> Vec<Way>,
) -> Mistake {
    Mistake { id, likelihood: Likelihood::Rare, slip, why, fix, symptom, demo: Some(demo), ways }
}

/// Alterations of tokens, weights of projections, queries, keys and values.
pub(super) const BEFORE_SCORES: &[Mistake] = &[
    general(
        "tokens-altered",
        [
            "Something was done to the tokens before they were projected.",
            "Q, K and V are products of X itself with their weights.",
            "Use the tokens as they are.",
            "Q, K and V are all wrong.",
        ],
        "qkv",
        |recipe, facts| ways("tokens-altered", recipe, facts),
    ),
    general(
        "projections-altered",
        [
            "Something was done to a projection matrix before it was used.",
            "W_Q, W_K, W_V and W_O are parameters: they multiply as they are.",
            "Use the projection matrices as they are.",
            "What comes out of that projection is wrong, and the others are right.",
        ],
        "qkv",
        |recipe, facts| ways("projections-altered", recipe, facts),
    ),
    general(
        "queries-altered",
        [
            "Something was done to the queries before the scores were computed.",
            "The scores are the dot products of the queries and keys as they are.",
            "Use the queries as they are.",
            "The scores are wrong, and Q and K are right.",
        ],
        "pairwise",
        |recipe, facts| ways("queries-altered", recipe, facts),
    ),
    general(
        "keys-altered",
        [
            "Something was done to the keys before the scores were computed.",
            "The scores are the dot products of the queries and keys as they are.",
            "Use the keys as they are.",
            "The scores are wrong, and Q and K are right.",
        ],
        "pairwise",
        |recipe, facts| ways("keys-altered", recipe, facts),
    ),
    general(
        "keys-values-altered",
        [
            "Something was done to the keys and values before they were used.",
            "The queries are compared with the keys as they are, and the weights mix the values as they are.",
            "Use the keys and values as they are.",
            "The queries are right, and the scores are wrong.",
        ],
        "lookup",
        |recipe, facts| ways("keys-values-altered", recipe, facts),
    ),
    general(
        "queries-keys-values-altered",
        [
            "Something was done to the queries, keys and values before they were used.",
            "Attention reads Q, K and V as the projections give them.",
            "Use the queries, keys and values as they are.",
            "The projections are right, and everything after them is wrong.",
        ],
        "qkv",
        |recipe, facts| ways("queries-keys-values-altered", recipe, facts),
    ),
];

/// Alterations of the heads and of the result.
pub(super) const AFTER_WEIGHTS: &[Mistake] = &[
    general(
        "heads-altered",
        [
            "Something was done to the mixed values before they became the result.",
            "The heads are joined and projected as they are.",
            "Use the results of the heads as they are.",
            "The weights are right, and the joined heads are wrong.",
        ],
        "multihead",
        |recipe, facts| ways("heads-altered", recipe, facts),
    ),
    general(
        "residual-altered",
        [
            "Something was done to the tokens before they were added to the result.",
            "The residual carries the token itself.",
            "Add X to the result as it is.",
            "Your result minus what attention gives is not X.",
        ],
        "update",
        |recipe, facts| ways("residual-altered", recipe, facts),
    ),
    general(
        "result-altered",
        [
            "Something was done to the result.",
            "The last product (and the residual, where there is one) is the result.",
            "Hand in the result as it is.",
            "Every step before the result is right.",
        ],
        "weighted-sum",
        |recipe, facts| ways("result-altered", recipe, facts),
    ),
];
