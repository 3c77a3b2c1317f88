//! Measurements: the speed of the ways to compute attention, the memory they need, and the growth of both.
//!
//! Three ways, of the same inputs: [`loop_over_queries`], [`step_by_step`] with whole matrices, and the fused path
//! ([`Problem::attend`]). The figures depend on the machine and its load; the results do not.

mod estimate;
mod growth;
mod model;
mod problem;
mod shape;
mod single;
mod steps;
mod timing;

pub use estimate::estimate;
pub use growth::{Growth, Measurement, Method, Point, SIZES};
pub use model::ModelMeasurement;
pub use problem::{Problem, memory_limit};
pub use shape::Shape;
pub use single::{Rates, ReadRates, ShapeMeasurement};
pub use steps::{ExactResult, loop_over_queries, step_by_step};
pub use timing::{Timing, time};
