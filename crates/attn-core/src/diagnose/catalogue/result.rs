//! Mistakes in the output projection, in the residual and in the layout of the result.

use super::{Likelihood, Mistake, Way, when};
use crate::diagnose::Change;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "no-output-projection",
        likelihood: Likelihood::Classic,
        slip: "W_O is missing: the concatenated heads are the result.",
        why: "The output projection mixes the results of the heads and returns to the width of the tokens.",
        fix: "Multiply the concatenated heads by W_O.",
        symptom: "Every block of columns belongs to one head.",
        demo: Some("output"),
        ways: |_, facts| when(facts.projects, Change::Projected(false)),
    },
    Mistake {
        id: "residual-added",
        likelihood: Likelihood::Classic,
        slip: "X was added: you handed in X + O instead of O.",
        why: "The residual belongs to the block around attention, not to attention itself.",
        fix: "Hand in O alone, without adding X.",
        symptom: "Your result minus X is right.",
        demo: Some("update"),
        ways: |recipe, facts| when(facts.x.is_some() && !recipe.output.residual, Change::Residual(true)),
    },
    Mistake {
        id: "residual-missing",
        likelihood: Likelihood::Classic,
        slip: "X was not added, although the exercise has a residual.",
        why: "Attention computes a change to the token; without the residual the token itself is lost.",
        fix: "Add X to the result.",
        symptom: "Your result plus X is right.",
        demo: Some("update"),
        ways: |recipe, _| when(recipe.output.residual, Change::Residual(false)),
    },
    Mistake {
        id: "column-convention",
        likelihood: Likelihood::Classic,
        slip: "The answer is transposed: the tokens are columns, but they should be rows.",
        why: "Texts that write vectors as columns compute Vᵀ Aᵀ, with the softmax down each column.",
        fix: "Transpose the result, so that each row is a token.",
        symptom: "Rows and columns are swapped; the first row has what belongs in the first column.",
        demo: Some("columns"),
        ways: |_, _| vec![Way::plain(Change::Transposed)],
    },
];
