//! Holding a lesson against the program: what its commands print, its numbers, its keys, its screen, its plan.

mod difference;
mod outputs;
mod wildcards;

pub use difference::{Difference, Tag};

use super::faults::Fault;
use super::model::Lesson;
use super::run::{Run, Runner};

/// What a check has found.
#[derive(Clone, Debug)]
pub struct Report {
    /// What is wrong, in the order of the lines; empty where the lesson holds.
    pub findings: Vec<Finding>,
    /// How much there was to check.
    pub checked: Checked,
}

/// How much of a lesson was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Steps.
    pub steps: usize,
    /// Commands in blocks.
    pub commands: usize,
    /// Questions.
    pub questions: usize,
}

/// One thing that does not hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// Something that only a person can mend.
    Fault(Fault),
    /// A command prints something else than the lesson says; `update` can take it over.
    Difference(Difference),
}

impl Finding {
    /// The line of the lesson that it is about.
    pub fn line(&self) -> usize {
        match self {
            Finding::Fault(fault) => fault.line,
            Finding::Difference(difference) => difference.line,
        }
    }
}

/// Checks everything that a lesson claims. Each command runs at most once for the same screen.
pub fn check(lesson: &Lesson, run: &Run) -> Report {
    let runner = Runner::new(run);
    let mut findings: Vec<Finding> = lesson.faults.iter().cloned().map(Finding::Fault).collect();
    outputs::check(lesson, &runner, &mut findings);
    for finding in &mut findings {
        if let Finding::Fault(fault) = finding {
            fault.step = lesson.step_at(fault.line).map(|step| step.title.clone());
        }
    }
    findings.sort_by_key(Finding::line);
    let checked = Checked {
        steps: lesson.steps.len(),
        commands: lesson.consoles().map(|console| console.exchanges.len()).sum(),
        questions: lesson.questions().count(),
    };
    Report { findings, checked }
}
