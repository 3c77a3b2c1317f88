//! The commands of a `console` block, and what each is expected to print.

use std::ops::Range;

use super::command::Command;
use super::faults::Faults;
use super::model::Exchange;
use super::option_names::OptionNames;
use super::source::Source;

/// The commands of a block, each with its expected output.
pub(super) fn exchanges(
    source: &Source,
    body: Range<usize>,
    options: &OptionNames,
    faults: &mut Faults,
) -> Vec<Exchange> {
    let mut found: Vec<Exchange> = Vec::new();
    let mut refused = false;
    let mut position = body.start;
    let mut lines = source.text[body.clone()].split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let start = position;
        position += line.len();
        let Some(first) = line.trim_end().strip_prefix("$ ") else {
            match found.last_mut() {
                _ if refused => {}
                Some(exchange) => exchange.expected.end = position,
                None => faults.add(
                    source.line(start),
                    "there is output before the first command",
                    "begin the block with $ attn …",
                ),
            }
            continue;
        };
        let mut typed = vec![first.trim().to_string()];
        while let Some(next) = lines.peek().and_then(|line| continued(&mut typed, line)) {
            typed.push(next);
            position += lines.next().map_or(0, str::len);
        }
        let mut code = 0;
        if let Some(next) = lines.peek().and_then(|line| line.trim_end().strip_prefix("? ")) {
            match next.trim().parse() {
                Ok(number) => code = number,
                Err(_) => faults.add(
                    source.line(position),
                    format!("`? {next}` is not an exit code"),
                    "write ? 2 for a command that fails",
                ),
            }
            position += lines.next().map_or(0, str::len);
        }
        let line = source.line(start);
        let command = Command::new(&typed.join(" "), line, options);
        refused = command.is_err();
        match command {
            Ok(command) => found.push(Exchange { line, command, typed, code, expected: position..position }),
            Err(fault) => faults.push(fault),
        }
    }
    for exchange in &mut found {
        // The empty line before the end of the block or the next command is not output.
        if source.text[exchange.expected.clone()].ends_with("\n\n")
            || &source.text[exchange.expected.clone()] == "\n"
        {
            exchange.expected.end -= 1;
        }
    }
    found
}

/// The continuation of a command: a line after `> `, or after a line that ends with ` \\`, which is removed.
fn continued(typed: &mut [String], line: &str) -> Option<String> {
    let above = typed.last_mut()?;
    let joined = above.strip_suffix('\\').map(|above| above.trim_end().to_string());
    let next = line.trim_end().strip_prefix("> ").or(joined.is_some().then_some(line))?;
    if let Some(joined) = joined {
        *above = joined;
    }
    Some(next.trim().to_string())
}
