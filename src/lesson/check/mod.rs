//! Compares a lesson with the program: outputs, numbers, keys, screen, plan.

mod difference;
mod finding;
mod numbers;
mod outputs;
mod plan;
mod questions;
mod runs;
mod screen;

use super::model::Lesson;
use super::run::{Run, RunValues, Runner};

pub use difference::{Tag, unified};
pub use finding::{Concern, Coverage, Finding, Report, Rewrite};

/// Checks a whole lesson. Each command runs at most once for the same screen.
pub fn check(lesson: &Lesson, run: &Run<'_>) -> Report {
    check_by(lesson, &Runner::new(run))
}

/// The same check with a runner that may have run some of the commands already.
pub(super) fn check_by(lesson: &Lesson, runner: &Runner<'_>) -> Report {
    let values = RunValues { runs: &lesson.runs, runner };
    let mut findings: Vec<Finding> =
        lesson.faults.iter().map(|fault| Finding::new(Concern::Structure, fault.clone())).collect();
    outputs::check(lesson, runner, &mut findings);
    screen::check(lesson, runner, &mut findings);
    let failing = runs::check(lesson, runner, &mut findings);
    let context = finding::CheckContext { values: &values, failing: &failing, options: lesson.options };
    numbers::check(lesson, context, &mut findings);
    questions::check(lesson, context, &mut findings);
    plan::check(lesson, &mut findings);
    for finding in &mut findings {
        finding.fault.step = lesson.step_at(finding.fault.line).map(|step| step.title.clone());
    }
    findings.sort_by_key(|finding| finding.fault.line);
    Report { findings, checked: Coverage::of(lesson) }
}
