//! Answers to questions: what the right one is, how another one is typed, and whether it is right. No file, no key language, and no
//! sentences of a lesson: the program and its pages in a browser judge with the same code.

mod cell;
mod judge;
mod letter;
mod number;
mod order;
mod place;
mod right;
mod saved;
mod table;
mod typed;
mod value;

pub use judge::{Judge, Judgement};
pub use place::{Cell, Order};
pub use right::{Answer, rounded_to_tolerance};
pub use table::Table;
pub use typed::{LONGEST, MOST_OPTIONS, last_letter, option_of};
pub use value::{Cells, Value};
