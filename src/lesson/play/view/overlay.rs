//! Text in place of the lesson: contents and keys.

use crate::lesson::play::course::Course;
use crate::lesson::play::keys::{KEYS, STORY_KEYS, WHERE_TYPED};
use crate::lesson::play::state::State;
use crate::lesson::show::{Ink, Tone};
use crate::render::Screen;

use super::sentences::wrapped;

/// The steps with their minutes; the present one is marked.
pub(in crate::lesson::play) fn contents(course: &Course<'_>, state: &State) -> Vec<String> {
    let (screen, lesson) = (state.window.screen, course.lesson);
    let here = if state.is_over(course) { None } else { state.step(course) };
    let mut lines = vec![Ink::bold().on(&lesson.title, screen), String::new()];
    for (number, step) in lesson.steps.iter().enumerate() {
        let is_here = here == Some(number);
        let is_done = state.class.done.contains(&number);
        let mark = if is_here {
            screen.charset.spelled("▶").into_owned()
        } else if is_done {
            "*".to_string()
        } else {
            String::new()
        };
        let minutes = step.minutes.map(|minutes| format!("  {minutes} min")).unwrap_or_default();
        let line = format!(" {mark:2} {:>2}  {}{minutes}", lesson.number(number), step.title);
        let ink = if is_here { Ink::bold() } else { Ink::default() };
        lines.extend(wrapped(&line, ink, screen));
    }
    lines.push(String::new());
    let words = "A number and Enter goes to a step, any other key back. * has been shown.";
    lines.extend(wrapped(words, Ink::of(Tone::Quiet), screen));
    lines
}

/// The keys, and how to type answers.
pub(in crate::lesson::play) fn help(course: &Course<'_>, state: &State) -> Vec<String> {
    let screen = state.window.screen;
    let is_lesson = course.lesson.story.is_none();
    let mut lines = key_lines(screen, is_lesson);
    if is_lesson {
        lines.push(String::new());
        lines.extend(WHERE_TYPED.iter().flat_map(|words| wrapped(words, Ink::of(Tone::Quiet), screen)));
    }
    lines
}

/// The list of keys as lines.
fn key_lines(screen: Screen, is_lesson: bool) -> Vec<String> {
    let spelled = |text: &str| screen.charset.spelled(text).into_owned();
    let width = |text: &str| crate::text::ScreenWidth::width(text);
    let keys: Vec<[(&str, &str); 2]> = if is_lesson { KEYS.to_vec() } else { STORY_KEYS.to_vec() };
    let spelled = |row: [(&str, &str); 2]| row.map(|(keys, does)| (spelled(keys), spelled(does)));
    let rows: Vec<[(String, String); 2]> = keys.into_iter().map(spelled).collect();
    let widest = |column: usize| rows.iter().map(|row| width(&row[column].0)).max().unwrap_or(0);
    let cell = |column: usize, (keys, does): &(String, String)| {
        let gap = " ".repeat(widest(column) - width(keys));
        format!("{}{gap}  {does}", Ink::bold().on(keys, screen))
    };
    let left = rows.iter().map(|row| widest(0) + 2 + width(&row[0].1)).max().unwrap_or(0);
    let right = rows.iter().map(|row| widest(1) + 2 + width(&row[1].1)).max().unwrap_or(0);
    if left + 4 + right + 1 > screen.width {
        let columns = [0, 1].iter().flat_map(|&column| rows.iter().map(move |row| (column, &row[column])));
        return columns.map(|(column, pair)| format!(" {}", cell(column, pair))).collect();
    }
    let line = |row: &[(String, String); 2]| {
        let gap = " ".repeat(left - widest(0) - 2 - width(&row[0].1) + 4);
        format!(" {}{gap}{}", cell(0, &row[0]), cell(1, &row[1]))
    };
    rows.iter().map(line).collect()
}
