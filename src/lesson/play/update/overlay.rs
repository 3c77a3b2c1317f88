//! Text in place of the lesson: contents, keys, search results, output of typed commands.

use crate::lesson::Command;
use crate::lesson::play::course::Course;
use crate::lesson::play::event::{Action, Effects};
use crate::lesson::play::overlay::Topic;
use crate::lesson::play::state::State;
use crate::lesson::play::view::{self, sentence};

use super::moves;
use super::notices::remark;

/// Shows something besides the lesson: any key leaves it, and shows the lesson again.
fn show(state: &mut State, topic: Topic, lines: &[String]) -> Vec<String> {
    state.overlay.topic = Some(topic);
    state.overlay.begin(lines, state.height())
}

/// Whether Ctrl-C only drops the rest of an overlay.
pub(super) fn drops_the_rest(state: &State) -> bool {
    state.overlay.topic.is_some() && !state.overlay.rest.is_empty() && state.typing.entry.is_none()
}

/// The steps with their minutes.
pub(super) fn contents(course: &Course<'_>, state: &mut State) -> Vec<String> {
    let lines = view::contents(course, state);
    show(state, Topic::Contents, &lines)
}

/// The list of keys.
pub(super) fn help(course: &Course<'_>, state: &mut State) -> Vec<String> {
    let lines = view::help(course, state);
    show(state, Topic::Keys, &lines)
}

/// Goes to the next stop that holds a text; without one, to the next that holds the last.
pub(super) fn search(course: &Course<'_>, state: &mut State, text: &str) -> Vec<String> {
    if !text.is_empty() {
        state.typing.search = text.to_lowercase();
    }
    if state.typing.search.is_empty() {
        return Vec::new();
    }
    let count = course.stops.len();
    let at = state.page.stop.min(count - 1);
    let holds = |stop: &usize| course.stops[*stop].holds(&state.typing.search, course.lesson);
    let found = (1..=count).map(|ahead| (at + ahead) % count).find(holds);
    match found {
        Some(stop) => moves::go_to(course, state, stop),
        None => {
            let words = format!("“{}” was not found.", state.typing.search);
            remark(state, &words)
        }
    }
}

/// Has a command of the teacher's own run; the lesson stays where it is.
///
/// # Errors
/// If there is nothing to run: the lines that say so.
pub(super) fn command(course: &Course<'_>, state: &mut State, typed: &str) -> Result<Effects, Vec<String>> {
    if typed.is_empty() {
        return Err(Vec::new());
    }
    let typed = match typed.split_whitespace().next() {
        Some("attn") => typed.to_string(),
        _ => format!("attn {typed}"),
    };
    state.typing.keep_command(&typed);
    if Command::is_lesson(&typed) {
        let words = "A lesson cannot be played inside a lesson. Press q first.";
        let lines = sentence(words, state.window.screen);
        return Err(output(course, state, &typed, lines.iter().map(String::as_str)));
    }
    match Command::by_hand(&typed, 0) {
        Ok(command) => Ok(Effects::of(Action::Run(command))),
        Err(fault) => {
            let help = fault.help.map(|help| format!("; {help}")).unwrap_or_default();
            Err(remark(state, &format!("{}{help}", fault.what)))
        }
    }
}

/// Shows a command of the teacher's own and what it has printed.
pub(super) fn output<'t>(
    course: &Course<'_>,
    state: &mut State,
    typed: &str,
    printed: impl Iterator<Item = &'t str>,
) -> Vec<String> {
    let mut lines = course.show(state.window.screen).command_lines(typed);
    lines.extend(printed.map(str::to_string));
    show(state, Topic::Output, &lines)
}
