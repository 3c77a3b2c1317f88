//! The derivation of a number: a cell's formula, its operands, and theirs, as a tree.
//!
//! A formula is a [`Term`](crate::graph::Term) of the graph; nothing here knows its meaning. Formulas are shortened for display
//! only, with a note.

mod note;
mod steps;
mod tree;

pub use note::{Note, StoredWeight, decided, notes, stored_weight};
pub use steps::{MOST_OF_A_NODE, cells_at, cells_named, steps, worked_out};
pub use tree::{
    Branch, Depth, Explanation, LONGEST, LongSums, MOST_EXPLAINED, SHOWN, each_cell, explain, main_operands,
    onward, passed_on, shortened, shortened_to,
};
