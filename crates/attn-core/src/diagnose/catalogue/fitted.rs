//! Mistakes with a number, or a row of numbers, of their own: solved for, not tried.

use crate::diagnose::Change;

use super::{Likelihood, Mistake, Way, when};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: TEMPERATURE,
        likelihood: Likelihood::Common,
        slip: "The scores were divided by another number than √d_k.",
        why: "The number that scores are divided by makes the weights sharper or more even.",
        fix: "Divide the scores by √d_k, and by no other number.",
        symptom: "All weights are too sharp, or all too even.",
        demo: Some("scale"),
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: FACTOR,
        likelihood: Likelihood::Common,
        slip: "Every number is the right one times the same factor.",
        why: "Somewhere after the last step that is right, everything was multiplied or divided by one number.",
        fix: "Look for a factor that is not in the formula.",
        symptom: "Your numbers divided by the right ones are the same in every cell.",
        demo: Some("scale"),
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: BIAS,
        likelihood: Likelihood::Common,
        slip: "The same row of numbers was added to every row: a bias of the values or of the output.",
        why: "nn.Linear has a bias unless it is told otherwise; the weights of each row sum to 1, so that a bias of V goes through \
              unchanged.",
        fix: "Leave the biases out: nn.Linear(…, bias=False).",
        symptom: "Your result minus the right one is the same in every row.",
        demo: Some("qkv"),
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: RESHAPED,
        likelihood: Likelihood::Common,
        slip: "The numbers are right, in another shape.",
        why: "The result has a row for each query and a column for each feature.",
        fix: "Reshape the result to the shape that is asked for.",
        symptom: "Read row by row, the numbers are right.",
        demo: Some("output"),
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: RESIDUAL,
        likelihood: Likelihood::Common,
        slip: "X was added with a factor.",
        why: "The residual adds the token to its update once, as it is.",
        fix: "Add X to the result once if the exercise has a residual, and not at all if it has none.",
        symptom: "Your result minus the right one is a multiple of X.",
        demo: Some("update"),
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: HEADS,
        likelihood: Likelihood::Common,
        slip: "The heads have different factors, or some are missing.",
        why: "Every head counts once: the heads stand side by side, and W_O mixes them.",
        fix: "Concatenate all heads as they are.",
        symptom: "The result is the sum of what the heads add, with wrong factors.",
        demo: Some("output"),
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: ROWS,
        likelihood: Likelihood::Common,
        slip: "Each row of the weights is the right one times a number of its own.",
        why: "The weights of a query sum to 1. Where they do not, its row was divided by another number than the sum of its exponentials, \
              or something was done to it afterwards.",
        fix: "Look at what each row is divided by: the sum over its keys alone (no padding, no constant), with keepdims=True.",
        symptom: "Each row of the result is a multiple of the right one.",
        demo: Some("weights"),
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: ROW_ORDER,
        likelihood: Likelihood::Common,
        slip: "The rows of the result are right, in another order.",
        why: "Row i of the result belongs to query i.",
        fix: "Keep the order of the queries.",
        symptom: "The right rows are all there, in other places.",
        demo: Some("order"),
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: COLUMN_ORDER,
        likelihood: Likelihood::Common,
        slip: "The columns of the result are right, in another order.",
        why: "Column j of the result belongs to feature j, and the heads stand in their order.",
        fix: "Keep the order of the columns, and of the heads.",
        symptom: "The right columns are all there, in other places.",
        demo: Some("output"),
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: INCOMPLETE,
        likelihood: Likelihood::Common,
        slip: "Only some rows or columns of the result were handed in.",
        why: "The result has a row for each query and a column for each feature.",
        fix: "Hand in all rows and all columns of the result.",
        symptom: "The numbers are right, and some are missing.",
        demo: Some("output"),
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: ZEROED,
        likelihood: Likelihood::Common,
        slip: "Some rows or columns of the result are 0, and should not be.",
        why: "A matrix that begins as zeros keeps them where nothing is written: a loop that ends too early, or a `return` inside it.",
        fix: "Fill every row and every column of the result.",
        symptom: "The other rows, or columns, are right.",
        demo: Some("vectorize"),
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: ONE_CELL,
        likelihood: Likelihood::Common,
        slip: "Only one number of the result is wrong.",
        why: "Every number of the result has the same formula: one alone is a slip in copying or in arithmetic.",
        fix: "Compute this one number again: its row of the weights times its column of the values.",
        symptom: "All other numbers are right.",
        demo: Some("pairwise"),
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: EXCHANGED,
        likelihood: Likelihood::Common,
        slip: "Two numbers of the result stand in each other's place.",
        why: "Every number of the result has the same formula: two alone are exchanged in copying.",
        fix: "Exchange these two numbers.",
        symptom: "All other numbers are right.",
        demo: Some("pairwise"),
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: DROPPED,
        likelihood: Likelihood::Common,
        slip: "Dropout was on: it set some numbers to 0 and made the others larger.",
        why: "Dropout with the rate p sets each number to 0 with the probability p and divides the others by 1 − p. It belongs in \
              training; every run gives other numbers.",
        fix: "Switch dropout off before you compare: `model.eval()`, and `dropout_p=0.0` in scaled_dot_product_attention.",
        symptom: "Numbers are 0 or too large by one factor; a second run gives other ones.",
        demo: None,
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: SURPLUS,
        likelihood: Likelihood::Common,
        slip: "The result has a row or a column too many; everything else is right.",
        why: "A table that is exported with its header or its index has a row or a column that is not part of the result.",
        fix: "Write the numbers alone, without header and index.",
        symptom: "Without its first row, or column, the result is right.",
        demo: Some("output"),
        ways: |_, _| Vec::new(),
    },
];

/// The fix of a row over something else than its own sum, in an exercise with a sink.
pub(in crate::diagnose) const OWN_SUM_WITH_SINK: &str =
    "Divide each row of exp(S) by its own sum, with exp(sink) of the head in it.";
/// A number in the place of −∞ that hides too little.
pub(in crate::diagnose) const WEAK_MASK: &str = "mask-weak";
/// A wrong temperature.
pub(in crate::diagnose) const TEMPERATURE: &str = "temperature";
/// Everything times one number.
pub(in crate::diagnose) const FACTOR: &str = "wrong-factor";
/// The same row added to every row.
pub(in crate::diagnose) const BIAS: &str = "bias-added";
/// The right numbers in another shape.
pub(in crate::diagnose) const RESHAPED: &str = "result-reshaped";
/// X with a factor of its own.
pub(in crate::diagnose) const RESIDUAL: &str = "residual-scaled";
/// Heads with factors of their own.
pub(in crate::diagnose) const HEADS: &str = "heads-weighted";
/// Rows with factors of their own.
pub(in crate::diagnose) const ROWS: &str = "rows-scaled";
/// The right rows in another order.
pub(in crate::diagnose) const ROW_ORDER: &str = "rows-reordered";
/// The right columns in another order.
pub(in crate::diagnose) const COLUMN_ORDER: &str = "columns-reordered";
/// Some of the right rows or columns.
pub(in crate::diagnose) const INCOMPLETE: &str = "result-incomplete";
/// Rows or columns that are 0.
pub(in crate::diagnose) const ZEROED: &str = "result-left-zero";
/// One wrong number.
pub(in crate::diagnose) const ONE_CELL: &str = "one-number-wrong";
/// Two numbers in each other's place.
pub(in crate::diagnose) const EXCHANGED: &str = "numbers-exchanged";
/// Dropout that was left on.
pub(in crate::diagnose) const DROPPED: &str = "dropout";
/// A header or an index among the numbers.
pub(in crate::diagnose) const SURPLUS: &str = "result-surplus";

// Mistakes in the output projection, in the residual and in the layout of the result.

pub(super) const RESULT: &[Mistake] = &[
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

// Any mistake of the catalogue, made in a part of the computation alone. The comparison finds which mistake it is.

/// In some rows alone.
pub(in crate::diagnose) const SOME_ROWS: &str = "only-some-rows";
/// In one head alone.
pub(in crate::diagnose) const ONE_HEAD: &str = "only-one-head";

pub(super) const PARTIAL: &[Mistake] = &[
    Mistake {
        id: SOME_ROWS,
        likelihood: Likelihood::Rare,
        slip: "A mistake of this list was made in some rows alone.",
        why: "Every query is treated alike: what is right for one row is right for all.",
        fix: "Compute every row in the same way.",
        symptom: "Some rows are right, and the others are what the mistake gives.",
        demo: Some("vectorize"),
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: ONE_HEAD,
        likelihood: Likelihood::Rare,
        slip: "A mistake of this list was made in one head alone.",
        why: "Every head computes the same formula with its own columns.",
        fix: "Compute every head in the same way.",
        symptom: "The columns of the other heads are right, as long as W_O has not mixed them.",
        demo: Some("multihead"),
        ways: |_, _| Vec::new(),
    },
];
