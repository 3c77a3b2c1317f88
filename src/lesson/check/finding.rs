//! The findings of a check.

use std::collections::HashSet;
use std::ops::Range;

use crate::lesson::command::OptionNames;
use crate::lesson::key::{Expression, Value};
use crate::lesson::model::Lesson;
use crate::lesson::run::RunValues;
use crate::lesson::source::Fault;

use super::difference::Tag;

/// The findings of a check, and the number of things that were checked.
#[derive(Clone, Debug)]
pub struct Report {
    /// The findings, in the order of the lines.
    pub findings: Vec<Finding>,
    /// The number of things that were checked.
    pub checked: Coverage,
}

/// One fault or remark.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The subject of the finding.
    pub concern: Concern,
    /// Where, what, and what to do.
    pub fault: Fault,
    /// The lines of a unified diff, for an output that differs.
    pub diff: Vec<(Tag, String)>,
    /// The correct text, for an output that differs.
    pub rewrite: Option<Rewrite>,
}

/// The subject of a finding, which decides who fixes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    /// A key, a command or a forbidden character: an author fixes it before outputs are rewritten.
    Structure,
    /// A number in the text, a table on the screen, the plan: an author fixes it.
    Text,
    /// The output of a command: `update` fixes it.
    Output,
    /// A remark: nothing is wrong.
    Remark,
}

/// The lines of a block that an output takes the place of.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewrite {
    /// The lines of the file, from 0.
    pub lines: Range<usize>,
    /// The correct text, with the empty line that closes it.
    pub text: String,
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

impl Finding {
    /// A finding without a diff.
    pub(super) fn new(concern: Concern, fault: Fault) -> Finding {
        Finding { concern, fault, diff: Vec::new(), rewrite: None }
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
    /// The numbers of the runs.
    pub values: &'a RunValues<'a>,
    /// The runs without numbers; each has been reported already.
    pub failing: &'a HashSet<&'a str>,
    /// The spelling of the options of the commands.
    pub options: &'static OptionNames,
}

impl CheckContext<'_> {
    /// Whether an expression reads a run without numbers.
    pub fn fails(&self, expression: &Expression) -> bool {
        expression.runs().iter().any(|run| self.failing.contains(run))
    }
}

/// “: `count(causal:A[bat], == 0)` is 1”: the values of the sides of a comparison, without literal numbers.
pub(super) fn sides(left: &Expression, right: &Expression, context: CheckContext<'_>) -> Option<String> {
    let values = [left.evaluate(context.values).ok()?, right.evaluate(context.values).ok()?];
    let brief = values.each_ref().map(briefly);
    let texts = if brief[0] == brief[1] { values.map(|value| value.to_string()) } else { brief };
    let computed =
        [left, right].into_iter().zip(texts).filter(|(side, _)| !matches!(side, Expression::Number(_)));
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
