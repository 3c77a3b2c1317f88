//! Sentences to the teacher.

use crate::error::Error;
use crate::lesson::play::state::State;
use crate::lesson::play::view::sentence;

/// A sentence to the teacher.
pub(super) fn remark(state: &mut State, text: &str) -> Vec<String> {
    let lines = sentence(text, state.window.screen);
    state.overlay.begin(&lines, state.height())
}

/// The lines of an error.
pub(super) fn refusal(state: &mut State, error: &Error) -> Vec<String> {
    remark(state, &error.to_string().replace("\n  help: ", "; "))
}
