//! Recipes: inputs and options to the graph of a whole computation.

mod again;
mod alter;
mod attend;
mod backward_pass;
mod choices;
mod choices_of_weights;
mod divisors;
mod featurewise;
mod forecast;
mod fused;
mod fused_heads;
mod gate;
mod head_cache;
mod heads;
mod hidden_scores;
mod inputs;
mod inside;
mod loss;
mod mechanisms;
mod normalise;
mod output;
mod position_bias;
mod positions;
mod recipe;
mod roles;
mod rotation;
mod similarity;
mod softmax;
#[cfg(test)]
mod tests;
mod weights;

pub use alter::{Alter, Alteration, Combine, Move, Norm, OtherMatrix, Site, Slant};
pub use attend::{attend, attend_as_far_as_possible, attend_in};
pub use choices::{
    Biasing, Groups, HeadSharing, Hiding, Merge, Projection, Qkv, QkvSource, QkvSources, Residual, ScoreRows,
    Split, SplitRoles,
};
pub use choices_of_weights::{AfterNormalise, Divisor, Normalise, NormaliseAxis, ScoreFunction, Shift};
pub use fused::attend_fused;
pub use head_cache::HeadCache;
pub(crate) use head_cache::{LookAtWeights, StepsOfHeads};
pub use heads::split;
pub use inputs::AttendInputs;
pub(crate) use inside::{HeadInputs, heads_inside, removed};
pub use loss::{CrossEntropy, cross_entropy, cross_entropy_in_batch};
pub use mechanisms::{
    AlibiSlopes, CapPlace, Gating, MagnitudeUse, NormPlace, NormedRoles, PositionKind, Positions,
    QK_NORM_EPSILON, QkNorm, Rotary, RotatedPart, RotatedRoles, SineSigns, SinkUse,
};
pub use recipe::{Featurewise, Output, Recipe, Scale, Score};
pub use similarity::{Measure, similarity};
pub use softmax::softmax;
pub use weights::{BiasAndMask, Weights, weights};
