//! The effect of each key.

use std::time::Duration;

use crate::lesson::play::course::Course;
use crate::lesson::play::event::{Action, Effects};
use crate::lesson::play::overlay::Topic;
use crate::lesson::play::state::State;
use crate::lesson::play::typing::LinePurpose;
use crate::terminal::Key;

use super::letters::press_letter;
use super::printing::{print, redraw};
use super::{answers, lines, moves, overlay};

/// Handles a key, `now` after the beginning.
pub(super) fn press(course: &Course<'_>, state: &mut State, key: Key, now: Duration) -> Effects {
    match key {
        Key::Control('c') if overlay::drops_the_rest(state) => return redraw(course, state, now),
        Key::Control('c') => return Effects::of(Action::Interrupt),
        Key::Control('z') => return Effects::of(Action::Suspend),
        _ => {}
    }
    if state.typing.drops(key, now) {
        return Effects::default();
    }
    if std::mem::take(&mut state.is_blank) {
        return redraw(course, state, now);
    }
    if state.typing.entry.is_some() {
        return lines::press(course, state, key, now);
    }
    if let Some(topic) = state.overlay.topic {
        return match press_in_overlay(course, state, topic, key) {
            Some(lines) => print(course, state, lines, now),
            None => {
                state.typing.count = None;
                redraw(course, state, now)
            }
        };
    }
    if let Some(lines) = answers::begin(course, state, key) {
        return print(course, state, lines, now);
    }
    command(course, state, key, now)
}

/// Handles a key in an overlay; `None` if the lesson is to be shown again.
fn press_in_overlay(course: &Course<'_>, state: &mut State, topic: Topic, key: Key) -> Option<Vec<String>> {
    let is_more = matches!(key, Key::Char(' ') | Key::Enter | Key::Right | Key::Down | Key::PageDown);
    match (topic, key) {
        (Topic::Contents, Key::Char('0'..='9') | Key::Backspace) if state.typing.counts(key) => {
            Some(Vec::new())
        }
        (Topic::Contents, Key::Char('G') | Key::Enter) if state.typing.count.is_some() => {
            let count = state.typing.count.take();
            Some(moves::jump(course, state, count))
        }
        _ if is_more && !state.overlay.rest.is_empty() => Some(state.overlay.more(state.height())),
        (Topic::Output, Key::Char('!')) => {
            state.typing.begin(LinePurpose::Command, "");
            Some(Vec::new())
        }
        _ => None,
    }
}

/// Handles a key in the lesson itself.
fn command(course: &Course<'_>, state: &mut State, key: Key, now: Duration) -> Effects {
    if state.typing.counts(key) {
        return print(course, state, Vec::new(), now);
    }
    let count = state.typing.count.take();
    let lines = match key {
        Key::Char(' ') | Key::Right | Key::Down | Key::PageDown => return forward(course, state, now),
        Key::Enter if count.is_none() => return forward(course, state, now),
        // A number with Enter may be a late answer, so it is ignored; `G`, or Enter in the contents, goes to a step.
        Key::Enter => Vec::new(),
        Key::Char('.' | ',' | '/' | '%') if count.is_some() => Vec::new(),
        Key::Left | Key::Up | Key::PageUp | Key::Backspace => moves::go_back(course, state),
        Key::Home => moves::go_to(course, state, 0),
        Key::End => moves::jump(course, state, None),
        Key::Char('G') => moves::jump(course, state, count),
        Key::Char(letter) => return press_letter(course, state, letter, now),
        Key::F5 | Key::Control('l') => moves::show_again(course, state),
        _ => Vec::new(),
    };
    print(course, state, lines, now)
}

/// Goes on: to the rest of an overlay, the scripted answer, the solution, or the next stop.
fn forward(course: &Course<'_>, state: &mut State, now: Duration) -> Effects {
    if !state.overlay.rest.is_empty() {
        let lines = state.overlay.more(state.height());
        return print(course, state, lines, now);
    }
    if state.is_over(course) || state.is_end_of_story(course) {
        state.page.stop = course.stops.len();
        return Effects::of(Action::Leave);
    }
    let asking = state.asking(course);
    let scripted = asking.and_then(|question| state.class.scripted.next(&question.id));
    let lines = match scripted {
        Some(typed) => answers::give(course, state, &typed),
        None if asking.is_some() && state.timing.passes_over(now) => Vec::new(),
        None => moves::go_on(course, state),
    };
    print(course, state, lines, now)
}
