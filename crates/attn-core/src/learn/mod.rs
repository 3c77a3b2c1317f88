//! Small models that learn, in fixed order: the same numbers on every machine.
//!
//! A [`Task`] says what the examples are. The computation on one example, forward and back, is a [`crate::graph::Graph`]: the steps
//! of [`crate::model`], the cross-entropy, and the gradients of every weight. A plan computes it for a batch. [`Trainer`] takes
//! batch after batch, and Adam changes the weights. [`Pattern`] says what heads are scored by.

mod adam;
mod evaluation;
mod example;
mod number;
mod plan;
mod size;
mod task;
#[cfg(test)]
mod tests;
mod trainer;

pub use adam::{AdamChange, AdamSettings};
pub use evaluation::Pattern;
pub use example::{Batch, Example};
pub use size::ModelSize;
pub use task::{LONGEST, Line, Pair, Symbols, Task};
pub use trainer::{Defaults, Learner, Predicted, Settings, Step, Trainer, defaults};
