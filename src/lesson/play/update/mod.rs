//! How a player changes: [`update`], from a state and an event to the next state and what the shell has to do.
//!
//! Nothing here prints, reads a key, writes a file or looks at a clock: an event tells when it came.

mod answers;
mod keys;
mod lines;
mod moves;
mod notices;
mod overlay;

use std::time::Duration;

use super::course::Course;
use super::event::{Effects, Event, Input};
use super::pages::Place;
use super::state::State;
use super::view::sentence;

/// Takes an event.
pub(super) fn update(course: &Course<'_>, state: &mut State, event: Event) -> Effects {
    let now = event.at;
    match event.input {
        Input::Begin(notices) => {
            let notices = notices.iter().flat_map(|notice| sentence(notice, state.window.screen)).collect();
            let lines = moves::show_from(course, state, Place::default(), notices);
            shown(course, state, lines, now)
        }
        Input::Key(key) => keys::press(course, state, key, now),
        Input::Redraw => redraw(course, state, now),
        Input::Resize(window) => {
            state.resize(window);
            Effects::default()
        }
        Input::Ready => {
            state.timing.ready(now);
            Effects::default()
        }
        Input::Output { typed, printed } => {
            let lines = overlay::output(course, state, &typed, printed.lines());
            shown(course, state, lines, now)
        }
    }
}

/// Shows lines.
fn shown(course: &Course<'_>, state: &mut State, lines: Vec<String>, now: Duration) -> Effects {
    let asking = state.asking(course).map(|_| state.page.stop);
    state.timing.show(&lines, asking, now);
    Effects { lines, clears: std::mem::take(&mut state.is_clean), ..Effects::default() }
}

/// Shows the present page once more, on a clean screen.
fn redraw(course: &Course<'_>, state: &mut State, now: Duration) -> Effects {
    let lines = if state.is_blank { moves::blank(state) } else { moves::show_again(course, state) };
    shown(course, state, lines, now)
}
