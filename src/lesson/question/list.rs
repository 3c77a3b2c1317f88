//! The list of kinds.

use super::cell::Cell;
use super::choice::Choice;
use super::kind::Kind;
use super::number::Number;
use super::open::Open;
use super::order::Order;

/// All kinds of question, in the order in which lists name them.
pub const KINDS: [Kind; 5] =
    [Kind::new(&Choice), Kind::new(&Number), Kind::new(&Cell), Kind::new(&Order), Kind::new(&Open)];

/// Stands for a kind that cannot be read: nothing is expected of the question.
pub(in crate::lesson) const UNKNOWN: Kind = Kind::new(&Open);

/// The words of all kinds: “choice, number, cell, order or open”.
pub fn any_kind() -> String {
    let [first @ .., last] = KINDS.map(|kind| kind.word());
    format!("{} or {last}", first.join(", "))
}

/// The kind that a lesson has this word for.
pub fn kind_named(word: &str) -> Option<Kind> {
    KINDS.into_iter().find(|kind| kind.word() == word)
}
