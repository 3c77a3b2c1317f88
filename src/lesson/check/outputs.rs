//! What the commands of a lesson print, held against what stands in it.

use crate::lesson::faults::Fault;
use crate::lesson::model::{Console, Exchange, Lesson};
use crate::lesson::run::{Ran, Runner, Screen};

use super::Finding;
use super::difference::{Difference, unified};
use super::wildcards::with_wildcards;

/// Runs every command of every block at the lesson's width, and compares.
pub(super) fn check(lesson: &Lesson, runner: &Runner<'_>, findings: &mut Vec<Finding>) {
    let screen = Screen::plain(lesson.size.columns);
    for console in lesson.consoles() {
        for exchange in &console.exchanges {
            let ran = runner.run(&exchange.command.args, screen);
            findings.extend(code(exchange, &ran).map(Finding::Fault));
            findings.extend(difference(lesson, console, exchange, &ran).map(Finding::Difference));
        }
    }
}

/// What is wrong with the exit code.
fn code(exchange: &Exchange, ran: &Ran) -> Option<Fault> {
    if ran.code == exchange.code {
        return None;
    }
    let said = ran.err.lines().next().unwrap_or_default();
    let what =
        format!("`{}` ends with exit code {}, not {}", exchange.command.typed, ran.code, exchange.code);
    let what = if said.is_empty() { what } else { format!("{what}: {said}") };
    Some(Fault::new(exchange.line, what).help(match ran.code {
        0 => "it succeeds: take the line `? …` out".to_string(),
        code => format!("mend the command; if it is meant to fail, write `? {code}` on the line below it"),
    }))
}

/// How what is printed differs from the lesson.
fn difference(lesson: &Lesson, console: &Console, exchange: &Exchange, ran: &Ran) -> Option<Difference> {
    let expected = &lesson.text[exchange.expected.clone()];
    let printed = printed(expected, &ran.shown(), console.last_digit_may_differ);
    if printed == expected {
        return None;
    }
    let first = lesson.text[..exchange.expected.start].matches('\n').count() + 1;
    Some(Difference {
        line: exchange.line,
        step: lesson.step_at(exchange.line).map(|step| step.title.clone()),
        command: exchange.command.typed.clone(),
        lines: unified(expected, &printed, first),
    })
}

/// What is printed, in the words of the lesson wherever these match it.
fn printed(expected: &str, shown: &str, _last_digit_may_differ: bool) -> String {
    with_wildcards(shown, expected)
}
