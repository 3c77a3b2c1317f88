//! The verdict on an answer: right or wrong, and the feedback.

use crate::answer::{Answer, Judge, Judgement, Value};
use crate::error::Result;

use super::model::{Choice, Question};
use super::show::{Ink, LessonView, Text, Tone};
use crate::render::Screen;

/// Whether an answer is right, and the feedback to it.
pub(super) struct Verdict {
    /// Whether it is right; `None` for an open question.
    pub is_right: Option<bool>,
    /// The answer as it is repeated.
    pub repeated: String,
    /// The feedback to a wrong answer that is foreseen.
    pub feedback: Vec<String>,
    /// The letter of that wrong answer.
    pub foreseen: Option<char>,
}

impl Verdict {
    /// Judges an answer as it was typed.
    ///
    /// # Errors
    /// If it is no answer to this question, or the right one cannot be computed.
    pub(super) fn of(typed: &str, question: &Question, show: &LessonView<'_>) -> Result<Verdict> {
        let Some(right) = question.right_answer(&show.values())? else {
            let nothing = String::new();
            return Ok(Verdict { is_right: None, repeated: nothing, feedback: Vec::new(), foreseen: None });
        };
        let Judgement { is_right, repeated, foreseen } = judge(question, right, show).judge(typed)?;
        let foreseen = foreseen.and_then(|at| with_feedback(question).nth(at));
        let feedback = foreseen.map(|choice| show.feedback(question, choice)).unwrap_or_default();
        let foreseen = foreseen.map(|choice| choice.letter);
        Ok(Verdict { is_right: Some(is_right), repeated, feedback, foreseen })
    }

    /// The lines below a wrong answer: that it is wrong, what to do `next`, and the feedback. None below another.
    pub(super) fn lines(self, next: &str, screen: Screen) -> Vec<String> {
        if self.is_right != Some(false) {
            return Vec::new();
        }
        let mut text = Text::of("Not quite", Ink { bold: true, ..Ink::of(Tone::Asked) }, screen);
        let next = if next.is_empty() { String::new() } else { format!(". {next}") };
        text.push(&format!(": {}{next}", self.repeated), Ink::default(), screen);
        let mut lines = text.wrapped(screen.width, ["", "   "], screen);
        lines.extend(self.feedback);
        lines
    }
}

/// The next possibilities after a wrong answer, if this many hints have been shown.
pub(super) fn next_try(question: &Question, hints: usize) -> &'static str {
    if question.hints.len() > hints { "Try again, or h for a hint." } else { "Try again." }
}

/// What judges the answers to a question whose right answer this is.
pub(super) fn judge(question: &Question, right: Answer, show: &LessonView<'_>) -> Judge {
    let is_letter = right.value.letter().is_some();
    let answer = |choice: &Choice| {
        if is_letter {
            return Some(Answer::exact(Value::Letter(choice.letter)));
        }
        right.with_value(&choice.computed.as_ref()?.evaluate(&show.values()).ok()?)
    };
    let foreseen = with_feedback(question).map(answer).collect();
    Judge { letters: question.letters().len(), foreseen, right }
}

/// The options and the foreseen wrong answers that get a feedback.
fn with_feedback(question: &Question) -> impl Iterator<Item = &Choice> {
    question.choices.iter().filter(|choice| choice.feedback.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::Runner;
    use crate::lesson::play::sample;

    fn verdict(id: &str, typed: &str) -> (Option<bool>, String) {
        let lesson = sample::lesson();
        let runner = Runner::new(&sample::run);
        let show = LessonView::new(&lesson, &runner, Screen::plain(80));
        let question = lesson.questions().find(|question| question.id == id).unwrap();
        let verdict = Verdict::of(typed, question, &show).unwrap();
        (verdict.is_right, verdict.lines("", show.screen).join("\n"))
    }

    #[test]
    fn a_wrong_option_gets_its_own_feedback_and_the_right_one_none() {
        let (right, lines) = verdict("zeros", "a");
        assert_eq!(right, Some(false));
        assert!(lines.starts_with("Not quite: A") && lines.contains("True for finite scores."), "{lines}");
        assert_eq!(verdict("zeros", "b"), (Some(false), "Not quite: B".to_string()));
        assert_eq!(verdict("zeros", "C"), (Some(true), String::new()));
    }

    #[test]
    fn a_foreseen_number_gets_its_feedback_and_another_none() {
        let (right, lines) = verdict("left", "0.505");
        assert!(right == Some(false) && lines.contains("So it was without the mask."), "{lines}");
        assert_eq!(verdict("left", "0.7"), (Some(false), "Not quite: 0.7".to_string()));
        assert_eq!(verdict("left", "100%").0, Some(true));
        assert_eq!(verdict("order", "a c b").0, Some(true));
    }
}
