//! Mistakes in who may attend to whom.

use super::{Mistake, Way, when};
use crate::attention::Mask;
use crate::diagnose::{Change, Facts};
use crate::graph::build::{Hiding, Recipe};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "mask-missing",
        slip: "No mask was applied, although one is asked for.",
        why: "Every query sees every key, and so the tokens that come after it.",
        symptom: "Nothing in the weights is 0; the last row, which may see everything, is right.",
        demo: "mask",
        ways: |recipe, _| when(recipe.mask.is_some(), Change::Mask(Mask::default())),
    },
    Mistake {
        id: "mask-inverted",
        slip: "The mask was turned round: what is to be hidden is visible, and what is to be visible is hidden.",
        why: "In some libraries `true` in a mask means “may attend”, in others “may not”.",
        symptom: "The weights stand on the wrong side of the diagonal, and the last row sees nothing.",
        demo: "mask",
        ways: |recipe, facts| {
            let inverted = Mask { inverted: true, ..recipe.mask };
            if !recipe.mask.is_some() || !facts.mask_only_hides {
                return Vec::new();
            }
            let mut ways = vec![Way::plain(Change::Mask(inverted))];
            if recipe.mask.causal {
                let with_itself = Change::Mask(Mask { hides_own: true, ..inverted });
                ways.push(Way::detailed(with_itself, "a token sees itself and what comes after it"));
            }
            ways
        },
    },
    Mistake {
        id: "mask-strict",
        slip: "The causal mask hides the token itself as well: it sees only what comes before it.",
        why: "A token may attend to itself; the diagonal of the mask is visible.",
        symptom: "The diagonal of the weights is 0, and the first row sees nothing.",
        demo: "mask",
        ways: |recipe, _| when(recipe.mask.causal, Change::Mask(Mask { hides_own: true, ..recipe.mask })),
    },
    Mistake {
        id: "self-excluded",
        slip: "The token itself was left out: j = i is hidden.",
        why: "A token is among the keys that it attends to; nothing in attention leaves it out.",
        symptom: "The diagonal of the weights is 0.",
        demo: "mask",
        ways: |recipe, facts| {
            let own = recipe.mask.causal || facts.q.rows == facts.keys;
            when(own, Change::Mask(Mask { hides_own: true, ..recipe.mask }))
        },
    },
    Mistake {
        id: "mask-late",
        slip: "The mask was applied after the softmax, and the rows were not divided by what is left of them.",
        why: "What is hidden has already taken its share of the sum; −∞ belongs into the scores, before the softmax.",
        symptom: "The rows of the weights sum to less than 1.",
        demo: "mask",
        ways: |recipe, facts| hiding(recipe, facts, vec![Way::plain(Change::Hiding(Hiding::AfterSoftmax))]),
    },
    Mistake {
        id: "mask-zero",
        slip: "0 was written into the hidden scores, where −∞ belongs.",
        why: "A score of 0 is a score like any other: e⁰ = 1, and the key keeps a weight.",
        symptom: "The hidden weights are not 0, and all of a row are the same.",
        demo: "mask",
        ways: |recipe, facts| hiding(recipe, facts, vec![Way::plain(Change::Hiding(Hiding::Zero))]),
    },
    Mistake {
        id: "mask-added",
        slip: "The mask of ones and zeros was added to the scores, which hides nothing.",
        why: "What is added must be 0 where a key is visible and −∞ where it is hidden.",
        symptom: "No weight is 0; those of one side of the mask are a little larger.",
        demo: "mask",
        ways: |recipe, facts| {
            let ways = vec![
                Way::detailed(Change::Hiding(Hiding::OneAddedToVisible), "1 where a key is visible"),
                Way::detailed(Change::Hiding(Hiding::OneAddedToHidden), "1 where a key is hidden"),
            ];
            hiding(recipe, facts, ways)
        },
    },
];

/// Ways to hide wrongly what the mask hides; without a mask what another mistake hides, if it can hide something.
fn hiding(recipe: &Recipe, facts: &Facts, ways: Vec<Way>) -> Vec<Way> {
    let masked = recipe.mask.is_some();
    match facts.mask_only_hides && (masked || facts.q.rows == facts.keys) {
        true => ways.into_iter().map(|way| Way { alone: masked, ..way }).collect(),
        false => Vec::new(),
    }
}
