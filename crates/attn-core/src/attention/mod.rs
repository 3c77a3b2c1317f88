//! The mathematics of attention that is more than one rule: the data that ops carry, and the algorithms that read whole matrices.
//!
//! The rule of each step stands in the definition of its op, in `graph/ops/`, generic over what a number is. Rows are
//! tokens. All sums run from left to right and start at +0.0, elementary functions are those of [`crate::elementary`], so that the same
//! input gives the same bits everywhere. The order of a whole pipeline is: scores, scale, bias, temperature, soft-cap, mask, softmax, mix.

mod fast;
mod heads;
mod linear;
mod masks;
pub(crate) mod number;
mod positions;
mod singular;

pub(crate) use fast::{FastAttention, FusedOutput, added_out_of_range, attend_fast};
pub use heads::{Axis, Order, key_value_head, token_rows};
pub use linear::{WeightLayout, linear};
pub(crate) use masks::does_not_fit;
pub use masks::{HidingRule, Mask, MatrixRule, Visibility};
pub use number::{Base, Function, rounded};
pub use positions::{Buckets, HeadOf, Pairing, Places, RopeScaling, Rotation, Yarn};
pub use singular::{SingularValues, singular_values};
