//! A plan: the steps of a graph, for all examples of a batch at once, in memory that is used again.
//!
//! The graph of one example is compiled once. A step of the plan is a step of the graph: the same op, in the same order, on the
//! rows of all examples. So a plan in `f64` gives each example the bits that its own graph has.
//!
//! What all examples share, weights and what is computed from them alone, is there once; what depends on neither the example nor
//! the weights is computed when the plan is made.

mod action;
mod arrange;
mod cells;
mod compile;
mod lines;
mod read;
mod run;

pub use compile::Leaves;
pub use run::Plan;
