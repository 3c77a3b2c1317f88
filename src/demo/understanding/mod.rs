//! Demos of «Understanding the attention mechanism».

mod mask;
mod stream;

use super::Demo;

/// In the order of the document's sections.
pub const DEMOS: &[Demo] = &[mask::DEMO];
