//! Exploring a graph: a cursor that stands on a number, the numbers that it came from and those that it feeds, changes of given
//! numbers and of settings with undo, and guesses.
//!
//! [`update`] is a pure function from a [`State`] and an [`Event`] to the next state. It knows no terminal and no page, and writes no
//! sentences: a state has facts, and a front end puts them into words. A change computes again only what depends on it, to the bits
//! of a fresh run.
//!
//! ```
//! use attn_core::explore::{Event, Source, State, update};
//! use attn_core::graph::CellId;
//! use attn_core::{AttendInputs, Matrix, Recipe};
//!
//! let inputs = AttendInputs::of_tokens(Matrix::of([[3.0, 3.0], [4.0, 0.0]]));
//! let mut state = State::new(Source::attend(Recipe::default(), inputs))?;
//! let x = state.graph().require("X")?;
//! for event in [Event::Point(CellId { node: x, row: 0, col: 0 }), Event::Type('1'), Event::Accept] {
//!     state = update(state, event);
//! }
//! assert_eq!(state.graph().matrix(x)?[(0, 0)], 1.0);
//! let state = update(state, Event::Undo);
//! assert_eq!(state.graph().matrix(x)?[(0, 0)], 3.0);
//! # Ok::<(), attn_core::error::Error>(())
//! ```

mod assignments;
mod event;
mod relations;
mod source;
mod state;
#[cfg(test)]
mod tests;
mod update;

pub use assignments::is_assignment;
pub use event::{Event, Form, Message, Way};
pub use relations::{Sources, fed_by, is_shown_as, most_telling, sources};
pub use source::{Changes, HeadPlace, Knob, Setting, Source};
pub use state::{Change, Mode, Purpose, State};
pub use update::{Computation, Planned, Progress, begins_number, plan, update};
