//! What has come of a quiz.

use std::fmt::Write;

use crate::error::counted;
use crate::input::quoted;
use crate::lesson::show::{Ink, Show, Text, Tone};

/// What has become of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was answered rightly.
    Right,
    /// It was answered wrongly.
    Wrong,
    /// It was passed over.
    Skipped,
    /// The input ended before it was answered.
    Unanswered,
    /// It is open; nobody grades it.
    Open,
}

/// A question and what has become of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Graded {
    /// The position of its step; none before the first.
    pub step: Option<usize>,
    /// What has become of it.
    pub outcome: Outcome,
    /// So many hints were asked for.
    pub hints: usize,
}

/// Whether every question that is graded was answered rightly.
pub(super) fn all_right(graded: &[Graded]) -> bool {
    graded.iter().all(is_fine)
}

fn is_fine(graded: &Graded) -> bool {
    matches!(graded.outcome, Outcome::Right | Outcome::Open)
}

/// The score, and the steps to go back to. `asked` is what the lesson was asked for by.
pub(super) fn score(graded: &[Graded], asked: &str, show: &Show<'_>) -> Vec<String> {
    let count = |outcome: Outcome| graded.iter().filter(|one| one.outcome == outcome).count();
    let total = graded.iter().filter(|one| one.outcome != Outcome::Open).count();
    let mut text = format!("{} of {total} right", count(Outcome::Right));
    for (outcome, word) in [(Outcome::Skipped, "skipped"), (Outcome::Unanswered, "unanswered")] {
        if count(outcome) > 0 {
            let _ = write!(text, ", {} {word}", count(outcome));
        }
    }
    let hints: usize = graded.iter().map(|one| one.hints).sum();
    if hints > 0 {
        let _ = write!(text, ", with {}", counted(hints, "hint"));
    }
    let tone = if all_right(graded) { Tone::Right } else { Tone::Asked };
    let mut lines = vec![Ink { bold: true, ..Ink::of(tone) }.on(&text, show.screen)];
    if count(Outcome::Open) > 0 {
        let open = counted(count(Outcome::Open), "open question");
        lines.push(Ink::of(Tone::Quiet).on(&format!("{open} not graded"), show.screen));
    }
    lines.extend(back(graded, asked, show));
    lines
}

/// The steps in which something was not answered rightly, each with the command that plays it.
fn back(graded: &[Graded], asked: &str, show: &Show<'_>) -> Vec<String> {
    let missed = graded.iter().filter(|one| !is_fine(one));
    let mut steps: Vec<usize> = missed.filter_map(|one| one.step).collect();
    steps.dedup();
    let steps = steps.into_iter().filter_map(|step| show.lesson.steps.get(step));
    let name = quoted(asked);
    let mut lines = Vec::new();
    for step in steps {
        let command = format!("attn lesson play {name}#{}", step.id);
        let title = Text::of(&step.title, Ink::default(), show.screen);
        lines.extend(title.wrapped(show.screen.width, ["   ", "   "], show.screen));
        lines.push(format!("      {}", Ink::bold().on(&command, show.screen)));
    }
    if !lines.is_empty() {
        lines.splice(0..0, [String::new(), "Go back to".to_string()]);
    }
    lines
}
