//! Mistakes in the projections of tokens: queries, keys and values from the wrong weights.

use super::{Way, Ways, if_possible, when};
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{Projection, Qkv, QkvSource};

const ROLES: [(Qkv, &str, &str); 3] =
    [(Qkv::Query, "Q", "queries"), (Qkv::Key, "K", "keys"), (Qkv::Value, "V", "values")];

/// The ways to make the mistakes of this file.
pub(super) const WAYS: &[Ways] = &[
    ("weights-transposed", |_, facts| match (facts.square_weights, facts.square_output) {
        (false, _) => Vec::new(),
        (true, false) => vec![Way::plain(Change::AllTransposed)],
        (true, true) => vec![
            Way::plain(Change::AllTransposed),
            Way::detailed(Change::AllTransposed, "and in W_O")
                .with(Change::Projection(Projection::Transposed)),
        ],
    }),
    ("values-unprojected", |_, facts| {
        when(facts.x.is_some_and(|x| x.rows == facts.keys), Change::Source(Qkv::Value, QkvSource::Tokens))
    }),
    ("values-are-keys", |_, _| vec![Way::plain(Change::Source(Qkv::Value, QkvSource::Of(Qkv::Key)))]),
    ("projection-transposed", |_, facts| transposed(facts)),
    ("keys-are-queries", |_, _| vec![replaced(Qkv::Key, Qkv::Query)]),
    ("queries-are-keys", |_, _| vec![replaced(Qkv::Query, Qkv::Key)]),
    ("values-are-queries", |_, _| vec![replaced(Qkv::Value, Qkv::Query)]),
    ("keys-are-values", |_, _| vec![replaced(Qkv::Key, Qkv::Value)]),
    ("keys-values-exchanged", |_, _| {
        let way = replaced(Qkv::Key, Qkv::Value);
        vec![way.with(Change::Source(Qkv::Value, QkvSource::Of(Qkv::Key)))]
    }),
    ("roles-exchanged", |_, _| exchanged()),
    ("projections-chained", |_, facts| if_possible(facts.from_tokens, chained(facts))),
    ("roles-unprojected", |_, facts| if_possible(facts.from_tokens, unprojected())),
];

/// One role has the numbers of another.
fn replaced(role: Qkv, other: Qkv) -> Way {
    Way::plain(Change::Source(role, QkvSource::Of(other)))
}

/// Some, and not all, of the projections transposed.
fn transposed(facts: &Facts) -> Vec<Way> {
    let mut ways = Vec::new();
    for chosen in [
        [true, false, false],
        [false, true, false],
        [false, false, true],
        [true, true, false],
        [true, false, true],
        [false, true, true],
    ] {
        let chosen_ones = || (0..3).filter(|&at| chosen[at]);
        if !chosen_ones().all(|at| facts.square[at]) {
            continue;
        }
        let names: Vec<String> = chosen_ones().map(|at| format!("W_{}", ROLES[at].1)).collect();
        let changes = chosen_ones().map(|at| Change::Source(ROLES[at].0, QkvSource::Transposed)).collect();
        let both = names.join(" and ");
        let said = match &names[..] {
            [only] => format!("Only {only} was transposed: you computed X {only}ᵀ instead of X {only}."),
            _ => format!("{both} were transposed, and the third projection was not."),
        };
        ways.push(
            Way::combined(changes, both)
                .saying(said)
                .fixing(format!("Multiply X by {} without transposing.", names.join(" and by "))),
        );
    }
    ways
}

/// Every other assignment of three roles to three roles.
fn exchanged() -> Vec<Way> {
    let mut ways = Vec::new();
    for at in 0..27 {
        let sources = [at / 9, at / 3 % 3, at % 3];
        let changed: Vec<usize> = (0..3).filter(|&role| sources[role] != role).collect();
        // All three roles exchanged in a circle, or one role for all three. Other exchanges have ids of their own: queries for
        // keys and keys for queries, for example, transpose the scores.
        let is_cycle = changed.len() == 3 && sources.iter().sum::<usize>() == 3;
        let is_one = sources[0] == sources[1] && sources[1] == sources[2];
        let values_for_queries = sources == [2, 0, 1] || sources == [2, 1, 0];
        if !(is_cycle || is_one || values_for_queries || sources == [2, 1, 2]) {
            continue;
        }
        let said: Vec<String> =
            changed.iter().map(|&role| format!("{} is {}", ROLES[role].1, ROLES[sources[role]].1)).collect();
        let said = said.join(", ");
        let change = |&role: &usize| Change::Source(ROLES[role].0, QkvSource::Of(ROLES[sources[role]].0));
        let sentence = format!("Queries, keys and values were exchanged: {said}.");
        ways.push(Way::combined(changed.iter().map(change).collect(), said).saying(sentence));
    }
    ways
}

/// Keys from the queries, values from the queries or the keys; only a square projection can be followed by another.
fn chained(facts: &Facts) -> Vec<Way> {
    use Qkv::{Key, Query, Value};
    let all: [&[(Qkv, Qkv)]; 5] = [
        &[(Key, Query)],
        &[(Value, Query)],
        &[(Value, Key)],
        &[(Key, Query), (Value, Query)],
        &[(Key, Query), (Value, Key)],
    ];
    let name = |role: Qkv| ROLES[role as usize].1;
    let possible = |steps: &&[(Qkv, Qkv)]| steps.iter().all(|&(_, from)| facts.square[from as usize]);
    let way = |steps: &[(Qkv, Qkv)]| {
        let said: Vec<String> =
            steps.iter().map(|&(role, from)| format!("{0} as {1} W_{0}", name(role), name(from))).collect();
        let right: Vec<String> =
            steps.iter().map(|&(role, _)| format!("{0} = X W_{0}", name(role))).collect();
        let detail: Vec<String> =
            steps.iter().map(|&(role, from)| format!("{} from {}", name(role), name(from))).collect();
        let changes = steps.iter().map(|&(role, from)| Change::Source(role, QkvSource::From(from))).collect();
        Way::combined(changes, detail.join(" and "))
            .saying(format!("You computed {}, not from X.", said.join(" and ")))
            .fixing(format!(
                "Compute {}: if x was overwritten, keep X under a name of its own.",
                right.join(" and ")
            ))
    };
    all.into_iter().filter(possible).map(way).collect()
}

/// Tokens for some of the roles; for the values alone it has a name of its own.
fn unprojected() -> Vec<Way> {
    let mut ways = Vec::new();
    for at in 1..8 {
        let chosen: Vec<usize> = (0..3).filter(|role| at >> role & 1 == 1).collect();
        if chosen == [2] {
            continue;
        }
        let names: Vec<&str> = chosen.iter().map(|&role| ROLES[role].2).collect();
        let list = match &names[..] {
            [one] => one.to_string(),
            [one, two] => format!("{one} and {two}"),
            _ => "queries, keys and values".to_string(),
        };
        let changes = chosen.iter().map(|&role| Change::Source(ROLES[role].0, QkvSource::Tokens)).collect();
        let said = format!("The {list} are the tokens themselves: X was not multiplied by their weights.");
        ways.push(Way::combined(changes, list).saying(said));
    }
    ways
}
