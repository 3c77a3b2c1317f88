//! Lessons, keys of questions, and what students type.

use std::ffi::OsString;

use attn::demo::{FileDemo, Settings};
use attn::diagnose::{Mistake, Task, own_mistakes};
use attn::error::{Error, Result};
use attn::graph::recipes::{AttendInputs, Recipe};
use attn::lesson::check::check;
use attn::lesson::export::{Answers, Handout, cast, html, markdown, transcript};
use attn::lesson::key::{Expression, Value, Values, WrittenNumber, numbers_in};
use attn::lesson::play::ScriptedAnswers;
use attn::lesson::question::{Answer, KINDS, is_show_of_hands, votes};
use attn::lesson::update::update;
use attn::lesson::{CommandOutput, Runner, draw, read};
use attn::matrix::Matrix;
use attn::render::Screen;
use attn::story::condition::Numbers;

use super::commands::{is_harmless, is_small, output};
use super::{assert_fit_for_a_terminal, checked};

/// Runs what a lesson asks for, within the same bounds as any other command here.
fn bounded(args: &[String], _: Screen) -> CommandOutput {
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    if !is_harmless(&args) {
        return CommandOutput::of_text(2, String::new(), "error: not run here\n".to_string());
    }
    output(&args, &[])
}

/// A demo: read, and told where its numbers are small.
pub fn demo(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(demo) = checked(FileDemo::read("mine.attn", text)) else { return };
    if is_small(text) {
        checked(demo.story(&Settings::default()));
    }
}

/// Mistakes of a teacher's own: read, told, and made where their numbers are small.
pub fn mistakes(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(groups) = checked(own_mistakes("mine.toml", text.to_string())) else { return };
    let own: Vec<_> = groups.into_iter().flat_map(|group| group.mistakes).collect();
    let x = Matrix::of([[0.5, -1.0], [2.0, 0.25], [0.0, 1.5]]);
    for recipe in [Recipe::default(), Recipe::causal(), Recipe { heads: 2, kv_heads: 2, ..Recipe::causal() }]
    {
        let task = Task::new(recipe, AttendInputs::of_tokens(x.clone())).expect("an exercise");
        let Some(task) = checked(task.with_mistakes(&own)) else { continue };
        for way in task.own_ways() {
            assert_fit_for_a_terminal(&way.slip.sentence());
            assert_fit_for_a_terminal(way.slip.fix());
            if is_small(text) {
                let _ = task.with(&way.changes);
            }
        }
    }
    for Mistake { id, slip, why, fix, symptom, .. } in own.iter().map(|mistake| &**mistake) {
        [id, slip, why, fix, symptom].into_iter().for_each(|text| assert_fit_for_a_terminal(text));
    }
}

/// A lesson: read, checked, updated, drawn again, handed out in every form.
pub fn lesson(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let lesson = match read("lesson.md", text) {
        Ok(lesson) => lesson,
        Err(faults) => {
            assert!(!faults.0.is_empty(), "a lesson is refused without a reason");
            for fault in &faults.0 {
                assert_fit_for_a_terminal(&fault.in_file("lesson.md").to_string());
            }
            return;
        }
    };
    if lesson.every_block().count() > 200 {
        return;
    }
    let report = check(&lesson, &bounded);
    if let Ok(updated) = update("lesson.md", text, &report, &bounded) {
        let _ = format!("{updated:?}");
    }
    let runner = Runner::new(&bounded);
    let drawn = draw(&lesson, &runner, 7);
    for lesson in [&lesson, &drawn.lesson] {
        for answers in [Answers::Folded, Answers::Hidden, Answers::Shown] {
            let live = answers == Answers::Folded;
            let handout = Handout { lesson, runner: &runner, answers, notes: true, live };
            let page = html(&handout);
            assert!(page.contains("</html>"), "a page without an end");
            let _ = (markdown(&handout), transcript(&handout), cast(&handout, ScriptedAnswers::default()));
        }
    }
}

/// One run, called `a` or anything else, of one matrix with names.
struct OneRun(Matrix);

impl Numbers for OneRun {
    fn matrix(&self, run: &str, address: &str) -> Result<Matrix> {
        match (run, address) {
            ("none", _) => Err(Error::new("there is no such run")),
            (_, address) if address.contains(',') => Ok(Matrix::of([[0.25]])),
            (_, address) if address.contains('[') => Ok(Matrix::of([[0.25, f64::NAN, 0.25]])),
            _ => Ok(self.0.clone()),
        }
    }
}

impl Values for OneRun {
    fn slack(&self, _: &str, _: &str, decimals: usize) -> Result<f64> {
        Ok(1.0 / (decimals as f64 + 1.0))
    }
}

/// The key of a question: read for every kind, computed, and answered by its own text.
pub fn key(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let values = OneRun(Matrix::of([[0.1, 0.7, 0.2], [f64::INFINITY, -3.0, 0.0]]));
    for version in [1, 2] {
        if let Ok(expression) = Expression::parse(text, version) {
            let _ = checked(expression.evaluate(&values));
            let _ = checked(expression.number(&values));
        }
        for kind in KINDS {
            match kind.key(text, version) {
                Ok(key) => {
                    assert!(!key.runs().is_empty(), "a key that computes nothing");
                    let Some(answer) = checked(kind.evaluate(&key, &values)) else { continue };
                    answered(text, &answer);
                    let _ = checked(answer.read(&answer.typed(), 4));
                }
                Err(error) => assert_fit_for_a_terminal(&error.to_string()),
            }
        }
    }
}

/// What a student types, as an answer to a question of this key.
fn answered(text: &str, answer: &Answer) {
    if let Some(given) = checked(answer.read(text, 4)) {
        let _ = answer.accepts(&given);
    }
}

/// Numbers in a sentence, votes of a class, answers of a student.
pub fn prose(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut behind = 0;
    for (range, number) in numbers_in(text) {
        assert!(behind <= range.start, "numbers overlap");
        behind = range.end;
        assert_eq!(&text[range], number.text());
        for value in [number.value(), 0.0, 1e300, f64::NAN] {
            let refilled = number.refilled(value);
            let _ = (number.agrees(value), WrittenNumber::parse(&refilled));
        }
    }
    if let Some((range, number)) = WrittenNumber::ending(text) {
        assert_eq!(&text[range], number.text());
    }
    let _ = is_show_of_hands(text);
    for options in [0, 1, 4, 26] {
        if let Some(votes) = checked(votes(text, options)) {
            assert_eq!(votes.len(), options, "votes for {options} options");
        }
    }
    let number = Answer { tolerance: 0.005, ..Answer::exact(Value::Number(0.3)) };
    for answer in [Answer::exact(Value::Letter('B')), number] {
        answered(text, &answer);
    }
}
