//! Compares a lesson with the program: outputs, numbers, keys, screen, plan.

mod difference;
mod finding;
mod outputs;
mod questions;

use crate::foreign::visible;
use crate::render::Screen;
use crate::text::{ScreenWidth, counted};

use super::key::WrittenNumber;
use super::model::{Block, Claim, Exchange, Lesson, Literal, Prose, Size};
use super::prose::unchecked_numbers;
use super::run::{Run, RunValues, Runner};
use super::source::{Fault, LONGEST};
use finding::CheckContext;

pub use difference::{Tag, unified};
pub use finding::{Concern, Coverage, Finding, Report, Rewrite};

/// Checks a whole lesson. Each command runs at most once for the same screen.
pub fn check(lesson: &Lesson, run: &Run<'_>) -> Report {
    check_by(lesson, &Runner::new(run))
}

/// The same check with a runner that may have run some of the commands already.
pub(super) fn check_by(lesson: &Lesson, runner: &Runner<'_>) -> Report {
    let values = RunValues { runs: &lesson.runs, runner };
    let mut findings: Vec<Finding> =
        lesson.faults.iter().map(|fault| Finding::new(Concern::Structure, fault.clone())).collect();
    outputs::check(lesson, runner, &mut findings);
    check_screens(lesson, runner, &mut findings);
    let failing = finding::check_runs(lesson, runner, &mut findings);
    let context = finding::CheckContext { lesson, values: &values, failing: &failing };
    check_numbers(lesson, context, &mut findings);
    questions::check(lesson, context, &mut findings);
    check_plan(lesson, &mut findings);
    for finding in &mut findings {
        finding.fault.step = lesson.step_at(finding.fault.line).map(|step| step.title.clone());
    }
    findings.sort_by_key(|finding| finding.fault.line);
    Report { findings, checked: Coverage::of(lesson) }
}

// The numbers in the text and in options, computed again.

/// Checks every number that has a claim.
fn check_numbers(lesson: &Lesson, context: CheckContext<'_>, findings: &mut Vec<Finding>) {
    let mut not_checked = Vec::new();
    for prose in lesson.texts() {
        findings.extend(prose.claims.iter().filter_map(|claim| number(prose, claim, context)));
        not_checked.extend(unchecked(prose));
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
        findings.push(Finding::new(Concern::Remark, Fault::new(*line, what).help(help)));
    }
}

/// The numbers that are not compared with computed ones, with their lines. Numbers in backticks are names.
fn unchecked(prose: &Prose) -> impl Iterator<Item = (usize, String)> {
    let loose = unchecked_numbers(prose).into_iter().filter(|loose| !loose.in_code);
    loose.map(|loose| (prose.line + loose.lines, loose.text))
}

/// The fault of one number.
fn number(prose: &Prose, claim: &Claim, context: CheckContext<'_>) -> Option<Finding> {
    let expression = &claim.expression;
    if context.fails(expression) {
        return None;
    }
    let value = match expression.number(context.values) {
        Ok(value) => value,
        Err(error) => return Some(Finding::new(Concern::Structure, Fault::of(claim.line, error))),
    };
    let text = &prose.markdown[claim.at.clone()];
    let fault = match WrittenNumber::parse(text) {
        Some(written) if written.agrees(value) => return None,
        Some(written) => {
            let right = written.refilled(value);
            Fault::new(claim.line, format!("the text says `{text}`, but `{expression}` is {right}"))
                .help(format!("write {right}, and check that the sentence is still true"))
        }
        None => Fault::new(claim.line, format!("`{text}` is not a number"))
            .help("write it as 0.30, −1.5, 124,439,808 or 30%"),
    };
    Some(Finding::new(Concern::Text, fault))
}

// The time plan.

/// Rounding of sums such as 0.1 + 0.2, in minutes.
const ROUNDING: f64 = 1e-9;

/// Whether the minutes of the steps add up to the lesson's.
fn check_plan(lesson: &Lesson, findings: &mut Vec<Finding>) {
    let planned: Vec<f64> = lesson.steps.iter().filter_map(|step| step.minutes).collect();
    let sum: f64 = planned.iter().sum();
    let Some(minutes) = lesson.minutes.filter(|_| !planned.is_empty()) else { return };
    let all = planned.len() == lesson.steps.len();
    let fits = if all { (sum - minutes).abs() < ROUNDING } else { sum < minutes + ROUNDING };
    if fits {
        return;
    }
    let what = if all {
        format!("the steps take {} minutes together, but the lesson is planned for {minutes}", short(sum))
    } else {
        format!(
            "{} of {} steps already take {} minutes, but the lesson is planned for {minutes}",
            planned.len(),
            lesson.steps.len(),
            short(sum)
        )
    };
    let fault = Fault::new(plan_line(lesson), what).help(format!(
        "write minutes: {} in the head, or change a step's <!-- step: minutes=… -->",
        short(sum)
    ));
    findings.push(Finding::new(Concern::Text, fault));
}

/// Minutes without the digits that adding leaves after.
fn short(minutes: f64) -> f64 {
    (minutes * 1e6).round() / 1e6
}

/// The line of the head that plans the lesson.
fn plan_line(lesson: &Lesson) -> usize {
    1 + lesson.text.lines().position(|plan_line| plan_line.trim_start().starts_with("minutes:")).unwrap_or(0)
}

// Checks that all text fits the lesson's screen: its width, its height, its colours.

/// The rows of a screen that the prompt and the status line take.
const OTHER_ROWS: usize = 2;

/// Checks all printed and literal text.
fn check_screens(lesson: &Lesson, runner: &Runner<'_>, findings: &mut Vec<Finding>) {
    for block in lesson.every_block() {
        match block {
            Block::Console(console) => {
                for exchange in &console.exchanges {
                    printed(lesson.size, exchange, runner, findings);
                }
            }
            Block::Literal(literal) => as_it_is(lesson.size, literal, findings),
            _ => {}
        }
    }
}

fn printed(size: Size, exchange: &Exchange, runner: &Runner<'_>, findings: &mut Vec<Finding>) {
    let plain = Screen::plain(size.columns);
    let ran = runner.run(&exchange.command.args, plain);
    if ran.code != exchange.code {
        // The output of a failed command is not measured.
        return;
    }
    let text = ran.shown();
    let typed = &exchange.command.typed;
    let mut add = |concern, fault| findings.push(Finding::new(concern, fault));
    if let Some((_, width)) = too_wide(text.lines(), size) {
        add(
            Concern::Text,
            Fault::new(
                exchange.line,
                format!("`{typed}` prints a line of {width} columns, but the screen has {}", size.columns),
            )
            .help(format!(
                "print less (--only, --precision 2), or name a wider screen in the head: screen: {width}x{}",
                size.rows
            )),
        );
    }
    if let Some(height) = too_tall(&text, size) {
        add(
            Concern::Text,
            tall(exchange.line, &format!("`{typed}` prints"), height, size, "print less (--only),"),
        );
    }
    if text.len() as u64 > LONGEST {
        return;
    }
    if text.lines().any(|line| visible(line) != line) {
        add(
            Concern::Structure,
            Fault::new(exchange.line, format!("`{typed}` prints escape or control characters"))
                .help("leave out --color: the player adds colours itself"),
        );
    }
}

fn as_it_is(size: Size, literal: &Literal, findings: &mut Vec<Finding>) {
    // A command that is too long goes on in the next line, on a screen as in a shell.
    let is_command = |line: &str| literal.label.starts_with("console") && line.starts_with(['$', '>']);
    let lines = literal.text.lines().map(|line| if is_command(line) { "" } else { line });
    if let Some((row, width)) = too_wide(lines, size) {
        let fault = Fault::new(
            literal.line + 1 + row,
            format!("a line has {width} columns, but the screen has {}", size.columns),
        );
        let help =
            format!("break the line, or name a wider screen in the head: screen: {width}x{}", size.rows);
        findings.push(Finding::new(Concern::Text, fault.help(help)));
    }
    if let Some(height) = too_tall(&literal.text, size) {
        findings.push(Finding::new(
            Concern::Text,
            tall(literal.line, "a text of", height, size, "shorten it, part it by an empty line,"),
        ));
    }
}

fn tall(line: usize, what: &str, height: usize, size: Size, remedy: &str) -> Fault {
    let most = size.rows.saturating_sub(OTHER_ROWS);
    Fault::new(line, format!("{what} {height} lines without a break, but the screen shows {most}")).help(
        format!(
            "{remedy} or name a taller screen in the head: screen: {}x{}",
            size.columns,
            height + OTHER_ROWS
        ),
    )
}

/// The widest line of a text that does not fit, from 0, and its columns.
fn too_wide<'t>(lines: impl Iterator<Item = &'t str>, size: Size) -> Option<(usize, usize)> {
    let widths = lines.map(ScreenWidth::width).enumerate();
    // The first of equal ones.
    widths.filter(|(_, width)| *width > size.columns).min_by_key(|(_, width)| std::cmp::Reverse(*width))
}

/// The rows of the tallest run of lines that are not empty, where it does not fit.
fn too_tall(text: &str, size: Size) -> Option<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let tallest = lines.split(|line| line.trim().is_empty()).map(<[&str]>::len).max()?;
    (tallest + OTHER_ROWS > size.rows).then_some(tallest)
}
