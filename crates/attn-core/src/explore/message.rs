//! What a state has to say about the last event, as facts.

use super::knobs::Knob;
use crate::graph::CellId;

/// The answer to an event that changed nothing, or that asks for one.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Only given numbers can be edited; this one is computed.
    Computed(CellId),
    /// The graph can be looked at, and not be changed; the reason.
    ReadOnly(String),
    /// What was typed is no number.
    NoNumber(String),
    /// The computation refuses: the error.
    Refused(String),
    /// Nothing is left to undo.
    NothingToUndo,
    /// Nothing is left to make again.
    NothingToRedo,
    /// Nothing has been changed that could be compared.
    NothingChanged,
    /// The computation has no such setting.
    NoKnob(Knob),
    /// The computation follows no recipe that could be another.
    NoRecipe,
    /// The cursor is in no head.
    NoHead,
    /// There is no further head, layer or step in this direction.
    NoFurther,
    /// Nothing was found.
    NotFound(String),
    /// A number that is given came from no other.
    Given,
    /// A guess beside the number that was guessed.
    Guessed {
        /// The cell.
        cell: CellId,
        /// The guess.
        guess: f64,
        /// The number.
        value: f64,
    },
}
