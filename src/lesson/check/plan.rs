//! The time plan.

use crate::lesson::model::Lesson;
use crate::lesson::source::Fault;

use super::finding::{Concern, Finding};

/// Rounding of sums such as 0.1 + 0.2, in minutes.
const ROUNDING: f64 = 1e-9;

/// Whether the minutes of the steps add up to the lesson's.
pub(super) fn check(lesson: &Lesson, findings: &mut Vec<Finding>) {
    let planned: Vec<f64> = lesson.steps.iter().filter_map(|step| step.minutes).collect();
    let sum: f64 = planned.iter().sum();
    let Some(minutes) = lesson.minutes.filter(|_| !planned.is_empty()) else { return };
    let all = planned.len() == lesson.steps.len();
    let fits = if all { (sum - minutes).abs() < ROUNDING } else { sum < minutes + ROUNDING };
    if fits {
        return;
    }
    let what = if all {
        format!("the steps take {} minutes together, but the lesson is planned for {minutes}", short(sum))
    } else {
        format!(
            "{} of {} steps already take {} minutes, but the lesson is planned for {minutes}",
            planned.len(),
            lesson.steps.len(),
            short(sum)
        )
    };
    let fault = Fault::new(line(lesson), what).help(format!(
        "write minutes: {} in the head, or change a step's <!-- step: minutes=… -->",
        short(sum)
    ));
    findings.push(Finding::new(Concern::Text, fault));
}

/// Minutes without the digits that adding leaves after.
fn short(minutes: f64) -> f64 {
    (minutes * 1e6).round() / 1e6
}

/// The line of the head that plans the lesson.
fn line(lesson: &Lesson) -> usize {
    1 + lesson.text.lines().position(|line| line.trim_start().starts_with("minutes:")).unwrap_or(0)
}
