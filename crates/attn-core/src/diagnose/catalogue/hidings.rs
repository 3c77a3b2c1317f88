//! Further mistakes with hidden scores.

use super::{Likelihood, Mistake, Way, if_possible};
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{AfterNormalise, Hiding, Normalise, Recipe};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "mask-weak",
        likelihood: Likelihood::Common,
        slip: "The number that stands for −∞ is not negative enough: hidden keys keep some weight.",
        why: "e⁻¹ is 0.37 and e⁻¹⁰ is 0.00005: only −∞, or a very large negative number, leaves nothing.",
        fix: "Write −∞ (`float('-inf')`) into the hidden scores.",
        symptom: "The hidden weights are small, but not 0.",
        demo: Some("mask"),
        ways: |recipe, facts| {
            let mut ways = before_the_scale(recipe, facts);
            for number in [-1.0, -2.0, -5.0, -10.0, -100.0, -0.5, -3.0, -20.0, -50.0] {
                // A soft-cap c after the mask writes −c, and has a name of its own. A number that hides as well as −∞ shows in rows
                // alone that see nothing, and has another name, too.
                if recipe.soft_cap != Some(-number) && number > facts.hides_written {
                    ways.push(Way::detailed(
                        Change::Hiding(Hiding::Replaced(number)),
                        format!("−{} in their place", -number),
                    ));
                }
                if number > facts.hides_added {
                    ways.push(Way::detailed(
                        Change::Hiding(Hiding::Added(number)),
                        format!("−{} added", -number),
                    ));
                }
            }
            if_possible(recipe.mask.is_some() && facts.mask_only_hides, ways)
        },
    },
    Mistake {
        id: "hidden-weights-replaced",
        likelihood: Likelihood::Rare,
        slip: "The mask was applied after the softmax, and wrote another number than 0 into the hidden weights.",
        why: "What is hidden has the weight 0, and the others sum to 1: that is what −∞ before the softmax gives.",
        fix: "Write −∞ into the hidden scores, before the softmax.",
        symptom: "The hidden weights are all the same number, and not 0.",
        demo: Some("mask"),
        ways: |recipe, facts| {
            // A large number such as −1e9 dominates the other weights, which can then not be compared.
            let numbers = [(f64::NEG_INFINITY, "−∞"), (-1.0, "−1"), (1.0, "1"), (1e-9, "1e-9")];
            let way = |(number, said): (f64, &str)| {
                Way::detailed(Change::Hiding(Hiding::WeightsReplaced(number)), said.to_string())
            };
            if_possible(recipe.mask.is_some() && facts.mask_only_hides, numbers.map(way).to_vec())
        },
    },
    Mistake {
        id: "mask-positive",
        likelihood: Likelihood::Common,
        slip: "The hidden scores became very large instead of very small: the sign is wrong.",
        why: "The softmax gives a score of +1e9 all the weight, and one of −1e9 none.",
        fix: "Write −∞ into the hidden scores, with its minus sign.",
        symptom: "All weight is on the hidden keys; with +∞ the rows are NaN.",
        demo: Some("mask"),
        ways: |recipe, facts| {
            let ways = vec![
                Way::detailed(Change::Hiding(Hiding::Replaced(1e9)), "+1e9 in their place"),
                Way::detailed(Change::Hiding(Hiding::Added(1e9)), "+1e9 added"),
                Way::detailed(Change::Hiding(Hiding::PlusInfinity), "+∞"),
            ];
            if_possible(recipe.mask.is_some() && facts.mask_only_hides, ways)
        },
    },
    Mistake {
        id: "mask-times-infinity",
        likelihood: Likelihood::Common,
        slip: "A mask of ones and zeros was multiplied by −∞, and 0 · ∞ is NaN.",
        why: "Where nothing is hidden the product is 0 · (−∞), which is not 0 but NaN.",
        fix: "Use `np.where(visible, S, -np.inf)`, or multiply the mask by −1e9.",
        symptom: "All scores are NaN.",
        demo: Some("mask"),
        ways: |recipe, facts| {
            let ways = vec![Way::plain(Change::Hiding(Hiding::Added(f64::NEG_INFINITY)))];
            if_possible(recipe.mask.is_some() && facts.mask_only_hides, ways)
        },
    },
    Mistake {
        id: "mask-finite-empty-row",
        likelihood: Likelihood::Common,
        slip: "A large negative number such as −1e9 stands for −∞, and a row that sees nothing got weights all the same.",
        why: "Where all scores of a row are −1e9 they are equal, and the softmax gives each key the same weight; where −1e9 is added to \
              all of them, the softmax cancels it.",
        fix: "Give a row without visible keys the weights 0.",
        symptom: "The rows that see nothing attend to all keys, and the others are right.",
        demo: Some("mask"),
        ways: |recipe, facts| {
            let ways = vec![
                Way::detailed(Change::Hiding(Hiding::Replaced(-1e9)), "in place of the scores"),
                Way::detailed(Change::Hiding(Hiding::Added(-1e9)), "added to the scores"),
            ];
            if_possible(recipe.mask.is_some() && facts.empty_rows > 0 && facts.mask_only_hides, ways)
        },
    },
    Mistake {
        id: "mask-twice",
        likelihood: Likelihood::Common,
        slip: "A mask that hides nothing stood before the softmax, and the weights were masked again after it.",
        why: "The hidden scores are part of each row's sum as long as they are not −∞ before the softmax.",
        fix: "Set the hidden scores to −∞ before the softmax, and remove the mask after it.",
        symptom: "The hidden weights are 0, and the rows sum to less than 1.",
        demo: Some("mask"),
        ways: |recipe, facts| {
            let again = Change::Normalise(Normalise { then: AfterNormalise::Masked, ..Normalise::default() });
            let mut ways = vec![
                Way::detailed(Change::Hiding(Hiding::Zero), "times 0 before").with(again),
                Way::detailed(Change::Hiding(Hiding::OneAddedToVisible), "ones and zeros added before")
                    .with(again),
                Way::detailed(Change::Hiding(Hiding::Added(1.0)), "ones added to what is hidden before")
                    .with(again),
            ];
            for number in [-1.0, -10.0] {
                let detail = format!("−{} before", -number);
                ways.push(Way::detailed(Change::Hiding(Hiding::Replaced(number)), detail).with(again));
            }
            if_possible(recipe.mask.is_some() && facts.mask_only_hides, ways)
        },
    },
];

/// The same numbers written in before the scale, which makes them smaller.
fn before_the_scale(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let Some(factor) = recipe.scale.factor(facts.d_k) else { return Vec::new() };
    let way = |number: f64| {
        let change = Change::Hiding(Hiding::Replaced(number * factor.value()));
        Way::detailed(change, format!("−{} in their place, before the scale", -number))
    };
    let numbers = [-1.0, -10.0, -100.0].into_iter();
    numbers.filter(|number| number * factor.value() > facts.hides_written).map(way).collect()
}
