//! What a class has answered, and what is said to it.

use crate::foreign::visible;
use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::error::{Error, Result, nearest};
use crate::lesson::key::{Answer, Given, Kind, is_show_of_hands, judge, matches_option, votes};
use crate::lesson::show::{Ink, Show, Text, Tone};
use crate::lesson::{Choice, Lesson, Question, Screen};

/// What has happened at a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Record {
    /// The answers as they were typed, in order; the last one is right where `right` says so.
    pub given: Vec<String>,
    /// Whether the last of them was right.
    pub right: bool,
    /// The last show of hands, option by option.
    pub hands: Option<Vec<usize>>,
    /// Whether the bars of that show of hands stand on the screen since the question was asked.
    pub drawn: bool,
    /// The one before it.
    pub hands_before: Option<Vec<usize>>,
    /// The wrong answers, by letter, whose feedback stands below the question already.
    pub told: BTreeSet<char>,
    /// So many hints have been shown.
    pub hints: usize,
}

/// What is said to an answer.
pub(in crate::lesson) struct Judged {
    /// Whether it is right; `None` where nobody can tell.
    pub right: Option<bool>,
    /// The answer as it is repeated.
    pub shown: String,
    /// What is said to a wrong answer that is foreseen.
    pub feedback: Vec<String>,
    /// Its letter.
    pub told: Option<char>,
}

impl Judged {
    /// What is said to a wrong answer: that it is wrong, what comes `next`, and the feedback. Nothing is said to another.
    pub(in crate::lesson) fn wrong(self, next: &str, screen: Screen) -> Vec<String> {
        if self.right != Some(false) {
            return Vec::new();
        }
        let mut text = Text::of("Not quite", Ink { bold: true, ..Ink::of(Tone::Asked) }, screen);
        let next = if next.is_empty() { String::new() } else { format!(". {next}") };
        text.push(&format!(": {}{next}", self.shown), Ink::default(), screen);
        let mut lines = text.wrapped(screen.width, ["", "   "], screen);
        lines.extend(self.feedback);
        lines
    }
}

/// What may be done after a wrong answer, when so many hints have been shown.
pub(in crate::lesson) fn next_try(question: &Question, hints: usize) -> &'static str {
    match question.hints.len() > hints {
        true => "Try again, or h for a hint.",
        false => "Try again.",
    }
}

/// The right answer; an open question has none.
///
/// # Errors
/// If it cannot be computed: the lesson is wrong.
pub(in crate::lesson) fn right_answer(question: &Question, show: &Show<'_>) -> Result<Option<Answer>> {
    question.key.as_ref().map(|key| key.evaluate(&show.values())).transpose()
}

/// How many options have letters.
pub(in crate::lesson) fn options(question: &Question) -> usize {
    question.choices.iter().filter(|choice| choice.text.is_some()).count()
}

/// What is said to an answer as it was typed.
///
/// # Errors
/// If it is no answer to this question, or the right one cannot be computed.
pub(in crate::lesson) fn judged(question: &Question, typed: &str, show: &Show<'_>) -> Result<Judged> {
    let Some(answer) = right_answer(question, show)? else {
        return Ok(Judged { right: None, shown: String::new(), feedback: Vec::new(), told: None });
    };
    let given = Given::read(typed, &answer, options(question))?;
    let right = judge(&given, &answer);
    let typed = visible(typed.trim());
    let shown = match (&answer, &given) {
        (Answer::Choice { .. }, _) => typed.to_uppercase(),
        (Answer::Order(order), Given::Order(positions)) if options(question) > 0 => {
            order.with_positions(positions).lettered()
        }
        _ => typed.into_owned(),
    };
    let told = if right { None } else { chosen(question, &given, &answer, show) };
    let feedback = told.map(|choice| show.feedback(question, choice)).unwrap_or_default();
    Ok(Judged { right: Some(right), shown, feedback, told: told.map(|choice| choice.letter) })
}

/// The option, or the foreseen wrong answer, that an answer is.
fn chosen<'q>(question: &'q Question, given: &Given, answer: &Answer, show: &Show<'_>) -> Option<&'q Choice> {
    let is_it = |choice: &&Choice| match given {
        Given::Choice(letter) => choice.letter == *letter,
        _ => choice.computed.as_ref().is_some_and(|computed| {
            computed.evaluate(&show.values()).is_ok_and(|value| matches_option(given, &value, answer))
        }),
    };
    question.choices.iter().filter(|choice| choice.feedback.is_some()).find(is_it)
}

/// Answers that were given beforehand, in the order in which each question gets them.
#[derive(Clone, Debug, Default)]
pub struct Scripted(HashMap<String, VecDeque<String>>);

impl Scripted {
    /// Reads `zeros=C`, as often as it is given.
    ///
    /// # Errors
    /// If one is not written so, there is no such question, or it cannot be an answer to it.
    pub fn read(asked: &[String], show: &Show<'_>) -> Result<Scripted> {
        let mut scripted = Scripted::default();
        for one in asked {
            let wrong = |what: String| Error::new(what).in_source(format!("--answer {one}"));
            let Some((id, typed)) = one.split_once('=') else {
                return Err(
                    wrong("there is no `=`".into()).help("write the question's id and its answer: zeros=C")
                );
            };
            let question = question(show.lesson, id.trim(), wrong)?;
            usable(question, typed, show).map_err(|error| error.in_source(format!("--answer {one}")))?;
            scripted.0.entry(question.id.clone()).or_default().push_back(typed.trim().to_string());
        }
        Ok(scripted)
    }

    /// The next answer to a question.
    pub(in crate::lesson) fn next(&mut self, question: &str) -> Option<String> {
        self.0.get_mut(question)?.pop_front()
    }
}

fn question<'l>(lesson: &'l Lesson, id: &str, wrong: impl Fn(String) -> Error) -> Result<&'l Question> {
    let ids = || lesson.questions().map(|question| question.id.as_str());
    lesson.questions().find(|question| question.id == id).ok_or_else(|| {
        let error = wrong(format!("`{}` has no question `{id}`", lesson.name));
        match (nearest(id, ids()), ids().next()) {
            (Some(near), _) => error.help(format!("did you mean `{near}`?")),
            (None, Some(_)) => error.help(format!("it has {}", ids().collect::<Vec<_>>().join(", "))),
            (None, None) => error.help("it has no questions"),
        }
    })
}

fn usable(question: &Question, typed: &str, show: &Show<'_>) -> Result<()> {
    match question.kind == Kind::Choice && is_show_of_hands(typed.trim()) {
        true => votes(typed.trim(), options(question)).map(|_| ()),
        false => judged(question, typed, show).map(|_| ()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::Runner;
    use crate::lesson::play::sample;

    fn with_show<T>(test: impl Fn(&Show<'_>) -> T) -> T {
        let lesson = sample::lesson();
        let runner = Runner::new(&sample::run);
        test(&Show::new(&lesson, &runner, Screen::plain(80)))
    }

    fn said(id: &str, typed: &str) -> (Option<bool>, String) {
        with_show(|show| {
            let question = show.lesson.questions().find(|question| question.id == id).unwrap();
            let judged = judged(question, typed, show).unwrap();
            (judged.right, judged.wrong("", show.screen).join("\n"))
        })
    }

    #[test]
    fn a_wrong_option_gets_its_own_feedback_and_the_right_one_none() {
        let (right, lines) = said("zeros", "a");
        assert_eq!(right, Some(false));
        assert!(lines.starts_with("Not quite: A") && lines.contains("True for finite scores."), "{lines}");
        assert_eq!(said("zeros", "b"), (Some(false), "Not quite: B".to_string()));
        assert_eq!(said("zeros", "C"), (Some(true), String::new()));
    }

    #[test]
    fn a_foreseen_number_gets_its_feedback_and_another_none() {
        let (right, lines) = said("left", "0.505");
        assert!(right == Some(false) && lines.contains("So it was without the mask."), "{lines}");
        assert_eq!(said("left", "0.7"), (Some(false), "Not quite: 0.7".to_string()));
        assert_eq!(said("left", "100%").0, Some(true));
        assert_eq!(said("order", "a c b").0, Some(true));
    }

    #[test]
    fn scripted_answers_are_read_or_refused() {
        with_show(|show| {
            let read = |asked: &[&str]| {
                Scripted::read(&asked.iter().map(|a| a.to_string()).collect::<Vec<_>>(), show)
            };
            let mut scripted = read(&["zeros=A", "zeros=C", "left=0.5", "zeros=A3 B4"]).unwrap();
            assert_eq!(scripted.next("zeros").as_deref(), Some("A"));
            assert_eq!(scripted.next("order"), None);
            for (asked, words) in [
                ("zeros", "no `=`"),
                ("zeroes=C", "did you mean `zeros`"),
                ("x=C", "it has zeros, left, order"),
                ("zeros=Z", "A to C"),
                ("left=much", "not a number"),
                ("zeros=A3 Z4", "A to C"),
            ] {
                let said = read(&[asked]).unwrap_err().to_string();
                assert!(said.contains(words) && said.starts_with(&format!("--answer {asked}")), "{said}");
            }
        });
    }
}
