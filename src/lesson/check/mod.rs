//! Compares a lesson with the program: outputs, numbers, keys, screen, plan.

mod difference;
mod outputs;
mod questions;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::iter::once;

use crate::foreign::visible;
use crate::render::Screen;
use crate::text::{ScreenWidth, counted};

use super::key::Expression;
use super::model::{Block, Claim, Exchange, Lesson, NamedRun, Prose, Size};
use super::prose::unchecked_numbers;
use super::run::{Run, RunValues, Runner};
use super::source::{Concern, Fault, Faults, LONGEST};
use outputs::what_and_help;

pub use difference::{Tag, unified};

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
    fn of(lesson: &Lesson) -> Coverage {
        Coverage {
            steps: lesson.steps.len(),
            commands: lesson.exchanges().count(),
            numbers: lesson.texts().map(|text| text.claims.len()).sum(),
            questions: lesson.questions().count(),
            drawable: lesson.drawable(),
        }
    }
}

/// Checks a whole lesson. Each command runs at most once for the same screen.
pub fn check(lesson: &Lesson, run: &Run<'_>) -> Report {
    check_by(lesson, &Runner::new(run))
}

/// The same check with a runner that may have run some of the commands already.
pub(super) fn check_by(lesson: &Lesson, runner: &Runner<'_>) -> Report {
    let values = RunValues { runs: &lesson.runs, runner };
    let findings = Faults(lesson.faults.clone());
    let mut check = Check { lesson, values, failing: HashSet::new(), findings };
    check.outputs();
    check.screens();
    check.runs();
    check.numbers();
    check.questions();
    check.plan();
    Report { findings: lesson.sorted(check.findings).0, checked: Coverage::of(lesson) }
}

/// A check in progress.
struct Check<'a> {
    lesson: &'a Lesson,
    /// The values that numbers and keys are computed from.
    values: RunValues<'a>,
    /// The runs without numbers; each has been reported already.
    failing: HashSet<&'a str>,
    findings: Faults,
}

impl<'a> Check<'a> {
    /// Adds a fault of the structure.
    fn fault(&mut self, line: usize, what: impl Into<String>, help: impl Into<String>) {
        self.findings.add(line, what, help);
    }

    /// Adds a fault of the text.
    fn text_fault(&mut self, line: usize, what: impl Into<String>, help: impl Into<String>) {
        self.findings.report(Concern::Text, line, what, help);
    }

    fn remark(&mut self, line: usize, what: impl Into<String>, help: impl Into<String>) {
        self.findings.report(Concern::Remark, line, what, help);
    }

    /// Whether an expression reads a run without numbers.
    fn fails(&self, expression: &Expression) -> bool {
        expression.runs().iter().any(|run| self.failing.contains(run))
    }

    /// Checks every named command: whether it gives numbers, and whether anything uses it.
    fn runs(&mut self) {
        let used = self.lesson.used_runs();
        for NamedRun { name, command, line } in &self.lesson.runs {
            if let Err(error) = self.values.runner.graph(command) {
                let (what, help) = what_and_help(&error.to_string());
                let usual = "name a command that shows a computation, and run it by itself first";
                let what = format!("the run `{name}` gives no numbers: {what}");
                self.fault(*line, what, help.unwrap_or_else(|| usual.to_string()));
                self.failing.insert(name);
            }
            if !used.contains(name.as_str()) {
                let help = "remove it, or use it to check a number: 0.30<!-- = RUN:CELL -->";
                self.remark(*line, format!("nothing uses the run `{name}`"), help);
            }
        }
    }

    // The numbers in the text and in options, computed again.

    /// Checks every number that has a claim.
    fn numbers(&mut self) {
        let mut not_checked = Vec::new();
        for prose in self.lesson.texts() {
            prose.claims.iter().for_each(|claim| self.number(prose, claim));
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
            self.remark(*line, what, help);
        }
    }

    /// Checks one number.
    fn number(&mut self, prose: &Prose, claim: &Claim) {
        let Claim { at, line, expression } = claim;
        if self.fails(expression) {
            return;
        }
        let value = match expression.number(&self.values) {
            Ok(value) => value,
            Err(error) => return self.findings.push(Fault::of(*line, error)),
        };
        let text = &prose.markdown[at.clone()];
        match prose.number(claim) {
            Some(written) if written.agrees(value) => {}
            Some(written) => {
                let right = written.refilled(value);
                let what = format!("the text says `{text}`, but `{expression}` is {right}");
                self.text_fault(
                    *line,
                    what,
                    format!("write {right}, and check that the sentence is still true"),
                );
            }
            None => {
                let help = "write it as 0.30, −1.5, 124,439,808 or 30%";
                self.text_fault(*line, format!("`{text}` is not a number"), help);
            }
        }
    }

    // The time plan.

    /// Whether the minutes of the steps add up to the lesson's.
    fn plan(&mut self) {
        let lesson = self.lesson;
        let planned: Vec<f64> = lesson.steps.iter().filter_map(|step| step.minutes).collect();
        let sum: f64 = planned.iter().sum();
        let Some(minutes) = lesson.minutes.filter(|_| !planned.is_empty()) else { return };
        let all = planned.len() == lesson.steps.len();
        let fits = if all { (sum - minutes).abs() < ROUNDING } else { sum < minutes + ROUNDING };
        if fits {
            return;
        }
        // Without the digits that adding leaves after.
        let sum = (sum * 1e6).round() / 1e6;
        let what = if all {
            format!("the steps take {sum} minutes together")
        } else {
            format!("{} of {} steps already take {sum} minutes", planned.len(), lesson.steps.len())
        };
        let is_plan = |line: &str| line.trim_start().starts_with("minutes:");
        let line = 1 + lesson.text.lines().position(is_plan).unwrap_or(0);
        let what = format!("{what}, but the lesson is planned for {minutes}");
        let help = format!("write minutes: {sum} in the head, or change a step's <!-- step: minutes=… -->");
        self.text_fault(line, what, help);
    }

    // Whether all text fits the lesson's screen: its width, its height, its colours.

    /// Checks all printed and literal text.
    fn screens(&mut self) {
        for block in self.lesson.every_block() {
            match block {
                Block::Console(console) => {
                    console.exchanges.iter().for_each(|exchange| self.printed(exchange));
                }
                Block::Literal(literal) => {
                    // A command that is too long goes on in the next line, on a screen as in a shell.
                    let is_command = literal.label.starts_with("console");
                    let goes_on = |line: &str| is_command && line.starts_with(['$', '>']);
                    let width = |line: &str| if goes_on(line) { 0 } else { line.width() };
                    let widths = literal.text.lines().map(width);
                    self.width(widths.zip(literal.line + 1..), ["a line has", "break the line"]);
                    let tall = ["a text of", "shorten it, part it by an empty line,"];
                    self.height(&literal.text, literal.line, tall);
                }
                _ => {}
            }
        }
    }

    fn printed(&mut self, exchange: &Exchange) {
        let ran = self.values.runner.run(&exchange.command.args, Screen::plain(self.lesson.size.columns));
        if ran.code != exchange.code {
            // The output of a failed command is not measured.
            return;
        }
        let (shown, typed, line) = (ran.shown(), &exchange.command.typed, exchange.line);
        let wide = [&*format!("`{typed}` prints a line of"), "print less (--only, --precision 2)"];
        let widest = shown.lines().map(ScreenWidth::width).max().unwrap_or(0);
        self.width(once((widest, line)), wide);
        self.height(&shown, line, [&format!("`{typed}` prints"), "print less (--only),"]);
        if shown.len() as u64 <= LONGEST && shown.lines().any(|line| visible(line) != line) {
            let what = format!("`{typed}` prints escape or control characters");
            self.fault(line, what, "leave out --color: the player adds colours itself");
        }
    }

    /// The fault of the widest of some lines, the first of equal ones. `said` are the words before the number of columns, and what
    /// to do.
    fn width(&mut self, widths: impl Iterator<Item = (usize, usize)>, said: [&str; 2]) {
        let Size { columns, rows } = self.lesson.size;
        let Some((width, line)) = widths.min_by_key(|(width, _)| Reverse(*width)) else { return };
        if width > columns {
            let what = format!("{} {width} columns, but the screen has {columns}", said[0]);
            let wider = format!("{}, or name a wider screen in the head: screen: {width}x{rows}", said[1]);
            self.text_fault(line, what, wider);
        }
    }

    /// The fault of the tallest run of lines that are not empty. `said` are the words before the number of lines, and what to do.
    fn height(&mut self, text: &str, line: usize, said: [&str; 2]) {
        let Size { columns, rows } = self.lesson.size;
        let lines: Vec<&str> = text.lines().collect();
        let tallest = lines.split(|line| line.trim().is_empty()).map(<[&str]>::len).max().unwrap_or(0);
        let (most, needed) = (rows.saturating_sub(OTHER_ROWS), tallest + OTHER_ROWS);
        if needed > rows {
            let what = format!("{} {tallest} lines without a break, but the screen shows {most}", said[0]);
            let taller =
                format!("{} or name a taller screen in the head: screen: {columns}x{needed}", said[1]);
            self.text_fault(line, what, taller);
        }
    }
}

/// Rounding of sums such as 0.1 + 0.2, in minutes.
const ROUNDING: f64 = 1e-9;

/// The rows of a screen that the prompt and the status line take.
const OTHER_ROWS: usize = 2;
