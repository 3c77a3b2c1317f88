//! Top-k of a row, and sorted numbers.

use std::collections::BTreeSet;

use super::{Likelihood, Mistake, Way, altered};
use crate::attention::{Axis, Order};
use crate::diagnose::Facts;
use crate::graph::recipes::{Alter, Recipe, Site};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "top-k-weights",
        likelihood: Likelihood::Rare,
        slip: "Only the largest weights of each row were kept.",
        why: "A softmax lets every visible key keep a share; the smallest shares are part of the result too.",
        fix: "Multiply all weights by the values.",
        symptom: "Every row of the weights has the same number of weights that are not 0.",
        demo: Some("lookup"),
        ways: |_, facts| top_k(facts),
    },
    Mistake {
        id: "numbers-sorted",
        likelihood: Likelihood::Rare,
        slip: "Numbers were sorted.",
        why: "The place of a number says which query, key or feature it belongs to.",
        fix: "Leave scores, weights and results in their places; argsort gives an order without moving them.",
        symptom: "The right numbers are there, in the order of their size.",
        demo: Some("weighted-sum"),
        ways: |recipe, facts| sorted(recipe, facts),
    },
];

/// The k largest weights of each row, for the usual k.
fn top_k(facts: &Facts) -> Vec<Way> {
    let counts: BTreeSet<usize> = [1, 2, 3, facts.keys / 2, facts.keys.saturating_sub(1)].into();
    let possible = counts.into_iter().filter(|&count| 0 < count && count < facts.keys);
    let ways = possible.flat_map(|count| {
        let (kept, said) = if count == 1 {
            ("the largest weight".to_string(), "Only the largest weight of each row was kept.".to_string())
        } else {
            (
                format!("the {count} largest weights"),
                format!("Only the {count} largest weights of each row were kept"),
            )
        };
        let way = |divided, detail, said| {
            Way::detailed(altered(Site::Weights, Alter::TopK { count, divided }), detail).saying(said)
        };
        // One weight over itself is 1: an argmax, which has a name of its own.
        if count == 1 {
            return vec![way(false, kept, said)];
        }
        let divided =
            way(true, format!("{kept}, divided again"), format!("{said}, and divided by their sum."));
        let mut ways = vec![way(false, kept, format!("{said}, and their sum is less than 1."))];
        // Divided by its sum a row that sees nothing is NaN, and a missing guard has a name of its own.
        if facts.empty_rows == 0 {
            ways.push(divided);
        }
        ways
    });
    ways.collect()
}

/// Scores, weights and results in the order of their size. Without a mask sorted scores are sorted weights.
fn sorted(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let mut places = vec![
        (Site::Weights, Axis::Rows, "weights of each row"),
        (Site::Result, Axis::Rows, "numbers of each row of the result"),
        (Site::Result, Axis::Columns, "numbers of each column of the result"),
    ];
    if recipe.mask.is_some() || facts.has_bias {
        places.push((Site::Scores, Axis::Rows, "scores of each row"));
    }
    let orders = [(Order::Ascending, "smallest"), (Order::Descending, "largest")];
    let ways = places.into_iter().flat_map(|(stage, axis, what)| {
        orders.map(|(order, first)| {
            Way::detailed(altered(stage, Alter::Sorted(order, axis)), format!("{what}, the {first} first"))
                .saying(format!("The {what} were sorted, the {first} first."))
        })
    });
    ways.collect()
}
