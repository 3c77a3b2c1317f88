//! Heads cut, shared and joined in other ways.

use std::collections::BTreeSet;

use crate::attention::{Axis, Order};
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{
    Alter, Divisor, Groups, HeadSharing, Hiding, Merge, Normalise, Recipe, Scale, Shift, Site, Slant, Split,
    SplitRoles,
};
use crate::text::counted;

use super::{Way, Ways, altered, if_possible, when};

/// The ways to make the mistakes of this file.
pub(super) const WAYS: &[Ways] = &[
    ("heads-by-reshape", |recipe, _| {
        let both = "at the split and at the join";
        let all = Change::Split(Split::Reshaped, SplitRoles::default());
        let mut ways = vec![
            Way::detailed(all, "at the split"),
            Way::detailed(all, both).with(Change::Merge(Merge::Reshaped)).saying(
                "The heads were split and joined by reshaping, without swapping the axes before and after.",
            ),
        ];
        ways.extend(split_ways(Split::Reshaped).into_iter().skip(1));
        if_possible(recipe.heads > 1, ways)
    }),
    ("heads-interleaved-both", |recipe, _| {
        let split = Change::Split(Split::Interleaved, SplitRoles::default());
        let split = Way::plain(split).with(Change::Merge(Merge::ByColumn));
        if_possible(recipe.heads > 1, vec![split])
    }),
    ("columns-interleaved", |recipe, _| when(recipe.heads > 1, Change::Merge(Merge::ByColumn))),
    ("heads-full-width", |recipe, facts| {
        let ways = vec![Way::plain(Change::Heads(1, 1)).with(Change::Scale(Scale::InverseRootOf(facts.d_k)))];
        let scaled = recipe.scale == Scale::Auto;
        if_possible(recipe.heads > 1 && recipe.heads == recipe.kv_heads && scaled, ways)
    }),
    ("heads-share-first", |recipe, _| if_possible(recipe.heads > 1, shared())),
    ("heads-averaged", |recipe, _| {
        let ways = vec![
            Way::detailed(Change::Merge(Merge::Averaged), "their results"),
            Way::detailed(Change::Merge(Merge::Averaged), "their results, without W_O")
                .with(Change::Projected(false)),
            Way::detailed(Change::Common(HeadSharing::MeanWeights), "their weights")
                .saying("The weights of all heads were averaged, and every head used the mean.")
                .fixing("Let each head mix its values with its own weights."),
            Way::detailed(Change::Common(HeadSharing::MeanScores), "their scores")
                .saying("The scores of all heads were averaged, and every head used the mean.")
                .fixing("Let each head have the softmax of its own scores."),
            Way::detailed(Change::Common(HeadSharing::MeanMixes), "their results, each in place of its own")
                .saying("The results of all heads were averaged, and the mean took the place of each.")
                .fixing("Put the results of the heads side by side as they are."),
        ];
        if_possible(recipe.heads > 1, ways)
    }),
    ("heads-wrong-number", |recipe, facts| numbers(recipe, facts)),
    ("heads-unjoined", |recipe, facts| {
        let whole = |merge, detail: &str| {
            Way::detailed(Change::Merge(merge), detail)
                .with(Change::Projected(false))
                .with(Change::Residual(false))
        };
        let mut ways = vec![
            whole(Merge::Stacked, "head by head"),
            whole(Merge::Stacked, "head by head, and transposed").with(Change::Transposed),
        ];
        // One column a head, token by token, is the joined result in one column.
        if facts.d_v > 1 || facts.projects {
            ways.push(whole(Merge::TokenByToken, "token by token"));
            ways.push(whole(Merge::TokenByToken, "token by token, and transposed").with(Change::Transposed));
        }
        if_possible(recipe.heads > 1, ways)
    }),
    ("kv-head-first-only", |recipe, _| when(is_grouped(recipe), Change::Groups(Groups::First))),
    ("kv-heads-reversed", |recipe, _| when(recipe.kv_heads > 1, Change::Groups(Groups::Reversed))),
    ("heads-interleaved", |recipe, _| if_possible(recipe.heads > 1, split_ways(Split::Interleaved))),
    ("heads-not-split", |recipe, _| {
        when(recipe.heads > 1 && recipe.heads == recipe.kv_heads, Change::Heads(1, 1))
    }),
    ("gqa-tiled", |recipe, _| when(is_grouped(recipe), Change::Groups(Groups::Tiled))),
    ("heads-not-transposed", |recipe, _| when(recipe.heads > 1, Change::Merge(Merge::Reshaped))),
    ("heads-reversed", |recipe, _| when(recipe.heads > 1, Change::Merge(Merge::Reversed))),
    ("heads-summed", |recipe, _| when(recipe.heads > 1, Change::Merge(Merge::Summed))),
    ("top-k-weights", |_, facts| top_k(facts)),
    ("numbers-sorted", |recipe, facts| sorted(recipe, facts)),
    ("range-slides", |recipe, facts| {
        let mut ways = of_products(facts);
        if facts.keys > 1 {
            ways.extend(of_sums());
            ways.extend(of_maxima(recipe));
        }
        ways
    }),
];

/// The heads of all roles cut in this way, and of some of the roles alone.
pub(super) fn split_ways(split: Split) -> Vec<Way> {
    let cut = match split {
        Split::Reshaped => "split by reshaping (T, H·d) to (H, T, d)",
        Split::Interleaved | Split::Blocks => "split by taking every H-th column",
    };
    let some = [
        ([true, false, false], "queries"),
        ([false, true, false], "keys"),
        ([false, false, true], "values"),
        ([true, true, false], "queries and keys"),
        ([false, true, true], "keys and values"),
        ([true, false, true], "queries and values"),
    ];
    let some = some.map(|([q, k, v], which)| {
        Way::detailed(Change::Split(split, SplitRoles { q, k, v }), format!("only the {which}"))
            .saying(format!("Only the {which} were {cut}; the rest was split right."))
    });
    [Way::plain(Change::Split(split, SplitRoles::default()))].into_iter().chain(some).collect()
}

fn is_grouped(recipe: &Recipe) -> bool {
    1 < recipe.kv_heads && recipe.kv_heads < recipe.heads
}

fn shared() -> Vec<Way> {
    let first = |[q, k, v]: [bool; 3], what: &str| {
        Way::detailed(Change::Common(HeadSharing::FirstOf { q, k, v }), what)
            .saying(format!("All heads use the {what} of head 1."))
    };
    let common = [
        ([true, true, true], "queries, keys and values"),
        ([true, false, false], "queries"),
        ([false, true, false], "keys"),
        ([false, false, true], "values"),
        ([false, true, true], "keys and values"),
        ([true, true, false], "queries and keys"),
    ];
    let mut ways: Vec<Way> = common.map(|(which, what)| first(which, what)).to_vec();
    ways.push(
        Way::detailed(Change::Common(HeadSharing::FirstWeights), "weights")
            .saying("All heads use the weights of head 1."),
    );
    ways
}

/// Every number of heads, and of key/value heads, that divides the widths.
fn numbers(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    const MOST: usize = 16;
    let (heads, groups) = (recipe.heads, recipe.kv_heads);
    let k_width = facts.d_k * groups;
    let mut ways = Vec::new();
    for h in (1..=MOST).filter(|h| facts.q.cols.is_multiple_of(*h)) {
        for g in (1..=h).filter(|g| h.is_multiple_of(*g) && k_width.is_multiple_of(*g)) {
            let fits = facts.q.cols / h == k_width / g && facts.v.cols.is_multiple_of(g);
            // One head over the full width has a name of its own.
            if !fits || (h, g) == (heads, groups) || (h, g) == (1, 1) {
                continue;
            }
            let what = match (g == h, groups == heads) {
                (true, true) => counted(h, "head"),
                _ => format!("{} over {}", counted(h, "head"), counted(g, "key/value head")),
            };
            let right = if groups == heads {
                heads.to_string()
            } else {
                format!("{heads} over {}", counted(groups, "key/value head"))
            };
            let said = format!("The width was split into {what} instead of {right}.");
            ways.push(Way::detailed(Change::Heads(h, g), what).saying(said));
        }
    }
    ways
}

// Mistakes in taking heads apart and putting them together.

// Top-k of a row, and sorted numbers.

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

// Mistakes in a spreadsheet: a range without a $ moves when its formula is filled down or to the right.

/// Ranges of K, V and the weights of the projections, which move down.
fn of_products(facts: &Facts) -> Vec<Way> {
    let way = |stage, slant, detail: &str, said: &str| {
        let range = if stage == Site::Tokens { "ranges" } else { "range" };
        let said = format!("The {range} of {detail} moved down with the formula (a $ is missing): {said}");
        Way::detailed(altered(stage, Alter::Slanted(slant)), detail).saying(said)
    };
    let mut ways = Vec::new();
    if facts.q.rows > 1 && facts.keys > 1 {
        let said = "score (i, j) compares query i with key j + i − 1, and keys after the last count as 0.";
        ways.push(way(Site::Scores, Slant::Left, "K", said));
        let said = "weight (i, j) multiplies value j + i − 1, and values after the last count as 0.";
        ways.push(way(Site::Weights, Slant::Right, "V", said));
    }
    if facts.from_tokens && facts.x.is_some_and(|x| x.rows > 1 && x.cols > 1) {
        let said = "for token i the projections begin at their row i, and rows after the last count as 0.";
        ways.push(way(Site::Tokens, Slant::Right, "W_Q, W_K and W_V", said));
    }
    ways
}

/// Ranges of sums.
fn of_sums() -> Vec<Way> {
    let of = |axis, shift| Normalise { divisor: Divisor::SumFromHere(axis), shift, ..Normalise::default() };
    let ways = [
        (of(Axis::Rows, Shift::Max), "the sum of its row from its own column on", "right"),
        (of(Axis::Columns, Shift::Nothing), "the sum of its column from its own row on", "down"),
        (of(Axis::Whole, Shift::Nothing), "the sum of its own row and all rows below", "down"),
    ];
    ways.map(|(normalise, what, to)| {
        let way = if to == "right" { "to the right" } else { to };
        let said = format!(
            "The range of the sum moved {way} with the formula (a $ is missing): each exponential was divided by {what}."
        );
        Way::detailed(Change::Normalise(normalise), what).saying(said)
    })
    .to_vec()
}

/// The range of the maximum, alone and together with that of the sum.
fn of_maxima(recipe: &Recipe) -> Vec<Way> {
    let alone = Normalise { shift: Shift::MaxFromHere, ..Normalise::default() };
    let both = Normalise { divisor: Divisor::SumFromHere(Axis::Rows), ..alone };
    let way = |normalise, detail: &str, ranges: &str, and: &str| {
        let said = format!(
            "{ranges} moved to the right with the formula (a $ is missing): the largest score from its own column on was \
             subtracted from each score{and}."
        );
        Way::detailed(Change::Normalise(normalise), detail).saying(said)
    };
    let divided = ", and each exponential was divided by the sum from its own column on";
    let mut ways = vec![
        way(alone, "the maximum", "The range of the maximum", ""),
        way(both, "the maximum and the sum", "The ranges of the maximum and of the sum", divided),
    ];
    if recipe.mask.is_some() {
        // A spreadsheet has no −∞.
        let finite = way(alone, "the maximum, with −1e9 for −∞", "The range of the maximum", "");
        ways.push(finite.with(Change::Hiding(Hiding::Replaced(-1e9))));
    }
    ways
}
