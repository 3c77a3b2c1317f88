//! Any mistake of the catalogue, made in a part of the computation alone. The comparison finds which mistake it is.

use super::{Likelihood, Mistake};

/// In some rows alone.
pub(in crate::diagnose) const ROWS: &str = "only-some-rows";
/// In one head alone.
pub(in crate::diagnose) const HEAD: &str = "only-one-head";

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: ROWS,
        likelihood: Likelihood::Rare,
        slip: "A mistake of this list was made in some rows alone.",
        why: "Every query is treated alike: what is right for one row is right for all.",
        fix: "Compute every row in the same way.",
        symptom: "Some rows are right, and the others are what the mistake gives.",
        demo: Some("vectorize"),
        ways: |_, _| Vec::new(),
    },
    Mistake {
        id: HEAD,
        likelihood: Likelihood::Rare,
        slip: "A mistake of this list was made in one head alone.",
        why: "Every head computes the same formula with its own columns.",
        fix: "Compute every head in the same way.",
        symptom: "The columns of the other heads are right, as long as W_O has not mixed them.",
        demo: Some("multihead"),
        ways: |_, _| Vec::new(),
    },
];
