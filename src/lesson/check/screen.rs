//! Checks that all text fits the lesson's screen: its width, its height, its colours.

use crate::foreign::visible;
use crate::lesson::model::{Block, Exchange, Lesson, Literal, Size};
use crate::lesson::run::Runner;
use crate::lesson::source::{Fault, LONGEST};
use crate::render::Screen;
use crate::text::ScreenWidth;

use super::finding::{Concern, Finding};

/// The rows of a screen that the prompt and the status line take.
const OTHER_ROWS: usize = 2;

/// Checks all printed and literal text.
pub(super) fn check(lesson: &Lesson, runner: &Runner<'_>, findings: &mut Vec<Finding>) {
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
            tall(
                exchange.line,
                &format!("`{typed}` prints"),
                height,
                size,
                &"print less (--only),".to_string(),
            ),
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
