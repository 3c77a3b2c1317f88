//! The questions of a lesson, answered by one pupil alone.
//!
//! Plain lines in, plain lines out, and no keys: it works in every terminal and from a pipe, and a screen reader can follow.

mod lines;
mod result;
mod session;

pub use session::{Pupil, quiz};
