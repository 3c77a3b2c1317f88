//! Compares a lesson with the program: outputs, numbers, keys, screen, plan.

mod difference;
mod questions;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::iter::once;
use std::ops::Range;

use crate::elementary::pow;
use crate::foreign::visible;
use crate::render::Screen;
use crate::text::{ScreenWidth, counted, size_in_brief};

use super::key::{Expression, WrittenNumber, numbers_in};
use super::model::{Block, Claim, Exchange, Lesson, NamedRun, Prose, Size};
use super::prose::unchecked_numbers;
use super::run::{CommandOutput, Run, RunValues, Runner};
use super::source::{Concern, Fault, Faults, LONGEST, Rewrite};

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
                Block::Console(exchanges) => exchanges.iter().for_each(|exchange| self.printed(exchange)),
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

// The output of a lesson's commands, compared with its text.

impl Check<'_> {
    /// Runs every command of every block at the lesson's width, and compares.
    fn outputs(&mut self) {
        let screen = Screen::plain(self.lesson.size.columns);
        let mut room = LONGEST as usize;
        for exchange in self.lesson.exchanges() {
            let ran = self.values.runner.run(&exchange.command.args, screen);
            // If the exit code is wrong, the output is not compared.
            let found = code(exchange, &ran).or_else(|| output(self.lesson, exchange, &ran, room));
            let new = found.as_ref().and_then(|finding| finding.rewrite.as_ref());
            room = room.saturating_sub(new.map_or(0, |new| new.text.len()));
            self.findings.0.extend(found);
        }
    }
}

/// The fault of an exit code.
fn code(exchange: &Exchange, ran: &CommandOutput) -> Option<Fault> {
    if ran.code == exchange.code {
        return None;
    }
    let typed = &exchange.command.typed;
    let fault = match ran.code {
        0 => Fault::new(
            exchange.line,
            format!("`{typed}` succeeds, but exit code {} is expected", exchange.code),
        )
        .help(format!("remove the line `? {}`", exchange.code)),
        code => {
            let (what, help) = what_and_help(&ran.err);
            let help = help.map(|help| format!("{help}; ")).unwrap_or_default();
            let help = format!("{help}if it is meant to fail, write `? {code}` on the line below it");
            Fault::new(exchange.line, format!("`{typed}` fails with exit code {code}: {what}")).help(help)
        }
    };
    Some(fault)
}

/// The difference between the printed output and the lesson, which has room for `room` more bytes.
fn output(lesson: &Lesson, exchange: &Exchange, ran: &CommandOutput, room: usize) -> Option<Fault> {
    // What stands below the command, up to the end of its block or the next command, with the empty line that closes it.
    let Range { start, end } = exchange.expected;
    let body = &lesson.text[start..end + usize::from(lesson.text[end..].starts_with('\n'))];
    // As in trycmd, the end of the last line belongs to the block, not to the output.
    let expected = body.strip_suffix('\n').unwrap_or(body);
    let shown = ran.shown();
    let shown = if exchange.last_digit_may_differ { within_last_digit(&shown, expected) } else { shown };
    let printed = with_wildcards(&shown, expected);
    if printed == expected {
        return None;
    }
    let first = lesson.text[..start].matches('\n').count();
    let typed = &exchange.command.typed;
    if printed.len() > room {
        let bytes = size_in_brief(printed.len() as u64);
        let what = format!("`{typed}` prints {bytes}, more than the lesson has room for");
        let help = "print less (--only, smaller matrices): a lesson may have at most 1 MiB".to_string();
        return Some(Fault { concern: Concern::Text, ..Fault::new(exchange.line, what).help(help) });
    }
    let what = if expected.is_empty() {
        format!("the output of `{typed}` is missing")
    } else if printed.strip_suffix('\n') == Some(expected) {
        format!("the output of `{typed}` ends in a line break: write an empty line below it")
    } else {
        format!("`{typed}` now prints something else")
    };
    let help = "attn lesson check --update writes the new output into the file";
    let (lines, old) = (first..first + body.matches('\n').count(), body.to_string());
    let rewrite = Some(Box::new(Rewrite { lines, old, text: format!("{printed}\n") }));
    Some(Fault { concern: Concern::Output, rewrite, ..Fault::new(exchange.line, what).help(help) })
}

/// The error of a failed command and its help, with control characters escaped.
fn what_and_help(said: &str) -> (String, Option<String>) {
    let clean: Vec<String> =
        said.lines().map(|line| visible(&without_colours(line)).trim().to_string()).collect();
    let help =
        clean.iter().find_map(|line| line.strip_prefix("help: ").or_else(|| line.strip_prefix("tip: ")));
    let what = clean.first().map_or("", |line| line.trim_start_matches("error: "));
    (what.to_string(), help.map(str::to_string))
}

/// A line without the escapes that colour it, which are the program's own.
fn without_colours(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

// Comparison with trycmd's wildcards: `...` matches any lines, `[..]` any text within a line.

/// The printed text with the wildcards of `expected` wherever they match: it equals `expected` if and only if all of it
/// matches. As in trycmd the line after `...` says where it ends.
fn with_wildcards(printed: &str, expected: &str) -> String {
    if printed == expected {
        return printed.to_string();
    }
    let printed: Vec<&str> = printed.split_inclusive('\n').collect();
    let mut expected = expected.split_inclusive('\n').peekable();
    let (mut text, mut at) = (String::new(), 0);
    while let Some(line) = expected.next() {
        if let "..." | "...\n" = line {
            let Some(next) = expected.peek() else { return text + line };
            let Some(more) = printed[at..].iter().position(|printed| matches(printed, next)) else { break };
            text.push_str(line);
            at += more;
        } else {
            let Some(found) = printed.get(at) else { break };
            text.push_str(if matches(found, line) { line } else { found });
            at += 1;
        }
    }
    text + &printed[at..].concat()
}

/// Whether a printed line is the expected one, with any text for each `[..]`: up to the first place of what follows it.
fn matches(mut printed: &str, expected: &str) -> bool {
    let mut sections = expected.split("[..]").peekable();
    while let Some(section) = sections.next() {
        let Some(rest) = printed.strip_prefix(section) else { break };
        match sections.peek() {
            Some(&"") => printed = "",
            Some(next) => printed = rest.find(next).map_or(printed, |at| &rest[at..]),
            None if rest.is_empty() => return true,
            None => break,
        }
    }
    printed == expected
}

// Numbers that may differ by one unit of their last printed place: `<!-- tol: last-digit -->`.

/// The error of binary fractions in a difference, relative to the unit.
const LAST_PLACE: f64 = 1e-6;

/// The printed text, with each line replaced by that of `expected` if their numbers differ by no more than the tolerance.
fn within_last_digit(printed: &str, expected: &str) -> String {
    let lines: Vec<ComparedLine<'_>> = expected.lines().map(ComparedLine::of).collect();
    let mut alike: HashMap<&str, Vec<&ComparedLine<'_>>> = HashMap::new();
    for line in &lines {
        alike.entry(&line.frame).or_default().push(line);
    }
    let nearest = |(at, printed): (usize, &str)| {
        let text = printed.trim_end_matches('\n');
        let line = ComparedLine::of(text);
        let same_place = lines.get(at).filter(|expected| expected.frame == line.frame);
        let mut candidates =
            same_place.into_iter().chain(alike.get(&*line.frame).into_iter().flatten().copied());
        let near = candidates.find(|expected| line.is_near(expected));
        format!("{}{}", near.map_or(text, |near| near.text), &printed[text.len()..])
    };
    printed.split_inclusive('\n').enumerate().map(nearest).collect()
}

/// A line, its numbers, and what two lines have in common that differ in the digits of their numbers alone.
struct ComparedLine<'a> {
    text: &'a str,
    numbers: Vec<WrittenNumber>,
    frame: String,
}

impl<'a> ComparedLine<'a> {
    fn of(text: &'a str) -> ComparedLine<'a> {
        let found = numbers_in(text);
        let mut frame = format!("{}\n", text.chars().count());
        let mut at = 0;
        for (range, number) in &found {
            // A sign that comes or goes moves the blanks before it.
            frame.push_str(text[at..range.start].trim_end());
            frame.push_str(&format!("\n{}\n", number.decimals()));
            at = range.end;
        }
        frame.push_str(&text[at..]);
        ComparedLine { text, numbers: found.into_iter().map(|(_, number)| number).collect(), frame }
    }

    /// Whether two lines are as long, and the same but for the last digits of their numbers.
    fn is_near(&self, expected: &ComparedLine<'_>) -> bool {
        let close = |(ours, theirs): (&WrittenNumber, &WrittenNumber)| {
            let difference = (ours.value() - theirs.value()).abs();
            ours.value() == theirs.value() || difference <= unit(ours) * (1.0 + LAST_PLACE)
        };
        self.frame == expected.frame && self.numbers.iter().zip(&expected.numbers).all(close)
    }
}

/// One unit of the last place of a number.
fn unit(number: &WrittenNumber) -> f64 {
    let text = number.text().trim_end_matches('%');
    let power = text.split_once(['e', 'E']).and_then(|(_, power)| power.parse::<i32>().ok()).unwrap_or(0);
    let percent = if number.text().ends_with('%') { 2 } else { 0 };
    pow(10.0, f64::from(power) - number.decimals() as f64 - f64::from(percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stay_where_they_match_and_the_rest_is_what_was_printed() {
        for (printed, expected, result) in [
            ("a\nb\nc\n", "a\n...\nc\n", "a\n...\nc\n"),
            ("a\nb\nc\n", "a\n...\n", "a\n...\n"),
            ("took 3 ms\nb\n", "took [..] ms\nb\n", "took [..] ms\nb\n"),
            ("took 3 ms\nc\n", "took [..] ms\nb\n", "took [..] ms\nc\n"),
            ("a\nb\n", "a\n", "a\nb\n"),
            ("a\n", "a\nb\n", "a\n"),
            ("a\nx\n", "...\nc\n", "a\nx\n"),
        ] {
            assert_eq!(with_wildcards(printed, expected), result, "{printed:?} {expected:?}");
        }
    }

    #[test]
    fn a_line_is_near_whose_numbers_differ_by_one_unit_of_their_last_place() {
        for (printed, expected) in [
            ("│ bat │ 0.52   0.18 │", "│ bat │ 0.53   0.17 │"),
            ("│ bat │  0.00 │", "│ bat │ -0.00 │"),
            ("12 of 30%", "13 of 31%"),
            ("124,439,808", "124,439,809"),
            ("1.5e-3", "1.4e-3"),
        ] {
            assert!(ComparedLine::of(printed).is_near(&ComparedLine::of(expected)), "{printed} {expected}");
        }
        for (printed, expected) in [
            ("0.52", "0.54"),
            ("0.52", "0.5"),
            ("0.52 a", "0.52 b"),
            ("0.52", "0.52 0.52"),
            ("1.5e-3", "1.3e-3"),
            ("bat", "cat"),
        ] {
            assert!(!ComparedLine::of(printed).is_near(&ComparedLine::of(expected)), "{printed} {expected}");
        }
    }

    #[test]
    fn only_the_lines_that_are_near_are_taken_over() {
        assert_eq!(within_last_digit("a 0.52\nb 0.3\n", "a 0.53\nb 0.5\n"), "a 0.53\nb 0.3\n");
        assert_eq!(within_last_digit("x 1.0\ny 2.0\n", "...\ny 2.1\n"), "x 1.0\ny 2.1\n");
        assert_eq!(within_last_digit("a 0.52\n", "a 0.53"), "a 0.53\n");
    }
}
