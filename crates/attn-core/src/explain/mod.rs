//! The derivation of a number: a cell's formula, its operands, and theirs, as a tree.
//!
//! A formula is a [`Term`](crate::graph::Term) of the graph; nothing here knows its meaning. Formulas are shortened for display
//! only, with a note.

mod cells;
mod note;
mod shorten;
mod steps;
mod tree;

pub use cells::{MOST_OF_A_NODE, cells_at, cells_named};
pub use note::{Note, decided, notes};
pub use shorten::{LONGEST, SHOWN, shortened};
pub use steps::{steps, worked_out};
pub use tree::{Branch, Depth, Explanation, LongSums, MOST_EXPLAINED, explain};
