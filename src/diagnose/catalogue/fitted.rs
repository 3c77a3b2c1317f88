//! Mistakes with a number, or a row of numbers, of their own: found by solving for it and not by trying.

use super::{Likelihood, Mistake};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: TEMPERATURE,
        likelihood: Likelihood::Common,
        slip: "The scores were divided by another number than √d_k.",
        why: "The number that scores are divided by makes the weights sharper or more even.",
        fix: "Divide the scores by √d_k, and by no other number.",
        symptom: "All weights are too sharp, or all too even.",
        demo: "scale",
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: FACTOR,
        likelihood: Likelihood::Common,
        slip: "Every number is the right one times the same factor.",
        why: "Somewhere after the last step that is right, everything was multiplied or divided by one number.",
        fix: "Look for a factor that is not in the formula.",
        symptom: "Your numbers divided by the right ones are the same in every cell.",
        demo: "scale",
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
        demo: "qkv",
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: RESHAPED,
        likelihood: Likelihood::Common,
        slip: "The numbers are right, in another shape.",
        why: "The result has a row for each query and a column for each feature.",
        fix: "Reshape the result to the shape that is asked for.",
        symptom: "Read row by row, the numbers are right.",
        demo: "output",
        ways: |_, _| Vec::new(),
    },
];

/// A temperature that nobody asked for.
pub(in crate::diagnose) const TEMPERATURE: &str = "temperature";
/// Everything times one number.
pub(in crate::diagnose) const FACTOR: &str = "wrong-factor";
/// The same row added to every row.
pub(in crate::diagnose) const BIAS: &str = "bias-added";
/// The right numbers in another shape.
pub(in crate::diagnose) const RESHAPED: &str = "result-reshaped";
