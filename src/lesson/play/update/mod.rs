//! [`update`]: from a state and an event to the next state and the effects for the shell.
//!
//! Nothing here prints, reads a key, writes a file or reads a clock: each event has its time.

mod answers;
mod keys;
mod letters;
mod lines;
mod moves;
mod notices;
mod overlay;
mod printing;

use super::course::Course;
use super::event::{Effects, Event, Input};
use super::pages::PageStart;
use super::state::State;
use super::view::sentence;

/// Handles an event.
pub(super) fn update(course: &Course<'_>, state: &mut State, event: Event) -> Effects {
    let now = event.at;
    match event.input {
        Input::Begin(notices) => {
            let notices = notices.iter().flat_map(|notice| sentence(notice, state.window.screen)).collect();
            let lines = moves::show_from(course, state, PageStart::default(), notices);
            printing::print(course, state, lines, now)
        }
        Input::Key(key) => keys::press(course, state, key, now),
        Input::Redraw => printing::redraw(course, state, now),
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
            printing::print(course, state, lines, now)
        }
    }
}
