//! The mathematics of attention: one step, one rule.
//!
//! A rule gives a cell, or the cells of a row that share a max, a sum or a mean, generic over what a number is. Rows are
//! tokens. All sums run from left to right and start at +0.0, elementary functions are those of [`crate::elementary`], so that the same
//! input gives the same bits everywhere. The order of a whole pipeline is: scores, scale, bias, temperature, soft-cap, mask, softmax, mix.

mod arithmetic;
mod fast;
mod heads;
mod linear;
pub(crate) mod number;
mod positions;
mod singular;
mod softmax;

pub(crate) use arithmetic::{
    Direction, GELU_CUBIC, add, change, cosine, diagonal, dot, elu_plus_one, euclidean, gelu, gelu_tanh,
    layer_norm, mean, minus_mean, normal_share, relu, rms_norm, root_mean_square, sigmoid, silu,
    single_range, sorted, unit_row,
};
pub(crate) use fast::{FastAttention, FusedOutput, added_out_of_range, attend_fast};
pub(crate) use heads::block;
pub use heads::{Order, key_value_head, token_rows};
pub use linear::{WeightLayout, linear};
pub use number::{Base, rounded};
pub use positions::{Buckets, HeadOf, Pairing, Places, RopeScaling, Rotation, Yarn};
pub(crate) use positions::{frequency, rotated, scaled_frequency, sinusoid};
pub use singular::{SingularValues, singular_values};
pub use softmax::{Axis, HidingRule, Mask, MaskCells, MatrixRule, Pairs, Visibility};
pub(crate) use softmax::{
    divide_by_sum, does_not_fit, guarded, masked, minus_max, negative_log_softmax, soft_cap, softmax,
    softmax_with_sink, unguarded_softmax, visible,
};
