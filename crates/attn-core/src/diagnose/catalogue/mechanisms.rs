//! Mistakes with the norm of queries and keys, the soft-cap, kept keys, sinks and gates.

use crate::attention::Mask;
use crate::diagnose::{Change, Facts, MechanismChange};
use crate::graph::recipes::{
    CapPlace, Gating, NormPlace, NormedRoles, PositionKind, Projection, Qkv, Recipe, Residual, SinkUse,
};

use super::positions::changed;
use super::{Likelihood, Mistake, Way, if_possible, when};

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

// Other forms of the output projection and of the residual.

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "output-projection-transposed",
        likelihood: Likelihood::Common,
        slip: "W_O was transposed: you computed C W_Oᵀ instead of C W_O.",
        why: "With a square W_O no error appears; PyTorch's Linear stores its weights as (out, in) and multiplies by Wᵀ.",
        fix: "Multiply the concatenated heads by W_O without transposing it.",
        symptom: "The heads are right, and the result is not.",
        demo: Some("output"),
        ways: |_, facts| projected(facts.square_output, Projection::Transposed),
    },
    Mistake {
        id: "output-projection-twice",
        likelihood: Likelihood::Common,
        slip: "W_O was applied twice.",
        why: "The output projection is one product, after the heads are joined.",
        fix: "Multiply the concatenated heads by W_O once.",
        symptom: "The heads are right, and the result is not.",
        demo: Some("output"),
        ways: |_, facts| projected(facts.square_output, Projection::Twice),
    },
    Mistake {
        id: "output-projection-per-head",
        likelihood: Likelihood::Common,
        slip: "Each head was multiplied by its own block of W_O alone.",
        why: "W_O mixes the heads: every column of the result has a share of all of them.",
        fix: "Concatenate the heads first, then multiply by the whole of W_O.",
        symptom: "Every block of columns of the result depends on one head.",
        demo: Some("output"),
        ways: |recipe, facts| {
            projected(
                facts.projects && recipe.heads > 1 && facts.result.cols.is_multiple_of(recipe.heads),
                Projection::PerHead,
            )
        },
    },
    Mistake {
        id: "residual-doubled",
        likelihood: Likelihood::Common,
        slip: "X was added twice.",
        why: "The residual adds the token to its update once.",
        fix: "Add X to the result once.",
        symptom: "Your result minus what attention gives is twice X.",
        demo: Some("update"),
        ways: |recipe, facts| added(recipe, facts, Residual::Twice),
    },
    Mistake {
        id: "residual-inside",
        likelihood: Likelihood::Common,
        slip: "X was added before the output projection: you computed (C + X) W_O.",
        why: "The residual goes around attention as a whole, W_O included.",
        fix: "Multiply by W_O first, then add X.",
        symptom: "Your result minus what attention gives is X W_O.",
        demo: Some("update"),
        ways: |recipe, facts| {
            let mut ways = added(recipe, facts, Residual::Inside);
            ways.extend(added(recipe, facts, Residual::InsideAndAfter).into_iter().map(|way| {
                Way { detail: Some("and after it".into()), ..way }
                    .saying("X was added twice: before the output projection and after it, (C + X) W_O + X.")
            }));
            if_possible(facts.projects, ways)
        },
    },
    Mistake {
        id: "residual-normalised",
        likelihood: Likelihood::Common,
        slip: "The residual is the normalised X.",
        why: "The norm is for what attention reads; the residual carries the token itself.",
        fix: "Add X to the result as it is.",
        symptom: "Your result minus what attention gives is the normalised X.",
        demo: Some("block"),
        ways: |recipe, facts| {
            let mut ways = Vec::new();
            for (residual, norm) in [(Residual::LayerNormed, "layer norm"), (Residual::RmsNormed, "RMS norm")]
            {
                ways.extend(
                    added(recipe, facts, residual)
                        .into_iter()
                        .map(|way| Way { detail: Some(norm.into()), ..way }),
                );
            }
            ways
        },
    },
    Mistake {
        id: "residual-subtracted",
        likelihood: Likelihood::Common,
        slip: "The result and X were subtracted instead of added.",
        why: "The residual adds the token to its update.",
        fix: "Add X itself to the result.",
        symptom: "Your result plus X is what attention gives, or X minus your result is.",
        demo: Some("update"),
        ways: |recipe, facts| {
            let mut ways = Vec::new();
            for (residual, how) in [(Residual::Subtracted, "O − X"), (Residual::SubtractedFrom, "X − O")]
            {
                ways.extend(added(recipe, facts, residual).into_iter().map(|way| {
                    let right = if recipe.output.residual { "X + O" } else { "O" };
                    Way { detail: Some(how.into()), ..way }
                        .saying(format!("You computed {how} instead of {right}."))
                }));
            }
            ways
        },
    },
    Mistake {
        id: "residual-multiplied",
        likelihood: Likelihood::Common,
        slip: "The result was multiplied by X, cell by cell.",
        why: "The residual is a sum: what attention finds is added to the token.",
        fix: "Add X itself to the result.",
        symptom: "Your result divided by X is what attention gives.",
        demo: Some("update"),
        ways: |recipe, facts| added(recipe, facts, Residual::Multiplied),
    },
    Mistake {
        id: "residual-of-another",
        likelihood: Likelihood::Common,
        slip: "The residual is not X: queries, keys or values were added.",
        why: "The residual carries the token as it came in.",
        fix: "Add X itself to the result.",
        symptom: "Your result minus what attention gives is Q, K or V.",
        demo: Some("update"),
        ways: |recipe, _| {
            let roles = [(Qkv::Query, "queries"), (Qkv::Key, "keys"), (Qkv::Value, "values")];
            let ways = roles.map(|(role, what)| {
                let way = Way::detailed(Change::Addition(Residual::Of(role)), what);
                let way = way.with(Change::Residual(true));
                if recipe.output.residual {
                    way.saying(format!("The residual is not X: the {what} were added."))
                } else {
                    way.saying(format!("The {what} were added to the result.")).fixing(NO_RESIDUAL)
                }
            });
            ways.to_vec()
        },
    },
];

/// The fix where the exercise has no residual.
const NO_RESIDUAL: &str = "Hand in the result of attention alone: the exercise has no residual.";

fn projected(possible: bool, projection: Projection) -> Vec<Way> {
    if_possible(possible, vec![Way::plain(Change::Projection(projection))])
}

/// The residual added in another way, or added where the exercise has none.
fn added(recipe: &Recipe, facts: &Facts, residual: Residual) -> Vec<Way> {
    let way = Way::plain(Change::Addition(residual));
    match (recipe.output.residual, facts.x.is_some()) {
        (true, _) => vec![way],
        (false, true) => vec![way.with(Change::Residual(true)).fixing(NO_RESIDUAL)],
        (false, false) => Vec::new(),
    }
}
