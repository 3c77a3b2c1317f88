//! The attempts at a question.

use crate::lesson::Question;
use crate::lesson::show::LessonView;
use crate::lesson::verdict::Verdict;

use super::result::Grade;

/// The attempts at a question, and their outcome.
#[derive(Default)]
pub(super) struct Attempts {
    pub outcome: Grade,
    pub hints: usize,
    pub answers: Vec<String>,
}

impl Attempts {
    /// For a question that is not answered any more.
    pub(super) fn unanswered(mut self, question: &Question) -> Attempts {
        self.outcome = if !question.kind.is_graded() {
            Grade::Open
        } else if self.answers.is_empty() {
            Grade::Unanswered
        } else {
            Grade::Wrong
        };
        self
    }

    /// The attempts at a question in an earlier sitting: its answers are judged again.
    pub(super) fn of_earlier_sitting(
        question: &Question,
        answers: &[String],
        hints: usize,
        show: &LessonView<'_>,
    ) -> Attempts {
        let right = |typed: &String| {
            Verdict::of(typed, question, show).is_ok_and(|verdict| verdict.is_right == Some(true))
        };
        let outcome = match answers.iter().position(right) {
            _ if !question.kind.is_graded() => Grade::Open,
            Some(0) => Grade::Right,
            Some(_) => Grade::SecondTry,
            None if answers.iter().all(String::is_empty) => Grade::Skipped,
            None => Grade::Wrong,
        };
        Attempts { outcome, hints, answers: answers.to_vec() }
    }
}
