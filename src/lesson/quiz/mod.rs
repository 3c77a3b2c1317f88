//! The questions of a lesson, answered by one student alone.
//!
//! Plain lines in, plain lines out, and no keys: it works in every terminal and from a pipe, and a screen reader can follow.

mod attempts;
mod interrupt;
mod lines;
mod places;
mod result;
mod session;
mod student;
mod table;

pub use interrupt::Interrupt;
pub use result::{Grade, QuestionResult, Results};
pub use session::quiz;
pub use student::Student;
pub use table::tables;
