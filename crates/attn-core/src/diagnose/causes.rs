//! Usual causes of conspicuous numbers.

use crate::graph::{Stage, Step};

use super::catalogue::{self, fitted};
use super::{Clue, Resemblance, Task};

/// exp of more than this overflows in single precision, and then ∞/∞ is NaN.
const OVERFLOWS: f64 = 88.7;

/// The usual cause of a clue, with a fix; `None` where there is no usual cause.
pub fn cause(task: &Task, resembles: Option<&Resemblance>, clues: &[Clue]) -> Option<String> {
    if let Some(Resemblance::NotANumber) = resembles {
        return Some(of_nan_rows(task));
    }
    if clues.contains(&Clue::Dropout) {
        return catalogue::find(fitted::DROPPED).ok().map(|dropout| dropout.fix.into());
    }
    clues.iter().find_map(|clue| match clue {
        Clue::NotANumber { rows, .. } if !rows.is_empty() => Some(of_nan_rows(task)),
        Clue::NotANumber { .. } => Some(
            "0 times −∞ is NaN: set the hidden scores with np.where(mask, S, -np.inf), and do not multiply a mask by −∞."
                .into(),
        ),
        Clue::Infinite(..) => Some(overflow(task)),
        Clue::RowSums { node, .. } if Step::parse(node).is_some_and(|step| step.stage == Stage::Weights) => {
            Some("A softmax divides each row of exp(S) by its own sum; look at that division, and at what comes after it.".into())
        }
        Clue::ColumnSums(_) => {
            Some("The softmax ran along the wrong axis: use axis=-1.".into())
        }
        Clue::Negative(..) | Clue::AboveOne(..) => {
            Some("A softmax gives numbers from 0 to 1: check that A comes after it.".into())
        }
        _ => None,
    })
}

fn of_nan_rows(task: &Task) -> String {
    if task.facts().max_score > OVERFLOWS {
        return overflow(task);
    }
    "Two things usually make a whole row NaN: exp overflowed (subtract each row's maximum first), or the mask leaves the row \
     nothing to attend to (0 divided by 0)."
        .into()
}

fn overflow(task: &Task) -> String {
    let score = task.facts().max_score;
    if score > OVERFLOWS {
        format!("exp overflowed: the largest score is {score:.0}. Subtract each row's maximum before exp.")
    } else {
        "exp usually overflows so: subtract each row's maximum before exp.".into()
    }
}
