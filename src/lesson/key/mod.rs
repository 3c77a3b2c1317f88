//! The key language of lessons: what a number in the prose, an option and an answer key are computed by.
//!
//! ```text
//! plain:A[bat,cave]                        a cell of the run called `plain`
//! count(causal:A[bat], == 0) == 2          two values compared
//! C iff len(plain:A[bat]) == 3             the key of a `choice`
//! plain:A[bat,cave] ± 0.005                of a `number`
//! plain:O[bat,1] ± 0.05 from 2 decimals    of a `number` that is computed from numbers shown at two decimals
//! argmax(plain:A)                          of a `cell`
//! rank(plain:A[bat])                       of an `order`
//! ```
//!
//! The language is closed: the functions of [`Function`], one comparison, numbers and cells, and nothing more. A lesson that
//! needs more is asking for another command.

mod evaluate;
mod expression;
mod parse;
mod written_number;

#[cfg(test)]
pub(super) mod sample_runs;

pub use crate::answer::{Cell, Cells, Order, Value};
pub use expression::{Comparison, Expression, Function, Key, Values};
pub(super) use parse::parse_key;
pub use parse::{ParseError, is_run_name};
pub(super) use written_number::at_decimals;
pub use written_number::{WrittenNumber, numbers_in};
