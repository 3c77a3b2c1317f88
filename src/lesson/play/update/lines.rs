//! A line that is being typed: its keys, and what Enter does.

use std::time::Duration;

use crate::lesson::play::course::Course;
use crate::lesson::play::event::Effects;
use crate::lesson::play::state::State;
use crate::lesson::play::typing::LinePurpose;
use crate::lesson::play::view::key_typed;
use crate::terminal::Key;

use super::letters::press_letter;
use super::printing::{print, redraw};
use super::{answers, moves, overlay};

/// Handles a key while a line is typed.
pub(super) fn press(course: &Course<'_>, state: &mut State, key: Key, now: Duration) -> Effects {
    let Some(mut entry) = state.typing.entry.take() else { return Effects::default() };
    let text = entry.line.text();
    let is_number = entry.purpose == LinePurpose::Answer && text.bytes().all(|byte| byte.is_ascii_digit());
    match key {
        Key::Enter | Key::PageDown => return entered(course, state, entry.purpose, text.trim(), now),
        // From a typed command, Escape returns directly to the lesson.
        Key::Escape | Key::Control('g') if state.overlay.topic.is_some() => {
            return redraw(course, state, now);
        }
        Key::Escape | Key::Control('g') => return Effects::default(),
        Key::Backspace if entry.line.is_empty() => return Effects::default(),
        Key::Char('G') if is_number && !text.is_empty() => {
            let lines = moves::jump(course, state, text.parse().ok());
            return print(course, state, lines, now);
        }
        Key::PageUp => {
            let lines = moves::go_back(course, state);
            return print(course, state, lines, now);
        }
        key => entry.line.press(key),
    }
    // If an answer is deleted to nothing, keys are commands of the player again.
    if entry.purpose != LinePurpose::Answer || !entry.line.is_empty() {
        state.typing.entry = Some(entry);
    }
    Effects::default()
}

fn entered(
    course: &Course<'_>,
    state: &mut State,
    purpose: LinePurpose,
    text: &str,
    now: Duration,
) -> Effects {
    let lines = match purpose {
        LinePurpose::Answer => match key_typed(course, state, text) {
            Some(letter) => return press_letter(course, state, letter, now),
            None => answers::give(course, state, text),
        },
        LinePurpose::Hands => answers::count_hands(course, state, text),
        LinePurpose::Search => overlay::search(course, state, text),
        LinePurpose::Command => match overlay::command(course, state, text) {
            Ok(run) => return run,
            Err(lines) => lines,
        },
    };
    print(course, state, lines, now)
}
