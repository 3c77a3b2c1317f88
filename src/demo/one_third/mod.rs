//! Demos of “Attention is about 1/3 of what you need”.

mod block;
mod columns;
mod lowrank;
mod sum_heads;
mod update;

use super::Demo;

/// In the order of the document's sections.
pub const DEMOS: &[Demo] = &[columns::DEMO, update::DEMO, lowrank::DEMO, sum_heads::DEMO, block::DEMO];
