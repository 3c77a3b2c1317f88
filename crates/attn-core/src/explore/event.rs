//! What can happen to a state, and what it answers.

use crate::graph::CellId;
use crate::graph::recipes::Recipe;

use super::source::{Knob, Setting};

/// A way to move over a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// One column to the left.
    Left,
    /// One column to the right.
    Right,
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// This many rows up.
    RowsUp(usize),
    /// This many rows down.
    RowsDown(usize),
    /// To the first column.
    RowStart,
    /// To the last column.
    RowEnd,
    /// To the first row.
    Top,
    /// To the last row.
    Bottom,
}

/// Something that a front end passes on: a key, a click, a line of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The cursor moves. While a setting is adjusted, left and right change it.
    Move(Way),
    /// The cursor is put on a cell.
    Point(CellId),
    /// The next number that the one under the cursor came from is chosen.
    NextOperand,
    /// The one before.
    PreviousOperand,
    /// The cursor goes to the chosen number.
    Open,
    /// The cursor goes back to where it came from; or what is being typed, adjusted or read is left.
    Back,
    /// The same step of the next head (or the one before, with −1).
    Head(isize),
    /// The same step of the next layer.
    Layer(isize),
    /// The next step of the computation.
    Node(isize),
    /// A character is typed. Outside a text, it begins a number.
    Type(char),
    /// The last character typed is removed; a setting becomes what it was at the start.
    Erase,
    /// What is typed is taken.
    Accept,
    /// A number for the cell under the cursor begins, with the one that stands there.
    Edit,
    /// Whether numbers are hidden until they are guessed changes.
    Predict,
    /// A whole text for the cell under the cursor, as from a field of a page: its number, or a guess of it.
    Enter(String),
    /// A search begins.
    Search,
    /// A setting is adjusted, or no longer.
    Adjust(Knob),
    /// A setting becomes this, as on a slider. While it is adjusted, further values are part of the same change.
    Set(Setting),
    /// The computation follows another recipe. Heads that were taken out are put back.
    Follow(Box<Recipe>),
    /// The head that the cursor is in is taken out, or put back.
    RemoveHead,
    /// The change before is taken back.
    Undo,
    /// It is made again.
    Redo,
    /// An earlier state is shown beside this one: the one before, then the first, then none.
    Versus,
    /// The state is to be written: the form is chosen with a letter, then a name is typed.
    Write,
    /// More decimals are shown, or fewer.
    Digits(isize),
    /// The keys are listed, or no longer.
    Help,
    /// The next page of the list.
    MoreHelp,
}

// What a state has to say about the last event, as facts.

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
