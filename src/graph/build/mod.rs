//! Recipes: inputs and options to the graph of a whole computation.

mod attend;
mod recipe;
mod similarity;
mod softmax;
mod weights;

pub use attend::{AttendInputs, Given, attend};
pub use recipe::{Output, Recipe, Scale, Score};
pub use similarity::{Measure, similarity};
pub use softmax::softmax;
pub use weights::{Additions, Weights, split, weights};
