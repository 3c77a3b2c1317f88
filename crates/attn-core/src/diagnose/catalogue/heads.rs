//! Mistakes in taking heads apart and putting them together.

use super::layouts::split_ways;
use super::{Likelihood, Mistake, if_possible, when};
use crate::diagnose::Change;
use crate::graph::recipes::{Groups, Merge, Split};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "heads-interleaved",
        likelihood: Likelihood::Classic,
        slip: "The heads were split wrongly: head h took every H-th column instead of a block of neighbouring columns.",
        why: "The columns are (head, column within the head), not the other way round.",
        fix: "Reshape (T, H·d_k) to (T, H, d_k), so that each head gets neighbouring columns.",
        symptom: "Q, K and V are right, and the scores of every head are wrong.",
        demo: Some("multihead"),
        ways: |recipe, _| if_possible(recipe.heads > 1, split_ways(Split::Interleaved)),
    },
    Mistake {
        id: "heads-not-split",
        likelihood: Likelihood::Classic,
        slip: "The heads were not split: you computed one head over the full width.",
        why: "Each head compares its own columns and has its own softmax.",
        fix: "Split Q, K and V into heads before you compute scores.",
        symptom: "All heads have the same weights.",
        demo: Some("multihead"),
        ways: |recipe, _| when(recipe.heads > 1 && recipe.heads == recipe.kv_heads, Change::Heads(1, 1)),
    },
    Mistake {
        id: "gqa-tiled",
        likelihood: Likelihood::Classic,
        slip: "The key/value heads were assigned in turn: query head h used key head h mod G.",
        why: "Neighbouring query heads share a key/value head.",
        fix: "Repeat each key/value head for its group: `np.repeat` or `torch.repeat_interleave`, not `np.tile` or `torch.repeat`.",
        symptom: "The first head is right, and so is the last; others between them are not.",
        demo: Some("gqa"),
        ways: |recipe, _| {
            let grouped = 1 < recipe.kv_heads && recipe.kv_heads < recipe.heads;
            when(grouped, Change::Groups(Groups::Tiled))
        },
    },
    Mistake {
        id: "heads-not-transposed",
        likelihood: Likelihood::Classic,
        slip: "The heads were joined by reshaping (H, T, d) to (T, H·d) without swapping the axes first.",
        why: "In memory the heads come one after the other: reading them as rows mixes different tokens in one row.",
        fix: "Swap the axes from (H, T, d) to (T, H, d) before you reshape.",
        symptom: "The numbers are all there, in the wrong rows.",
        demo: Some("output"),
        ways: |recipe, _| when(recipe.heads > 1, Change::Merge(Merge::Reshaped)),
    },
    Mistake {
        id: "heads-reversed",
        likelihood: Likelihood::Classic,
        slip: "The heads were concatenated in the wrong order, with the last one on the left.",
        why: "The rows of W_O belong to the heads in their order.",
        fix: "Concatenate the heads in order, head 1 on the left.",
        symptom: "The blocks of columns are swapped.",
        demo: Some("output"),
        ways: |recipe, _| when(recipe.heads > 1, Change::Merge(Merge::Reversed)),
    },
    Mistake {
        id: "heads-summed",
        likelihood: Likelihood::Classic,
        slip: "The heads were added instead of concatenated.",
        why: "A sum loses which head gave what; W_O adds the heads later, each through its own rows.",
        fix: "Concatenate the heads side by side instead of adding them.",
        symptom: "The result is as wide as one head.",
        demo: Some("sum-heads"),
        ways: |recipe, _| when(recipe.heads > 1, Change::Merge(Merge::Summed)),
    },
];
