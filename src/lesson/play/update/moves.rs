//! The moves of a player: on, back, to a step.

use crate::lesson::play::course::Course;
use crate::lesson::play::pages::{self, PageStart, place, position};
use crate::lesson::play::state::State;
use crate::lesson::play::stops::{Stop, StopKind, commands};
use crate::lesson::play::view::{above, chunks, ending};

use super::notices::remark;

/// Goes on: the rest of the stop, or the next one.
pub(super) fn go_on(course: &Course<'_>, state: &mut State) -> Vec<String> {
    state.class.has_begun = true;
    match state.page.next {
        Some(next) => show_from(course, state, next, Vec::new()),
        None => go_on_below(course, state, Vec::new()),
    }
}

/// Shows the next stop, with something before it.
pub(super) fn go_on_below(course: &Course<'_>, state: &mut State, before: Vec<String>) -> Vec<String> {
    state.class.has_begun = true;
    state.page.stop += 1;
    show_from(course, state, PageStart::default(), before)
}

/// Goes back to the previous page; no lines at the beginning.
pub(super) fn go_back(course: &Course<'_>, state: &mut State) -> Vec<String> {
    if state.is_over(course) {
        state.page.stop = course.stops.len() - 1;
        return show_last_page(course, state);
    }
    state.is_clean = true;
    let chunks = chunks(course, state, &course.stops[state.page.stop]);
    let here = position(&chunks, state.page.from);
    let pages = pages::pages(&chunks, state.height());
    if let Some(before) = pages.iter().rfind(|page| page.end <= here) {
        return show_from(course, state, place(&chunks, before.start), Vec::new());
    }
    match state.page.stop.checked_sub(1) {
        Some(before) => {
            state.page.stop = before;
            show_last_page(course, state)
        }
        None => {
            state.is_clean = false;
            Vec::new()
        }
    }
}

fn show_last_page(course: &Course<'_>, state: &mut State) -> Vec<String> {
    state.is_clean = true;
    let chunks = chunks(course, state, &course.stops[state.page.stop]);
    let last = pages::pages(&chunks, state.height()).last().map_or(0, |page| page.start);
    show_from(course, state, place(&chunks, last), Vec::new())
}

/// Shows the present page again, and above it as much of its step as there is room for: the table that is talked about.
pub(super) fn show_again(course: &Course<'_>, state: &mut State) -> Vec<String> {
    state.is_clean = true;
    let lines = show_from(course, state, state.page.from, Vec::new());
    let above = above(course, state, lines.len());
    if above.is_empty() { lines } else { [above, vec![String::new()], lines].concat() }
}

/// Scrolls all text out of sight.
pub(super) fn blank(state: &mut State) -> Vec<String> {
    (state.is_blank, state.is_clean) = (true, true);
    vec![String::new()]
}

/// Goes to a stop.
pub(super) fn go_to(course: &Course<'_>, state: &mut State, stop: usize) -> Vec<String> {
    state.page.stop = stop;
    if !state.class.has_begun {
        // A class that resumes a lesson is not ahead of its plan.
        state.class.first = state.step(course).unwrap_or(0);
    }
    state.is_clean = true;
    show_from(course, state, PageStart::default(), Vec::new())
}

/// Goes to the first stop of a step.
fn go_to_step(course: &Course<'_>, state: &mut State, step: usize) -> Vec<String> {
    match course.stops.iter().position(|stop| stop.step == Some(step)) {
        Some(stop) => go_to(course, state, stop),
        None => Vec::new(),
    }
}

pub(super) fn next_step(course: &Course<'_>, state: &mut State) -> Vec<String> {
    match state.step(course).map_or(0, |step| step + 1) {
        next if next < course.lesson.steps.len() => go_to_step(course, state, next),
        _ if state.is_over(course) || course.lesson.story.is_some() => Vec::new(),
        _ => {
            state.page.stop = course.stops.len() - 1;
            go_on_below(course, state, Vec::new())
        }
    }
}

pub(super) fn previous_step(course: &Course<'_>, state: &mut State) -> Vec<String> {
    let here = if state.is_over(course) { Some(course.lesson.steps.len()) } else { state.step(course) };
    match here.and_then(|step| step.checked_sub(1)) {
        Some(step) => go_to_step(course, state, step),
        None if state.page.stop > 0 => go_to(course, state, 0),
        None => Vec::new(),
    }
}

/// Jumps to the step of a number from 1; to the last one without a number, to the beginning with 0.
pub(super) fn jump(course: &Course<'_>, state: &mut State, count: Option<usize>) -> Vec<String> {
    let lesson = course.lesson;
    let last = lesson.steps.len().saturating_sub(1);
    match count {
        Some(0) => go_to(course, state, 0),
        Some(number) => match lesson.numbered(number) {
            Some(step) => go_to_step(course, state, step),
            None => {
                let [first, last] = [lesson.number(0), lesson.number(last)];
                let words = format!("There is no step {number} here: the steps are {first} to {last}.");
                remark(state, &words)
            }
        },
        None => go_to_step(course, state, last),
    }
}

/// Shows a page of the present stop, with something before it.
pub(super) fn show_from(
    course: &Course<'_>,
    state: &mut State,
    from: PageStart,
    before: Vec<String>,
) -> Vec<String> {
    state.overlay.rest.clear();
    state.overlay.topic = None;
    let Some(stop) = course.stops.get(state.page.stop) else {
        (state.page.from, state.page.next) = (PageStart::default(), None);
        return [before, ending(course, state)].concat();
    };
    let chunks = chunks(course, state, stop);
    let start = position(&chunks, from);
    let height = state.height().saturating_sub(before.len() + usize::from(!before.is_empty())).max(1);
    let end = start + pages::pages(&chunks[start..], height).first().map_or(0, |page| page.end);
    state.page.from = from;
    state.page.next = (end < chunks.len()).then(|| place(&chunks, end));
    note_what_is_shown(course, state, stop);
    // On the next page of a question, feedback and bars are still visible above.
    let begins = state.is_clean || from == PageStart::default();
    let is_asked = stop.kind == StopKind::Asked && begins;
    if let Some(question) = stop.question(course.lesson).filter(|_| is_asked) {
        let record = state.class.record(question);
        record.explained.clear();
        record.drawn = false;
    }
    let mut lines = before;
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines.extend(pages::lines(&chunks[start..end]));
    lines
}

fn note_what_is_shown(course: &Course<'_>, state: &mut State, stop: &Stop) {
    commands(stop, course.lesson).into_iter().for_each(|typed| state.typing.keep_command(typed));
    let is_last = course.stops.get(state.page.stop + 1).is_none_or(|next| next.step != stop.step);
    if let (Some(step), None, true) = (stop.step, state.page.next, is_last) {
        state.class.done.insert(step);
    }
}
