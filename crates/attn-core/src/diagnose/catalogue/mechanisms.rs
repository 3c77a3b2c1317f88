//! Mistakes with the norm of queries and keys, the soft-cap, kept keys, sinks and gates.

use super::rotary::changed;
use super::{Likelihood, Mistake, Way, if_possible, when};
use crate::attention::Mask;
use crate::diagnose::{Change, Facts, MechanismChange};
use crate::graph::recipes::{CapPlace, Gating, NormPlace, NormedRoles, PositionKind, Recipe, SinkUse};

pub(super) const NORMS: &[Mistake] = &[
    Mistake {
        id: "qk-norm-missing",
        likelihood: Likelihood::Classic,
        slip: "Queries and keys were not normed.",
        why: "The norm keeps the scores small whatever the length of a query or a key.",
        fix: "Divide each row of each head of Q and K by its root mean square, and multiply by the gains.",
        symptom: "The scores are too large or too small, by one factor for each query and one for each key.",
        demo: None,
        ways: |recipe, _| when(has_norm(recipe), changed(MechanismChange::NormPlace(NormPlace::Nowhere))),
    },
    Mistake {
        id: "qk-norm-one-side",
        likelihood: Likelihood::Common,
        slip: "Only queries or only keys were normed.",
        why: "Both are normed, each with its own gains.",
        fix: "Norm queries and keys.",
        symptom: "One of Q_normed and K_normed is right.",
        demo: None,
        ways: |recipe, _| {
            let way = |roles, alone: &str, other: &str| {
                Way::detailed(changed(MechanismChange::Normed(roles)), format!("{alone} alone"))
                    .saying(format!("The {alone} alone were normed; the {other} were not."))
            };
            let ways =
                vec![way(NormedRoles::Queries, "queries", "keys"), way(NormedRoles::Keys, "keys", "queries")];
            if_possible(has_norm(recipe), ways)
        },
    },
    Mistake {
        id: "qk-norm-late",
        likelihood: Likelihood::Classic,
        slip: "Queries and keys were rotated first, and normed then.",
        why: "The gains belong to the columns before the rotation mixes them; without gains both orders give the same numbers.",
        fix: "Norm queries and keys, then rotate them.",
        symptom: "The first position is right, and the others are not.",
        demo: None,
        ways: |recipe, _| {
            let is_rotated = matches!(recipe.positions.kind, PositionKind::Rotary(_));
            let late = changed(MechanismChange::NormPlace(NormPlace::AfterRotation));
            when(has_norm(recipe) && is_rotated, late)
        },
    },
];

pub(super) const CAPS: &[Mistake] = &[
    Mistake {
        id: "softcap-missing",
        likelihood: Likelihood::Classic,
        slip: "The soft-cap was left out.",
        why: "c · tanh(S / c) keeps the scores between −c and c; large scores come out smaller.",
        fix: "Apply c · tanh(S / c) to the scaled scores, before the mask.",
        symptom: "Scores that are small beside the cap are nearly right, and large ones are too large.",
        demo: None,
        ways: |recipe, _| when(recipe.soft_cap.is_some(), changed(MechanismChange::SoftCap(None))),
    },
    Mistake {
        id: "softcap-late",
        likelihood: Likelihood::Classic,
        slip: "The soft-cap was applied after the mask: hidden scores became −c.",
        why: "tanh turns −∞ into −1, so that a hidden key keeps a weight of about e^(−c). With a large cap that is too little to see.",
        fix: "Apply the soft-cap before the mask.",
        symptom: "Hidden keys have small weights; with a cap of 50 they are 0 in all digits.",
        demo: None,
        ways: |recipe, _| {
            let late = changed(MechanismChange::CapPlace(CapPlace::AfterMask));
            when(recipe.soft_cap.is_some() && recipe.mask.is_some(), late)
        },
    },
    Mistake {
        id: "softcap-before-scale",
        likelihood: Likelihood::Classic,
        slip: "The soft-cap was applied before the scale.",
        why: "The cap is a bound of the scaled scores; before the scale it bends them much more.",
        fix: "Multiply the scores by the scale first, then apply c · tanh(S / c).",
        symptom: "No scaled score exceeds c times the scale.",
        demo: None,
        ways: |recipe, facts| {
            let is_scaled = recipe.scale.factor(facts.d_k).is_some();
            let early = changed(MechanismChange::CapPlace(CapPlace::BeforeScale));
            when(recipe.soft_cap.is_some() && is_scaled, early)
        },
    },
];

pub(super) const KEPT_KEYS: &[Mistake] = &[Mistake {
    id: "first-keys-hidden",
    likelihood: Likelihood::Classic,
    slip: "The window hides the first keys, which should stay visible.",
    why: "The first tokens take the weight that no other key deserves; a window without them changes all weights.",
    fix: "Show the first keys to every query, whatever the window hides.",
    symptom: "The first columns of the weights are 0 in the later rows.",
    demo: Some("sink"),
    ways: |recipe, _| {
        let kept = recipe.mask.keep_first;
        let change = |keep_first| Change::Mask(Mask { keep_first, ..recipe.mask });
        let keys = |count: usize| match count {
            1 => "the first key".to_string(),
            _ => format!("the first {count} keys"),
        };
        let other = |keep_first: usize| {
            Way::detailed(change(keep_first), format!("{keep_first} kept"))
                .saying(format!(
                    "Beside its window every query sees {}; it should be {}.",
                    keys(keep_first),
                    keys(kept)
                ))
                .fixing(format!("Show every query exactly {}, whatever the window hides.", keys(kept)))
        };
        let mut ways = vec![Way::plain(change(0)), other(kept + 1)];
        if kept > 1 {
            ways.push(other(kept - 1));
        }
        if_possible(kept > 0 && recipe.mask.window.is_some(), ways)
    },
}];

pub(super) const SINKS: &[Mistake] = &[
    Mistake {
        id: "sink-missing",
        likelihood: Likelihood::Classic,
        slip: "The sink was left out of the softmax.",
        why: "The sink takes a share of every row, so that a head can attend to nothing; its column is dropped afterwards.",
        fix: "Put the sink of the head beside the scores of each row, take the softmax, and drop its column.",
        symptom: "The rows of the weights sum to 1; they should sum to less.",
        demo: Some("sink"),
        ways: |_, facts| when(facts.has_sink, changed(MechanismChange::Sink(SinkUse::Missing))),
    },
    Mistake {
        id: "sink-wrong",
        likelihood: Likelihood::Common,
        slip: "The softmax used the wrong sink.",
        why: "Each head has a sink of its own: it decides how much of every row goes to no key.",
        fix: "Put the sink of the head itself beside the scores of each row, as it is given.",
        symptom: "Each row of the weights is the right one times a number of its own.",
        demo: Some("sink"),
        ways: other_sinks,
    },
];

/// The most heads whose sinks are tried for all heads.
const MOST_SINKS: usize = 16;

/// The sink of one head for all, those of the heads in reverse order, the other sign, and usual numbers.
fn other_sinks(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let way = |sink, detail: String| Way::detailed(changed(MechanismChange::Sink(sink)), detail);
    let mut ways = Vec::new();
    if recipe.heads > 1 {
        for head in 1..=recipe.heads.min(MOST_SINKS) {
            ways.push(
                way(SinkUse::OfHead(head), format!("of head {head}"))
                    .saying(format!("The sink of head {head} was used for all heads."))
                    .fixing("Give each head its own sink: number h of the sinks belongs to head h."),
            );
        }
        if recipe.heads > 2 {
            ways.push(
                way(SinkUse::Reversed, "reversed".into())
                    .saying("The heads took the sinks in reverse order.")
                    .fixing("Give each head its own sink: number h of the sinks belongs to head h."),
            );
        }
    }
    if facts.has_finite_sinks {
        ways.push(
            way(SinkUse::Negated, "negated".into()).saying("The sinks have the wrong sign.").fixing(
                "Put the sink into the softmax as it is given: the sum has exp(sink), not exp(−sink).",
            ),
        );
    }
    for number in [0, 1] {
        ways.push(
            way(SinkUse::Number(number), format!("{number}"))
                .saying(format!("The sink is {number} in every head; the exercise gives another number."))
                .fixing("Take the sinks of the exercise: the sum of a row has exp(sink) of its head in it."),
        );
    }
    if_possible(facts.has_sink, ways)
}

pub(super) const GATES: &[Mistake] = &[
    Mistake {
        id: "gate-missing",
        likelihood: Likelihood::Classic,
        slip: "The gate was left out.",
        why: "The gate multiplies each number of the heads by a share between 0 and 1 before they are projected.",
        fix: "Multiply the heads by sigmoid(X W_g) before the output projection.",
        symptom: "The heads are right, and the result is too large.",
        demo: None,
        ways: |_, facts| when(facts.has_gate, changed(MechanismChange::Gate(Gating::Missing))),
    },
    Mistake {
        id: "gate-without-sigmoid",
        likelihood: Likelihood::Classic,
        slip: "The gate has no sigmoid: the heads were multiplied by X W_g itself.",
        why: "The sigmoid makes a share between 0 and 1 of any number; without it the gate can turn signs.",
        fix: "Take the sigmoid of X W_g before you multiply.",
        symptom: "Some numbers have the wrong sign.",
        demo: None,
        ways: |_, facts| when(facts.has_gate, changed(MechanismChange::Gate(Gating::WithoutSigmoid))),
    },
];

fn has_norm(recipe: &Recipe) -> bool {
    recipe.qk_norm.place != NormPlace::Nowhere
}
