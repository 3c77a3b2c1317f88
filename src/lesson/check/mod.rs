//! Compares a lesson with the program: outputs, numbers, keys, screen, plan.

mod difference;
mod finding;
mod outputs;
mod questions;

use std::cmp::Reverse;

use crate::foreign::visible;
use crate::render::Screen;
use crate::text::{ScreenWidth, counted};

use super::key::WrittenNumber;
use super::model::{Block, Claim, Exchange, Lesson, Prose, Size};
use super::prose::unchecked_numbers;
use super::run::{Run, RunValues, Runner};
use super::source::{Concern, Fault, Faults, LONGEST};
use finding::CheckContext;

pub use difference::{Tag, unified};
pub use finding::{Coverage, Report};

/// Checks a whole lesson. Each command runs at most once for the same screen.
pub fn check(lesson: &Lesson, run: &Run<'_>) -> Report {
    check_by(lesson, &Runner::new(run))
}

/// The same check with a runner that may have run some of the commands already.
pub(super) fn check_by(lesson: &Lesson, runner: &Runner<'_>) -> Report {
    let values = RunValues { runs: &lesson.runs, runner };
    let mut findings = Faults(lesson.faults.clone());
    outputs::check(lesson, runner, &mut findings);
    check_screens(lesson, runner, &mut findings);
    let failing = finding::check_runs(lesson, runner, &mut findings);
    let context = CheckContext { lesson, values: &values, failing: &failing };
    check_numbers(lesson, context, &mut findings);
    questions::check(lesson, context, &mut findings);
    check_plan(lesson, &mut findings);
    let mut findings = findings.0;
    for finding in &mut findings {
        finding.step = lesson.step_at(finding.line).map(|step| step.title.clone());
    }
    findings.sort_by_key(|finding| finding.line);
    Report { findings, checked: Coverage::of(lesson) }
}

// The numbers in the text and in options, computed again.

/// Checks every number that has a claim.
fn check_numbers(lesson: &Lesson, context: CheckContext<'_>, findings: &mut Faults) {
    let mut not_checked = Vec::new();
    for prose in lesson.texts() {
        prose.claims.iter().for_each(|claim| check_number(prose, claim, context, findings));
        // Numbers in backticks are names.
        let loose = unchecked_numbers(&prose.markdown, &prose.claims).filter(|loose| !loose.in_code);
        not_checked.extend(loose.map(|loose| (prose.line + loose.lines, loose.text)));
    }
    if let Some((line, first)) = not_checked.first() {
        let what = match not_checked.len() {
            1 => format!("`{first}` in the text is not checked"),
            many => {
                format!("{} in the text are not checked; the first is `{first}`", counted(many, "number"))
            }
        };
        let help =
            format!("check it: {first}<!-- = RUN:CELL -->; or put it between backticks if it is a name");
        findings.report(Concern::Remark, *line, what, help);
    }
}

/// Checks one number.
fn check_number(prose: &Prose, claim: &Claim, context: CheckContext<'_>, findings: &mut Faults) {
    let Claim { at, line, expression } = claim;
    if context.fails(expression) {
        return;
    }
    let value = match expression.number(context.values) {
        Ok(value) => value,
        Err(error) => return findings.push(Fault::of(*line, error)),
    };
    let text = &prose.markdown[at.clone()];
    match WrittenNumber::parse(text) {
        Some(written) if written.agrees(value) => {}
        Some(written) => {
            let right = written.refilled(value);
            let what = format!("the text says `{text}`, but `{expression}` is {right}");
            let help = format!("write {right}, and check that the sentence is still true");
            findings.report(Concern::Text, *line, what, help);
        }
        None => {
            let help = "write it as 0.30, −1.5, 124,439,808 or 30%";
            findings.report(Concern::Text, *line, format!("`{text}` is not a number"), help);
        }
    }
}

// The time plan.

/// Rounding of sums such as 0.1 + 0.2, in minutes.
const ROUNDING: f64 = 1e-9;

/// Whether the minutes of the steps add up to the lesson's.
fn check_plan(lesson: &Lesson, findings: &mut Faults) {
    let planned: Vec<f64> = lesson.steps.iter().filter_map(|step| step.minutes).collect();
    let sum: f64 = planned.iter().sum();
    let Some(minutes) = lesson.minutes.filter(|_| !planned.is_empty()) else { return };
    let all = planned.len() == lesson.steps.len();
    let fits = if all { (sum - minutes).abs() < ROUNDING } else { sum < minutes + ROUNDING };
    if fits {
        return;
    }
    let sum = short(sum);
    let what = if all {
        format!("the steps take {sum} minutes together")
    } else {
        format!("{} of {} steps already take {sum} minutes", planned.len(), lesson.steps.len())
    };
    let is_plan = |line: &str| line.trim_start().starts_with("minutes:");
    let line = 1 + lesson.text.lines().position(is_plan).unwrap_or(0);
    let what = format!("{what}, but the lesson is planned for {minutes}");
    let help = format!("write minutes: {sum} in the head, or change a step's <!-- step: minutes=… -->");
    findings.report(Concern::Text, line, what, help);
}

/// Minutes without the digits that adding leaves after.
fn short(minutes: f64) -> f64 {
    (minutes * 1e6).round() / 1e6
}

// Checks that all text fits the lesson's screen: its width, its height, its colours.

/// The rows of a screen that the prompt and the status line take.
const OTHER_ROWS: usize = 2;

/// Checks all printed and literal text.
fn check_screens(lesson: &Lesson, runner: &Runner<'_>, findings: &mut Faults) {
    for block in lesson.every_block() {
        match block {
            Block::Console(console) => {
                for exchange in &console.exchanges {
                    printed(lesson.size, exchange, runner, findings);
                }
            }
            Block::Literal(literal) => {
                // A command that is too long goes on in the next line, on a screen as in a shell.
                let is_command = literal.label.starts_with("console");
                let goes_on = |line: &str| is_command && line.starts_with(['$', '>']);
                let text = ShownText {
                    text: &literal.text,
                    line: &|row| literal.line + 1 + row,
                    width: &|line| if goes_on(line) { 0 } else { line.width() },
                    wide: ["a line has", "break the line"],
                    tall: ["a text of", "shorten it, part it by an empty line,"],
                };
                text.check(literal.line, lesson.size, findings);
            }
            _ => {}
        }
    }
}

fn printed(size: Size, exchange: &Exchange, runner: &Runner<'_>, findings: &mut Faults) {
    let ran = runner.run(&exchange.command.args, Screen::plain(size.columns));
    if ran.code != exchange.code {
        // The output of a failed command is not measured.
        return;
    }
    let (shown, typed) = (ran.shown(), &exchange.command.typed);
    let text = ShownText {
        text: &shown,
        line: &|_| exchange.line,
        width: &ScreenWidth::width,
        wide: [&format!("`{typed}` prints a line of"), "print less (--only, --precision 2)"],
        tall: [&format!("`{typed}` prints"), "print less (--only),"],
    };
    text.check(exchange.line, size, findings);
    if shown.len() as u64 <= LONGEST && shown.lines().any(|line| visible(line) != line) {
        let what = format!("`{typed}` prints escape or control characters");
        findings.add(exchange.line, what, "leave out --color: the player adds colours itself");
    }
}

/// A text on the screen, and what is said where it does not fit.
struct ShownText<'a> {
    text: &'a str,
    /// The line in the lesson of one of its lines, from 0.
    line: &'a dyn Fn(usize) -> usize,
    width: &'a dyn Fn(&str) -> usize,
    /// The words before the number of columns, and what to do.
    wide: [&'a str; 2],
    /// The words before the number of lines, and what to do.
    tall: [&'a str; 2],
}

impl ShownText<'_> {
    /// The faults of a text at a line of the lesson: that of the widest line, the first of equal ones, and that of the tallest
    /// run of lines that are not empty.
    fn check(&self, line: usize, size: Size, findings: &mut Faults) {
        let Size { columns, rows } = size;
        let widths = self.text.lines().map(self.width).enumerate();
        if let Some((row, width)) =
            widths.min_by_key(|(_, width)| Reverse(*width)).filter(|(_, width)| *width > columns)
        {
            let [what, remedy] = self.wide;
            findings.report(
                Concern::Text,
                (self.line)(row),
                format!("{what} {width} columns, but the screen has {columns}"),
                format!("{remedy}, or name a wider screen in the head: screen: {width}x{rows}"),
            );
        }
        let lines: Vec<&str> = self.text.lines().collect();
        let tallest = lines.split(|line| line.trim().is_empty()).map(<[&str]>::len).max().unwrap_or(0);
        let (most, needed) = (rows.saturating_sub(OTHER_ROWS), tallest + OTHER_ROWS);
        if needed > rows {
            let [what, remedy] = self.tall;
            findings.report(
                Concern::Text,
                line,
                format!("{what} {tallest} lines without a break, but the screen shows {most}"),
                format!("{remedy} or name a taller screen in the head: screen: {columns}x{needed}"),
            );
        }
    }
}
