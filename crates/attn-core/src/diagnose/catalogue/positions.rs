//! Mistakes with positions of any kind, and with ALiBi's slopes.

use super::rotary::changed;
use super::{Likelihood, Mistake, Way, if_possible, when};
use crate::diagnose::{Facts, MechanismChange};
use crate::graph::recipes::{AlibiSlopes, PositionKind, Recipe};
use crate::text::counted;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "positions-missing",
        likelihood: Likelihood::Classic,
        slip: "The positions were left out.",
        why: "Without positions attention does not know the order of the tokens.",
        fix: "Apply the positions that the exercise asks for.",
        symptom: "Tokens that are equal have equal scores wherever they stand.",
        demo: Some("order"),
        ways: |recipe, _| {
            let (said, fix) = match recipe.positions.kind {
                PositionKind::None => return Vec::new(),
                PositionKind::Rotary(_) => (
                    "Queries and keys were not rotated by their positions.",
                    "Rotate queries and keys before you compute the scores.",
                ),
                PositionKind::Alibi { .. } => (
                    "ALiBi's bias was not added to the scores.",
                    "Subtract the distance times the slope of the head from the scores.",
                ),
                PositionKind::Buckets { .. } => (
                    "The biases of T5's table were not added to the scores.",
                    "Add the bias of its bucket to each score.",
                ),
                PositionKind::Sinusoidal => (
                    "The vectors of the positions were not added to X.",
                    "Add the sines and cosines to X before you compute Q, K and V.",
                ),
            };
            vec![Way::plain(changed(MechanismChange::NoPositions)).saying(said).fixing(fix)]
        },
    },
    Mistake {
        id: "position-off-by-one",
        likelihood: Likelihood::Classic,
        slip: "Queries and keys count their positions from different numbers.",
        why: "A token has one position: its query and its key must both have it.",
        fix: "Number queries and keys alike: the query and the key of a token have the same position.",
        symptom: "The scores of a token with itself are those of a distance of 1.",
        demo: Some("rope"),
        ways: off_by_one,
    },
    Mistake {
        id: "positions-misaligned",
        likelihood: Likelihood::Classic,
        slip: "The positions of the queries begin at the wrong token.",
        why: "With fewer queries than keys the queries are the last tokens, as with a cache, or the first ones: only one is meant.",
        fix: "Give each query the position of its token; with a cache that is the number of cached tokens more.",
        symptom: "A full run is right, and a run with a cache is not.",
        demo: Some("cache"),
        ways: |recipe, facts| {
            let later = facts.keys as isize - facts.q.rows as isize;
            let (queries, said) = if recipe.mask.from_start {
                (
                    later,
                    "The positions of the queries end with the last key; they should begin with the first.",
                )
            } else {
                (
                    -later,
                    "The positions of the queries begin with the first key; the last query is the last token.",
                )
            };
            let change = changed(MechanismChange::Shift { queries, keys: 0 });
            if_possible(counts_distances(recipe) && later > 0, vec![Way::plain(change).saying(said)])
        },
    },
    Mistake {
        id: "positions-start",
        likelihood: Likelihood::Classic,
        slip: "The positions begin at another number than the exercise says.",
        why: "The first position decides every angle; but scores of rotated queries and keys depend on distances alone, and do not change.",
        fix: "Count the positions from the number that the exercise says; without one, from 0.",
        symptom: "With rotary positions Q_rotated and K_rotated differ, and the scores do not; with sinusoidal ones all numbers differ.",
        demo: Some("rope"),
        ways: starts,
    },
    Mistake {
        id: "t5-direction",
        likelihood: Likelihood::Classic,
        slip: "T5's buckets were shared out for the other kind of attention: causal, or both ways.",
        why: "Under a causal mask all buckets are for earlier keys; without one, later keys have the second half of them.",
        fix: "Use all buckets for earlier keys under a causal mask, and half of them for each direction without one.",
        symptom: "Near keys are right, and those further away have the biases of other distances.",
        demo: None,
        ways: |recipe, facts| {
            let both_ways = recipe.positions.later_buckets.unwrap_or(!recipe.mask.causal);
            let (said, least) = if both_ways {
                ("All of T5's buckets are for earlier keys, as under a causal mask; later keys share one.", 2)
            } else {
                ("Half of T5's buckets are for later keys, which the causal mask hides.", 4)
            };
            let is_of_t5 = matches!(recipe.positions.kind, PositionKind::Buckets { .. });
            let other = changed(MechanismChange::LaterBuckets(!both_ways));
            if_possible(is_of_t5 && facts.buckets >= least, vec![Way::plain(other).saying(said)])
        },
    },
    Mistake {
        id: "alibi-slopes",
        likelihood: Likelihood::Classic,
        slip: "ALiBi's slopes are those of another number of heads.",
        why: "Head h of n has the slope 2^(−8h/n) where n is a power of two; other numbers of heads take the slopes of the powers of two beside them.",
        fix: "Compute the slopes for the number of query heads.",
        symptom: "The bias of each head is right up to one factor.",
        demo: Some("alibi"),
        ways: slopes,
    },
    Mistake {
        id: "alibi-sign",
        likelihood: Likelihood::Classic,
        slip: "ALiBi's bias has the wrong sign: it grows with the distance.",
        why: "The bias is minus the slope times the distance, so that far keys get less weight.",
        fix: "Subtract the slope times the distance from the scores.",
        symptom: "The weights grow with the distance.",
        demo: Some("alibi"),
        ways: |recipe, _| when(is_alibi(recipe), changed(MechanismChange::Slopes(AlibiSlopes::Rising))),
    },
];

fn is_alibi(recipe: &Recipe) -> bool {
    matches!(recipe.positions.kind, PositionKind::Alibi { .. })
}

/// Whether the positions of queries and of keys enter apart, by their distance.
fn counts_distances(recipe: &Recipe) -> bool {
    !matches!(recipe.positions.kind, PositionKind::None | PositionKind::Sinusoidal)
}

/// Queries or keys one position later than they should be.
fn off_by_one(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let shift = |queries, keys| changed(MechanismChange::Shift { queries, keys });
    let before = "each query stands one token before its key.";
    let mut ways = vec![
        Way::detailed(shift(1, 0), "queries later").saying(
            "The positions of the queries are one too large: each query stands one token after its key.",
        ),
        Way::detailed(shift(0, 1), "keys later")
            .saying(format!("The positions of the keys are one too large: {before}")),
    ];
    // The distances are those of keys one position later; the queries could not stand before 0.
    let cached = if recipe.mask.from_start { 0 } else { facts.keys.saturating_sub(facts.q.rows) };
    if recipe.positions.first + cached > 0 {
        ways.push(
            Way::detailed(shift(-1, 0), "queries earlier")
                .saying(format!("The positions of the queries are one too small: {before}")),
        );
    }
    if_possible(counts_distances(recipe), ways)
}

/// Other first positions, of queries and keys alike.
fn starts(recipe: &Recipe, _: &Facts) -> Vec<Way> {
    let is_counted = matches!(recipe.positions.kind, PositionKind::Rotary(_) | PositionKind::Sinusoidal);
    let right = recipe.positions.first;
    let mut firsts = vec![right + 1];
    firsts.extend(right.checked_sub(1));
    firsts.extend((right > 1).then_some(0));
    let way = |first: usize| {
        Way::detailed(changed(MechanismChange::FirstPosition(first)), format!("from {first}"))
            .saying(format!("The positions were counted from {first}, not from {right}."))
    };
    if_possible(is_counted, firsts.into_iter().map(way).collect())
}

/// Slopes for another number of heads, and counted from 0.
fn slopes(recipe: &Recipe, _: &Facts) -> Vec<Way> {
    if !is_alibi(recipe) {
        return Vec::new();
    }
    let (heads, groups) = (recipe.heads, recipe.kv_heads);
    let (above, below) = if heads.is_power_of_two() {
        (2 * heads, heads / 2)
    } else {
        (heads.next_power_of_two(), heads.next_power_of_two() / 2)
    };
    let made_for = |number: usize| {
        Way::detailed(changed(MechanismChange::SlopesFor(number)), format!("for {number}")).saying(format!(
            "ALiBi's slopes are 2^(−8h/{number}): those of {}, but there are {heads}.",
            counted(number, "head")
        ))
    };
    let mut ways: Vec<Way> = [above, below].into_iter().filter(|number| *number > 0).map(made_for).collect();
    if !heads.is_power_of_two() {
        ways.push(
            Way::detailed(changed(MechanismChange::SlopesFor(heads)), "by the formula alone")
                .saying(format!("ALiBi's slopes are 2^(−8h/{heads}), but {heads} is no power of two."))
                .fixing(
                    "Take the slopes of the power of two below, and every second slope of the one above.",
                ),
        );
    }
    let slopes = |slopes| changed(MechanismChange::Slopes(slopes));
    ways.push(
        Way::detailed(slopes(AlibiSlopes::FromZero), "counted from 0")
            .saying("ALiBi's slopes are counted from 0: the first head has the slope 1.")
            .fixing("Count the heads from 1: the first of n heads has the slope 2^(−8/n)."),
    );
    if groups < heads {
        ways.push(Way::detailed(slopes(AlibiSlopes::OfGroups), "for the key/value heads").saying(format!(
            "ALiBi's slopes are those of {}; each of the {heads} query heads has its own.",
            counted(groups, "key/value head")
        )));
    }
    ways
}
