//! Lines that are to be printed, with what the player has to remember of them.

use std::time::Duration;

use crate::lesson::play::course::Course;
use crate::lesson::play::event::Effects;
use crate::lesson::play::state::State;

use super::moves;

/// Has lines printed.
pub(super) fn print(course: &Course<'_>, state: &mut State, lines: Vec<String>, now: Duration) -> Effects {
    let asking = state.asking(course).map(|_| state.page.stop);
    state.timing.show(&lines, asking, now);
    Effects { lines, clears: std::mem::take(&mut state.is_clean), ..Effects::default() }
}

/// Shows the present page once more, on a clean screen.
pub(super) fn redraw(course: &Course<'_>, state: &mut State, now: Duration) -> Effects {
    let lines = if state.is_blank { moves::blank(state) } else { moves::show_again(course, state) };
    print(course, state, lines, now)
}
