//! Other forms of the output projection and of the residual.

use super::{Likelihood, Mistake, Way, if_possible};
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{Projection, Qkv, Recipe, Residual};

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
