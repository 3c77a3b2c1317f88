//! What a class has handed in: how each question went, which mistakes were made, a line for each student, and what to repeat.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::diagnose::{Mistake, find};
use crate::story::Table;
use crate::text::{counted, quoted};

use super::hand_in::{HandIn, HandedQuestion, cell};
use super::quiz::Grade;
use super::show::{LessonView, Verdict};
use super::{Lesson, is_built_in};

/// The widest bar.
const WIDEST: usize = 20;

/// A question is to be repeated where fewer than this share of the points were made.
const WELL_KNOWN: f64 = 0.7;

/// The tables of a class. `views` are the lessons that are known here: they tell why an answer is wrong, and where to go back to. Bars are
/// for people.
pub fn class_tables(all: &[HandIn], views: &[LessonView<'_>], has_bars: bool) -> Vec<(String, Table)> {
    let mut lessons: Vec<&str> = all.iter().map(|one| one.lesson.as_str()).collect();
    lessons.sort_unstable();
    lessons.dedup();
    let mut parts = Vec::new();
    for lesson in &lessons {
        let class: Vec<&HandIn> = all.iter().filter(|one| one.lesson == *lesson).collect();
        let view = views.iter().find(|view| view.lesson.name == *lesson);
        let questions = asked(&class, view);
        let title = format!("{}: {}", cell(lesson), counted(class.len(), "student"));
        parts.push((title, question_table(&questions)));
        let wrong = questions.iter().filter_map(|one| one.most_often_wrong(view));
        let header = ["question", "answer", "students", "why"];
        parts.extend(part("What was most often wrong at the first try", &header, wrong, &["students"]));
        parts.extend(repeat(&questions, view));
    }
    parts.extend(mistakes(all));
    parts.push(("The students".into(), students(all)));
    if !has_bars {
        for (_, table) in &mut parts {
            without_bars(table);
        }
    }
    parts
}

/// A part of the report, unless it has no rows.
fn part(
    title: &str,
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
    numbers: &[&str],
) -> Option<(String, Table)> {
    let table = Table::new(header, rows).with_numbers(numbers);
    (!table.rows.is_empty()).then(|| (title.to_string(), table))
}

/// Takes the bars out of a table: they stand under no head, behind the numbers.
fn without_bars(table: &mut Table) {
    if let Some(at) = table.header.iter().position(String::is_empty) {
        table.header.remove(at);
        table.rows.iter_mut().for_each(|row| drop(row.remove(at)));
    }
}

/// A question, and what the students of a class made of it.
struct AskedQuestion<'a> {
    id: &'a str,
    handed: Vec<&'a HandedQuestion>,
}

/// The questions in the order of the lesson, or in that of the results.
fn asked<'a>(class: &[&'a HandIn], view: Option<&LessonView<'a>>) -> Vec<AskedQuestion<'a>> {
    let known =
        view.into_iter().flat_map(|view| view.lesson.questions().map(|question| question.id.as_str()));
    let mut ids: Vec<&str> = known.collect();
    let mut found: BTreeMap<&str, Vec<&HandedQuestion>> = BTreeMap::new();
    for question in class.iter().flat_map(|one| &one.questions) {
        if !ids.contains(&question.id.as_str()) {
            ids.push(&question.id);
        }
        found.entry(&question.id).or_default().push(question);
    }
    ids.into_iter().filter_map(|id| Some(AskedQuestion { id, handed: found.remove(id)? })).collect()
}

impl AskedQuestion<'_> {
    fn count(&self, grade: Grade) -> usize {
        self.handed.iter().filter(|one| one.outcome == grade).count()
    }

    /// The share of the points that were made; `None` for an open question.
    fn share(&self) -> Option<f64> {
        let points: Vec<f64> = self.handed.iter().filter_map(|one| one.outcome.points()).collect();
        (!points.is_empty()).then(|| points.iter().sum::<f64>() / points.len() as f64)
    }

    /// The first answer that most students got wrong, and why it is wrong where the lesson is known.
    fn most_often_wrong(&self, view: Option<&LessonView<'_>>) -> Option<Vec<String>> {
        let mut answers: BTreeMap<&str, usize> = BTreeMap::new();
        let is_wrong = |one: &&&HandedQuestion| {
            matches!(one.outcome, Grade::SecondTry | Grade::Wrong) && !one.answer.is_empty()
        };
        for one in self.handed.iter().filter(is_wrong) {
            *answers.entry(one.answer.trim()).or_default() += 1;
        }
        let (answer, count) = answers.into_iter().max_by_key(|&(answer, count)| (count, Reverse(answer)))?;
        let question = view.and_then(|view| view.lesson.questions().find(|question| question.id == self.id));
        let verdict =
            question.zip(view).and_then(|(question, view)| Verdict::of(answer, question, view).ok());
        let why = verdict.zip(question).zip(view).map(|((verdict, question), view)| {
            let words = one_line(&verdict.feedback.join(" "));
            // The answer stands beside it.
            let foreseen = question.choices.iter().find(|choice| Some(choice.letter) == verdict.foreseen);
            let name = foreseen.map(|choice| format!("{}: ", view.choice_name(question, choice)));
            name.and_then(|name| words.strip_prefix(&name)).unwrap_or(&words).to_string()
        });
        Some(vec![cell(self.id), cell(&one_line(answer)), count.to_string(), why.unwrap_or_default()])
    }
}

/// A text with one blank for several, and for ends of lines.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn bar(share: f64) -> String {
    "█".repeat((share * WIDEST as f64).round() as usize)
}

fn percent(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}

fn question_table(questions: &[AskedQuestion<'_>]) -> Table {
    let header = ["question", "right", "second try", "wrong", "no answer", "% of points", ""];
    let row = |one: &AskedQuestion<'_>| {
        let share = one.share()?;
        let missing = one.count(Grade::Skipped) + one.count(Grade::Unanswered);
        let counts = [one.count(Grade::Right), one.count(Grade::SecondTry), one.count(Grade::Wrong), missing];
        let [right, second, wrong, missing] = counts.map(|count| count.to_string());
        Some(vec![cell(one.id), right, second, wrong, missing, percent(share), bar(share)])
    };
    Table::new(&header, questions.iter().filter_map(row)).with_numbers(&header[1..6])
}

/// What to repeat: the steps of the questions that went worst.
fn repeat(questions: &[AskedQuestion<'_>], view: Option<&LessonView<'_>>) -> Option<(String, Table)> {
    let shares = questions.iter().filter_map(|one| Some((one, one.share()?)));
    let mut weak: Vec<(&AskedQuestion<'_>, f64)> = shares.filter(|(_, share)| *share < WELL_KNOWN).collect();
    weak.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let row = |(one, share): &(&AskedQuestion<'_>, f64)| {
        let step = view.and_then(|view| {
            let question = view.lesson.questions().find(|question| question.id == one.id)?;
            let step = view.lesson.step_at(question.line)?;
            let Lesson { name, file, .. } = view.lesson;
            let opened = if is_built_in(file) { name } else { file };
            Some((step.title.clone(), format!("attn lesson play {}#{}", quoted(opened), step.id)))
        });
        let (title, command) = step.unwrap_or_default();
        vec![cell(one.id), percent(*share), title, command]
    };
    let header = ["question", "% of points", "step", "command"];
    part("To repeat tomorrow", &header, weak.iter().map(row), &["% of points"])
}

/// The mistakes in numbers that were handed in, the most frequent first.
fn mistakes(all: &[HandIn]) -> Option<(String, Table)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for handed in all {
        let own: BTreeSet<&String> = handed.questions.iter().flat_map(|one| &one.mistakes).collect();
        own.into_iter().for_each(|id| *counts.entry(id).or_default() += 1);
    }
    let known = counts.into_iter().filter_map(|(id, count)| Some((find(id).ok()?, id, count)));
    let mut rows: Vec<_> = known.collect();
    rows.sort_by_key(|&(_, id, count)| (Reverse(count), id));
    let row = |(mistake, id, count): &(&std::sync::Arc<Mistake>, &str, usize)| {
        let share = *count as f64 / all.len() as f64;
        vec![id.to_string(), count.to_string(), bar(share), mistake.slip.to_string()]
    };
    let header = ["mistake", "students", "", "what was done"];
    part("Mistakes in numbers", &header, rows.iter().map(row), &["students"])
}

/// What a teacher looks at before the figures: what could not be read, who handed in twice, and lessons that are not known here.
pub fn to_look_at(all: &[HandIn], views: &[LessonView<'_>], refusals: &[String]) -> Option<(String, Table)> {
    let mut lines = refusals.to_vec();
    let mut times: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for one in all {
        *times.entry((&one.lesson, &one.name)).or_default() += 1;
    }
    for ((lesson, name), count) in times.iter().filter(|(_, count)| **count > 1) {
        let name = if name.is_empty() { "without a name".into() } else { cell(name) };
        lines.push(format!("{name}: {count} results of {}; each counts", cell(lesson)));
    }
    let mut lessons: Vec<&str> = times.keys().map(|(lesson, _)| *lesson).collect();
    lessons.dedup();
    lessons.retain(|lesson| views.iter().all(|view| view.lesson.name != *lesson));
    for lesson in lessons {
        lines.push(format!("{} is not known here; name its folder with --add", cell(lesson)));
    }
    part("To look at", &["remark"], lines.into_iter().map(|line| vec![line]), &[])
}

/// A line for each student, by name.
fn students(all: &[HandIn]) -> Table {
    let mut all: Vec<&HandIn> = all.iter().collect();
    all.sort_by(|a, b| (&a.name, &a.lesson).cmp(&(&b.name, &b.lesson)));
    let row = |one: &&HandIn| {
        let (points, of) = one.points();
        let second = one.questions.iter().filter(|question| question.outcome == Grade::SecondTry).count();
        let is_missed = |question: &&HandedQuestion| question.outcome.points() == Some(0.0);
        let missed: Vec<String> =
            one.questions.iter().filter(is_missed).map(|question| cell(&question.id)).collect();
        let [points, of, second] = [points.to_string(), of.to_string(), second.to_string()];
        vec![cell(&one.name), cell(&one.lesson), points, of, second, missed.join(" ")]
    };
    let header = ["name", "lesson", "points", "of", "second tries", "not right"];
    Table::new(&header, all.iter().map(row)).with_numbers(&["points", "of", "second tries"])
}
