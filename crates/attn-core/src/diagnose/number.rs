//! A number of the exercise that a result may have otherwise, and the values that are tried for it.

use crate::elementary;
use crate::graph::recipes::Hiding;

use super::{Change, Task};

/// A choice of the exercise that is one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// The temperature; it is looked for by its logarithm.
    Temperature,
    /// What is written into the hidden scores.
    Written,
    /// What is added to them.
    Added,
}

impl Number {
    /// The values to try, in order: temperatures from a thousandth to a thousand times the right one, twelve to a factor of 10;
    /// numbers from 3 down to what hides as well as −∞.
    pub(super) fn grid(self, task: &Task) -> Vec<f64> {
        const EACH_WAY: i32 = 36;
        let down_to = |hides: f64| {
            let hides = if hides.is_finite() { hides.clamp(-60.0, 3.0) } else { 3.0 };
            (0..).map(|step| 3.0 - f64::from(step)).take_while(|number| *number > hides - 1.0).collect()
        };
        match self {
            Number::Temperature => {
                let step = elementary::ln(10.0) / 12.0;
                let right = elementary::ln(task.recipe().temperature);
                (-EACH_WAY..=EACH_WAY).map(|count| right + f64::from(count) * step).collect()
            }
            Number::Written => down_to(task.facts().hides_written),
            Number::Added => down_to(task.facts().hides_added),
        }
    }

    /// The exercise with this value.
    pub(super) fn change(self, value: f64) -> Change {
        match self {
            Number::Temperature => Change::Temperature(elementary::exp(value)),
            Number::Written => Change::Hiding(Hiding::Replaced(value)),
            Number::Added => Change::Hiding(Hiding::Added(value)),
        }
    }
}
