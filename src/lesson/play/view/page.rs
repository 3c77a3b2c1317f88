//! The pages of the lesson: the text of a stop with its heading, the answer of a question, the end.

use crate::lesson::play::bars::{bars, right_bar};
use crate::lesson::play::course::Course;
use crate::lesson::play::pages::{self, Chunk, position};
use crate::lesson::play::state::State;
use crate::lesson::play::stops::{Stop, StopKind};
use crate::lesson::show::{Ink, LessonView, Text, Tone};
use crate::lesson::{Block, Choice, Question};
use crate::text::counted;

/// The text of a stop in pieces.
pub(in crate::lesson::play) fn chunks(course: &Course<'_>, state: &State, stop: &Stop) -> Vec<Chunk> {
    let (show, height) = (course.show(state.window.screen), state.height());
    let mut chunks = Vec::new();
    for (number, block) in stop.shown(course.lesson).iter().enumerate() {
        let lines = match (stop.kind, block) {
            (StopKind::Answer, Block::Question(question)) => answer(course, state, question),
            _ => show.block(block),
        };
        let mut pieces = pages::chunks(number, &lines, height);
        if matches!((stop.kind, block), (StopKind::Asked, Block::Question(_))) {
            pages::keep_first_two_together(&mut pieces, height);
        }
        chunks.extend(pieces);
    }
    let is_headed = stop.begins_part() && course.lesson.story.is_none();
    let heading = if is_headed { heading(&show, stop) } else { Vec::new() };
    if heading.is_empty() {
        return chunks;
    }
    match chunks.first_mut().filter(|first| heading.len() + 1 + first.lines.len() <= height) {
        // A heading is never alone at the end of a page.
        Some(first) => {
            first.lines.insert(0, String::new());
            first.lines.splice(0..0, heading);
        }
        None => chunks.insert(0, Chunk { block: 0, gap: 1, lines: heading }),
    }
    chunks
}

fn heading(show: &LessonView<'_>, stop: &Stop) -> Vec<String> {
    match (stop.step, stop.in_part(show.lesson).and_then(|part| part.title.as_deref())) {
        (None, _) => show.title(),
        (Some(step), _) if stop.part == 0 => show.step_heading(step),
        (Some(_), Some(title)) => show.pause_heading(title),
        (Some(_), None) => Vec::new(),
    }
}

/// The text of the current step before the current page, limited to the rows above `below` lines.
pub(in crate::lesson::play) fn above(course: &Course<'_>, state: &State, below: usize) -> Vec<String> {
    let (at, stops) = (state.page.stop, &course.stops);
    let Some(stop) = stops.get(at) else { return Vec::new() };
    let first = stops[..at].iter().rposition(|other| other.step != stop.step).map_or(0, |at| at + 1);
    let before = stops[first..at].iter();
    let mut chunks: Vec<Chunk> = before.flat_map(|stop| self::chunks(course, state, stop)).collect();
    let own = self::chunks(course, state, stop);
    chunks.extend_from_slice(&own[..position(&own, state.page.from)]);
    let mut room = state.height().saturating_sub(below + 1);
    let fits = |chunk: &&Chunk| {
        let needed = chunk.lines.len() + chunk.gap;
        let fits = needed <= room;
        room = room.saturating_sub(needed);
        fits
    };
    let count = chunks.iter().rev().take_while(fits).count();
    pages::lines(&chunks[chunks.len() - count..])
}

/// The letter of the right option.
pub(in crate::lesson::play) fn right_letter(
    course: &Course<'_>,
    state: &State,
    question: &Question,
) -> Option<char> {
    question.right_answer(&course.show(state.window.screen).values()).ok()??.value.letter()
}

/// The answer, with the votes. The feedback to a wrong option is shown if it has votes, unless it is already above; with the
/// teacher's notes all feedback is shown.
fn answer(course: &Course<'_>, state: &State, question: &Question) -> Vec<String> {
    let (screen, show) = (state.window.screen, course.show(state.window.screen));
    let record = state.class.records.get(&question.id);
    let hands = record.and_then(|record| record.hands.as_ref());
    let mut groups = Vec::new();
    if let Some(hands) = hands {
        let right = right_letter(course, state, question);
        // The bars are already above the answer, unless the screen is clean.
        let stands_above = record.is_some_and(|record| record.drawn) && !state.is_clean;
        groups.push(match right.filter(|_| stands_above) {
            Some(letter) => right_bar(hands, letter, screen),
            None => bars(hands, None, right, screen),
        });
    }
    let has_feedback = |choice: &Choice| {
        let option = question.choices.iter().position(|other| other.letter == choice.letter);
        let votes = hands.zip(option).and_then(|(hands, option)| hands.get(option)).copied();
        let stands_above = record.is_some_and(|record| record.explained.contains(&choice.letter));
        show.notes || votes.unwrap_or(0) > 0 && !stands_above
    };
    let right = record.filter(|record| record.right);
    let given = right.and_then(|record| record.given.last()).map(String::as_str);
    let (answer, rest) = show.answer(question, given, has_feedback);
    groups.extend([answer, show.blocks(rest)]);
    groups.retain(|group| !group.is_empty());
    groups.join(&String::new())
}

/// The page at the end.
pub(in crate::lesson::play) fn ending(course: &Course<'_>, state: &State) -> Vec<String> {
    let screen = state.window.screen;
    let mut lines = vec![Ink::bold().on(&format!("End: {}", course.lesson.title), screen)];
    let (answered, right) = state.class.score();
    if answered > 0 {
        lines.push(format!("{} answered, {right} of them right", counted(answered, "question")));
    }
    if let Some(next) = course.lesson.what_is_next() {
        let text = Text::of(&format!("Next: {}", next.join(" · ")), Ink::of(Tone::Quiet), screen);
        lines.extend(text.wrapped(screen.width, ["", "      "], screen));
    }
    lines
}
