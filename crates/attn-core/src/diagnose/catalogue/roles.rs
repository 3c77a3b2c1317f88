//! Mistakes in the projections of tokens: queries, keys and values from the wrong weights.

use super::{Likelihood, Mistake, Way, if_possible, when};
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{Projection, Qkv, QkvSource};

const ROLES: [(Qkv, &str, &str); 3] =
    [(Qkv::Query, "Q", "queries"), (Qkv::Key, "K", "keys"), (Qkv::Value, "V", "values")];

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "weights-transposed",
        likelihood: Likelihood::Classic,
        slip: "The projections were transposed: you computed X Wᵀ instead of X W with W_Q, W_K and W_V.",
        why: "Row i of X is multiplied by column j of W. PyTorch's Linear stores its weights as (out, in) and multiplies by Wᵀ; \
              with square weights no error appears when the two layouts are mixed up.",
        fix: "Multiply from the right without transposing: X W, or X Wᵀ only for PyTorch's (out, in) layout.",
        symptom: "Q, K and V are wrong from the first cell on, although every shape is right.",
        demo: Some("qkv"),
        ways: |_, facts| match (facts.square_weights, facts.square_output) {
            (false, _) => Vec::new(),
            (true, false) => vec![Way::plain(Change::AllTransposed)],
            (true, true) => vec![
                Way::plain(Change::AllTransposed),
                Way::detailed(Change::AllTransposed, "and in W_O")
                    .with(Change::Projection(Projection::Transposed)),
            ],
        },
    },
    Mistake {
        id: "values-unprojected",
        likelihood: Likelihood::Classic,
        slip: "The weights mixed the tokens themselves: you computed A X instead of A V.",
        why: "A token is compared through its key, but it passes on its value V = X W_V.",
        fix: "Multiply the weights by V = X W_V, not by X.",
        symptom: "The weights are right, and the result has the numbers of X in it.",
        demo: Some("qkv"),
        ways: |_, facts| {
            when(facts.x.is_some_and(|x| x.rows == facts.keys), Change::Source(Qkv::Value, QkvSource::Tokens))
        },
    },
    Mistake {
        id: "values-are-keys",
        likelihood: Likelihood::Classic,
        slip: "The weights mixed the keys: you computed A K instead of A V.",
        why: "Keys are compared with queries; values are mixed.",
        fix: "Multiply the weights by V, not by K.",
        symptom: "The weights are right, and the result has the numbers of K in it.",
        demo: Some("lookup"),
        ways: |_, _| vec![Way::plain(Change::Source(Qkv::Value, QkvSource::Of(Qkv::Key)))],
    },
    Mistake {
        id: "projection-transposed",
        likelihood: Likelihood::Common,
        slip: "One of the projections was transposed, and the others were not.",
        why: "Row i of X is multiplied by column j of W. With square weights no error appears when one of them is transposed.",
        fix: "Compute X W for all three projections, without transposing any.",
        symptom: "Of Q, K and V some are right and others wrong from the first cell on.",
        demo: Some("qkv"),
        ways: |_, facts| transposed(facts),
    },
    Mistake {
        id: "keys-are-queries",
        likelihood: Likelihood::Common,
        slip: "The keys are the queries: K was computed with W_Q, or is Q.",
        why: "A token asks through its query and answers through its key; with one matrix for both, the scores are symmetric.",
        fix: "Compute the keys as K = X W_K.",
        symptom: "S equals its own transpose.",
        demo: Some("transforms"),
        ways: |_, _| vec![replaced(Qkv::Key, Qkv::Query)],
    },
    Mistake {
        id: "queries-are-keys",
        likelihood: Likelihood::Common,
        slip: "The queries are the keys: Q was computed with W_K, or is K.",
        why: "A token asks through its query and answers through its key; with one matrix for both, the scores are symmetric.",
        fix: "Compute the queries as Q = X W_Q.",
        symptom: "S equals its own transpose.",
        demo: Some("transforms"),
        ways: |_, _| vec![replaced(Qkv::Query, Qkv::Key)],
    },
    Mistake {
        id: "values-are-queries",
        likelihood: Likelihood::Common,
        slip: "The weights mixed the queries: V was computed with W_Q, or is Q.",
        why: "Queries are compared with keys; values are mixed.",
        fix: "Multiply the weights by V = X W_V.",
        symptom: "The weights are right, and the result has the numbers of Q in it.",
        demo: Some("lookup"),
        ways: |_, _| vec![replaced(Qkv::Value, Qkv::Query)],
    },
    Mistake {
        id: "keys-are-values",
        likelihood: Likelihood::Common,
        slip: "The queries were compared with the values: K was computed with W_V, or is V.",
        why: "A token is found by its key, and what it passes on is its value.",
        fix: "Compute the scores from K = X W_K.",
        symptom: "The scores are wrong, and the values are right.",
        demo: Some("lookup"),
        ways: |_, _| vec![replaced(Qkv::Key, Qkv::Value)],
    },
    Mistake {
        id: "keys-values-exchanged",
        likelihood: Likelihood::Common,
        slip: "Keys and values were exchanged: you compared Q with V, and mixed K.",
        why: "A token is found by its key, and what it passes on is its value.",
        fix: "Compute the scores from K and mix V; check the order of the arguments (q, k, v).",
        symptom: "The scores are wrong, and the result has the numbers of K in it.",
        demo: Some("lookup"),
        ways: |_, _| {
            let way = replaced(Qkv::Key, Qkv::Value);
            vec![way.with(Change::Source(Qkv::Value, QkvSource::Of(Qkv::Key)))]
        },
    },
    Mistake {
        id: "roles-exchanged",
        likelihood: Likelihood::Rare,
        slip: "Queries, keys and values were exchanged.",
        why: "Each of the three has weights of its own; the order in which they are unpacked must be the one in which they were packed.",
        fix: "Check the order: Q = X W_Q, K = X W_K, V = X W_V.",
        symptom: "Q, K and V have the right numbers under the wrong names.",
        demo: Some("qkv"),
        ways: |_, _| exchanged(),
    },
    Mistake {
        id: "projections-chained",
        likelihood: Likelihood::Common,
        slip: "A projection was applied to the result of another one instead of X.",
        why: "Queries, keys and values are three views of the same tokens: each projection reads X.",
        fix: "Compute Q = X W_Q, K = X W_K and V = X W_V, all from the same X: do not overwrite x.",
        symptom: "Q is right, and what is computed after it is not.",
        demo: Some("qkv"),
        ways: |_, facts| if_possible(facts.from_tokens, chained(facts)),
    },
    Mistake {
        id: "roles-unprojected",
        likelihood: Likelihood::Common,
        slip: "Some of queries, keys and values are the tokens themselves: X was not projected.",
        why: "Without W_Q and W_K a token attends mostly to what is like it; the projections let it look for something else.",
        fix: "Compute Q = X W_Q, K = X W_K and V = X W_V.",
        symptom: "The scores contain X Xᵀ, which is symmetric.",
        demo: Some("transforms"),
        ways: |_, facts| if_possible(facts.from_tokens, unprojected()),
    },
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
        let mut way = Way {
            changes: chosen_ones().map(|at| Change::Source(ROLES[at].0, QkvSource::Transposed)).collect(),
            ..Way::detailed(Change::Transposed, names.join(" and "))
        };
        way = match &names[..] {
            [only] => {
                way.saying(format!("Only {only} was transposed: you computed X {only}ᵀ instead of X {only}."))
            }
            _ => way.saying(format!(
                "{} were transposed, and the third projection was not.",
                names.join(" and ")
            )),
        };
        ways.push(way.fixing(format!("Multiply X by {} without transposing.", names.join(" and by "))));
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
        let mut way = Way::detailed(Change::Transposed, said.join(", "));
        way.changes = changed
            .iter()
            .map(|&role| Change::Source(ROLES[role].0, QkvSource::Of(ROLES[sources[role]].0)))
            .collect();
        ways.push(way.saying(format!("Queries, keys and values were exchanged: {}.", said.join(", "))));
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
        Way {
            changes: steps.iter().map(|&(role, from)| Change::Source(role, QkvSource::From(from))).collect(),
            ..Way::detailed(Change::Transposed, detail.join(" and "))
        }
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
        let mut way = Way::detailed(Change::Transposed, list.clone());
        way.changes = chosen.iter().map(|&role| Change::Source(ROLES[role].0, QkvSource::Tokens)).collect();
        ways.push(
            way.saying(format!(
                "The {list} are the tokens themselves: X was not multiplied by their weights."
            )),
        );
    }
    ways
}
