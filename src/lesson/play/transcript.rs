//! A lesson without anybody at the keys.

use std::cell::RefCell;

use crate::lesson::Question;
use crate::lesson::question::{is_show_of_hands, votes};
use crate::lesson::show::LessonView;
use crate::lesson::verdict::Verdict;

use super::bars;
use super::scripted::ScriptedAnswers;

/// The whole lesson, or its part from a step on, with its answers. Scripted answers and the feedback to them come between a
/// question and its answer.
pub fn transcript(show: &LessonView<'_>, first: Option<usize>, scripted: ScriptedAnswers) -> String {
    let scripted = RefCell::new(scripted);
    show.transcript_with(first, &|question| {
        let mut lines = Vec::new();
        while let Some(typed) = scripted.borrow_mut().next(&question.id) {
            let said = answered(show, question, &typed);
            if !said.is_empty() {
                lines.extend(said);
                lines.push(String::new());
            }
        }
        lines.extend(show.reveal(question));
        lines
    })
}

/// The lines below a scripted answer or vote.
pub(in crate::lesson) fn answered(show: &LessonView<'_>, question: &Question, typed: &str) -> Vec<String> {
    if !question.kind.is_chosen_by_letter() || !is_show_of_hands(typed) {
        let verdict = Verdict::of(typed, question, show);
        return verdict.map(|verdict| verdict.lines("", show.screen)).unwrap_or_default();
    }
    let right = question.right_answer(&show.values()).ok().flatten();
    let right = right.and_then(|right| right.value.letter());
    votes(typed, question.letters().len())
        .map(|hands| bars::bars(&hands, None, right, show.screen))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::Runner;
    use crate::lesson::play::sample;
    use crate::render::Screen;

    #[test]
    fn answers_given_beforehand_stand_between_question_and_answer() {
        let lesson = sample::lesson();
        let runner = Runner::new(&sample::run);
        let show = LessonView::new(&lesson, &runner, Screen::plain(80));
        let asked = ["zeros=A3 C4", "zeros=A"].map(String::from);
        let text = transcript(&show, Some(1), ScriptedAnswers::read(&asked, &show).unwrap());
        let mut rest = text.as_str();
        for words in [
            "How many zeros?",
            "How many weights",
            "7 hands",
            "Not quite: A",
            "True for finite",
            "Two tokens lie",
            "All of it.",
        ] {
            rest = rest.split_once(words).unwrap_or_else(|| panic!("no `{words}` in its place:\n{text}")).1;
        }
        assert!(!text.contains("Each row says"), "{text}");
        assert_eq!(transcript(&show, None, ScriptedAnswers::default()), show.transcript(true));
    }
}
