//! Recipes: inputs and options to the graph of a whole computation.

mod alter;
mod attend;
mod choices;
mod forecast;
mod fused;
mod heads;
mod normalise;
mod output;
mod recipe;
mod roles;
mod similarity;
mod softmax;
#[cfg(test)]
mod tests;
mod weights;

pub use alter::{Alter, Alteration, Stage};
pub use attend::{AttendInputs, attend, attend_as_far_as_possible};
pub use choices::{
    Along, Biasing, Common, Comparison, Divisor, Function, Groups, Hiding, Merge, Normalise, Projection,
    Residual, Role, Roles, Shift, Source, Split, Then,
};
pub use fused::attend_fused;
pub use heads::split;
pub use recipe::{Output, Recipe, Scale, Score};
pub use similarity::{Measure, similarity};
pub use softmax::softmax;
pub use weights::{Additions, Weights, weights};
