//! The student's result compared with the right one: right or wrong, where first, and which classic mistake gives these numbers.
//!
//! A [`Task`] is the exercise; an [`Examiner`] computes it with every [`Mistake`] put in, alone and in pairs, and judges
//! [`Answer`]s: a [`Diagnosis`]. A mistake is one [`Change`] to the recipe, so that mistakes compose.

mod answer;
mod cache;
mod candidates;
mod catalogue;
mod causes;
mod chance;
mod change;
mod clue;
mod clues;
mod column;
mod compare;
mod diagnosis;
mod evidence;
mod examiner;
mod exercise;
mod fits;
mod fitting;
mod forms;
mod half;
mod half_moves;
mod hidden;
mod implied;
mod linear;
mod mask_pattern;
mod naming;
mod nearly_right;
mod numbers;
mod one_head;
mod partial;
mod plans;
mod precision;
mod reach;
mod rearranged;
mod resemblance;
mod search;
mod slip;
mod some_rows;
mod suggest;
mod task;
mod temperature;
mod tolerance;
mod trials;
mod walk;
mod ways;

pub use answer::Answer;
pub use catalogue::{GROUPS, Group, Likelihood, Mistake, Way, catalogue, find};
pub use causes::cause;
pub use change::Change;
pub use clue::Clue;
pub use compare::Difference;
pub use diagnosis::{CloseNumbers, Diagnosis, Distance, JudgedNode, NamedMistake, Verdict};
pub use evidence::Evidence;
pub use examiner::Examiner;
pub use forms::{EquivalentForm, FORMS};
pub use half::HalfPrecision;
pub use half_moves::{HalfPrecisionMoves, in_half_precision};
pub use mask_pattern::{MaskLine, MaskPattern};
pub use resemblance::Resemblance;
pub use slip::Slip;
pub use suggest::{Suggestion, suggest};
pub use task::{Facts, Task};
pub use tolerance::{MOST_DECIMALS, Tolerance, decimals_of};
