//! The catalogue of mistakes. Each is a region of the choices of a recipe, with sentences about it.
//!
//! # To add a mistake
//!
//! 1. `data/mistakes.toml`: its sentences, and the ways to make it. A way is a [`Change`] in the language: a setting of the recipe and
//!    its value, or an operation at a site. The head of the file says what an entry has. `data/operators.toml` has the operations that
//!    are tried at every site.
//! 2. If no change can express it: a choice in `graph/recipes/recipe.rs`, or an `Alter` in `graph/recipes/alteration.rs`; their
//!    serde names are the words of the language.
//! 3. `tests/golden/slips_of_reviews.py`: a `slip` with its id, which makes it in NumPy without this code, and a line about it at
//!    the head of `reviewed_slips.py`; `python3 reviewed_slips.py` in `tests/golden` writes `reviewed_slips.json`.
//!    A mistake with positions, norms, soft-caps, sinks or gates is a `slip` in `slips_of_mechanisms.py`, and
//!    `python3 mechanism_slips.py` writes `mechanism_slips.json`. A mistake of the backward pass is a [`Detour`] and a `slip` in
//!    `gradient_slips.py`, and `python3 gradient_slips.py` writes `gradient_slips.json`.
//! 4. `UPDATE_MISTAKES=1 cargo test --test all diagnose::table::` writes `docs/mistakes.md`, and
//!    `INSTA_UPDATE=always cargo test --test all the_list_of_mistakes` the snapshot of `attn diagnose --list`.
//!
//! [`Change`]: crate::graph::recipes::Change
//! [`Detour`]: crate::graph::detours::Detour

pub(super) mod fitted;
pub(super) mod numbers;
mod operators;
mod way;
mod ways;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::error::{Error, ErrorKind, Result};
use crate::text::nearest;

use super::Task;

use ways::{Shared, WayEntry};

pub use way::Way;

/// A mistake: a region of the choices of a recipe, and sentences about it.
#[derive(Debug)]
pub struct Mistake {
    /// Its name on the command line and in JSON.
    pub id: &'static str,
    /// Its likelihood.
    pub likelihood: Likelihood,
    /// The mistake as one sentence to the student.
    pub slip: &'static str,
    /// Why it is wrong.
    pub why: &'static str,
    /// The fix, in one line.
    pub fix: &'static str,
    /// The symptom in the numbers.
    pub symptom: &'static str,
    /// The demo that shows the correct step; none where there is no such demo.
    pub demo: Option<&'static str>,
    /// The condition of all ways.
    condition: Option<String>,
    /// The ways to make it; what is solved for, not tried, has none.
    entries: Vec<WayEntry>,
    shared: Arc<Shared>,
}

/// The likelihood of a mistake: equally good fits are named in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Likelihood {
    /// Every class makes it: it is also looked for together with others, and named where an exercise cannot show it.
    Classic,
    /// It is made now and then.
    Common,
    /// It is made seldom.
    Rare,
}

/// A step of attention, and the mistakes that are made in it.
#[derive(Debug)]
pub struct Group {
    /// The title of the step.
    pub title: &'static str,
    /// The mistakes, in the order in which they are listed.
    pub mistakes: Vec<Mistake>,
}

/// All mistakes, in the order of the steps in which they are made.
pub static GROUPS: LazyLock<Vec<Group>> = LazyLock::new(|| {
    groups("mistakes.toml", include_str!("../../../data/mistakes.toml")).expect("a test reads the file")
});

/// The mistakes of a file.
///
/// # Errors
/// If the file is not as its head says.
fn groups(file: &str, text: &'static str) -> Result<Vec<Group>> {
    let read = basic_toml::from_str(text);
    let FileEntry { mistake, texts, list } =
        read.map_err(|error| Error::new(error.to_string()).in_source(file))?;
    let shared = Arc::new(Shared { file: file.to_string(), texts, lists: list });
    let mut groups: Vec<Group> = Vec::new();
    for entry in mistake {
        let MistakeEntry { group, id, likelihood, slip, why, fix, symptom, demo, condition, ways } = entry;
        if groups.last().is_none_or(|last| last.title != group) {
            groups.push(Group { title: group, mistakes: Vec::new() });
        }
        let (entries, shared) = (ways, shared.clone());
        let mistake = Mistake { id, likelihood, slip, why, fix, symptom, demo, condition, entries, shared };
        groups.last_mut().expect("one was pushed").mistakes.push(mistake);
    }
    Ok(groups)
}

/// The data file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct FileEntry {
    mistake: Vec<MistakeEntry>,
    #[serde(default)]
    texts: BTreeMap<String, String>,
    #[serde(default)]
    list: BTreeMap<String, Vec<BTreeMap<String, serde_json::Value>>>,
}

/// A mistake as the data file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MistakeEntry {
    group: &'static str,
    id: &'static str,
    likelihood: Likelihood,
    slip: &'static str,
    why: &'static str,
    fix: &'static str,
    symptom: &'static str,
    demo: Option<&'static str>,
    #[serde(rename = "if")]
    condition: Option<String>,
    #[serde(default)]
    ways: Vec<WayEntry>,
}

/// The detail of rounding to no decimals at all.
pub(super) const TO_WHOLE_NUMBERS: &str = "to whole numbers";

impl Mistake {
    /// The ways to make it in an exercise; none where it cannot be made.
    ///
    /// # Errors
    /// If its entry in the data file cannot be read: the file, the entry, and what is wrong in it.
    pub fn ways(&self, task: &Task) -> Result<Vec<Way>> {
        let Mistake { id, condition, entries, shared, .. } = self;
        ways::ways((shared, id), condition.as_deref(), entries, task)
    }

    /// Whether it is a class for everything that can be done at one step, found where no mistake with a name of its own fits.
    pub fn is_class(&self) -> bool {
        self.id.ends_with("-altered")
    }
}

/// All mistakes, in the order of the steps in which they are made.
pub fn catalogue() -> impl Iterator<Item = &'static Mistake> {
    GROUPS.iter().flat_map(|group| &group.mistakes)
}

/// The mistake of this name.
///
/// # Errors
/// If there is none: the error names the nearest.
pub fn find(id: &str) -> Result<&'static Mistake> {
    catalogue().find(|mistake| mistake.id == id).ok_or_else(|| {
        let error = Error::new(format!("there is no mistake `{id}`")).of_kind(ErrorKind::Unknown);
        let all = "attn diagnose --list shows all mistakes".to_string();
        match nearest(id, catalogue().map(|mistake| mistake.id)) {
            Some(near) => error.help(format!("did you mean `{near}`? {all}")),
            None => error.help(all),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::recipes::{AttendInputs, Recipe};
    use crate::matrix::Matrix;

    #[test]
    fn only_what_is_solved_for_has_no_ways() {
        let ids: Vec<&str> = catalogue().map(|mistake| mistake.id).collect();
        for (at, id) in ids.iter().enumerate() {
            assert!(!ids[..at].contains(id), "{id} twice");
        }
        let solved = ["Numbers that fit the result", "In a part alone"];
        for group in GROUPS.iter() {
            for mistake in &group.mistakes {
                assert_ne!(!mistake.entries.is_empty(), solved.contains(&group.title), "{}", mistake.id);
            }
        }
        assert!(ids.len() > 200, "{} mistakes", ids.len());
    }

    #[test]
    fn a_fault_in_a_file_is_told_with_its_place() {
        let task = Task::new(Recipe::default(), AttendInputs::of_tokens(Matrix::identity(2))).unwrap();
        let error = |ways: &str| {
            let sentences =
                ["slip", "why", "fix", "symptom"].map(|name| format!("{name} = \"…\"\n")).concat();
            let text =
                format!("[[mistake]]\ngroup = \"G\"\nid = \"own\"\nlikelihood = \"rare\"\n{sentences}{ways}");
            let error = groups("own.toml", text.leak())
                .and_then(|groups| groups[0].mistakes[0].ways(&task))
                .expect_err(ways);
            format!("{error:?}")
        };
        for (ways, parts) in [
            ("[[mistake.ways]]\nchanges = \"scale = none\"", ["own.toml", "`changes`"]),
            (
                "[[mistake.ways]]\n[[mistake.ways]]\nchange = \"scal = 1\"",
                ["own.toml: `own`, way 2", "`scal`"],
            ),
            ("if = \"has_bais\"", ["own.toml: `own`", "there is no `has_bais`"]),
            (
                "[[mistake.ways]]\nfor = [\"mask-line\"]",
                ["own.toml: `own`, way 1", "there is no list `mask-line`"],
            ),
            ("[[mistake.ways]]\ndetail = \"{n}\"", ["own.toml: `own`, way 1", "there is no `n`"]),
            ("[[mistake.ways]]\ngenerator = \"all\"", ["there is no generator `all`", "operators"]),
        ] {
            let error = error(ways);
            assert!(parts.iter().all(|part| error.contains(part)), "{ways}: {error}");
        }
    }
}
