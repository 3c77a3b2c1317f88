//! Mistakes in the mask that every class makes.

use crate::attention::Mask;
use crate::diagnose::change::{MaskLine, MaskPattern};
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{AfterNormalise, Hiding, Normalise, Recipe};

use super::{Way, Ways, if_possible, when};

/// The ways to make the mistakes of this file.
pub(super) const WAYS: &[Ways] = &[
    ("mask-missing", |recipe, _| when(recipe.mask.is_some(), Change::Mask(Mask::default()))),
    ("mask-inverted", |recipe, facts| {
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
    }),
    ("mask-strict", |recipe, _| {
        when(recipe.mask.causal, Change::Mask(Mask { hides_own: true, ..recipe.mask }))
    }),
    ("self-excluded", |recipe, facts| {
        let own = recipe.mask.causal || facts.q.rows == facts.keys;
        when(own, Change::Mask(Mask { hides_own: true, ..recipe.mask }))
    }),
    ("mask-late", |recipe, facts| {
        hiding(recipe, facts, vec![Way::plain(Change::Hiding(Hiding::AfterSoftmax))])
    }),
    ("mask-zero", |recipe, facts| hiding(recipe, facts, vec![Way::plain(Change::Hiding(Hiding::Zero))])),
    ("mask-added", |recipe, facts| {
        let ways = vec![
            Way::detailed(Change::Hiding(Hiding::OneAddedToVisible), "1 where a key is visible"),
            Way::detailed(Change::Hiding(Hiding::Added(1.0)), "1 where a key is hidden"),
        ];
        hiding(recipe, facts, ways)
    }),
    ("causal-off-by-one", |recipe, facts| {
        let later = |keys, detail| pattern(MaskPattern::Later(keys), detail);
        let ways = vec![
            later(1, "one later key"),
            later(2, "two later keys")
                .saying("The causal mask is two diagonals too high: a token attends to the two after it."),
            later(-2, "two keys less")
                .saying("The causal mask hides the token itself and the one before it."),
        ];
        if_possible(recipe.mask.causal && facts.mask_only_hides, ways)
    }),
    ("causal-misaligned", |recipe, facts| {
        let other = Mask { from_start: !recipe.mask.from_start, ..recipe.mask };
        when(
            (recipe.mask.causal || recipe.mask.window.is_some()) && facts.q.rows != facts.keys,
            Change::Mask(other),
        )
    }),
    ("window-off-by-one", |recipe, _| {
        let Some(width) = recipe.mask.window else { return Vec::new() };
        let change = |window| Change::Mask(Mask { window: Some(window), ..recipe.mask });
        let mut ways = vec![Way::detailed(change(width + 1), "one wider")];
        if width > 1 {
            ways.push(Way::detailed(change(width - 1), "one narrower"));
        }
        ways
    }),
    ("mask-part-missing", |recipe, facts| parts(recipe, facts)),
    ("mask-transposed", |recipe, facts| {
        let ways = vec![Way::plain(Change::MaskPattern(MaskPattern::Turned))];
        if_possible(recipe.mask.is_some() && facts.q.rows == facts.keys && facts.mask_only_hides, ways)
    }),
    ("mask-on-queries", |_, facts| {
        let ways = vec![
            Way::plain(Change::MaskPattern(MaskPattern::OnQueries)),
            pattern(MaskPattern::OnQueriesAndKeys, "queries and keys").saying(BOTH_HIDDEN),
            pattern(MaskPattern::OnQueries, "with −1e9").with(Change::Hiding(Hiding::Replaced(-1e9))),
            pattern(MaskPattern::OnQueriesAndKeys, "queries and keys, with −1e9")
                .saying(BOTH_HIDDEN)
                .with(Change::Hiding(Hiding::Replaced(-1e9))),
        ];
        if_possible(facts.hides_keys && facts.q.rows == facts.keys && facts.mask_only_hides, ways)
    }),
    ("mask-one-row", |recipe, facts| lines(recipe, facts, "row", MaskPattern::OneRow)),
    ("mask-one-column", |recipe, facts| lines(recipe, facts, "column", MaskPattern::OneColumn)),
    ("mask-reversed", |recipe, facts| {
        let mask = recipe.mask;
        let mut ways = vec![Way::plain(Change::MaskPattern(MaskPattern::Reversed))];
        if mask.matrix.is_some() && (mask.causal || mask.window.is_some()) {
            ways.push(
                pattern(MaskPattern::MatrixReversed, "the mask matrix alone")
                    .saying("The mask matrix is the wrong way round: its columns stand in reverse order."),
            );
        }
        if_possible(mask.is_some() && facts.keys > 1 && facts.mask_only_hides, ways)
    }),
    ("mask-shifted", |recipe, facts| shifted(recipe, facts)),
    ("mask-unasked", |recipe, facts| unasked(recipe, facts)),
    ("mask-weak", |recipe, facts| {
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
    }),
    ("hidden-weights-replaced", |recipe, facts| {
        // A large number such as −1e9 dominates the other weights, which can then not be compared.
        let numbers = [(f64::NEG_INFINITY, "−∞"), (-1.0, "−1"), (1.0, "1"), (1e-9, "1e-9")];
        let way = |(number, said): (f64, &str)| {
            Way::detailed(Change::Hiding(Hiding::WeightsReplaced(number)), said.to_string())
        };
        if_possible(recipe.mask.is_some() && facts.mask_only_hides, numbers.map(way).to_vec())
    }),
    ("mask-positive", |recipe, facts| {
        let ways = vec![
            Way::detailed(Change::Hiding(Hiding::Replaced(1e9)), "+1e9 in their place"),
            Way::detailed(Change::Hiding(Hiding::Added(1e9)), "+1e9 added"),
            Way::detailed(Change::Hiding(Hiding::PlusInfinity), "+∞"),
        ];
        if_possible(recipe.mask.is_some() && facts.mask_only_hides, ways)
    }),
    ("mask-times-infinity", |recipe, facts| {
        let ways = vec![Way::plain(Change::Hiding(Hiding::Added(f64::NEG_INFINITY)))];
        if_possible(recipe.mask.is_some() && facts.mask_only_hides, ways)
    }),
    ("mask-finite-empty-row", |recipe, facts| {
        let ways = vec![
            Way::detailed(Change::Hiding(Hiding::Replaced(-1e9)), "in place of the scores"),
            Way::detailed(Change::Hiding(Hiding::Added(-1e9)), "added to the scores"),
        ];
        if_possible(recipe.mask.is_some() && facts.empty_rows > 0 && facts.mask_only_hides, ways)
    }),
    ("mask-twice", |recipe, facts| {
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
    }),
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
