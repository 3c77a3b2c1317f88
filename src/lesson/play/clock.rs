//! Time spent, and time planned.

use serde::{Deserialize, Serialize};

use crate::lesson::Lesson;

/// When a step is planned, from the moment that the class began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Plan {
    /// Seconds until the step begins.
    begins: u64,
    /// Seconds until it ends.
    ends: Option<u64>,
    /// Seconds of the whole.
    whole: Option<u64>,
}

/// Time spent, the time planned for the whole, and how far the two are apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    pub spent: u64,
    pub planned: Option<u64>,
    /// Seconds behind the plan; negative ahead of it; nothing while the step may last.
    pub behind: Option<i64>,
}

impl Plan {
    /// The plan of a step, for a class that began at the step `first`; what comes before that it has not had.
    pub(super) fn of(lesson: &Lesson, first: usize, step: Option<usize>) -> Plan {
        let seconds = |minutes: f64| (minutes * 60.0).max(0.0).round() as u64;
        let before = lesson.minutes_before(first);
        let whole = lesson.minutes.map(|minutes| seconds(minutes - before));
        if lesson.steps.iter().all(|step| step.minutes.is_none()) {
            return Plan { begins: 0, ends: whole, whole };
        }
        let step = step.unwrap_or(first);
        let begins = seconds(lesson.minutes_before(step) - before);
        Plan { begins, ends: Some(seconds(lesson.minutes_before(step + 1) - before)), whole }
    }

    /// The pace after `spent` seconds.
    pub(super) fn pace(self, spent: u64) -> Pace {
        let behind = match self.ends {
            Some(ends) if spent > ends => Some((spent - ends) as i64),
            _ if spent < self.begins => Some(-((self.begins - spent) as i64)),
            _ => None,
        };
        Pace { spent, planned: self.whole, behind }
    }
}

impl Pace {
    /// `4:10 of 12:00`
    pub(super) fn spent_of_planned(&self) -> String {
        let spent = minutes_and_seconds(self.spent);
        match self.planned {
            Some(planned) => format!("{spent} of {}", minutes_and_seconds(planned)),
            None => spent,
        }
    }

    /// `4:10 of 12:00, 0:40 behind`
    pub(super) fn in_words(&self) -> String {
        let mut words = self.spent_of_planned();
        if let Some(behind) = self.behind {
            let side = if behind > 0 { "behind" } else { "ahead" };
            words.push_str(&format!(", {} {side}", minutes_and_seconds(behind.unsigned_abs())));
        }
        words
    }
}

/// `4:10`
pub(super) fn minutes_and_seconds(seconds: u64) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::play::sample;

    fn words(first: usize, step: Option<usize>, seconds: u64) -> String {
        Plan::of(&sample::lesson(), first, step).pace(seconds).in_words()
    }

    #[test]
    fn a_class_is_on_time_as_long_as_its_step_may_last() {
        // Step 2 is planned from 3:00 to 5:00.
        assert_eq!(words(0, Some(1), 200), "3:20 of 10:00");
        assert_eq!(words(0, Some(1), 305), "5:05 of 10:00, 0:05 behind");
        assert_eq!(words(0, Some(1), 100), "1:40 of 10:00, 1:20 ahead");
        assert_eq!(words(0, None, 10), "0:10 of 10:00");
    }

    #[test]
    fn a_class_that_begins_later_has_less_time_planned() {
        assert_eq!(words(1, Some(1), 10), "0:10 of 7:00");
        assert_eq!(words(1, Some(2), 10), "0:10 of 7:00, 1:50 ahead");
    }
}
