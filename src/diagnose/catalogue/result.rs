//! Mistakes in what is mixed, and in what becomes of it.

use super::{Mistake, Way, when};
use crate::diagnose::Change;
use crate::graph::build::Values;

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "values-unprojected",
        slip: "The weights mixed the tokens themselves: A X was computed where A V belongs.",
        why: "What a token is compared by and what it hands over are different things; V = X W_V is what it hands over.",
        symptom: "The weights are right, and the result has the numbers of X in it.",
        demo: "qkv",
        ways: |_, facts| when(facts.x.is_some_and(|x| x.rows == facts.keys), Change::Values(Values::Tokens)),
    },
    Mistake {
        id: "values-are-keys",
        slip: "The weights mixed the keys: A K was computed where A V belongs.",
        why: "Keys are there to be compared with; what is mixed are the values.",
        symptom: "The weights are right, and the result has the numbers of K in it.",
        demo: "lookup",
        ways: |_, _| vec![Way::plain(Change::Values(Values::Keys))],
    },
    Mistake {
        id: "no-output-projection",
        slip: "W_O was forgotten: the heads side by side were given as the result.",
        why: "The output projection mixes what the heads have found, and brings it back to the width of the tokens.",
        symptom: "Every block of columns belongs to one head.",
        demo: "output",
        ways: |_, facts| when(facts.projects, Change::Projected(false)),
    },
    Mistake {
        id: "residual-added",
        slip: "X was added: X + O was given where O alone is asked for.",
        why: "The residual belongs to the block around attention, not to attention itself.",
        symptom: "What is too much is X.",
        demo: "update",
        ways: |recipe, facts| when(facts.x.is_some() && !recipe.output.residual, Change::Residual(true)),
    },
    Mistake {
        id: "residual-missing",
        slip: "X was not added, although the residual is asked for.",
        why: "What attention gives is a change to the token; without the residual the token itself is gone.",
        symptom: "What is missing is X.",
        demo: "update",
        ways: |recipe, _| when(recipe.output.residual, Change::Residual(false)),
    },
    Mistake {
        id: "column-convention",
        slip: "The answer is transposed: tokens stand in the columns, where they belong in the rows.",
        why: "Texts that write vectors as columns compute Vᵀ Aᵀ, with the softmax down each column.",
        symptom: "The shape is turned round; the first row holds what belongs in the first column.",
        demo: "columns",
        ways: |_, _| vec![Way::plain(Change::Transposed)],
    },
];
