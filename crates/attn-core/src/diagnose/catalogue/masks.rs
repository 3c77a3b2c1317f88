//! Mistakes in the mask that every class makes.

use crate::attention::Mask;
use crate::diagnose::change::{MaskLine, MaskPattern};
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{AfterNormalise, Hiding, Normalise, Recipe};

use super::{Likelihood, Mistake, Way, if_possible, when};

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

// Mistakes in the pattern of the mask that no rule of a mask has.

pub(super) const PATTERNS: &[Mistake] = &[
    Mistake {
        id: "causal-off-by-one",
        likelihood: Likelihood::Common,
        slip: "The causal mask is one diagonal too high: a token attends to the one after it.",
        why: "Query i may attend to keys 1 to i; key i + 1 is the future that it should predict.",
        fix: "Hide everything above the main diagonal: `np.triu(…, k=1)`.",
        symptom: "The weights next to the diagonal, on its right, are not 0.",
        demo: Some("mask"),
        ways: |recipe, facts| {
            let later = |keys, detail| pattern(MaskPattern::Later(keys), detail);
            let ways = vec![
                later(1, "one later key"),
                later(2, "two later keys").saying(
                    "The causal mask is two diagonals too high: a token attends to the two after it.",
                ),
                later(-2, "two keys less")
                    .saying("The causal mask hides the token itself and the one before it."),
            ];
            if_possible(recipe.mask.causal && facts.mask_only_hides, ways)
        },
    },
    Mistake {
        id: "causal-misaligned",
        likelihood: Likelihood::Common,
        slip: "The causal mask starts at the wrong corner.",
        why: "With fewer queries than keys the diagonal can start at the first key or end at the last, and only one is meant.",
        fix: "Align queries and keys as the exercise says: by default the last query is the last token.",
        symptom: "The rows have the wrong number of zeros.",
        demo: Some("mask"),
        ways: |recipe, facts| {
            let other = Mask { from_start: !recipe.mask.from_start, ..recipe.mask };
            when(
                (recipe.mask.causal || recipe.mask.window.is_some()) && facts.q.rows != facts.keys,
                Change::Mask(other),
            )
        },
    },
    Mistake {
        id: "window-off-by-one",
        likelihood: Likelihood::Common,
        slip: "The window is one key wider or narrower than asked for.",
        why: "A window of w lets a token see itself and w − 1 keys on each side that is visible.",
        fix: "Count the token itself: a window of w reaches w − 1 keys away.",
        symptom: "The rows have one weight too many or too few on a side.",
        demo: Some("sink"),
        ways: |recipe, _| {
            let Some(width) = recipe.mask.window else { return Vec::new() };
            let change = |window| Change::Mask(Mask { window: Some(window), ..recipe.mask });
            let mut ways = vec![Way::detailed(change(width + 1), "one wider")];
            if width > 1 {
                ways.push(Way::detailed(change(width - 1), "one narrower"));
            }
            ways
        },
    },
    Mistake {
        id: "mask-part-missing",
        likelihood: Likelihood::Common,
        slip: "One of several masks was left out.",
        why: "A key must pass every mask: what one of them hides is hidden.",
        fix: "Combine all masks before the softmax.",
        symptom: "Some weights that should be 0 are not.",
        demo: Some("mask"),
        ways: |recipe, facts| parts(recipe, facts),
    },
    Mistake {
        id: "mask-transposed",
        likelihood: Likelihood::Common,
        slip: "The mask was transposed: its rows are the keys.",
        why: "Row i of the mask says what query i may see.",
        fix: "Transpose the mask: a row for each query, a column for each key.",
        symptom: "The zeros of the weights stand in the transposed places.",
        demo: Some("mask"),
        ways: |recipe, facts| {
            let ways = vec![Way { detail: None, ..pattern(MaskPattern::Turned, "") }];
            if_possible(recipe.mask.is_some() && facts.q.rows == facts.keys && facts.mask_only_hides, ways)
        },
    },
    Mistake {
        id: "mask-on-queries",
        likelihood: Likelihood::Common,
        slip: "The padding mask hides queries instead of keys: it has the shape (T, 1) instead of (1, T).",
        why: "Padding must not be read: it is the columns of the scores that belong to padded keys.",
        fix: "Hide the columns: `scores.masked_fill(~mask[None, :], -inf)`.",
        symptom: "The rows of padded queries are NaN or even, and padded keys have weights.",
        demo: Some("mask"),
        ways: |_, facts| {
            let ways = vec![
                Way { detail: None, ..pattern(MaskPattern::OnQueries, "") },
                pattern(MaskPattern::OnQueriesAndKeys, "queries and keys").saying(BOTH_HIDDEN),
                pattern(MaskPattern::OnQueries, "with −1e9").with(Change::Hiding(Hiding::Replaced(-1e9))),
                pattern(MaskPattern::OnQueriesAndKeys, "queries and keys, with −1e9")
                    .saying(BOTH_HIDDEN)
                    .with(Change::Hiding(Hiding::Replaced(-1e9))),
            ];
            if_possible(facts.hides_keys && facts.q.rows == facts.keys && facts.mask_only_hides, ways)
        },
    },
    Mistake {
        id: "mask-one-row",
        likelihood: Likelihood::Common,
        slip: "One row of the mask was used for all queries.",
        why: "Each query has a row of its own in the mask.",
        fix: "Use the whole mask, (T, N).",
        symptom: "All rows of the weights have their zeros in the same columns.",
        demo: Some("mask"),
        ways: |recipe, facts| lines(recipe, facts, "row", MaskPattern::OneRow),
    },
    Mistake {
        id: "mask-one-column",
        likelihood: Likelihood::Common,
        slip: "One column of the mask was used for all keys: it hides whole rows.",
        why: "Each key has a column of its own in the mask.",
        fix: "Use the whole mask, (T, N).",
        symptom: "Whole rows are hidden, and the others are not masked at all.",
        demo: Some("mask"),
        ways: |recipe, facts| lines(recipe, facts, "column", MaskPattern::OneColumn),
    },
    Mistake {
        id: "mask-reversed",
        likelihood: Likelihood::Common,
        slip: "The mask is the wrong way round: its columns stand in reverse order.",
        why: "Column j of the mask belongs to key j: where the last tokens are padding, it hides the last columns, not the first.",
        fix: "Compare your mask with the one of the exercise: which end does it hide? Look at the side of the padding, and at \
              `np.tril`, `np.triu` and `np.fliplr`.",
        symptom: "The zeros of the weights stand at the other end of each row.",
        demo: Some("mask"),
        ways: |recipe, facts| {
            let mask = recipe.mask;
            let mut ways = vec![Way { detail: None, ..pattern(MaskPattern::Reversed, "") }];
            if mask.matrix.is_some() && (mask.causal || mask.window.is_some()) {
                ways.push(
                    pattern(MaskPattern::MatrixReversed, "the mask matrix alone").saying(
                        "The mask matrix is the wrong way round: its columns stand in reverse order.",
                    ),
                );
            }
            if_possible(mask.is_some() && facts.keys > 1 && facts.mask_only_hides, ways)
        },
    },
    Mistake {
        id: "mask-shifted",
        likelihood: Likelihood::Rare,
        slip: "The mask hides other keys than it should.",
        why: "Row i of the mask says which keys query i may attend to.",
        fix: "Compare your mask with the one of the exercise, cell by cell.",
        symptom: "The zeros of the weights stand in other places.",
        demo: Some("mask"),
        ways: |recipe, facts| shifted(recipe, facts),
    },
    Mistake {
        id: "mask-unasked",
        likelihood: Likelihood::Common,
        slip: "A mask was applied that the exercise does not have.",
        why: "Without a mask every query attends to every key.",
        fix: "Leave the mask out.",
        symptom: "Some weights are 0.",
        demo: Some("mask"),
        ways: |recipe, facts| unasked(recipe, facts),
    },
];

const BOTH_HIDDEN: &str =
    "The padding mask hides the rows of padded queries as well as the columns of padded keys.";

fn pattern(pattern: MaskPattern, detail: &str) -> Way {
    Way::detailed(Change::MaskPattern(pattern), detail)
}

/// The right mask with more or fewer keys hidden.
fn shifted(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let mask = recipe.mask;
    let mut ways = vec![
        pattern(MaskPattern::FirstKeyShown, "the first key visible to all")
            .saying("The mask lets every query attend to the first key."),
        pattern(MaskPattern::FirstKeyHidden, "the first key hidden too")
            .saying("The mask hides the first key too."),
        pattern(MaskPattern::LastKeyHidden, "the last key hidden too")
            .saying("The mask hides the last key too."),
        pattern(MaskPattern::Rolled(1), "one column too late").saying(
            "The columns of the mask stand one place too late, and the last comes first, as after np.roll.",
        ),
        pattern(MaskPattern::Rolled(-1), "one column too early").saying(
            "The columns of the mask stand one place too early, and the first comes last, as after np.roll.",
        ),
    ];
    if mask.matrix.is_some() {
        ways.extend([
            pattern(MaskPattern::Wider, "one key more hidden")
                .saying("The mask hides one key too many, next to those that it should hide."),
            pattern(MaskPattern::Narrower, "one key less hidden").saying("The mask hides one key too few."),
        ]);
    }
    let rules = [mask.causal || mask.window.is_some(), mask.matrix.is_some()];
    if rules == [true, true] {
        ways.push(
            pattern(MaskPattern::AnyMask, "one mask is enough").saying(
                "A key was visible where any of the masks lets it through; it must pass all of them.",
            ),
        );
    }
    if_possible(mask.is_some() && facts.keys > 1 && facts.mask_only_hides, ways)
}

fn parts(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let mask = recipe.mask;
    let all = [mask.causal, mask.window.is_some(), mask.matrix.is_some()];
    if all.iter().filter(|is| **is).count() < 2 || !facts.mask_only_hides {
        return Vec::new();
    }
    let without = [
        (Mask { causal: false, ..mask }, "the causal mask"),
        (Mask { window: None, keep_first: 0, ..mask }, "the window"),
        (Mask { matrix: None, ..mask }, "the mask matrix"),
    ];
    let mut ways = Vec::new();
    for (at, (left, what)) in without.into_iter().enumerate() {
        if all[at] {
            ways.push(
                Way::detailed(Change::Mask(left), format!("without {what}"))
                    .saying(format!("One of several masks was left out: {what}.")),
            );
        }
    }
    ways
}

fn lines(recipe: &Recipe, facts: &Facts, what: &str, of: fn(MaskLine) -> MaskPattern) -> Vec<Way> {
    let ways = [(MaskLine::First, "first"), (MaskLine::Last, "last"), (MaskLine::Any, "any")]
        .map(|(line, which)| {
            let said = match line {
                MaskLine::Any => {
                    format!("What any {what} of the mask lets through was let through everywhere.")
                }
                _ => format!("The {which} {what} of the mask was used for all."),
            };
            pattern(of(line), &format!("{which} {what}")).saying(said)
        })
        .to_vec();
    if_possible(recipe.mask.matrix.is_some() && !facts.hides_keys && facts.mask_only_hides, ways)
}

fn unasked(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let mask = recipe.mask;
    let mut ways = Vec::new();
    let asked = mask.is_some();
    let mut push = |mask: Mask, what: String| {
        let said = format!("You applied {what}, and the exercise has none.");
        let stays = if asked { "; the mask that the exercise has stays" } else { "" };
        let fix = format!("Leave {what} out{stays}.");
        ways.push(Way::detailed(Change::Mask(mask), what).saying(said).fixing(fix));
    };
    if !mask.causal {
        push(Mask { causal: true, ..mask }, "a causal mask".into());
        push(
            Mask { causal: true, hides_own: true, ..mask },
            "a causal mask that hides the token itself".into(),
        );
        push(Mask { causal: true, inverted: true, ..Mask::default() }, "a mask that hides the past".into());
        if facts.q.rows != facts.keys {
            push(Mask { causal: true, from_start: true, ..mask }, "a causal mask from the first key".into());
        }
    }
    if mask.window.is_none() {
        // A window of 1 leaves V as it is, and that is what was handed in then.
        for width in 2..=6.min(facts.keys.saturating_sub(1)).max(4) {
            push(Mask { window: Some(width), ..mask }, format!("a window of {width}"));
            if !mask.causal {
                push(
                    Mask { window: Some(width), causal: true, ..mask },
                    format!("a causal window of {width}"),
                );
            }
        }
    }
    if (!mask.is_some() || facts.projects) && facts.keys > 2 && facts.q.rows == facts.keys {
        // A mask of the diagonal, or an array whose first axis was taken for the batch (batch_first).
        ways.push(pattern(MaskPattern::ItselfOnly, "each token itself alone").saying(
            "Each token attended to itself alone: only the diagonal was visible, or the tokens were taken for a batch.",
        ));
    }
    if !mask.is_some() && facts.keys > 2 {
        let patterns = [
            (MaskPattern::FirstKeyHidden, "a mask that hides the first key"),
            (MaskPattern::LastKeyHidden, "a mask that hides the last key"),
            (MaskPattern::Blocks(2), "a mask of blocks of 2"),
            (MaskPattern::Blocks(3), "a mask of blocks of 3"),
        ];
        ways.extend(patterns.map(|(which, what)| {
            pattern(which, what).saying(format!("You applied {what}, and the exercise has none."))
        }));
    }
    ways
}

// Further mistakes with hidden scores.

pub(super) const HIDINGS: &[Mistake] = &[
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
