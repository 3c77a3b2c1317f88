//! Demos of “Understanding the attention mechanism”.

mod interact;
mod left;
mod mask;
mod projections;
mod qkv;
mod right;
mod stream;
mod weights;

use super::Demo;

/// In the order of the document's sections.
pub const DEMOS: &[Demo] = &[interact::DEMO, left::DEMO, weights::DEMO, right::DEMO, qkv::DEMO, mask::DEMO];
