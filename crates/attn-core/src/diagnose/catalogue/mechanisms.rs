//! Mistakes with the norm of queries and keys, the soft-cap, kept keys, sinks and gates.

use crate::attention::Mask;
use crate::diagnose::{Change, Facts, MechanismChange};
use crate::graph::recipes::{
    CapPlace, Gating, NormPlace, NormedRoles, PositionKind, Projection, Qkv, Recipe, Residual, SinkUse,
};

use super::positions::changed;
use super::{Way, Ways, if_possible, when};

/// The ways to make the mistakes of this file.
pub(super) const WAYS: &[Ways] = &[
    ("qk-norm-missing", |recipe, _| {
        when(has_norm(recipe), changed(MechanismChange::NormPlace(NormPlace::Nowhere)))
    }),
    ("qk-norm-one-side", |recipe, _| {
        let way = |roles, alone: &str, other: &str| {
            Way::detailed(changed(MechanismChange::Normed(roles)), format!("{alone} alone"))
                .saying(format!("The {alone} alone were normed; the {other} were not."))
        };
        let ways =
            vec![way(NormedRoles::Queries, "queries", "keys"), way(NormedRoles::Keys, "keys", "queries")];
        if_possible(has_norm(recipe), ways)
    }),
    ("qk-norm-late", |recipe, _| {
        let is_rotated = matches!(recipe.positions.kind, PositionKind::Rotary(_));
        let late = changed(MechanismChange::NormPlace(NormPlace::AfterRotation));
        when(has_norm(recipe) && is_rotated, late)
    }),
    ("softcap-missing", |recipe, _| when(recipe.soft_cap.is_some(), changed(MechanismChange::SoftCap(None)))),
    ("softcap-late", |recipe, _| {
        let late = changed(MechanismChange::CapPlace(CapPlace::AfterMask));
        when(recipe.soft_cap.is_some() && recipe.mask.is_some(), late)
    }),
    ("softcap-before-scale", |recipe, facts| {
        let is_scaled = recipe.scale.factor(facts.d_k).is_some();
        let early = changed(MechanismChange::CapPlace(CapPlace::BeforeScale));
        when(recipe.soft_cap.is_some() && is_scaled, early)
    }),
    ("first-keys-hidden", |recipe, _| {
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
    }),
    ("sink-missing", |_, facts| when(facts.has_sink, changed(MechanismChange::Sink(SinkUse::Missing)))),
    ("sink-wrong", other_sinks),
    ("gate-missing", |_, facts| when(facts.has_gate, changed(MechanismChange::Gate(Gating::Missing)))),
    ("gate-without-sigmoid", |_, facts| {
        when(facts.has_gate, changed(MechanismChange::Gate(Gating::WithoutSigmoid)))
    }),
    ("output-projection-transposed", |_, facts| projected(facts.square_output, Projection::Transposed)),
    ("output-projection-twice", |_, facts| projected(facts.square_output, Projection::Twice)),
    ("output-projection-per-head", |recipe, facts| {
        projected(
            facts.projects && recipe.heads > 1 && facts.result.cols.is_multiple_of(recipe.heads),
            Projection::PerHead,
        )
    }),
    ("residual-doubled", |recipe, facts| {
        added(recipe, facts, vec![Way::plain(Change::Addition(Residual::Twice))])
    }),
    ("residual-inside", |recipe, facts| {
        let twice = Way::detailed(Change::Addition(Residual::InsideAndAfter), "and after it")
            .saying("X was added twice: before the output projection and after it, (C + X) W_O + X.");
        let ways = vec![Way::plain(Change::Addition(Residual::Inside)), twice];
        if_possible(facts.projects, added(recipe, facts, ways))
    }),
    ("residual-normalised", |recipe, facts| {
        let ways = vec![
            Way::detailed(Change::Addition(Residual::LayerNormed), "layer norm"),
            Way::detailed(Change::Addition(Residual::RmsNormed), "RMS norm"),
        ];
        added(recipe, facts, ways)
    }),
    ("residual-subtracted", |recipe, facts| {
        let right = if recipe.output.residual { "X + O" } else { "O" };
        let way = |(residual, how)| {
            Way::detailed(Change::Addition(residual), how)
                .saying(format!("You computed {how} instead of {right}."))
        };
        let ways = [(Residual::Subtracted, "O − X"), (Residual::SubtractedFrom, "X − O")].map(way);
        added(recipe, facts, ways.to_vec())
    }),
    ("residual-multiplied", |recipe, facts| {
        added(recipe, facts, vec![Way::plain(Change::Addition(Residual::Multiplied))])
    }),
    ("residual-of-another", |recipe, _| {
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
    }),
];

/// The most heads whose sinks are tried for all heads.
const MOST_SINKS: usize = 16;

/// The sink of one head for all, those of the heads in reverse order, the other sign, and usual numbers.
fn other_sinks(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let way = |sink, detail: String| Way::detailed(changed(MechanismChange::Sink(sink)), detail);
    let own = "Give each head its own sink: number h of the sinks belongs to head h.";
    let mut ways = Vec::new();
    if recipe.heads > 1 {
        for head in 1..=recipe.heads.min(MOST_SINKS) {
            ways.push(
                way(SinkUse::OfHead(head), format!("of head {head}"))
                    .saying(format!("The sink of head {head} was used for all heads."))
                    .fixing(own),
            );
        }
        if recipe.heads > 2 {
            ways.push(
                way(SinkUse::Reversed, "reversed".into())
                    .saying("The heads took the sinks in reverse order.")
                    .fixing(own),
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

fn has_norm(recipe: &Recipe) -> bool {
    recipe.qk_norm.place != NormPlace::Nowhere
}

// Other forms of the output projection and of the residual.

/// The fix where the exercise has no residual.
const NO_RESIDUAL: &str = "Hand in the result of attention alone: the exercise has no residual.";

fn projected(possible: bool, projection: Projection) -> Vec<Way> {
    if_possible(possible, vec![Way::plain(Change::Projection(projection))])
}

/// Other ways to add the residual, or ways to add one where the exercise has none.
fn added(recipe: &Recipe, facts: &Facts, ways: Vec<Way>) -> Vec<Way> {
    match (recipe.output.residual, facts.x.is_some()) {
        (true, _) => ways,
        (false, true) => {
            ways.into_iter().map(|way| way.with(Change::Residual(true)).fixing(NO_RESIDUAL)).collect()
        }
        (false, false) => Vec::new(),
    }
}
