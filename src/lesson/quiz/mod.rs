//! The questions of a lesson, answered by one student alone.
//!
//! Plain lines in, plain lines out, and no keys: it works in every terminal and from a pipe, and a screen reader can follow.

mod interrupt;
mod lines;
mod result;
mod session;
mod table;

pub use interrupt::Interrupt;
pub use result::{Graded, Outcome, Results};
pub use session::{Student, quiz};
pub use table::tables;
