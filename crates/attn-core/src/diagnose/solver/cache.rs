//! The cache of keys and values: positions of the new tokens and of the cached keys, tokens that are in it twice or not at all.

use crate::graph::Role;
use crate::matrix::Matrix;

use super::rotary::{Turned, sides};
use super::{Alternative, Steps, slip, softmax};

/// The number of cached tokens; none where no token is cached.
fn cached(steps: &Steps<'_>) -> Option<usize> {
    let facts = steps.task.facts();
    let cached = facts.keys.checked_sub(facts.q.rows).filter(|cached| *cached > 0)?;
    (!steps.task.recipe().mask.from_start).then_some(cached)
}

/// Other positions of the queries, of the new keys, or of the cached ones.
pub(super) fn positions(steps: &Steps<'_>) -> Vec<Alternative> {
    let (Some(cached), Some([queries, keys])) = (cached(steps), sides(steps)) else { return Vec::new() };
    let (Some(first), Some(key)) = (queries.first(), keys.first()) else { return Vec::new() };
    let (right, total) = (first.first, key.source.rows());
    let mut all = Vec::new();
    for at in (0..=3 * total).filter(|at| *at != right) {
        let place = in_words(at, right);
        let new_key = |one: &Turned<'_>, row: usize| {
            if row < cached { one.position(row) } else { (at + row - cached) as f64 }
        };
        let moved_queries = || queries.iter().map(|one| one.at(|row| (at + row) as f64));
        let moved_keys = || keys.iter().map(|one| one.at(|row| new_key(one, row)));
        let together = format!(
            "The new token was rotated for the position {place}, its query and its key; the cached keys are right."
        );
        all.push(told(
            slip("cache-position", format!("query and key at {at}"), together),
            moved_queries().chain(moved_keys()).collect(),
        ));
        let alone = format!("The query was rotated for the position {place}; the keys are right.");
        all.push(told(slip("cache-position", format!("query at {at}"), alone), moved_queries().collect()));
        let alone =
            format!("The new key was rotated for the position {place}; query and cached keys are right.");
        all.push(told(slip("cache-position", format!("key at {at}"), alone), moved_keys().collect()));
    }
    let cached_at = |times: f64| {
        keys.iter()
            .map(|one| one.at(|row| if row < cached { times * one.position(row) } else { one.position(row) }))
            .collect::<Vec<_>>()
    };
    let unrotated = "The cached keys were not rotated: only the new one was.";
    let twice = "The cached keys were rotated a second time, after they had been cached rotated.";
    all.push(Alternative::new(slip("cache-rotation", "not rotated", unrotated), cached_at(0.0)));
    all.push(Alternative::new(slip("cache-rotation", "rotated twice", twice), cached_at(2.0)));
    all
}

/// An alternative with one number that was solved for.
fn told(slip: super::Slip, nodes: Vec<(String, Matrix)>) -> Alternative {
    Alternative { solved: 1, ..Alternative::new(slip, nodes) }
}

/// A wrong position beside the right one.
fn in_words(at: usize, right: usize) -> String {
    match at {
        0 => format!("0 instead of {right}, as if nothing were cached"),
        _ if at == 2 * right => format!("{at} instead of {right}: the offset was added twice"),
        _ if at == right + 1 => format!("{at} instead of {right}: one too far"),
        _ => format!("{at} instead of {right}"),
    }
}

/// Keys and values with a token twice, without one, or with an old one in the place of another.
pub(super) fn rows(steps: &Steps<'_>) -> Vec<Alternative> {
    let (recipe, keys) = (steps.task.recipe(), steps.task.facts().keys);
    let Some(cached) = cached(steps) else { return Vec::new() };
    if recipe.mask.matrix.is_some() || steps.task.facts().has_bias {
        return Vec::new();
    }
    let mut all = Vec::new();
    let mut push = |slip, from: Vec<usize>, roles: &[Role]| {
        let node = |role: &Role| {
            let whole = steps.matrix(role.name())?;
            Some((
                role.name().to_string(),
                Matrix::from_fn(from.len(), whole.cols(), |i, c| whole[(from[i], c)]),
            ))
        };
        all.extend(
            roles.iter().map(node).collect::<Option<Vec<_>>>().map(|nodes| Alternative::new(slip, nodes)),
        );
    };
    let both = [Role::K, Role::V];
    for row in 0..keys {
        let token = if row + 1 == cached {
            format!("The last token of the prompt ({})", row + 1)
        } else {
            format!("Token {}", row + 1)
        };
        let twice: Vec<usize> = (0..=row).chain(row..keys).collect();
        let said = format!("{token} is in the cache twice: it was fed and cached a second time.");
        push(slip("cache-tokens", format!("token {} twice", row + 1), said), twice, &both);
        if keys > 2 {
            let without: Vec<usize> = (0..keys).filter(|other| *other != row).collect();
            let said = format!("{token} is not in the cache: its key and value are missing.");
            push(slip("cache-tokens", format!("token {} missing", row + 1), said), without, &both);
        }
        for (roles, what) in [(&both[..], "key and value"), (&both[..1], "key"), (&both[1..], "value")] {
            for other in [row.wrapping_sub(1), row + 1].into_iter().filter(|other| *other < keys) {
                let stale: Vec<usize> = (0..keys).map(|at| if at == row { other } else { at }).collect();
                let said = format!(
                    "In the place of the {what} of token {} stands that of token {}: the cache is stale.",
                    row + 1,
                    other + 1
                );
                push(
                    slip("cache-tokens", format!("{what} {} for {}", other + 1, row + 1), said),
                    stale,
                    roles,
                );
            }
        }
    }
    all
}

/// What the cache holds at each step of a loop over the tokens: its detail, a sentence, and the score of a query at a key, from the
/// place of the query's own key.
type EachStep = (&'static str, &'static str, fn(&Matrix, usize, usize, usize, usize) -> f64);

/// Ways in which the cache is wrong at every step. A key that is in it twice has twice its weight: its score plus ln 2.
const EACH_STEP: [EachStep; 4] = [
    (
        "stale key at each step",
        "At each step the newest key is that of the token before: the cache is updated too late.",
        |scores, i, j, own, _| if j == own && own > 0 { scores[(i, own - 1)] } else { scores[(i, j)] },
    ),
    (
        "stale key and value at each step",
        "At each step the newest key and value are those of the token before: the cache is updated too late.",
        |scores, i, j, own, _| match j {
            _ if own == 0 => scores[(i, j)],
            _ if j == own => f64::NEG_INFINITY,
            _ if j + 1 == own => scores[(i, j)] + std::f64::consts::LN_2,
            _ => scores[(i, j)],
        },
    ),
    (
        "newest token twice at each step",
        "At each step the newest token is in the cache twice.",
        |scores, i, j, own, _| scores[(i, j)] + if j == own { std::f64::consts::LN_2 } else { 0.0 },
    ),
    (
        "overwritten at each step",
        "Each new token overwrites the one before in the cache: a query sees the prompt and itself alone.",
        |scores, i, j, own, cached| {
            if (cached..own).contains(&j) { f64::NEG_INFINITY } else { scores[(i, j)] }
        },
    ),
];

/// A loop over the tokens with a cache that is wrong at every step.
pub(super) fn each_step(steps: &Steps<'_>) -> Vec<Alternative> {
    let (recipe, facts) = (steps.task.recipe(), steps.task.facts());
    let cached = facts.keys.checked_sub(facts.q.rows).filter(|_| facts.q.rows > 1);
    let Some(cached) = cached.filter(|_| recipe.mask.causal && !recipe.mask.from_start) else {
        return Vec::new();
    };
    let one = |(detail, said, score): EachStep| {
        let nodes = steps.weights(|_, _, masked| {
            softmax(&Matrix::from_fn(masked.rows(), masked.cols(), |i, j| {
                score(masked, i, j, cached + i, cached)
            }))
        })?;
        Some(Alternative::new(slip("cache-tokens", detail, said), nodes))
    };
    EACH_STEP.into_iter().filter_map(one).collect()
}
