//! What a state has to say about the last event, as facts.

use super::knobs::Knob;
use crate::graph::CellId;

/// A form in which a state is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The command that prints the same numbers.
    Command,
    /// The given matrices, and the whole graph.
    Files,
    /// A step of a lesson.
    Lesson,
}

impl Form {
    /// The form that a letter chooses: the first one of its name.
    pub(super) fn of(letter: char) -> Option<Form> {
        match letter {
            'c' => Some(Form::Command),
            'f' => Some(Form::Files),
            'l' => Some(Form::Lesson),
            _ => None,
        }
    }
}

/// The answer to an event that changed nothing, or that asks for one.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Only given numbers can be edited; this one is computed.
    Computed(CellId),
    /// The graph can be looked at, and not be changed; the reason.
    ReadOnly(String),
    /// What was typed is no number.
    NoNumber(String),
    /// The computation was stopped; nothing is changed.
    Stopped,
    /// The computation refuses: the error.
    Refused(String),
    /// Nothing is left to undo.
    NothingToUndo,
    /// Nothing is left to undo: only this many changes are kept.
    Forgotten(usize),
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
    /// The state is to be written in this form, to a file or folder of this name.
    Write(Form, String),
    /// A number that is given came from no other.
    Given,
    /// The number is 0 because its head is taken out.
    TakenOut,
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
