//! The effect of each letter.

use std::time::Duration;

use crate::lesson::play::course::Course;
use crate::lesson::play::event::{Action, Effects};
use crate::lesson::play::state::State;
use crate::lesson::play::typing::LinePurpose;

use super::printing::print;
use super::{answers, moves, overlay};

/// Handles a letter.
pub(super) fn press_letter(course: &Course<'_>, state: &mut State, letter: char, now: Duration) -> Effects {
    let lines = match letter {
        'q' => return Effects::of(Action::Leave),
        'r' => return Effects::of(Action::RunAgain),
        'n' => moves::next_step(course, state),
        'p' => moves::previous_step(course, state),
        't' => overlay::contents(course, state),
        'h' => answers::hint(course, state),
        'v' => answers::begin_hands(course, state, now),
        '?' => overlay::help(course, state),
        '/' => begin(state, LinePurpose::Search),
        '!' => begin(state, LinePurpose::Command),
        'b' | '.' => moves::blank(state),
        _ => Vec::new(),
    };
    print(course, state, lines, now)
}

fn begin(state: &mut State, purpose: LinePurpose) -> Vec<String> {
    state.typing.begin(purpose, "");
    Vec::new()
}
