//! Rewriting the outputs of a lesson, and nothing else.

use super::check::{Concern, Report, check};
use super::faults::Faults;
use super::option_names::OptionNames;
use super::read::read;
use super::run::Run;

/// The outcome of an update.
#[derive(Clone, Debug)]
pub enum UpdateOutcome {
    /// Nothing is rewritten: something must be fixed first.
    Refused,
    /// Every output is up to date.
    Current,
    /// The new text, and the remaining findings.
    Rewritten(String, Report),
}

/// The text of a lesson with every output that differs rewritten; wildcards that still match are kept, and so are the ends of
/// its lines. `report` is what a check of it has found.
///
/// # Errors
/// If the new outputs would break their lesson.
pub fn update(
    file: &str,
    text: &str,
    report: &Report,
    run: &Run<'_>,
    options: &'static OptionNames,
) -> Result<UpdateOutcome, Faults> {
    if report.findings.iter().any(|finding| finding.concern == Concern::Structure) {
        return Ok(UpdateOutcome::Refused);
    }
    if report.findings.iter().all(|finding| finding.rewrite.is_none()) {
        return Ok(UpdateOutcome::Current);
    }
    let text = rewritten(text, report);
    let report = check(&read(file, &text, options)?, run);
    Ok(UpdateOutcome::Rewritten(text, report))
}

fn rewritten(text: &str, report: &Report) -> String {
    let ending = if text.lines().next().is_some_and(|first| text[first.len()..].starts_with("\r\n")) {
        "\r\n"
    } else {
        "\n"
    };
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_string).collect();
    let mut rewrites: Vec<_> =
        report.findings.iter().filter_map(|finding| finding.rewrite.as_ref()).collect();
    // From the end, so that the places of those before stay what they are.
    rewrites.sort_by_key(|rewrite| std::cmp::Reverse(rewrite.lines.start));
    for rewrite in rewrites {
        let new = rewrite.text.lines().map(|line| format!("{line}{ending}"));
        lines.splice(rewrite.lines.clone(), new);
    }
    lines.concat()
}
