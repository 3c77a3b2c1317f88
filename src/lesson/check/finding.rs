//! The findings of a check.

use std::collections::HashSet;

use crate::foreign::visible;
use crate::lesson::key::{Expression, Value};
use crate::lesson::model::{Lesson, NamedRun};
use crate::lesson::run::{RunValues, Runner};
use crate::lesson::source::{Concern, Fault, Faults};

/// The findings of a check, and the number of things that were checked.
#[derive(Clone, Debug)]
pub struct Report {
    /// The findings, in the order of the lines.
    pub findings: Vec<Fault>,
    /// The number of things that were checked.
    pub checked: Coverage,
}

/// The number of things in a lesson that were checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Steps.
    pub steps: usize,
    /// Commands in blocks.
    pub commands: usize,
    /// Numbers in the text and in options.
    pub numbers: usize,
    /// Questions.
    pub questions: usize,
    /// Those of them that can be drawn again.
    pub drawable: usize,
}

impl Report {
    /// Whether there are no faults; remarks do not count.
    pub fn holds(&self) -> bool {
        self.wrong() == 0
    }

    /// The number of faults.
    pub fn wrong(&self) -> usize {
        self.findings.iter().filter(|finding| finding.concern != Concern::Remark).count()
    }
}

impl Coverage {
    /// Adds the counts of another lesson.
    pub fn add(&mut self, other: Coverage) {
        self.steps += other.steps;
        self.commands += other.commands;
        self.numbers += other.numbers;
        self.questions += other.questions;
        self.drawable += other.drawable;
    }

    /// The counts of a lesson.
    pub(super) fn of(lesson: &Lesson) -> Coverage {
        Coverage {
            steps: lesson.steps.len(),
            commands: lesson.consoles().map(|console| console.exchanges.len()).sum(),
            numbers: lesson.texts().map(|text| text.claims.len()).sum(),
            questions: lesson.questions().count(),
            drawable: lesson.drawable(),
        }
    }
}

// The context of checks of numbers and keys.

/// The values that numbers and keys are computed from.
#[derive(Clone, Copy)]
pub(super) struct CheckContext<'a> {
    /// The lesson.
    pub lesson: &'a Lesson,
    /// The numbers of the runs.
    pub values: &'a RunValues<'a>,
    /// The runs without numbers; each has been reported already.
    pub failing: &'a HashSet<&'a str>,
}

impl CheckContext<'_> {
    /// Whether an expression reads a run without numbers.
    pub fn fails(&self, expression: &Expression) -> bool {
        expression.runs().iter().any(|run| self.failing.contains(run))
    }
}

/// “: `count(causal:A[bat], == 0)` is 1”: the values of the sides of a comparison, without literal numbers.
pub(super) fn sides(comparison: &Expression, context: CheckContext<'_>) -> Option<String> {
    let sides = comparison.sides()?;
    let values = [sides[0].evaluate(context.values).ok()?, sides[1].evaluate(context.values).ok()?];
    let brief = values.each_ref().map(briefly);
    let texts = if brief[0] == brief[1] { values.map(|value| value.to_string()) } else { brief };
    let computed = sides.iter().zip(texts).filter(|(side, _)| !side.is_literal());
    let said: Vec<String> = computed.map(|(side, text)| format!("`{side}` is {text}")).collect();
    Some(format!(": {}", said.join(", and ")))
}

/// A value; a number with at most the digits of a table.
fn briefly(value: &Value) -> String {
    match value.number() {
        Some(number) if number.fract() != 0.0 && number.abs() >= 0.001 => {
            format!("{number:.4}").replace('-', "−")
        }
        _ => value.to_string(),
    }
}

// The named commands: whether each gives numbers, and whether anything uses it.

/// Checks every named command, and returns the names of those without numbers.
pub(super) fn check_runs<'a>(
    lesson: &'a Lesson,
    runner: &Runner<'_>,
    findings: &mut Faults,
) -> HashSet<&'a str> {
    let used = lesson.used_runs();
    let mut failing = HashSet::new();
    for NamedRun { name, command, line } in &lesson.runs {
        if let Err(error) = runner.graph(command) {
            let (what, help) = what_and_help(&error.to_string());
            let usual = "name a command that shows a computation, and run it by itself first";
            let what = format!("the run `{name}` gives no numbers: {what}");
            findings.add(*line, what, help.unwrap_or_else(|| usual.to_string()));
            failing.insert(name.as_str());
        }
        if !used.contains(name.as_str()) {
            let help = "remove it, or use it to check a number: 0.30<!-- = RUN:CELL -->";
            findings.report(Concern::Remark, *line, format!("nothing uses the run `{name}`"), help);
        }
    }
    failing
}

/// The error of a failed command and its help, with control characters escaped.
pub(super) fn what_and_help(said: &str) -> (String, Option<String>) {
    let clean: Vec<String> =
        said.lines().map(|line| visible(&without_colours(line)).trim().to_string()).collect();
    let help =
        clean.iter().find_map(|line| line.strip_prefix("help: ").or_else(|| line.strip_prefix("tip: ")));
    let what = clean.first().map_or("", |line| line.trim_start_matches("error: "));
    (what.to_string(), help.map(str::to_string))
}

/// A line without the escapes that colour it, which are the program's own.
pub(super) fn without_colours(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}
