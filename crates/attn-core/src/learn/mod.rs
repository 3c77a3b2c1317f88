//! Small models that learn, in fixed order: the same numbers on every machine.
//!
//! A [`Task`] says what the examples are. The computation on one example, forward and back, is a [`crate::graph::Graph`]: the steps
//! of [`crate::model`], the cross-entropy, and the gradients of every weight. A [`Plan`] computes it for a batch. [`Trainer`] takes
//! batch after batch, and [`Adam`] changes the weights. [`Pattern`] says what heads are scored by.

mod adam;
mod batch;
mod compiled;
mod defaults;
mod example;
#[cfg(test)]
mod learned;
mod number;
mod plan;
mod score;
mod size;
mod step_graph;
mod task;
#[cfg(test)]
mod tests;
mod trainer;
mod weights;
mod writing;

pub use adam::{Adam, AdamChange, AdamSettings};
pub use batch::{Batch, Example};
pub use defaults::{Defaults, defaults};
pub use example::{ExampleGraph, ExampleModel};
pub use number::Number;
pub use plan::{Leaves, Plan};
pub use score::Pattern;
pub use size::{MOST_LAYERS_AND_HEADS, MOST_PARAMETERS, ModelSize, WeightName};
pub use step_graph::StepGraph;
pub use task::{Examples, HELD_OUT, LONGEST, Line, Pair, Symbols, Task};
pub use trainer::{Learner, MOST_LOSS, Settings, Step, Trainer};
pub use weights::WeightsInMemory;
pub use writing::Predicted;
