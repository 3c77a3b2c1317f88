//! The mathematics of attention: one step, one function.
//!
//! Every function takes and gives [`Matrix`](crate::matrix::Matrix); rows are tokens. All sums run from left to right and start at +0.0,
//! elementary functions are those of [`crate::elementary`], so that the same input gives the same bits everywhere.
//! The order of a whole pipeline is: scores, scale, bias, temperature, soft-cap, mask, softmax, mix.

mod blocks;
mod distances;
mod fast;
mod frequencies;
mod heads;
mod linear;
mod low_rank;
mod mask;
mod mlp;
mod norm;
mod order;
mod pairs;
mod positions;
mod product;
mod similarity;
mod softmax;
mod token_rows;

pub use blocks::block_sums;
pub use distances::{Buckets, HeadOf, Places, alibi, bucket_bias};
pub(crate) use fast::added_out_of_range;
pub(crate) use fast::{FastAttention, FusedOutput, attend_fast};
pub use frequencies::{RopeScaling, Yarn, dynamic_ratio, frequencies, scaled_frequencies};
pub use heads::{
    columns, concatenate, every_nth_column, key_value_head, repeat_columns, reshape, reverse_rows, rows,
    stack,
};
pub use linear::{WeightLayout, linear};
pub use low_rank::{SingularValues, diagonal, singular_values};
pub use mask::{HidingRule, Mask, MatrixRule, Visibility, mask, mask_pattern};
pub use mlp::{GELU_CUBIC, elu_plus_one, gelu, gelu_tanh, normal_share, relu, sigmoid, silu, tanh};
pub use norm::{layer_norm, minus_mean, rms_norm};
pub use order::{Order, sort_rows};
pub use pairs::{MaskCells, Pairs};
pub use positions::{Pairing, Rotation, rotary, sinusoid, sinusoidal};
pub use product::{
    add, change, divide, is_hidden_by, multiply, product, product_transposed, quotient, subtract, times,
    transposed_product,
};
pub use similarity::{cosine, euclidean, range_factor, squared_length, unit_rows};
pub use softmax::{
    Axis, Base, divide_by_sum, exponential, guard, logarithm, max, max_along, minus_max,
    negative_log_softmax, negative_log_softmax_of_row, root, single_range, soft_cap, softmax, softmax_of_row,
    softmax_with_sink, sums, unguarded_softmax,
};
pub use token_rows::token_rows;
