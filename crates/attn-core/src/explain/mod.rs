//! Where a number comes from: a cell's formula, its operands, and theirs, as a tree.
//!
//! A formula is a [`Term`](crate::graph::Term) of the graph; nothing here knows what it means. What is shortened is shortened for the eye
//! alone, and says so.

mod cells;
mod note;
mod shorten;
mod steps;
mod tree;

pub use cells::{MOST_OF_A_NODE, cells_at, cells_named};
pub use note::{Note, decided, notes};
pub use shorten::{LONGEST, SHOWN, shortened};
pub use steps::{steps, worked_out};
pub use tree::{Branch, Depth, Explanation, MOST_EXPLAINED, Sums, explain};
