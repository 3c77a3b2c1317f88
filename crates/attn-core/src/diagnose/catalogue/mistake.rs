//! A mistake, the entries of its ways in the data file, and a way to make it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::error::Place;
use crate::graph::recipes::Change;

/// A mistake: a region of the choices of a recipe, and sentences about it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mistake {
    /// The title of the step in which it is made.
    #[serde(default = "own_group")]
    pub(super) group: String,
    /// Its name on the command line and in JSON.
    pub id: String,
    /// Its likelihood.
    #[serde(default)]
    pub likelihood: Likelihood,
    /// The mistake as one sentence to the student.
    pub slip: String,
    /// Why it is wrong.
    pub why: String,
    /// The fix, in one line.
    pub fix: String,
    /// The symptom in the numbers.
    pub symptom: String,
    /// The demo that shows the correct step; none where there is no such demo.
    pub demo: Option<String>,
    /// The condition of all ways.
    #[serde(rename = "if")]
    pub(super) condition: Option<String>,
    /// The ways to make it; what is solved for, not tried, has none.
    #[serde(default, rename = "ways")]
    pub(super) entries: Vec<WayEntry>,
    /// Its place in the list of the file.
    #[serde(skip)]
    pub(super) number: usize,
    #[serde(skip)]
    pub(super) shared: Arc<Shared>,
}

/// The title of mistakes without one.
fn own_group() -> String {
    "Mistakes of your own".to_string()
}

/// What the mistakes of a file share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The name of the file.
    pub file: String,
    /// The file of somebody's own; its faults are told with their places.
    pub own: Option<OwnFile>,
    /// Texts with a name.
    pub texts: BTreeMap<String, String>,
    /// Lists with a name, to repeat a way for.
    pub lists: BTreeMap<String, Vec<Record>>,
}

/// The text of a file, and what finds the place of a field in it: for the mistake of a number, and the way of a number.
#[derive(Debug)]
pub(super) struct OwnFile {
    pub text: String,
    // Pages hold no reader of files of somebody's own.
    pub find: fn(&str, &str, usize, Option<usize>, &str) -> Place,
}

/// The likelihood of a mistake: equally good fits are named in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Likelihood {
    /// Every class makes it: it is also looked for together with others, and named where an exercise cannot show it.
    Classic,
    /// It is made now and then.
    #[default]
    Common,
    /// It is made seldom.
    Rare,
}

impl Mistake {
    /// Whether it is a class for everything that can be done at one step, found where no mistake with a name of its own fits.
    pub fn is_class(&self) -> bool {
        self.id.ends_with("-altered")
    }
}

/// One way to make a mistake.
#[derive(Clone, Debug)]
pub struct Way {
    /// The mistake, and how it is told in this way.
    pub slip: Slip,
    /// The changes: one choice, and those that usually go with it.
    pub changes: Vec<Change>,
    /// Whether it changes anything without another mistake.
    pub alone: bool,
    /// Whether it is too rare to be looked for together with others, though the mistake is not.
    pub rare: bool,
    /// Whether it is any operator at any stage, which is looked for where nothing else fits.
    pub general: bool,
}

/// A mistake as it was made.
#[derive(Clone, Debug)]
pub struct Slip {
    /// The mistake.
    pub mistake: Arc<Mistake>,
    /// The detail that distinguishes it from other ways to make the mistake, where there are several: “to 2 decimals”.
    pub detail: Option<String>,
    /// The sentence of this way, where it says more than the mistake's own.
    pub said: Option<String>,
    /// The fix of this way, where it says more than the mistake's own.
    pub fix: Option<String>,
}

impl Slip {
    /// The same with another sentence.
    pub(in crate::diagnose) fn saying(self, said: impl Into<String>) -> Slip {
        Slip { said: Some(said.into()), ..self }
    }

    /// The same with another fix.
    pub(in crate::diagnose) fn with_fix(self, fix: impl Into<String>) -> Slip {
        Slip { fix: Some(fix.into()), ..self }
    }

    /// The mistake as one sentence: “The scores were rounded before the softmax (to 2 decimals).”
    pub fn sentence(&self) -> String {
        match (&self.said, &self.detail) {
            (Some(said), _) => said.clone(),
            (None, Some(detail)) => format!("{} ({detail}).", self.mistake.slip.trim_end_matches('.')),
            (None, None) => self.mistake.slip.clone(),
        }
    }

    /// The fix, in one line.
    pub fn fix(&self) -> &str {
        self.fix.as_deref().unwrap_or(&self.mistake.fix)
    }
}

/// A way, or several alike, as the data file has them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WayEntry {
    /// The changes, with `;` between them.
    pub change: String,
    /// The condition.
    #[serde(rename = "if")]
    pub condition: Option<String>,
    /// What it is repeated for.
    #[serde(rename = "for")]
    pub each: Vec<Each>,
    pub detail: String,
    pub slip: String,
    pub fix: String,
    pub rare: bool,
    /// The condition on which it changes anything without another mistake; none where it always does.
    pub alone: Option<String>,
    /// The name of a function that makes the ways: `operators`.
    pub generator: Option<String>,
}

/// What a way is repeated for.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Each {
    /// `n in 1..4`, or the name of a list of the file.
    Named(String),
    /// Each of these.
    Listed(Vec<Record>),
}

/// Names, and their values: a text may have `{…}` in it, and one that begins with `=` is an expression.
pub(super) type Record = BTreeMap<String, Value>;
