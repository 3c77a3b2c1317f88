//! The mathematics of attention: one step, one function.
//!
//! Every function takes and gives [`Matrix`](crate::matrix::Matrix); rows are tokens. All sums run from left to right and start at +0.0,
//! elementary functions are those of [`crate::elementary`], so that the same input gives the same bits everywhere.
//! The order of a whole pipeline is: scores, scale, bias, temperature, soft-cap, mask, softmax, mix.

mod arithmetic;
mod fast;
mod heads;
mod linear;
mod positions;
mod singular;
mod softmax;

pub use arithmetic::{
    GELU_CUBIC, add, change, cosine, divide, elu_plus_one, euclidean, gelu, gelu_tanh, is_hidden_by,
    layer_norm, minus_mean, multiply, normal_share, product, product_transposed, quotient, range_factor,
    relu, rms_norm, sigmoid, silu, squared_length, subtract, tanh, times, transposed_product, unit_rows,
};
pub(crate) use fast::{FastAttention, FusedOutput, added_out_of_range, attend_fast};
pub use heads::{
    Order, block_sums, columns, concatenate, every_nth_column, key_value_head, repeat_columns, reshape,
    reverse_rows, rows, sort_rows, stack, token_rows,
};
pub use linear::{WeightLayout, linear};
pub use positions::{
    Buckets, HeadOf, Pairing, Places, RopeScaling, Rotation, Yarn, alibi, bucket_bias, dynamic_ratio,
    frequencies, rotary, scaled_frequencies, sinusoid, sinusoidal,
};
pub use singular::{SingularValues, diagonal, singular_values};
pub use softmax::{
    Axis, Base, HidingRule, Mask, MaskCells, MatrixRule, Pairs, Visibility, divide_by_sum, exponential,
    guard, logarithm, mask, mask_pattern, max, max_along, minus_max, negative_log_softmax,
    negative_log_softmax_of_row, root, single_range, soft_cap, softmax, softmax_of_row, softmax_with_sink,
    sums, unguarded_softmax,
};
