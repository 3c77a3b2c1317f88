//! The catalogue of mistakes. Each is a region of the choices of a recipe, with sentences about it.
//!
//! # To add a mistake
//!
//! 1. `data/mistakes.toml`: its sentences, and the ways to make it. A way is a [`Change`] in the language: a setting of the recipe and
//!    its value, or an operation at a site. The head of the file says what an entry has. `data/operators.toml` has the operations that
//!    are tried at every site.
//!    What has a number, an order or a place of its own is solved for by a family of `solver/`: its entry has `generator = "solver"`, and
//!    its slip in NumPy is in `tests/golden/field_slips.py`.
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
//! A teacher's own mistakes are a file of the same form, read by `own.rs`: foreign text, with limits.
//!
//! [`Change`]: crate::graph::recipes::Change
//! [`Detour`]: crate::graph::detours::Detour

mod mistake;
pub(super) mod numbers;
mod operators;
mod own;
mod ways;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::data_file;
use crate::error::{Error, ErrorKind, Result};
use crate::text::nearest;

use mistake::{OwnFile, Record, Shared};

pub use mistake::{Likelihood, Mistake, Slip, Way};
pub use own::own_mistakes;

/// A step of attention, and the mistakes that are made in it.
#[derive(Debug)]
pub struct Group {
    /// The title of the step.
    pub title: String,
    /// The mistakes, in the order in which they are listed.
    pub mistakes: Vec<Arc<Mistake>>,
}

/// All mistakes, in the order of the steps in which they are made.
pub static GROUPS: LazyLock<Vec<Group>> = LazyLock::new(|| {
    groups("mistakes.toml", None, data_file::read(include_str!("../../../data/mistakes.toml")))
});

/// The mistakes of a file, from what was read of it.
fn groups(file: &str, own: Option<OwnFile>, read: File) -> Vec<Group> {
    let File { mistake, texts, list } = read;
    let shared = Arc::new(Shared { file: file.to_string(), own, texts, lists: list });
    let mut groups: Vec<Group> = Vec::new();
    for (number, mistake) in mistake.into_iter().enumerate() {
        let mistake = Arc::new(Mistake { number, shared: shared.clone(), ..mistake });
        match groups.last_mut().filter(|last| last.title == mistake.group) {
            Some(last) => last.mistakes.push(mistake),
            None => groups.push(Group { title: mistake.group.clone(), mistakes: vec![mistake] }),
        }
    }
    groups
}

/// The data file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    mistake: Vec<Mistake>,
    #[serde(default)]
    texts: BTreeMap<String, String>,
    #[serde(default)]
    list: BTreeMap<String, Vec<Record>>,
}

/// The detail of rounding to no decimals at all.
pub(super) const TO_WHOLE_NUMBERS: &str = "to whole numbers";

/// All mistakes, in the order of the steps in which they are made.
pub fn catalogue() -> impl Iterator<Item = &'static Arc<Mistake>> {
    GROUPS.iter().flat_map(|group| &group.mistakes)
}

/// The mistake of this name.
///
/// # Errors
/// If there is none: the error names the nearest.
pub fn find(id: &str) -> Result<&'static Arc<Mistake>> {
    catalogue().find(|mistake| mistake.id == id).ok_or_else(|| {
        let error = Error::new(format!("there is no mistake `{id}`")).of_kind(ErrorKind::Unknown);
        let all = "attn diagnose --list shows all mistakes".to_string();
        match nearest(id, catalogue().map(|mistake| &*mistake.id)) {
            Some(near) => error.help(format!("did you mean `{near}`? {all}")),
            None => error.help(all),
        }
    })
}

impl Slip {
    /// A mistake of the catalogue that was solved for, not tried, with a detail that tells how it was made.
    pub(in crate::diagnose) fn solved(id: &str, detail: impl Into<String>) -> Slip {
        let mistake = find(id).expect("tests make each mistake that is solved for");
        Slip { mistake: mistake.clone(), detail: Some(detail.into()), said: None, fix: None }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Task;
    use super::*;
    use crate::graph::recipes::{AttendInputs, Recipe};
    use crate::matrix::Matrix;

    #[test]
    fn only_what_is_solved_for_has_no_ways() {
        let ids: Vec<&str> = catalogue().map(|mistake| &*mistake.id).collect();
        for (at, id) in ids.iter().enumerate() {
            assert!(!ids[..at].contains(id), "{id} twice");
        }
        let solved = ["Numbers that fit the result", "In a part alone"];
        for group in GROUPS.iter() {
            for mistake in &group.mistakes {
                assert_ne!(!mistake.entries.is_empty(), solved.contains(&&*group.title), "{}", mistake.id);
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
            let error = own::groups("own.toml", text)
                .and_then(|groups| groups[0].mistakes[0].ways(&task))
                .expect_err(ways);
            error.to_string()
        };
        for (ways, parts) in [
            ("[[mistake.ways]]\nchanges = \"scale = none\"", ["own.toml:10:1: ", "did you mean `change`?"]),
            ("[[mistake.ways]]\n[[mistake.ways]]\nchange = \"scal = 1\"", ["own.toml:11:10: ", "`scal`"]),
            ("if = \"has_bais\"", ["own.toml:9:6: ", "`has_bais`\n  help: did you mean `has_bias`?"]),
            ("[[mistake.ways]]\nfor = [\"mask-line\"]", ["own.toml:10:7: ", "there is no list `mask-line`"]),
            ("[[mistake.ways]]\ndetail = \"{n}\"", ["own.toml:10:10: ", "there is no `n`"]),
            ("[[mistake.ways]]\ngenerator = \"all\"", ["there is no generator `all`", "operators"]),
        ] {
            let error = error(ways);
            assert!(parts.iter().all(|part| error.contains(part)), "{ways}: {error}");
        }
    }
}
