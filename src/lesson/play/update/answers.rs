//! Questions: answers, votes and hints.

use std::time::Duration;

use crate::lesson::play::bars::bars;
use crate::lesson::play::course::Course;
use crate::lesson::play::state::State;
use crate::lesson::play::stops::StopKind;
use crate::lesson::play::typing::LinePurpose;
use crate::lesson::play::view::right_letter;
use crate::lesson::question::{is_show_of_hands, votes};
use crate::lesson::verdict::{Verdict, next_try};
use crate::terminal::Key;

use super::moves;
use super::notices::{refusal, remark};

/// Keys that belong to the answer of a question: the lines that they lead to.
pub(super) fn begin(course: &Course<'_>, state: &mut State, key: Key) -> Option<Vec<String>> {
    let question = state.asking(course).filter(|_| state.typing.count.is_none())?;
    let Key::Char(typed) = key else { return None };
    let letters = question.letters().len();
    if question.kind.is_chosen_by_letter() {
        let letter = typed.to_ascii_uppercase();
        let is_option = ('A'..='Z').take(letters).any(|option| option == letter);
        return is_option.then(|| give(course, state, &letter.to_string()));
    }
    if matches!(typed, '!' | '/' | '?') {
        return None;
    }
    let right = question.right_answer(&course.show(state.window.screen).values()).ok()??;
    question.kind.may_begin(typed, &right, letters).then(|| {
        state.typing.begin(LinePurpose::Answer, &typed.to_string());
        Vec::new()
    })
}

/// Gives an answer to the question that is asked. If it is right the solution follows.
pub(super) fn give(course: &Course<'_>, state: &mut State, typed: &str) -> Vec<String> {
    let Some(question) = state.asking(course) else { return Vec::new() };
    if typed.is_empty() {
        return moves::go_on(course, state);
    }
    if question.kind.is_chosen_by_letter() && is_show_of_hands(typed) {
        return count_hands(course, state, typed);
    }
    let screen = state.window.screen;
    let verdict = match Verdict::of(typed, question, &course.show(screen)) {
        Ok(verdict) => verdict,
        Err(error) => return refusal(state, &error),
    };
    let record = state.class.record(question);
    record.given.push(typed.to_string());
    record.right = verdict.is_right.unwrap_or(false);
    record.explained.extend(verdict.foreseen);
    if verdict.is_right != Some(false) {
        return moves::go_on_below(course, state, Vec::new());
    }
    let next = next_try(question, record.hints);
    verdict.lines(next, screen)
}

/// Begins a vote, also while a part of the question is still to be shown. If there are no options, the following digits are
/// dropped.
pub(super) fn begin_hands(course: &Course<'_>, state: &mut State, now: Duration) -> Vec<String> {
    if state.question(course).is_some_and(|question| question.kind.is_chosen_by_letter()) {
        state.typing.begin(LinePurpose::Hands, "");
        return Vec::new();
    }
    state.typing.drop_votes(now);
    remark(state, "You can only vote on multiple-choice questions.")
}

/// Records a vote, and draws it.
pub(super) fn count_hands(course: &Course<'_>, state: &mut State, typed: &str) -> Vec<String> {
    let Some(question) = state.question(course).filter(|_| !typed.is_empty()) else { return Vec::new() };
    let hands = match votes(typed, question.letters().len()) {
        Ok(hands) => hands,
        Err(error) => return refusal(state, &error),
    };
    // While the question is open, the right option is not marked.
    let is_open = course.stops.get(state.page.stop).is_some_and(|stop| stop.kind == StopKind::Asked);
    let right = if is_open { None } else { right_letter(course, state, question) };
    let lines = bars(&hands, None, right, state.window.screen);
    let record = state.class.record(question);
    record.hands_before = record.hands.replace(hands);
    record.drawn = true;
    lines
}

/// Shows the next hint.
pub(super) fn hint(course: &Course<'_>, state: &mut State) -> Vec<String> {
    let Some(question) = state.asking(course) else {
        return remark(state, "Only questions have hints.");
    };
    let shown = state.class.record(question).hints;
    let Some(hint) = question.hints.get(shown) else {
        let all = if shown == 0 { "There is no hint." } else { "There are no more hints." };
        return remark(state, all);
    };
    state.class.record(question).hints += 1;
    course.show(state.window.screen).marked("Hint: ", hint)
}
