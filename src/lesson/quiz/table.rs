//! The results of a quiz as data: a row for each question.

use super::result::{Grade, QuestionResult, Results};
use crate::story::Table;

/// The columns.
const COLUMNS: [&str; 12] = [
    "name", "lesson", "seed", "question", "step", "kind", "outcome", "points", "tries", "hints", "answer",
    "right",
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
