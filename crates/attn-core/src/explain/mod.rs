//! The derivation of a number: a cell's formula, its operands, and theirs, as a tree.
//!
//! A formula is a [`Term`](crate::graph::Term) of the graph; nothing here knows its meaning. Formulas are shortened for display
//! only, with a note.

mod cells;
mod note;
mod onward;
mod shorten;
mod steps;
mod trail;
mod tree;

pub use cells::{MOST_OF_A_NODE, cells_at, cells_named};
pub use note::{Note, StoredWeight, decided, notes, stored_weight};
pub use onward::onward;
pub use shorten::{LONGEST, SHOWN, shortened, shortened_to};
pub use steps::{steps, worked_out};
pub use trail::{main_operands, passed_on};
pub use tree::{Branch, Depth, Explanation, LongSums, MOST_EXPLAINED, explain};
