//! Demos of “Multi-Headed attention as matrix multiplication”.

mod pairwise;
mod vectorize;
mod weighted_sum;

use super::Demo;

/// In the order of the document's sections.
pub const DEMOS: &[Demo] = &[pairwise::DEMO, weighted_sum::DEMO, vectorize::DEMO];
