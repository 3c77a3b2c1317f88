//! Mistakes with positions of any kind, and with ALiBi's slopes.

use crate::attention::{Pairing, RopeScaling};
use crate::diagnose::{Change, Facts, MechanismChange};
use crate::elementary::pow;
use crate::graph::recipes::{
    AlibiSlopes, Alter, MagnitudeUse, PositionKind, Recipe, Rotary, RotatedPart, RotatedRoles, SineSigns,
    Site,
};
use crate::text::counted;

use super::{Way, Ways, altered, if_possible, when};

/// The ways to make the mistakes of this file.
pub(super) const WAYS: &[Ways] = &[
    ("positions-missing", |recipe, _| {
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
    }),
    ("position-off-by-one", off_by_one),
    ("positions-misaligned", |recipe, facts| {
        let later = facts.keys as isize - facts.q.rows as isize;
        let (queries, said) = if recipe.mask.from_start {
            (later, "The positions of the queries end with the last key; they should begin with the first.")
        } else {
            (
                -later,
                "The positions of the queries begin with the first key; the last query is the last token.",
            )
        };
        let change = changed(MechanismChange::Shift { queries, keys: 0 });
        if_possible(counts_distances(recipe) && later > 0, vec![Way::plain(change).saying(said)])
    }),
    ("positions-start", starts),
    ("t5-direction", |recipe, facts| {
        let both_ways = recipe.positions.later_buckets.unwrap_or(!recipe.mask.causal);
        let (said, least) = if both_ways {
            ("All of T5's buckets are for earlier keys, as under a causal mask; later keys share one.", 2)
        } else {
            ("Half of T5's buckets are for later keys, which the causal mask hides.", 4)
        };
        let is_of_t5 = matches!(recipe.positions.kind, PositionKind::Buckets { .. });
        let other = changed(MechanismChange::LaterBuckets(!both_ways));
        if_possible(is_of_t5 && facts.buckets >= least, vec![Way::plain(other).saying(said)])
    }),
    ("alibi-slopes", slopes),
    ("alibi-sign", |recipe, _| when(is_alibi(recipe), changed(MechanismChange::Slopes(AlibiSlopes::Rising)))),
    ("rope-pairing", |recipe, _| {
        of_rotary(recipe, |rotary| {
            let (pairing, said, fix) = match rotary.pairing {
                Pairing::Halves => (
                    Pairing::Neighbours,
                    "Neighbouring columns rotate together, 2p and 2p + 1; it should be the halves, p and p + d/2.",
                    "Rotate columns p and p + d/2 together, as `rotate_half` does.",
                ),
                Pairing::Neighbours => (
                    Pairing::Halves,
                    "The halves rotate together, columns p and p + d/2; it should be neighbours, 2p and 2p + 1.",
                    "Rotate columns 2p and 2p + 1 together; `rotate_half` is for the other pairing.",
                ),
            };
            vec![Way::plain(changed(MechanismChange::Pairing(pairing))).saying(said).fixing(fix)]
        })
    }),
    ("rope-direction", |recipe, _| of_rotary(recipe, directions)),
    ("rope-part", |recipe, facts| of_rotary(recipe, |rotary| parts(rotary, facts.d_k))),
    ("rope-base", |recipe, _| of_rotary(recipe, bases)),
    ("rope-scaling", |recipe, _| of_rotary(recipe, |rotary| rotary.scaling.map_or_else(Vec::new, scalings))),
    ("rope-scaling-linear", |recipe, _| {
        of_rotary(recipe, |rotary| rotary.scaling.map_or_else(Vec::new, taken_for_linear))
    }),
    ("rope-divisors", |recipe, facts| {
        let is_long_rope = |rotary: &Rotary| matches!(rotary.scaling, Some(RopeScaling::LongRope { .. }));
        let other = changed(MechanismChange::OtherDivisors);
        of_rotary(recipe, |rotary| when(is_long_rope(rotary) && facts.has_two_divisors, other))
    }),
    ("rope-magnitude", |recipe, _| {
        of_rotary(recipe, |rotary| {
            let has_magnitude = rotary.scaling.is_some_and(|scaling| scaling.magnitude() != 1.0);
            let way = |using, detail| Way::detailed(changed(MechanismChange::Magnitude(using)), detail);
            let left_out = "The factor of sines and cosines was left out.";
            let twice = "The factor of sines and cosines was applied twice.";
            if_possible(
                has_magnitude,
                vec![
                    way(MagnitudeUse::Missing, "left out").saying(left_out),
                    way(MagnitudeUse::Twice, "twice").saying(twice),
                ],
            )
        })
    }),
    ("rope-one-side", |recipe, _| {
        of_rotary(recipe, |_| {
            let way = |roles, alone: &str, other: &str| {
                Way::detailed(changed(MechanismChange::Rotated(roles)), format!("{alone} alone"))
                    .saying(format!("The {alone} alone were rotated; the {other} were not."))
            };
            vec![way(RotatedRoles::Queries, "queries", "keys"), way(RotatedRoles::Keys, "keys", "queries")]
        })
    }),
    ("rope-values", |recipe, facts| {
        let fits = |rotary: &Rotary| rotary.width.unwrap_or(facts.d_k) <= facts.d_v;
        let change = changed(MechanismChange::Rotated(RotatedRoles::WithValues));
        of_rotary(recipe, |rotary| when(fits(rotary), change))
    }),
    ("rope-twice", |recipe, _| {
        of_rotary(recipe, |rotary| {
            // A frequency that is divided by a half is doubled.
            let doubled = MechanismChange::Scaling(Some(RopeScaling::Linear { factor: 0.5 }));
            when(rotary.scaling.is_none(), changed(doubled))
        })
    }),
    ("tokens-scaled", |_, facts| facts.x.map_or_else(Vec::new, |x| scaled(x.cols, facts))),
    ("rows-shifted", |_, facts| if_possible(facts.keys > 1, shifted(facts))),
    ("columns-standardised", |_, facts| {
        let stages = [
            (Site::Tokens, "X before the projections"),
            (Site::TokensAndResidual, "X, and the residual"),
            (Site::Result, "the result"),
            (Site::QueriesAndKeys, "queries and keys"),
            (Site::Values, "the values"),
            (Site::Scores, "the scores"),
        ];
        let of_tokens = |stage: Site| matches!(stage, Site::Tokens | Site::TokensAndResidual);
        let possible = stages.into_iter().filter(|(stage, _)| facts.x.is_some() || !of_tokens(*stage));
        possible.map(|(stage, of)| Way::detailed(altered(stage, Alter::COLUMNS_NORMED), of)).collect()
    }),
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

// Mistakes with rotary positions.

/// The base of the paper, which code falls back to.
const USUAL_BASE: f64 = 10_000.0;

pub(super) fn changed(change: MechanismChange) -> Change {
    Change::Mechanism(change)
}

/// The ways in an exercise with rotary positions; none in another.
fn of_rotary(recipe: &Recipe, ways: impl Fn(&Rotary) -> Vec<Way>) -> Vec<Way> {
    match &recipe.positions.kind {
        PositionKind::Rotary(rotary) => ways(rotary),
        _ => Vec::new(),
    }
}

/// The sines with the other sign, or a half with the wrong sign.
fn directions(rotary: &Rotary) -> Vec<Way> {
    let signs = |signs| Way::plain(changed(MechanismChange::SineSigns(signs)));
    if rotary.pairing == Pairing::Neighbours {
        return vec![signs(SineSigns::Reversed)];
    }
    let fix = "Compute x cos + rotate_half(x) sin, where rotate_half(x) is (−second half, first half).";
    let no_minus = Way { detail: Some("no minus".into()), rare: true, ..signs(SineSigns::NoMinus) };
    vec![
        signs(SineSigns::Reversed).fixing(fix),
        no_minus.saying("`rotate_half` has no minus: it only swapped the two halves.").fixing(fix),
    ]
}

/// Other columns than those that the exercise rotates.
fn parts(rotary: &Rotary, width: usize) -> Vec<Way> {
    let part =
        |part, rotated, detail: &str| Way::detailed(changed(MechanismChange::Part(part, rotated)), detail);
    match rotary.width.filter(|rotated| *rotated < width) {
        Some(rotated) => {
            let of_all = pow(rotary.base, rotated as f64 / width as f64);
            let mut ways = vec![
                part(RotatedPart::Last, Some(rotated), "the last columns").saying(format!(
                    "The last {rotated} columns of each head were rotated; it should be the first {rotated}."
                )),
                Way::detailed(changed(MechanismChange::Base(of_all)), "frequencies of the whole width")
                    .saying(format!(
                        "The frequencies were computed for all {width} columns of a head; only {rotated} are rotated."
                    ))
                    .fixing(format!("Compute the frequencies as base^(−2p/{rotated}).")),
            ];
            if width.is_multiple_of(2) {
                ways.push(part(RotatedPart::First, None, "all columns").saying(format!(
                    "All {width} columns of each head were rotated; it should be the first {rotated}."
                )));
            }
            ways
        }
        None if width.is_multiple_of(4) => {
            vec![part(RotatedPart::First, Some(width / 2), "the first half").saying(format!(
                "Only the first {} columns of each head were rotated; it should be all {width}.",
                width / 2
            ))]
        }
        None => Vec::new(),
    }
}

/// Usual bases in place of the right one.
fn bases(rotary: &Rotary) -> Vec<Way> {
    let way = |base: f64| {
        let said = if base == USUAL_BASE {
            format!("The base of the frequencies is 10000, which is the default, and not {}.", rotary.base)
        } else {
            format!("The base of the frequencies is {base}, and not {}.", rotary.base)
        };
        Way::detailed(changed(MechanismChange::Base(base)), format!("{base}"))
            .saying(said)
            .fixing(format!("Compute the frequencies as {}^(−2p/d).", rotary.base))
    };
    [USUAL_BASE, 500_000.0, 1_000_000.0].into_iter().filter(|base| *base != rotary.base).map(way).collect()
}

/// Other scalings than the right one.
fn scalings(scaling: RopeScaling) -> Vec<Way> {
    let name = scaling.name();
    let change = |scaling| changed(MechanismChange::Scaling(scaling));
    let mut ways = vec![
        Way::plain(change(None)).saying(format!("The scaling of the frequencies, {name}, was left out.")),
    ];
    if let RopeScaling::Linear { factor } = scaling {
        ways.push(
            Way::detailed(change(Some(RopeScaling::Linear { factor: 1.0 / factor })), "the other way round")
                .saying("The frequencies were multiplied by the factor of their scaling, not divided.")
                .fixing("Divide the frequencies by the factor: positions are squeezed."),
        );
    }
    ways
}

/// All frequencies divided by the factor, where the scaling is another one.
fn taken_for_linear(scaling: RopeScaling) -> Vec<Way> {
    let factor = match scaling {
        RopeScaling::Linear { .. } => return Vec::new(),
        RopeScaling::Dynamic { factor, .. }
        | RopeScaling::Llama3 { factor, .. }
        | RopeScaling::LongRope { factor, .. } => factor,
        RopeScaling::Yarn(yarn) => yarn.factor,
    };
    let name = scaling.name();
    let linear = changed(MechanismChange::Scaling(Some(RopeScaling::Linear { factor })));
    let way = Way::plain(linear)
        .saying(format!(
            "All frequencies were divided by {factor}: the scaling was taken for linear, but it is {name}."
        ))
        .fixing(format!("Scale each frequency as {name} does."));
    vec![way]
}

// Scaled or rearranged tokens, queries, keys and values.

/// X times the usual numbers.
fn scaled(width: usize, facts: &Facts) -> Vec<Way> {
    let root = (width as f64).sqrt();
    let length = (facts.keys as f64).sqrt();
    let factors = [
        (root, format!("times √{width}")),
        (1.0 / root, format!("divided by √{width}")),
        (width as f64, format!("times {width}")),
        (1.0 / width as f64, format!("divided by {width}")),
        (1.0 / length, format!("divided by √{}", facts.keys)),
        (2.0, "times 2".to_string()),
        (0.5, "divided by 2".to_string()),
    ];
    let way = |(factor, how): &(f64, String)| {
        let said =
            format!("The tokens were {} before the projections.", how.replacen("times", "multiplied by", 1));
        [(Site::Tokens, ""), (Site::TokensAndResidual, ", and the residual")].map(|(stage, and)| {
            Way::detailed(altered(stage, Alter::Times(*factor)), format!("{how}{and}")).saying(said.clone())
        })
    };
    factors.iter().flat_map(way).collect()
}

fn shifted(facts: &Facts) -> Vec<Way> {
    let stages = [
        (Site::Queries, "queries"),
        (Site::Keys, "keys"),
        (Site::Values, "values"),
        (Site::KeysAndValues, "keys and values"),
        (Site::Tokens, "tokens"),
    ];
    let moves = [
        (Alter::ROWS_LATER, "one row too late"),
        (Alter::ROWS_EARLIER, "one row too early"),
        (Alter::ROWS_REVERSED, "in reverse order"),
    ];
    let possible = stages.into_iter().filter(|(stage, _)| facts.x.is_some() || *stage != Site::Tokens);
    let way = |(stage, what): (Site, &'static str)| {
        moves.map(|(alter, how)| {
            let said = format!("The {what} stand {how}.");
            let change: Change = altered(stage, alter);
            Way::detailed(change, format!("{what} {how}")).saying(said)
        })
    };
    possible.flat_map(way).collect()
}
