//! Mistakes with rotary positions.

use super::{Likelihood, Mistake, Way, if_possible, when};
use crate::attention::{Pairing, RopeScaling};
use crate::diagnose::{Change, MechanismChange};
use crate::elementary::pow;
use crate::graph::recipes::{
    MagnitudeUse, PositionKind, Recipe, Rotary, RotatedPart, RotatedRoles, SineSigns,
};

/// The base of the paper, which code falls back to.
const USUAL_BASE: f64 = 10_000.0;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "rope-pairing",
        likelihood: Likelihood::Classic,
        slip: "The wrong columns rotate together.",
        why: "Neighbouring columns, or the two halves of a head: the weights are made for one of the two, and with the other the scores are of other pairs.",
        fix: "Pair the columns as the exercise does: neighbours are 2p and 2p + 1, halves are p and p + d/2.",
        symptom: "Each row keeps its length, and the first position is right; every later one is wrong.",
        demo: Some("rope"),
        ways: |recipe, _| {
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
        },
    },
    Mistake {
        id: "rope-direction",
        likelihood: Likelihood::Classic,
        slip: "Queries and keys were rotated in the other direction: the sign of the sines is wrong, or the positions count down.",
        why: "The scores are those of distances with the other sign, the same as with positions that count from the end, and as with the \
              two columns of each pair swapped in queries and keys.",
        fix: "Compute (a cos − b sin, a sin + b cos) for each pair (a, b).",
        symptom: "Q_rotated and K_rotated are those of negative positions; the scores on the diagonal are right, and most others are not.",
        demo: Some("rope"),
        ways: |recipe, _| of_rotary(recipe, directions),
    },
    Mistake {
        id: "rope-part",
        likelihood: Likelihood::Classic,
        slip: "The wrong columns of each head are rotated.",
        why: "A head may rotate its first columns alone: the others carry no position and stay as they are.",
        fix: "Rotate the first columns, as many as the exercise says, and put the others behind them unchanged.",
        symptom: "Columns that should stay differ, or columns that should rotate do not.",
        demo: Some("rope"),
        ways: |recipe, facts| of_rotary(recipe, |rotary| parts(rotary, facts.d_k)),
    },
    Mistake {
        id: "rope-base",
        likelihood: Likelihood::Classic,
        slip: "The frequencies have another base than the exercise.",
        why: "The base decides how slowly the later pairs rotate; a model works with the one that it was trained with.",
        fix: "Compute the frequencies as base^(−2p/d) with the base of the exercise.",
        symptom: "The first pair of columns is right, and the later ones differ more and more.",
        demo: Some("rope"),
        ways: |recipe, _| of_rotary(recipe, bases),
    },
    Mistake {
        id: "rope-scaling",
        likelihood: Likelihood::Classic,
        slip: "The scaling of the frequencies was left out.",
        why: "A model for longer texts is trained with scaled frequencies: without them every distance looks larger.",
        fix: "Apply the scaling to the frequencies before the angles are computed.",
        symptom: "F_scaled equals F.",
        demo: Some("rope"),
        ways: |recipe, _| of_rotary(recipe, |rotary| rotary.scaling.map_or_else(Vec::new, scalings)),
    },
    Mistake {
        id: "rope-scaling-linear",
        likelihood: Likelihood::Common,
        slip: "All frequencies were divided by the factor, as a linear scaling does.",
        why: "Other scalings than the linear one keep the fast pairs, so that near tokens stay apart.",
        fix: "Scale each frequency by the formula of the scaling that the exercise asks for.",
        symptom: "The slowest pair is right, and the faster ones are too slow.",
        demo: Some("rope"),
        ways: |recipe, _| of_rotary(recipe, |rotary| rotary.scaling.map_or_else(Vec::new, taken_for_linear)),
    },
    Mistake {
        id: "rope-divisors",
        likelihood: Likelihood::Classic,
        slip: "LongRoPE's divisors are those of the other length.",
        why: "Short texts have one row of divisors, and texts beyond the original length another.",
        fix: "Take the first row up to the original length, and the second beyond it.",
        symptom: "F_scaled is F over the other row.",
        demo: Some("rope"),
        ways: |recipe, facts| {
            let is_long_rope = |rotary: &Rotary| matches!(rotary.scaling, Some(RopeScaling::LongRope { .. }));
            let other = changed(MechanismChange::OtherDivisors);
            of_rotary(recipe, |rotary| when(is_long_rope(rotary) && facts.has_two_divisors, other))
        },
    },
    Mistake {
        id: "rope-magnitude",
        likelihood: Likelihood::Common,
        slip: "The factor of sines and cosines was left out.",
        why: "YaRN and LongRoPE multiply sines and cosines by one number, so that the scores grow by its square.",
        fix: "Multiply cosine and sine by the factor once, for queries and for keys.",
        symptom: "The rotated columns are right up to one factor.",
        demo: Some("rope"),
        ways: |recipe, _| {
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
        },
    },
    Mistake {
        id: "rope-one-side",
        likelihood: Likelihood::Classic,
        slip: "Only queries or only keys were rotated.",
        why: "Only where both are rotated does a score depend on their distance.",
        fix: "Rotate queries and keys by their positions.",
        symptom: "One of Q_rotated and K_rotated is right, and the other is not rotated.",
        demo: Some("rope"),
        ways: |recipe, _| {
            of_rotary(recipe, |_| {
                let way = |roles, alone: &str, other: &str| {
                    Way::detailed(changed(MechanismChange::Rotated(roles)), format!("{alone} alone"))
                        .saying(format!("The {alone} alone were rotated; the {other} were not."))
                };
                vec![
                    way(RotatedRoles::Queries, "queries", "keys"),
                    way(RotatedRoles::Keys, "keys", "queries"),
                ]
            })
        },
    },
    Mistake {
        id: "rope-values",
        likelihood: Likelihood::Common,
        slip: "The values were rotated, too.",
        why: "A rotation lets scores depend on distances; the values are mixed as they are.",
        fix: "Rotate queries and keys, and leave the values alone.",
        symptom: "The weights are right, and the result is not.",
        demo: Some("rope"),
        ways: |recipe, facts| {
            let fits = |rotary: &Rotary| rotary.width.unwrap_or(facts.d_k) <= facts.d_v;
            let change = changed(MechanismChange::Rotated(RotatedRoles::WithValues));
            of_rotary(recipe, |rotary| when(fits(rotary), change))
        },
    },
    Mistake {
        id: "rope-twice",
        likelihood: Likelihood::Common,
        slip: "Queries and keys were rotated twice.",
        why: "The second rotation doubles every angle: all distances look twice as large.",
        fix: "Rotate once; keys from a cache are rotated already.",
        symptom: "The first position is right, and the angles of the others are doubled.",
        demo: Some("rope"),
        ways: |recipe, _| {
            of_rotary(recipe, |rotary| {
                // A frequency that is divided by a half is doubled.
                let doubled = MechanismChange::Scaling(Some(RopeScaling::Linear { factor: 0.5 }));
                when(rotary.scaling.is_none(), changed(doubled))
            })
        },
    },
];

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
