//! The kinds of question, one file each.
//!
//! A new kind is a file beside `choice.rs` that implements [`QuestionKind`], its place in [`KINDS`], and, if its key is
//! written in a new way, a rule in `key.pest`. Player, quiz, check and exports ask a question for its [`Kind`] what they need
//! to know, and no file outside this folder names one.

mod answer;
mod cell;
mod choice;
mod kind;
mod list;
mod number;
mod open;
mod order;
mod typed;
mod votes;

#[cfg(test)]
mod sample;

pub use answer::{Answer, rounded_to_tolerance};
pub use kind::{Example, Kind, QuestionKind};
pub(super) use list::UNKNOWN;
pub use list::{KINDS, any_kind, kind_named};
pub use votes::{is_show_of_hands, votes};
