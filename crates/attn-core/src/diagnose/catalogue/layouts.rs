//! Heads cut, shared and joined in other ways.

use super::{Likelihood, Mistake, Way, if_possible, when};
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{Groups, HeadSharing, Merge, Recipe, Scale, Split, SplitRoles};
use crate::text::counted;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "heads-by-reshape",
        likelihood: Likelihood::Classic,
        slip: "The heads were split by reshaping (T, H·d) to (H, T, d) without swapping the axes.",
        why: "In memory the columns of one token stand side by side: reading them as (H, T, d) mixes tokens and columns.",
        fix: "Reshape to (T, H, d) and then swap the first two axes.",
        symptom: "Q, K and V are right, and the rows of every head mix several tokens.",
        demo: Some("multihead"),
        ways: |recipe, _| {
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
        },
    },
    Mistake {
        id: "heads-interleaved-both",
        likelihood: Likelihood::Common,
        slip: "Head h took every H-th column, at the split and at the join.",
        why: "The columns are (head, column within the head), not the other way round.",
        fix: "Reshape (T, H·d) to (T, H, d), so that each head gets neighbouring columns.",
        symptom: "The result has the right layout, and every head has the wrong columns.",
        demo: Some("multihead"),
        ways: |recipe, _| {
            let split = Change::Split(Split::Interleaved, SplitRoles::default());
            let split = Way::plain(split).with(Change::Merge(Merge::ByColumn));
            if_possible(recipe.heads > 1, vec![split])
        },
    },
    Mistake {
        id: "columns-interleaved",
        likelihood: Likelihood::Common,
        slip: "The heads were joined with column 1 of every head first, then column 2.",
        why: "The rows of W_O belong to the heads in blocks: all columns of head 1, then all of head 2.",
        fix: "Concatenate the heads side by side.",
        symptom: "The numbers of each row are right, in the wrong columns.",
        demo: Some("output"),
        ways: |recipe, _| when(recipe.heads > 1, Change::Merge(Merge::ByColumn)),
    },
    Mistake {
        id: "heads-full-width",
        likelihood: Likelihood::Common,
        slip: "One head was computed over the full width, and still divided by the √d_k of a head.",
        why: "Each head compares its own columns and has its own softmax.",
        fix: "Split Q, K and V into heads before you compute scores.",
        symptom: "All heads have the same weights, which are too sharp.",
        demo: Some("multihead"),
        ways: |recipe, facts| {
            let ways =
                vec![Way::plain(Change::Heads(1, 1)).with(Change::Scale(Scale::InverseRootOf(facts.d_k)))];
            let scaled = recipe.scale == Scale::Auto;
            if_possible(recipe.heads > 1 && recipe.heads == recipe.kv_heads && scaled, ways)
        },
    },
    Mistake {
        id: "heads-share-first",
        likelihood: Likelihood::Common,
        slip: "All heads use what belongs to head 1.",
        why: "Every head has its own columns and its own weights.",
        fix: "Use the index of the head: q[h], k[h], v[h], A[h].",
        symptom: "Head 1 is right, and all others repeat something of it.",
        demo: Some("multihead"),
        ways: |recipe, _| if_possible(recipe.heads > 1, shared()),
    },
    Mistake {
        id: "heads-averaged",
        likelihood: Likelihood::Common,
        slip: "The heads were averaged instead of concatenated.",
        why: "A mean loses which head gave what; W_O mixes the heads later, each through its own rows.",
        fix: "Concatenate the heads side by side instead of averaging them.",
        symptom: "The result is as wide as one head, or all heads have the same weights.",
        demo: Some("sum-heads"),
        ways: |recipe, _| {
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
                Way::detailed(
                    Change::Common(HeadSharing::MeanMixes),
                    "their results, each in place of its own",
                )
                .saying("The results of all heads were averaged, and the mean took the place of each.")
                .fixing("Put the results of the heads side by side as they are."),
            ];
            if_possible(recipe.heads > 1, ways)
        },
    },
    Mistake {
        id: "heads-wrong-number",
        likelihood: Likelihood::Common,
        slip: "The width was split into another number of heads.",
        why: "The number of heads says which columns are compared together.",
        fix: "Split into the number of heads that the exercise asks for.",
        symptom: "The shapes are right, and the scores are not.",
        demo: Some("multihead"),
        ways: |recipe, facts| numbers(recipe, facts),
    },
    Mistake {
        id: "heads-unjoined",
        likelihood: Likelihood::Common,
        slip: "The heads were not joined: their results stand below each other.",
        why: "The result has a row for each token, with the heads side by side.",
        fix: "Concatenate the heads along the columns, (T, H·d).",
        symptom: "The result has H times as many rows as tokens.",
        demo: Some("output"),
        ways: |recipe, facts| {
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
                ways.push(
                    whole(Merge::TokenByToken, "token by token, and transposed").with(Change::Transposed),
                );
            }
            if_possible(recipe.heads > 1, ways)
        },
    },
    Mistake {
        id: "kv-head-first-only",
        likelihood: Likelihood::Common,
        slip: "All query heads read the first key/value head.",
        why: "Each group of query heads has a key/value head of its own.",
        fix: "Let query head h read key/value head h · G / H, rounded down.",
        symptom: "The first heads are right, and the others are not.",
        demo: Some("gqa"),
        ways: |recipe, _| when(is_grouped(recipe), Change::Groups(Groups::First)),
    },
    Mistake {
        id: "kv-heads-reversed",
        likelihood: Likelihood::Common,
        slip: "The key/value heads were shared in reverse order.",
        why: "Query heads and key/value heads stand in the same order.",
        fix: "Let query head h read key/value head h · G / H, rounded down.",
        symptom: "The first and the last heads are wrong.",
        demo: Some("gqa"),
        ways: |recipe, _| when(recipe.kv_heads > 1, Change::Groups(Groups::Reversed)),
    },
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
