//! Small models that learn.

mod batch;
mod number;
mod plan;

pub use batch::{Batch, Example};
pub use number::Number;
pub use plan::{Leaves, Plan};
