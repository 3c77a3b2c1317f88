//! Recipes: inputs and options to the graph of a whole computation.

mod attend;
mod choices;
mod forecast;
mod fused;
mod output;
mod recipe;
mod similarity;
mod softmax;
mod weights;

pub use attend::{AttendInputs, Given, attend, attend_as_far_as_possible};
pub use choices::{Comparison, Groups, Hiding, Merge, Normalise, Projection, Split, Values};
pub use fused::{FusedInputs, GivenNumbers, attend_fused, attend_fused_using};
pub use recipe::{Output, Recipe, Scale, Score};
pub use similarity::{Measure, similarity};
pub use softmax::softmax;
pub use weights::{Additions, Weights, split, weights};
