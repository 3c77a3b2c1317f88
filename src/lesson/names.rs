//! The names within a lesson: of steps, questions and commands.

use std::collections::HashMap;

use super::faults::Faults;
use super::model::Lesson;

/// A heading as a name: lower case, words joined by `-`.
pub(super) fn slug(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// Steps and questions share one space of names.
pub(super) fn ids_are_unique(lesson: &Lesson, faults: &mut Faults) {
    let steps = lesson.steps.iter().map(|step| (step.id.as_str(), step.line));
    let questions = lesson.questions().map(|question| (question.id.as_str(), question.line));
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut all: Vec<(&str, usize)> = steps.chain(questions).collect();
    all.sort_by_key(|(_, line)| *line);
    for (id, line) in all {
        if let Some(first) = seen.get(id) {
            faults.add(
                line,
                format!("line {first} already has the name `{id}`"),
                "give one of them another name: <!-- id: … --> below a step's ##, id=… in an ask",
            );
        } else {
            seen.insert(id, line);
        }
    }
}

/// Each name must belong to one command.
pub(super) fn runs_are_unique(lesson: &Lesson, faults: &mut Faults) {
    let mut seen = HashMap::new();
    for run in &lesson.runs {
        let first = *seen.entry(run.name.as_str()).or_insert(run);
        if !std::ptr::eq(first, run) {
            faults.add(
                run.line,
                format!("the command at line {1} already has the name `{0}`", run.name, first.line),
                "give one of them another name",
            );
        }
    }
}
