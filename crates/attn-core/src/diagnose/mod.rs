//! The student's result compared with the right one: right or wrong, where first, and which classic mistake gives these numbers.
//!
//! A [`Task`] is the exercise; an [`Examiner`] computes it with every [`Mistake`] put in, alone and in pairs, and judges
//! [`Answer`]s: a [`Diagnosis`]. A mistake is one [`Change`] to the recipe, so that mistakes compose.

mod answer;
mod cache;
mod candidates;
mod catalogue;
mod clues;
mod compare;
mod diagnosis;
mod equivalent_forms;
mod examiner;
mod fits;
mod half_precision;
mod implied_weights;
mod linear;
mod naming;
mod partial;
mod search;
mod solver;
mod submission;
mod suggest;
mod task;
mod walk;

pub use crate::graph::recipes::Change;
pub use answer::Answer;
pub use catalogue::{GROUPS, Group, Likelihood, Mistake, Slip, Way, catalogue, find, own_mistakes};
pub use clues::cause;
pub use compare::{Difference, MOST_DECIMALS, Tolerance, decimals_of};
pub use diagnosis::{
    CloseNumbers, Clue, Diagnosis, Distance, Evidence, HalfPrecision, JudgedNode, NamedMistake, Resemblance,
    Verdict,
};
pub use equivalent_forms::{EquivalentForm, FORMS};
pub use examiner::ComparedMatrix;
pub use half_precision::{HalfPrecisionMoves, in_half_precision};
pub use submission::{
    Submission, computed_steps, limit, named_submission, submission, with_renaming_remarks,
};
pub use suggest::{Suggestion, suggest};
pub use task::{Facts, Task};
pub use walk::Examiner;
