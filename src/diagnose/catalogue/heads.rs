//! Mistakes in taking heads apart and putting them together.

use super::{Mistake, when};
use crate::diagnose::Change;
use crate::graph::build::{Groups, Merge, Split};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "heads-interleaved",
        slip: "The heads were cut wrongly: head h took every H-th column, where it takes a block of neighbours.",
        why: "The width is read as (H, d), not as (d, H).",
        symptom: "Q, K and V are right, and the scores of every head are wrong.",
        demo: "multihead",
        ways: |recipe, _| when(recipe.heads > 1, Change::Split(Split::Interleaved)),
    },
    Mistake {
        id: "heads-not-split",
        slip: "The heads were not split: one head was computed over the full width.",
        why: "Each head compares its own columns, with its own softmax; one softmax cannot do the work of several.",
        symptom: "All heads have the same weights.",
        demo: "multihead",
        ways: |recipe, _| when(recipe.heads > 1 && recipe.heads == recipe.kv_heads, Change::OneHead),
    },
    Mistake {
        id: "gqa-tiled",
        slip: "The key/value heads were dealt out in turn: query head h read key head h mod G.",
        why: "Neighbouring query heads share a key/value head: it is repeated for each, not the whole row of them \
              (`repeat_interleave`, not `repeat`).",
        symptom: "The first head is right, and so is the last; others between them are not.",
        demo: "gqa",
        ways: |recipe, _| {
            let grouped = 1 < recipe.kv_heads && recipe.kv_heads < recipe.heads;
            when(grouped, Change::Groups(Groups::Tiled))
        },
    },
    Mistake {
        id: "heads-not-transposed",
        slip: "The heads were put together by reshaping (H, T, d) to (T, H·d), without swapping the axes first.",
        why: "In memory the stack runs head by head: read as rows of tokens it mixes different tokens in one row.",
        symptom: "The numbers are all there, in the wrong rows.",
        demo: "output",
        ways: |recipe, _| when(recipe.heads > 1, Change::Merge(Merge::Reshaped)),
    },
    Mistake {
        id: "heads-reversed",
        slip: "The heads were put side by side in the wrong order, the last on the left.",
        why: "W_O has rows for each head in their order.",
        symptom: "The blocks of columns are exchanged.",
        demo: "output",
        ways: |recipe, _| when(recipe.heads > 1, Change::Merge(Merge::Reversed)),
    },
    Mistake {
        id: "heads-summed",
        slip: "The heads were added up, where they belong side by side.",
        why: "Added up they can no longer be told apart; the sum comes later, in W_O, each head through its own rows of it.",
        symptom: "The result is as wide as one head.",
        demo: "sum-heads",
        ways: |recipe, _| when(recipe.heads > 1, Change::Merge(Merge::Summed)),
    },
];
