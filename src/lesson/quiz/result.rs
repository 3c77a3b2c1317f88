//! The results of a quiz.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::lesson::Lesson;
use crate::lesson::show::{Ink, LessonView, Text, Tone};
use crate::story::Table;
use crate::text::{counted, quoted};

/// The outcome of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// The first answer was right.
    Right,
    /// The second answer was right.
    #[serde(rename = "second try")]
    SecondTry,
    /// It was answered, but never correctly.
    Wrong,
    /// It was skipped.
    Skipped,
    /// The input ended before it was answered.
    #[default]
    Unanswered,
    /// It is open and not graded.
    Open,
}

/// Every outcome in order, its name in data, and its points.
const GRADES: [(Grade, &str, Option<f64>); 6] = [
    (Grade::Right, "right", Some(1.0)),
    (Grade::SecondTry, "second try", Some(0.5)),
    (Grade::Wrong, "wrong", Some(0.0)),
    (Grade::Skipped, "skipped", Some(0.0)),
    (Grade::Unanswered, "unanswered", Some(0.0)),
    (Grade::Open, "open", None),
];

impl Grade {
    /// Its points; `None` for an open question.
    pub fn points(self) -> Option<f64> {
        GRADES[self as usize].2
    }

    /// The outcome of this name in data.
    pub fn of_word(word: &str) -> Option<Grade> {
        GRADES.into_iter().find(|(_, name, _)| *name == word).map(|(grade, ..)| grade)
    }

    /// Its name in data.
    pub fn word(self) -> &'static str {
        GRADES[self as usize].1
    }
}

/// A question and its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionResult {
    /// The id of the question.
    pub id: String,
    /// The typed answer.
    pub kind: &'static str,
    /// The position of its step; none before the first.
    pub step: Option<usize>,
    /// The id of its step.
    pub step_id: String,
    /// Its outcome.
    pub outcome: Grade,
    /// The number of hints that were shown.
    pub hints: usize,
    /// The typed answers, in order.
    pub answers: Vec<String>,
    /// The right answer.
    pub right: String,
    /// The mistakes in numbers that were handed in, by their names in the catalogue.
    pub mistakes: Vec<String>,
}

impl QuestionResult {
    /// Whether it was answered.
    pub fn is_done(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Whether nothing of it is to be learned again.
    fn is_fine(&self) -> bool {
        matches!(self.outcome, Grade::Right | Grade::SecondTry | Grade::Open)
    }
}

/// The results of a quiz.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// The name of the lesson.
    pub lesson: String,
    /// Its title.
    pub title: String,
    /// The seed of its numbers, if they were drawn.
    pub seed: Option<u32>,
    /// Every question, in order.
    pub graded: Vec<QuestionResult>,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

impl Results {
    pub(super) fn of(show: &LessonView<'_>, graded: Vec<QuestionResult>, interrupted: bool) -> Results {
        let Lesson { name, title, .. } = show.lesson;
        Results { lesson: name.clone(), title: title.clone(), seed: None, graded, interrupted }
    }

    /// Whether every graded question was answered correctly in the end.
    pub fn all_right(&self) -> bool {
        self.graded.iter().all(QuestionResult::is_fine)
    }
}

/// The score, and the steps to go back to. `asked` is the name or path that the lesson was opened by.
pub(super) fn score(
    graded: &[QuestionResult],
    stopped: bool,
    asked: &str,
    show: &LessonView<'_>,
) -> Vec<String> {
    let count = |outcome: Grade| graded.iter().filter(|one| one.outcome == outcome).count();
    let total = graded.iter().filter(|one| one.outcome != Grade::Open).count();
    let second = count(Grade::SecondTry);
    let mut text = format!("{} of {total} right", count(Grade::Right) + second);
    let others = [
        (Grade::SecondTry, "of them at the second try"),
        (Grade::Skipped, "skipped"),
        (Grade::Unanswered, "unanswered"),
    ];
    for (outcome, word) in others {
        if count(outcome) > 0 {
            let _ = write!(text, ", {} {word}", count(outcome));
        }
    }
    let hints: usize = graded.iter().map(|one| one.hints).sum();
    if hints > 0 {
        let _ = write!(text, ", with {}", counted(hints, "hint"));
    }
    let tone = if graded.iter().all(QuestionResult::is_fine) { Tone::Right } else { Tone::Asked };
    let mut lines = vec![Ink { bold: true, ..Ink::of(tone) }.on(&text, show.screen)];
    if second > 0 {
        let points: f64 = graded.iter().filter_map(|one| one.outcome.points()).sum();
        let points = format!("{points} of {}: a second try counts half", counted(total, "point"));
        lines.push(Ink::of(Tone::Quiet).on(&points, show.screen));
    }
    if count(Grade::Open) > 0 {
        let open = counted(count(Grade::Open), "open question");
        lines.push(Ink::of(Tone::Quiet).on(&format!("{open} not graded"), show.screen));
    }
    // Questions that were not asked are not listed.
    let is_asked = |one: &&QuestionResult| !stopped || one.is_done();
    lines.extend(back(graded.iter().filter(is_asked), asked, show));
    lines
}

/// The steps with wrong answers, each with the command that plays it.
fn back<'g>(
    graded: impl Iterator<Item = &'g QuestionResult>,
    asked: &str,
    show: &LessonView<'_>,
) -> Vec<String> {
    let missed = graded.filter(|one| !one.is_fine());
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

// The results of a quiz as data: a row for each question.

/// The columns.
const COLUMNS: [&str; 13] = [
    "name", "lesson", "seed", "question", "step", "kind", "outcome", "points", "tries", "hints", "answer",
    "right", "mistakes",
];
/// The columns that contain numbers.
const NUMBERS: [&str; 4] = ["seed", "points", "tries", "hints"];

/// The results under the lesson's title, and the sum of them. `name` is the student's.
pub fn tables(results: &Results, name: &str) -> [(String, Table); 2] {
    let seed = results.seed.map(|seed| seed.to_string()).unwrap_or_default();
    let row = |one: &QuestionResult| {
        vec![
            name.to_string(),
            results.lesson.clone(),
            seed.clone(),
            one.id.clone(),
            one.step_id.clone(),
            one.kind.to_string(),
            one.outcome.word().to_string(),
            one.outcome.points().map(|points| points.to_string()).unwrap_or_default(),
            one.answers.iter().filter(|answer| !answer.is_empty()).count().to_string(),
            one.hints.to_string(),
            one.answers.last().cloned().unwrap_or_default(),
            one.right.clone(),
            one.mistakes.join(" "),
        ]
    };
    let rows = Table::new(&COLUMNS, results.graded.iter().map(row)).with_numbers(&NUMBERS);
    let graded = results.graded.iter().filter_map(|one| one.outcome.points());
    let open = results.graded.iter().filter(|one| one.outcome == Grade::Open).count();
    // A file may have fewer answers than questions.
    let has_end = results.graded.iter().all(|one| one.outcome != Grade::Unanswered);
    let is_complete = has_end && !results.interrupted;
    let sum = vec![
        name.to_string(),
        results.lesson.clone(),
        graded.clone().sum::<f64>().to_string(),
        graded.count().to_string(),
        open.to_string(),
        if is_complete { "yes" } else { "no" }.to_string(),
    ];
    let sum = Table::new(&["name", "lesson", "points", "of", "open", "complete"], [sum]);
    [(results.title.clone(), rows), ("score".to_string(), sum.with_numbers(&["points", "of", "open"]))]
}
