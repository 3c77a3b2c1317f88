//! Small models that learn, in fixed order: the same numbers on every machine.
//!
//! A [`Task`] says what the examples are. The computation on one example, forward and back, is a [`crate::graph::Graph`]: the steps
//! of [`crate::model`], the cross-entropy, and the gradients of every weight. A [`Plan`] computes it for a batch. [`Trainer`] takes
//! batch after batch, and [`Adam`] changes the weights. [`Pattern`] says what heads are scored by.

mod adam;
mod compiled;
mod example;
#[cfg(test)]
mod learned;
mod number;
mod plan;
mod score;
mod size;
mod task;
#[cfg(test)]
mod tests;
mod trainer;

pub use adam::{Adam, AdamChange, AdamSettings};
pub use example::{Batch, Example, ExampleGraph, ExampleModel};
pub use number::Number;
pub use plan::{Leaves, Plan};
pub use score::Pattern;
pub use size::{MOST_LAYERS_AND_HEADS, MOST_PARAMETERS, ModelSize, WeightName, WeightsInMemory};
pub use task::{Examples, HELD_OUT, LONGEST, Line, Pair, Symbols, Task};
pub use trainer::{Defaults, Learner, MOST_LOSS, Predicted, Settings, Step, StepGraph, Trainer, defaults};
