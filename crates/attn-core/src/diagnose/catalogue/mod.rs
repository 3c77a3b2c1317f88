//! The catalogue of classic mistakes. Each is one change to a recipe, with what to say about it.

mod heads;
mod masks;
mod result;
mod scores;
mod weights;

use crate::error::{Error, Result, counted, nearest};
use crate::graph::build::Recipe;

use super::{Change, Facts};

/// A classic mistake.
#[derive(Debug)]
pub struct Mistake {
    /// Its name on the command line and in JSON.
    pub id: &'static str,
    /// What was done, in one sentence to the student.
    pub slip: &'static str,
    /// Why it is wrong.
    pub why: &'static str,
    /// What to do about it, in one line.
    pub fix: &'static str,
    /// What to look for in the numbers.
    pub symptom: &'static str,
    /// The demo that shows it.
    pub demo: &'static str,
    /// The ways in which it can be made in an exercise; none where it cannot.
    pub ways: fn(&Recipe, &Facts) -> Vec<Way>,
}

/// One way to make a mistake.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// What is changed: one field, and what usually goes with it.
    pub changes: Vec<Change>,
    /// What tells it from the other ways, where there are several: “to 2 decimals”.
    pub detail: Option<String>,
    /// Whether it changes anything without another mistake.
    pub alone: bool,
}

impl Way {
    /// The only way, or the usual one.
    fn plain(change: Change) -> Way {
        Way { changes: vec![change], detail: None, alone: true }
    }

    /// The same with what usually goes with it.
    fn with(mut self, change: Change) -> Way {
        self.changes.push(change);
        self
    }

    /// A way among several.
    fn detailed(change: Change, detail: impl Into<String>) -> Way {
        Way { changes: vec![change], detail: Some(detail.into()), alone: true }
    }
}

/// The only way if the condition holds, or none.
fn when(possible: bool, change: Change) -> Vec<Way> {
    if possible { vec![Way::plain(change)] } else { Vec::new() }
}

/// The detail of rounding to no decimals at all.
pub(super) const TO_WHOLE_NUMBERS: &str = "to whole numbers";

/// Rounding to none, one … four decimals.
fn to_decimals(change: fn(u32) -> Change) -> Vec<Way> {
    let detail = |decimals| match decimals {
        0 => TO_WHOLE_NUMBERS.to_string(),
        _ => format!("to {}", counted(decimals as usize, "decimal")),
    };
    (0..=4).map(|decimals| Way::detailed(change(decimals), detail(decimals))).collect()
}

/// All mistakes, in the order of the steps in which they are made.
pub fn catalogue() -> impl Iterator<Item = &'static Mistake> {
    [scores::MISTAKES, masks::MISTAKES, weights::MISTAKES, heads::MISTAKES, result::MISTAKES]
        .into_iter()
        .flatten()
}

/// The mistake of this name.
///
/// # Errors
/// If there is none: the error names the nearest.
pub fn find(id: &str) -> Result<&'static Mistake> {
    catalogue().find(|mistake| mistake.id == id).ok_or_else(|| {
        let error = Error::new(format!("there is no mistake `{id}`"));
        match nearest(id, catalogue().map(|mistake| mistake.id)) {
            Some(near) => {
                error.help(format!("did you mean `{near}`? attn diagnose --list shows all mistakes"))
            }
            None => error.help("attn diagnose --list shows all mistakes"),
        }
    })
}
