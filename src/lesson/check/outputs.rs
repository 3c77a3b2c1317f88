//! Compares the output of a lesson's commands with its text.

use std::collections::HashMap;
use std::ops::Range;

use crate::elementary::pow;
use crate::foreign::visible;
use crate::lesson::key::{WrittenNumber, numbers_in};
use crate::lesson::model::{Exchange, Lesson};
use crate::lesson::run::CommandOutput;
use crate::lesson::source::{Concern, Fault, LONGEST, Rewrite};
use crate::render::Screen;
use crate::text::size_in_brief;

use super::Check;

impl Check<'_> {
    /// Runs every command of every block at the lesson's width, and compares.
    pub(super) fn outputs(&mut self) {
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
    let help = "attn lesson update writes the new output into the file";
    let (lines, old) = (first..first + body.matches('\n').count(), body.to_string());
    let rewrite = Some(Box::new(Rewrite { lines, old, text: format!("{printed}\n") }));
    Some(Fault { concern: Concern::Output, rewrite, ..Fault::new(exchange.line, what).help(help) })
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
fn without_colours(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

// Comparison with trycmd's wildcards: `...` matches any lines, `[..]` any text within a line.

/// The printed text with the wildcards of `expected` wherever they match: it equals `expected` if and only if all of it
/// matches. As in trycmd the line after `...` says where it ends.
pub(super) fn with_wildcards(printed: &str, expected: &str) -> String {
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
const ROUNDING: f64 = 1e-6;

/// The printed text, with each line replaced by that of `expected` if their numbers differ by no more than the tolerance.
pub(super) fn within_last_digit(printed: &str, expected: &str) -> String {
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
            ours.value() == theirs.value() || difference <= unit(ours) * (1.0 + ROUNDING)
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
