//! The named commands: whether each gives numbers, and whether anything uses it.

use std::collections::HashSet;

use crate::foreign::visible;
use crate::lesson::model::Lesson;
use crate::lesson::run::Runner;
use crate::lesson::source::Fault;

use super::finding::{Concern, Finding};

/// Checks every named command, and returns the names of those without numbers.
pub(super) fn check<'a>(
    lesson: &'a Lesson,
    runner: &Runner<'_>,
    findings: &mut Vec<Finding>,
) -> HashSet<&'a str> {
    let used = lesson.used_runs();
    let mut failing = HashSet::new();
    for run in &lesson.runs {
        let name = &run.name;
        if let Err(error) = runner.graph(&run.command) {
            let (what, help) = what_and_help(&error.to_string());
            let fault = Fault::new(run.line, format!("the run `{name}` gives no numbers: {what}"));
            let help = help.unwrap_or_else(|| {
                "name a command that shows a computation, and run it by itself first".into()
            });
            findings.push(Finding::new(Concern::Structure, fault.help(help)));
            failing.insert(name.as_str());
        }
        if !used.contains(name.as_str()) {
            let fault = Fault::new(run.line, format!("nothing uses the run `{name}`"))
                .help("remove it, or use it to check a number: 0.30<!-- = RUN:CELL -->");
            findings.push(Finding::new(Concern::Remark, fault));
        }
    }
    failing
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
pub(super) fn without_colours(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}
