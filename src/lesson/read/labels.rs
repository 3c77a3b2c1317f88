//! The labels of blocks that are shown and not run.

use crate::lesson::faults::Fault;

/// The fault of a block that is only shown but looks as if it were run.
pub(super) fn not_run(label: &str, text: &str, line: usize) -> Option<Fault> {
    const IGNORED: &str = "console,ignore";
    if label == IGNORED {
        return None;
    }
    if label.starts_with("console") || label.starts_with("trycmd") {
        let fault = Fault::new(line, format!("a block labelled `{label}`"));
        return Some(
            fault.help(format!("label it `console` to run and compare it, or `{IGNORED}` to show it only")),
        );
    }
    let row = text.lines().position(|line| line.starts_with("$ attn "))?;
    let fault =
        Fault::new(line + 1 + row, format!("a command in a block labelled `{label}`, which is not run"));
    Some(fault.help(format!("label it `console`, or `{IGNORED}` if it is only to be shown")))
}
