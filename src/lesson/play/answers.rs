//! Answers that are given beforehand.

use std::collections::{HashMap, VecDeque};

use crate::error::{Error, Result};
use crate::lesson::question::votes;
use crate::lesson::show::{Ink, LessonView, Tone, Verdict};
use crate::lesson::{Lesson, Question};
use crate::render::Screen;
use crate::text::{counted, did_you_mean};

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
        let all = match ids().collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => "no questions".to_string(),
            all => all,
        };
        wrong(format!("`{}` has no question `{id}`", lesson.name))
            .help(did_you_mean(id, ids()).unwrap_or_else(|| format!("it has {all}")))
    })
}

fn usable(question: &Question, typed: &str, show: &LessonView<'_>) -> Result<()> {
    if question.is_vote(typed.trim()) {
        votes(typed.trim(), question.letters().len()).map(|_| ())
    } else {
        Verdict::of(typed, question, show).map(|_| ())
    }
}

// A vote as bars.

/// The longest bar.
const WIDEST: usize = 40;
/// Columns beside a bar: indent, letter, number.
const BESIDE: usize = 14;
/// Additional columns for the previous vote.
const BEFORE: usize = 13;

/// The line below bars once the right option is known: `B  14 of 25 hands  ← right`.
pub(super) fn right_bar(hands: &[usize], right: char, screen: Screen) -> Vec<String> {
    let option = ('A'..='Z').position(|letter| letter == right).unwrap_or_default();
    let count = hands.get(option).copied().unwrap_or_default();
    let mark = Ink { bold: true, ..Ink::of(Tone::Right) }.on(&right.to_string(), screen);
    let all = counted(hands.iter().sum(), "hand");
    vec![format!("   {mark}  {count} of {all}{}", screen.charset.spelled("  ← right"))]
}

/// The bars of a vote, one for each option from A on, next to the numbers of the previous vote if there are any. The right
/// option is marked once it is known.
pub(super) fn bars(
    hands: &[usize],
    before: Option<&[usize]>,
    right: Option<char>,
    screen: Screen,
) -> Vec<String> {
    let most = hands.iter().copied().max().unwrap_or(0).max(1);
    let beside = BESIDE + if before.is_some() { BEFORE } else { 0 };
    let widest = screen.width.saturating_sub(beside).clamp(4, WIDEST);
    let block = screen.charset.spelled("█");
    let mut lines: Vec<String> = ('A'..='Z')
        .zip(hands)
        .map(|(letter, &count)| {
            let is_right = right == Some(letter);
            let tone = if is_right { Tone::Right } else { Tone::Asked };
            let length = (count * widest).div_ceil(most);
            let bar = Ink::of(tone).on(&block.repeat(length), screen);
            let mark = Ink { bold: true, ..Ink::of(tone) }.on(&letter.to_string(), screen);
            let arrow = if is_right { screen.charset.spelled("  ← right") } else { "".into() };
            let gap = " ".repeat(widest - length);
            let option = letter as usize - 'A' as usize;
            let before = before.map(|before| before.get(option).copied().unwrap_or_default());
            let before = before.map(|before| format!("  before {before:>4}")).unwrap_or_default();
            format!("   {mark}  {bar}{gap} {count:>4}{before}{arrow}").trim_end().to_string()
        })
        .collect();
    let all = counted(hands.iter().sum(), "hand");
    lines.push(format!("      {}", Ink::of(Tone::Quiet).on(&all, screen)));
    lines
}

// A lesson without anybody at the keys.

/// The whole lesson, or its part from a step on, with its answers. Scripted answers and the feedback to them come between a
/// question and its answer.
pub fn transcript(show: &LessonView<'_>, first: Option<usize>, mut scripted: ScriptedAnswers) -> String {
    show.transcript_with(first, &mut |question| {
        let mut lines = Vec::new();
        while let Some(typed) = scripted.next(&question.id) {
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
    let lines = if question.is_vote(typed) {
        let right = show.right_letter(question);
        votes(typed, question.letters().len()).map(|hands| bars(&hands, None, right, show.screen))
    } else {
        Verdict::of(typed, question, show).map(|verdict| verdict.lines("", show.screen))
    };
    lines.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::lesson::Runner;
    use crate::lesson::play::tests::sample;
    use crate::render::{Charset, Screen};

    use super::*;

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

    #[test]
    fn bars_are_as_long_as_the_hands_are_many() {
        let screen = Screen::plain(34);
        let lines = bars(&[5, 10, 0], None, Some('B'), screen);
        assert_eq!(lines[0], format!("   A  {}{} {:>4}", "█".repeat(10), " ".repeat(10), 5));
        assert_eq!(lines[1], format!("   B  {} {:>4}  ← right", "█".repeat(20), 10));
        assert_eq!(lines[2], format!("   C  {} {:>4}", " ".repeat(20), 0));
        assert_eq!(lines[3].trim(), "15 hands");
    }

    #[test]
    fn the_vote_before_stands_next_to_the_present_one() {
        let lines = bars(&[2, 4], Some(&[5, 1]), None, Screen::plain(40));
        assert!(lines[0].ends_with("   2  before    5"), "{lines:?}");
        assert!(lines[1].ends_with("   4  before    1"), "{lines:?}");
        assert!(lines.iter().all(|line| line.chars().count() <= 40), "{lines:?}");
    }

    #[test]
    fn one_hand_is_seen_and_no_hand_is_none() {
        let screen = Screen { charset: Charset::Ascii, ..Screen::plain(80) };
        let lines = bars(&[400, 1, 0], None, None, screen);
        assert_eq!(lines.iter().map(|line| line.matches('@').count()).collect::<Vec<_>>(), [40, 1, 0, 0]);
        assert!(lines.iter().all(|line| line.is_ascii()));
    }

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
