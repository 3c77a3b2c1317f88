//! Sentences to the teacher.

use crate::foreign::visible;
use crate::lesson::play::course::Course;
use crate::lesson::play::state::State;
use crate::lesson::show::{Ink, Text, Tone};
use crate::render::Screen;

/// The lines of a sentence to the teacher.
pub(in crate::lesson::play) fn sentence(text: &str, screen: Screen) -> Vec<String> {
    wrapped(text, Ink::of(Tone::Note), screen)
}

/// A text whose further lines are set in.
pub(super) fn wrapped(text: &str, ink: Ink, screen: Screen) -> Vec<String> {
    Text::of(text, ink, screen).wrapped(screen.width, ["", "     "], screen)
}

/// The line below a lesson that was left before its end; `asked` is the name or path that it was opened by.
pub(in crate::lesson::play) fn farewell(course: &Course<'_>, state: &State, asked: &str) -> Option<String> {
    if state.is_over(course) {
        return None;
    }
    let lesson = course.lesson;
    let last = lesson.last_number();
    let (place, resume) = match (state.step(course), &lesson.story) {
        (None, _) => ("before step 1".to_string(), Some(format!("attn lesson play {}", shell_word(asked)))),
        (Some(step), None) => {
            let there = shell_word(&format!("{asked}#{}", lesson.steps[step].id));
            (format!("at step {} of {last}", step + 1), Some(format!("attn lesson play {there}")))
        }
        (Some(step), Some(told)) => {
            let [number, end] = [lesson.number(step), lesson.number(lesson.steps.len() - 1)];
            let end = if end == last { String::new() } else { end.to_string() };
            let rest = told.whole.as_ref().map(|whole| format!("{whole} --steps {number}-{end}"));
            (format!("at step {number} of {last}"), rest)
        }
    };
    let resume = resume.map(|resume| format!(" Resume: {resume}")).unwrap_or_default();
    let words = format!("Stopped {place}.{resume}");
    let screen = state.window.screen;
    Some(Ink::of(Tone::Quiet).on(&screen.charset.spelled(&words), screen))
}

/// A word as a shell reads it.
fn shell_word(word: &str) -> String {
    let word = visible(word);
    // A step after its `#` within a word is no comment.
    match shlex::try_quote(&word.replace('#', "")) {
        Ok(plain) if plain == word.replace('#', "") => word.into_owned(),
        _ => shlex::try_quote(&word).map_or_else(|_| word.to_string(), |quoted| quoted.into_owned()),
    }
}
