//! Answers that are given beforehand.

use std::collections::{HashMap, VecDeque};

use crate::error::{Error, Result};
use crate::lesson::question::{is_show_of_hands, votes};
use crate::lesson::show::LessonView;
use crate::lesson::verdict::Verdict;
use crate::lesson::{Lesson, Question};
use crate::text::nearest;

/// Answers that were given beforehand, in the order in which each question gets them.
#[derive(Clone, Debug, Default)]
pub struct ScriptedAnswers(HashMap<String, VecDeque<String>>);

impl ScriptedAnswers {
    /// Reads `zeros=C`, as often as it is given.
    ///
    /// # Errors
    /// If one is not written so, there is no such question, or it cannot be an answer to it.
    pub fn read(asked: &[String], show: &LessonView<'_>) -> Result<ScriptedAnswers> {
        let mut scripted = ScriptedAnswers::default();
        for one in asked {
            let source = format!("--answer {one}");
            let wrong = |what: String| Error::new(what).in_source(source.clone());
            let Some((id, typed)) = one.split_once('=') else {
                return Err(
                    wrong("there is no `=`".into()).help("write the question's id and its answer: zeros=C")
                );
            };
            let question = question(show.lesson, id.trim(), wrong)?;
            usable(question, typed, show).map_err(|error| error.in_source(source.clone()))?;
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

fn usable(question: &Question, typed: &str, show: &LessonView<'_>) -> Result<()> {
    if question.kind.is_chosen_by_letter() && is_show_of_hands(typed.trim()) {
        votes(typed.trim(), question.letters().len()).map(|_| ())
    } else {
        Verdict::of(typed, question, show).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::Runner;
    use crate::lesson::play::sample;
    use crate::render::Screen;

    fn with_show<T>(test: impl Fn(&LessonView<'_>) -> T) -> T {
        let lesson = sample::lesson();
        let runner = Runner::new(&sample::run);
        test(&LessonView::new(&lesson, &runner, Screen::plain(80)))
    }

    #[test]
    fn scripted_answers_are_read_or_refused() {
        with_show(|show| {
            let read = |asked: &[&str]| {
                ScriptedAnswers::read(&asked.iter().map(|a| a.to_string()).collect::<Vec<_>>(), show)
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
