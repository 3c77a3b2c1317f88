//! The kinds of question, one file each.
//!
//! A new kind is a file beside `choice.rs` that implements [`QuestionKind`], its entry in [`KINDS`] below, and, if its key is
//! written in a new way, a part of its parser. How answers are typed and judged is in [`crate::answer`], for pages too. Player, quiz, check and exports ask a question for its [`Kind`] what they need
//! to know, and no file outside this folder names one.

mod cell;
mod choice;
mod kind;
mod number;
mod open;
mod order;
mod votes;

#[cfg(test)]
mod answer_tests;
#[cfg(test)]
mod sample;

use crate::text::one_of;

pub use crate::answer::{Answer, rounded_to_tolerance};
pub use kind::{Example, Kind, QuestionKind};
pub use votes::{is_show_of_hands, votes};

/// All kinds of question, in the order in which lists name them.
pub const KINDS: [Kind; 5] = [
    Kind::new(&choice::ChoiceKind),
    Kind::new(&number::NumberKind),
    Kind::new(&cell::CellKind),
    Kind::new(&order::OrderKind),
    Kind::new(&open::OpenKind),
];

/// Stands for a kind that cannot be read: nothing is expected of the question.
pub(in crate::lesson) const UNKNOWN: Kind = Kind::new(&open::OpenKind);

/// The words of all kinds: “choice, number, cell, order or open”.
pub fn any_kind() -> String {
    one_of(&KINDS.map(|kind| kind.word()))
}

/// The kind that a lesson has this word for.
pub fn kind_named(word: &str) -> Option<Kind> {
    KINDS.into_iter().find(|kind| kind.word() == word)
}

/// Whether one of the names begins with this character, capital or not.
fn begins_one(typed: char, names: &[String]) -> bool {
    let begins = |name: &String| {
        name.chars().next().is_some_and(|first| first.to_lowercase().eq(typed.to_lowercase()))
    };
    names.iter().any(begins)
}
