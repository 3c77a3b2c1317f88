//! Mistakes in the mask that every class makes.

use super::{Likelihood, Mistake, Way, when};
use crate::attention::Mask;
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{Hiding, Recipe};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "mask-missing",
        likelihood: Likelihood::Classic,
        slip: "No mask was applied, although the exercise has one.",
        why: "Every query attends to every key, also to those that it should not see.",
        fix: "Set the hidden scores to −∞ before the softmax.",
        symptom: "No weight is 0; a row from which the mask hides nothing is right.",
        demo: Some("mask"),
        ways: |recipe, _| when(recipe.mask.is_some(), Change::Mask(Mask::default())),
    },
    Mistake {
        id: "mask-inverted",
        likelihood: Likelihood::Classic,
        slip: "The mask was inverted: it hides what should be visible and shows what should be hidden.",
        why: "In some libraries `true` in a mask means “may attend”, in others “may not”.",
        fix: "Invert the mask (`~mask`, `1 - mask`), or swap the two branches of `where`.",
        symptom: "The weights are 0 where they should not be, and not 0 where they should be.",
        demo: Some("mask"),
        ways: |recipe, facts| {
            let inverted = Mask { inverted: true, ..recipe.mask };
            if !recipe.mask.is_some() || !facts.mask_only_hides {
                return Vec::new();
            }
            let mut ways = vec![Way::plain(Change::Mask(inverted))];
            if recipe.mask.causal {
                let with_itself = Change::Mask(Mask { hides_own: true, ..inverted });
                ways.push(Way::detailed(with_itself, "a token attends to itself and to what comes after it"));
            }
            ways
        },
    },
    Mistake {
        id: "mask-strict",
        likelihood: Likelihood::Classic,
        slip: "The causal mask hides the token itself too: it attends only to the tokens before it.",
        why: "A token may attend to itself: the diagonal is visible.",
        fix: "Hide only the keys after the token: the diagonal stays visible.",
        symptom: "The diagonal of the weights is 0, and the first row attends to nothing.",
        demo: Some("mask"),
        ways: |recipe, _| when(recipe.mask.causal, Change::Mask(Mask { hides_own: true, ..recipe.mask })),
    },
    Mistake {
        id: "self-excluded",
        likelihood: Likelihood::Classic,
        slip: "Each token was hidden from itself: j = i is masked.",
        why: "A token is one of the keys that it attends to.",
        fix: "Leave the diagonal visible.",
        symptom: "The diagonal of the weights is 0.",
        demo: Some("mask"),
        ways: |recipe, facts| {
            let own = recipe.mask.causal || facts.q.rows == facts.keys;
            when(own, Change::Mask(Mask { hides_own: true, ..recipe.mask }))
        },
    },
    Mistake {
        id: "mask-late",
        likelihood: Likelihood::Classic,
        slip: "The mask was applied after the softmax, and the rows were not normalised again.",
        why: "The hidden scores are already part of each row's sum; −∞ belongs in the scores, before the softmax.",
        fix: "Set the hidden scores to −∞ before the softmax, and remove the mask after it.",
        symptom: "The rows of the weights sum to less than 1.",
        demo: Some("mask"),
        ways: |recipe, facts| hiding(recipe, facts, vec![Way::plain(Change::Hiding(Hiding::AfterSoftmax))]),
    },
    Mistake {
        id: "mask-zero",
        likelihood: Likelihood::Classic,
        slip: "The hidden scores were set to 0 instead of −∞.",
        why: "A score of 0 is a score like any other: e⁰ = 1, so the key keeps a weight.",
        fix: "Write −∞ instead of 0 into the hidden scores.",
        symptom: "The hidden weights are not 0, and within a row they are equal.",
        demo: Some("mask"),
        ways: |recipe, facts| hiding(recipe, facts, vec![Way::plain(Change::Hiding(Hiding::Zero))]),
    },
    Mistake {
        id: "mask-added",
        likelihood: Likelihood::Classic,
        slip: "A mask of ones and zeros was added to the scores, and that hides nothing.",
        why: "An additive mask is 0 where a key is visible and −∞ where it is hidden.",
        fix: "Add 0 where a key is visible and −∞ where it is hidden.",
        symptom: "No weight is 0; on one side of the mask the weights are a little larger.",
        demo: Some("mask"),
        ways: |recipe, facts| {
            let ways = vec![
                Way::detailed(Change::Hiding(Hiding::OneAddedToVisible), "1 where a key is visible"),
                Way::detailed(Change::Hiding(Hiding::Added(1.0)), "1 where a key is hidden"),
            ];
            hiding(recipe, facts, ways)
        },
    },
];

/// Wrong ways to hide the keys that the mask hides; without a mask, those that another mistake hides.
fn hiding(recipe: &Recipe, facts: &Facts, ways: Vec<Way>) -> Vec<Way> {
    let masked = recipe.mask.is_some();
    if facts.mask_only_hides && (masked || facts.q.rows == facts.keys) {
        ways.into_iter().map(|way| Way { alone: masked, ..way }).collect()
    } else {
        Vec::new()
    }
}
