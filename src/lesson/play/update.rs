//! [`update`]: from a state and an event to the next state and the effects for the shell.
//!
//! Nothing here prints, reads a key, writes a file or reads a clock: each event has its time.

use std::time::Duration;

use crate::error::Error;
use crate::lesson::Command;
use crate::lesson::question::{is_show_of_hands, votes};
use crate::lesson::show::{Verdict, next_try};
use crate::terminal::Key;

use super::answers::bars;
use super::state::{Action, Course, Effects, Input, LinePurpose, State, Topic};
use super::stops::{PageStart, Stop, StopKind, commands, place, position};
use super::view::{above, chunks, ending, key_typed, right_letter, sentence};
use super::{stops, view};

/// Handles an event, `now` after the beginning of the class.
pub(super) fn update(course: &Course<'_>, state: &mut State, input: Input, now: Duration) -> Effects {
    match input {
        Input::Begin(notices) => {
            let notices = notices.iter().flat_map(|notice| sentence(notice, state.window.screen)).collect();
            let lines = show_from(course, state, PageStart::default(), notices);
            print(course, state, lines, now)
        }
        Input::Key(key) => press(course, state, key, now),
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
            let lines = output(course, state, &typed, printed.lines());
            print(course, state, lines, now)
        }
    }
}

/// Handles a key, `now` after the beginning.
fn press(course: &Course<'_>, state: &mut State, key: Key, now: Duration) -> Effects {
    match key {
        Key::Control('c') if drops_the_rest(state) => return redraw(course, state, now),
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
        return press_in_line(course, state, key, now);
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
    if let Some(lines) = begin(course, state, key) {
        return print(course, state, lines, now);
    }
    press_in_lesson(course, state, key, now)
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
            Some(jump(course, state, count))
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
fn press_in_lesson(course: &Course<'_>, state: &mut State, key: Key, now: Duration) -> Effects {
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
        Key::Left | Key::Up | Key::PageUp | Key::Backspace => go_back(course, state),
        Key::Home => go_to(course, state, 0),
        Key::End => jump(course, state, None),
        Key::Char('G') => jump(course, state, count),
        Key::Char(letter) => return press_letter(course, state, letter, now),
        Key::F5 | Key::Control('l') => show_again(course, state),
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
    if state.is_over(course) && state.class.score().0 > 0 && !state.class.is_warned {
        state.class.is_warned = true;
        let lines = remark(state, "The answers are gone when the lesson is left. h: hand in. space: leave.");
        return print(course, state, lines, now);
    }
    if state.is_over(course) || state.is_end_of_story(course) {
        state.page.stop = course.stops.len();
        return Effects::of(Action::Leave);
    }
    let asking = state.asking(course);
    let scripted = asking.and_then(|question| state.class.scripted.next(&question.id));
    let lines = match scripted {
        Some(typed) => give(course, state, &typed),
        None if asking.is_some() && state.timing.passes_over(now) => Vec::new(),
        None => go_on(course, state),
    };
    print(course, state, lines, now)
}

/// Handles a letter.
fn press_letter(course: &Course<'_>, state: &mut State, letter: char, now: Duration) -> Effects {
    let lines = match letter {
        'q' => return Effects::of(Action::Leave),
        'r' => return Effects::of(Action::RunAgain),
        'n' => next_step(course, state),
        'p' => previous_step(course, state),
        't' => show_overlay(&view::contents(course, state), Topic::Contents, state),
        'h' if state.is_over(course) && state.class.score().0 > 0 => begin_line(state, LinePurpose::Name),
        'h' if state.is_over(course) => {
            remark(state, "No question was answered: there is nothing to hand in.")
        }
        'h' => hint(course, state),
        'v' => begin_hands(course, state, now),
        '?' => show_overlay(&view::help(course, state), Topic::Keys, state),
        '/' => begin_line(state, LinePurpose::Search),
        '!' => begin_line(state, LinePurpose::Command),
        'b' | '.' => blank(state),
        _ => Vec::new(),
    };
    print(course, state, lines, now)
}

fn begin_line(state: &mut State, purpose: LinePurpose) -> Vec<String> {
    state.typing.begin(purpose, "");
    Vec::new()
}

/// Handles a key while a line is typed.
fn press_in_line(course: &Course<'_>, state: &mut State, key: Key, now: Duration) -> Effects {
    let Some(mut entry) = state.typing.entry.take() else { return Effects::default() };
    let text = entry.line.text();
    let is_number = entry.purpose == LinePurpose::Answer && text.bytes().all(|byte| byte.is_ascii_digit());
    match key {
        // The end of a line within brackets is one of a text that was pasted; a second one ends the answer all the same.
        Key::Enter
            if !text.ends_with(' ')
                && state.asking(course).is_some_and(|asked| asked.kind.goes_on(&text)) =>
        {
            entry.line.press(Key::Char(' '));
        }
        Key::Enter | Key::PageDown => return entered(course, state, entry.purpose, text.trim(), now),
        // From a typed command, Escape returns directly to the lesson.
        Key::Escape | Key::Control('g') if state.overlay.topic.is_some() => {
            return redraw(course, state, now);
        }
        Key::Escape | Key::Control('g') => return Effects::default(),
        Key::Backspace if entry.line.is_empty() => return Effects::default(),
        Key::Char('G') if is_number && !text.is_empty() => {
            let lines = jump(course, state, text.parse().ok());
            return print(course, state, lines, now);
        }
        Key::PageUp => {
            let lines = go_back(course, state);
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
            None => give(course, state, text),
        },
        LinePurpose::Hands => count_hands(course, state, text),
        LinePurpose::Search => search(course, state, text),
        LinePurpose::Command => match run_command(course, state, text) {
            Ok(run) => return run,
            Err(lines) => lines,
        },
        LinePurpose::Name => {
            state.class.is_warned = true;
            view::hand_in(course, state, text)
        }
    };
    print(course, state, lines, now)
}

/// Keys that belong to the answer of a question: the lines that they lead to.
fn begin(course: &Course<'_>, state: &mut State, key: Key) -> Option<Vec<String>> {
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
fn give(course: &Course<'_>, state: &mut State, typed: &str) -> Vec<String> {
    let Some(question) = state.asking(course) else { return Vec::new() };
    if typed.is_empty() {
        return go_on(course, state);
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
        return go_on_below(course, state, Vec::new());
    }
    let next = next_try(question, record.hints);
    verdict.lines(next, screen)
}

/// Begins a vote, also while a part of the question is still to be shown. If there are no options, the following digits are
/// dropped.
fn begin_hands(course: &Course<'_>, state: &mut State, now: Duration) -> Vec<String> {
    if state.question(course).is_some_and(|question| question.kind.is_chosen_by_letter()) {
        state.typing.begin(LinePurpose::Hands, "");
        return Vec::new();
    }
    state.typing.drop_votes(now);
    remark(state, "You can only vote on multiple-choice questions.")
}

/// Records a vote, and draws it.
fn count_hands(course: &Course<'_>, state: &mut State, typed: &str) -> Vec<String> {
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
fn hint(course: &Course<'_>, state: &mut State) -> Vec<String> {
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

// The moves of a player: on, back, to a step.

/// Goes on: the rest of the stop, or the next one.
fn go_on(course: &Course<'_>, state: &mut State) -> Vec<String> {
    state.class.has_begun = true;
    match state.page.next {
        Some(next) => show_from(course, state, next, Vec::new()),
        None => go_on_below(course, state, Vec::new()),
    }
}

/// Shows the next stop, with something before it.
fn go_on_below(course: &Course<'_>, state: &mut State, before: Vec<String>) -> Vec<String> {
    state.class.has_begun = true;
    state.page.stop += 1;
    show_from(course, state, PageStart::default(), before)
}

/// Goes back to the previous page; no lines at the beginning.
fn go_back(course: &Course<'_>, state: &mut State) -> Vec<String> {
    if state.is_over(course) {
        state.page.stop = course.stops.len() - 1;
        return show_last_page(course, state);
    }
    state.is_clean = true;
    let chunks = chunks(course, state, &course.stops[state.page.stop]);
    let here = position(&chunks, state.page.from);
    let pages = stops::pages(&chunks, state.height());
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
    let last = stops::pages(&chunks, state.height()).last().map_or(0, |page| page.start);
    show_from(course, state, place(&chunks, last), Vec::new())
}

/// Shows the present page again, and above it as much of its step as there is room for: the table that is talked about.
fn show_again(course: &Course<'_>, state: &mut State) -> Vec<String> {
    state.is_clean = true;
    let lines = show_from(course, state, state.page.from, Vec::new());
    let above = above(course, state, lines.len());
    if above.is_empty() { lines } else { [above, vec![String::new()], lines].concat() }
}

/// Scrolls all text out of sight.
fn blank(state: &mut State) -> Vec<String> {
    (state.is_blank, state.is_clean) = (true, true);
    vec![String::new()]
}

/// Goes to a stop.
fn go_to(course: &Course<'_>, state: &mut State, stop: usize) -> Vec<String> {
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

fn next_step(course: &Course<'_>, state: &mut State) -> Vec<String> {
    match state.step(course).map_or(0, |step| step + 1) {
        next if next < course.lesson.steps.len() => go_to_step(course, state, next),
        _ if state.is_over(course) || course.lesson.story.is_some() => Vec::new(),
        _ => {
            state.page.stop = course.stops.len() - 1;
            go_on_below(course, state, Vec::new())
        }
    }
}

fn previous_step(course: &Course<'_>, state: &mut State) -> Vec<String> {
    let here = if state.is_over(course) { Some(course.lesson.steps.len()) } else { state.step(course) };
    match here.and_then(|step| step.checked_sub(1)) {
        Some(step) => go_to_step(course, state, step),
        None if state.page.stop > 0 => go_to(course, state, 0),
        None => Vec::new(),
    }
}

/// Jumps to the step of a number from 1; to the last one without a number, to the beginning with 0.
fn jump(course: &Course<'_>, state: &mut State, count: Option<usize>) -> Vec<String> {
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
fn show_from(course: &Course<'_>, state: &mut State, from: PageStart, before: Vec<String>) -> Vec<String> {
    state.overlay.rest.clear();
    state.overlay.topic = None;
    let Some(stop) = course.stops.get(state.page.stop) else {
        (state.page.from, state.page.next) = (PageStart::default(), None);
        return [before, ending(course, state)].concat();
    };
    let chunks = chunks(course, state, stop);
    let start = position(&chunks, from);
    let height = state.height().saturating_sub(before.len() + usize::from(!before.is_empty())).max(1);
    let end = start + stops::pages(&chunks[start..], height).first().map_or(0, |page| page.end);
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
    lines.extend(stops::lines(&chunks[start..end]));
    lines
}

fn note_what_is_shown(course: &Course<'_>, state: &mut State, stop: &Stop) {
    commands(stop, course.lesson).into_iter().for_each(|typed| state.typing.keep_command(typed));
    let is_last = course.stops.get(state.page.stop + 1).is_none_or(|next| next.step != stop.step);
    if let (Some(step), None, true) = (stop.step, state.page.next, is_last) {
        state.class.done.insert(step);
    }
}

// Sentences to the teacher.

/// A sentence to the teacher.
fn remark(state: &mut State, text: &str) -> Vec<String> {
    let lines = sentence(text, state.window.screen);
    state.overlay.begin(&lines, state.height())
}

/// The lines of an error.
fn refusal(state: &mut State, error: &Error) -> Vec<String> {
    remark(state, &error.to_string().replace("\n  help: ", "; "))
}

/// Shows something besides the lesson: any key leaves it, and shows the lesson again.
fn show_overlay(lines: &[String], topic: Topic, state: &mut State) -> Vec<String> {
    state.overlay.topic = Some(topic);
    state.overlay.begin(lines, state.height())
}

/// Whether Ctrl-C only drops the rest of an overlay.
fn drops_the_rest(state: &State) -> bool {
    state.overlay.topic.is_some() && !state.overlay.rest.is_empty() && state.typing.entry.is_none()
}

/// Goes to the next stop that holds a text; without one, to the next that holds the last.
fn search(course: &Course<'_>, state: &mut State, text: &str) -> Vec<String> {
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
        Some(stop) => go_to(course, state, stop),
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
fn run_command(course: &Course<'_>, state: &mut State, typed: &str) -> Result<Effects, Vec<String>> {
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
fn output<'t>(
    course: &Course<'_>,
    state: &mut State,
    typed: &str,
    printed: impl Iterator<Item = &'t str>,
) -> Vec<String> {
    let mut lines = course.show(state.window.screen).command_lines(typed);
    lines.extend(printed.map(str::to_string));
    show_overlay(&lines, Topic::Output, state)
}

/// Has lines printed.
fn print(course: &Course<'_>, state: &mut State, lines: Vec<String>, now: Duration) -> Effects {
    let asking = state.asking(course).map(|_| state.page.stop);
    state.timing.show(&lines, asking, now);
    Effects { lines, clears: std::mem::take(&mut state.is_clean), ..Effects::default() }
}

/// Shows the present page once more, on a clean screen.
fn redraw(course: &Course<'_>, state: &mut State, now: Duration) -> Effects {
    let lines = if state.is_blank { blank(state) } else { show_again(course, state) };
    print(course, state, lines, now)
}
