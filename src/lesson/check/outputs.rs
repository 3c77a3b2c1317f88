//! Compares the output of a lesson's commands with its text.
use crate::lesson::faults::Fault;
use crate::lesson::model::{Console, Exchange, Lesson};
use crate::lesson::run::{CommandOutput, Runner};
use crate::lesson::source::LONGEST;
use crate::render::Screen;
use crate::text::size_in_brief;

use super::difference::unified;
use super::finding::{Concern, Finding, Rewrite};
use super::runs::what_and_help;
use super::tolerance::within_last_digit;
use super::wildcards::with_wildcards;

/// Runs every command of every block at the lesson's width, and compares.
pub(super) fn check(lesson: &Lesson, runner: &Runner<'_>, findings: &mut Vec<Finding>) {
    let screen = Screen::plain(lesson.size.columns);
    let mut room = LONGEST as usize;
    for console in lesson.consoles() {
        for exchange in &console.exchanges {
            let ran = runner.run(&exchange.command.args, screen);
            // If the exit code is wrong, the output is not compared.
            let found = code(exchange, &ran).or_else(|| output(lesson, console, exchange, &ran, room));
            let new = found.as_ref().and_then(|finding| finding.rewrite.as_ref());
            room = room.saturating_sub(new.map_or(0, |new| new.text.len()));
            findings.extend(found);
        }
    }
}

/// The fault of an exit code.
fn code(exchange: &Exchange, ran: &CommandOutput) -> Option<Finding> {
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
    Some(Finding::new(Concern::Structure, fault))
}

/// The difference between the printed output and the lesson, which has room for `room` more bytes.
fn output(
    lesson: &Lesson,
    console: &Console,
    exchange: &Exchange,
    ran: &CommandOutput,
    room: usize,
) -> Option<Finding> {
    let body = body(lesson, exchange);
    // As in trycmd, the end of the last line belongs to the block, not to the output.
    let expected = body.strip_suffix('\n').unwrap_or(body);
    let shown = ran.shown();
    let shown = if console.last_digit_may_differ { within_last_digit(&shown, expected) } else { shown };
    let printed = with_wildcards(&shown, expected);
    if printed == expected {
        return None;
    }
    let first = lesson.text[..exchange.expected.start].matches('\n').count();
    let typed = &exchange.command.typed;
    if printed.len() > room {
        let bytes = size_in_brief(printed.len() as u64);
        let what = format!("`{typed}` prints {bytes}, more than the lesson has room for");
        let help = "print less (--only, smaller matrices): a lesson may have at most 1 MiB".to_string();
        return Some(Finding::new(Concern::Text, Fault::new(exchange.line, what).help(help)));
    }
    let what = if expected.is_empty() {
        format!("the output of `{typed}` is missing")
    } else if printed.strip_suffix('\n') == Some(expected) {
        format!("the output of `{typed}` ends in a line break: write an empty line below it")
    } else {
        format!("`{typed}` now prints something else")
    };
    let help = "attn lesson update writes the new output into the file";
    let text = format!("{printed}\n");
    Some(Finding {
        concern: Concern::Output,
        fault: Fault::new(exchange.line, what).help(help),
        diff: unified(body, &text, first + 1),
        rewrite: Some(Rewrite { lines: first..first + body.matches('\n').count(), text }),
    })
}

/// The output in the lesson below a command, up to the end of its block or the next command, with the empty line that closes
/// it.
fn body<'a>(lesson: &'a Lesson, exchange: &Exchange) -> &'a str {
    let closing = usize::from(lesson.text[exchange.expected.end..].starts_with('\n'));
    &lesson.text[exchange.expected.start..exchange.expected.end + closing]
}
