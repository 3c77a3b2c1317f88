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
mod changes;
mod changing;
mod comparing;
mod computation;
mod event;
mod feeds;
mod heads;
mod knobs;
mod message;
mod moving;
mod relations;
mod search;
mod settings;
mod source;
mod state;
mod telling;
#[cfg(test)]
mod tests;
mod typing;
mod update;

pub use assignments::is_assignment;
pub use changes::Changes;
pub use computation::{Computation, Planned, Progress};
pub use event::{Event, Way};
pub use feeds::fed_by;
pub use heads::HeadPlace;
pub use knobs::{Knob, Setting};
pub use message::{Form, Message};
pub use relations::{Sources, sources};
pub use source::Source;
pub use state::{Change, Mode, Purpose, State};
pub use telling::{is_shown_as, most_telling};
pub use typing::begins_number;
pub use update::{plan, update};
