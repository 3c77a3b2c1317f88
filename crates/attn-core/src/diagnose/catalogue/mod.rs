//! The catalogue of mistakes. Each is a region of the choices of a recipe, with sentences about it.
//!
//! # To add a mistake
//!
//! 1. `data/mistakes.toml`: its sentences. The file of its step in this folder: the ways to make it, in `WAYS` under its id. A way
//!    is a [`Change`]: another choice of the [`Recipe`], or an [`Alter`] at a [`Site`].
//! 2. If neither can express it: a choice in `graph/recipes/recipe.rs` and a `Change` for it in `diagnose/change.rs`, or an
//!    `Alter` in `graph/recipes/alteration.rs`.
//! 3. `tests/golden/slips_of_reviews.py`: a `slip` with its id, which makes it in NumPy without this code, and a line about it at
//!    the head of `reviewed_slips.py`; `python3 reviewed_slips.py` in `tests/golden` writes `reviewed_slips.json`.
//!    A mistake with positions, norms, soft-caps, sinks or gates is a `slip` in `slips_of_mechanisms.py`, and
//!    `python3 mechanism_slips.py` writes `mechanism_slips.json`. A mistake of the backward pass is a [`Detour`] and a `slip` in
//!    `gradient_slips.py`, and `python3 gradient_slips.py` writes `gradient_slips.json`.
//! 4. `UPDATE_MISTAKES=1 cargo test --test all diagnose::table::` writes `docs/mistakes.md`, and
//!    `INSTA_UPDATE=always cargo test --test all the_list_of_mistakes` the snapshot of `attn diagnose --list`.
//!
//! [`Detour`]: crate::graph::detours::Detour

pub(super) mod fitted;
mod gradients;
mod layouts;
mod masks;
mod mechanisms;
mod operators;
mod positions;
mod roles;
pub(super) mod scores;
mod softmaxes;
mod stages;
mod tokens;

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::data_file::entries;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::recipes::{Alter, Alteration, Recipe, Site};
use crate::text::{counted, nearest};

use super::{Change, Facts};

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
    /// The ways to make it in an exercise; none where it cannot be made.
    pub ways: WaysToMake,
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
    let ways: HashMap<&str, WaysToMake> = WAYS.into_iter().flatten().copied().collect();
    let mut groups: Vec<Group> = Vec::new();
    for entry in entries::<MistakeEntry>(include_str!("../../../data/mistakes.toml")) {
        let MistakeEntry { group, id, likelihood, slip, why, fix, symptom, demo } = entry;
        if groups.last().is_none_or(|last| last.title != group) {
            groups.push(Group { title: group, mistakes: Vec::new() });
        }
        let ways = ways.get(id).copied().unwrap_or(|_, _| Vec::new());
        let mistake = Mistake { id, likelihood, slip, why, fix, symptom, demo, ways };
        groups.last_mut().expect("one was pushed").mistakes.push(mistake);
    }
    groups
});

/// The ways of each file.
const WAYS: [&[Ways]; 11] = [
    roles::WAYS,
    tokens::WAYS,
    positions::WAYS,
    operators::WAYS,
    mechanisms::WAYS,
    scores::WAYS,
    masks::WAYS,
    softmaxes::WAYS,
    layouts::WAYS,
    fitted::WAYS,
    gradients::WAYS,
];

/// The function that gives the ways to make a mistake in an exercise.
type WaysToMake = fn(&Recipe, &Facts) -> Vec<Way>;

/// The id of a mistake, and the ways to make it. What is solved for, not tried, has none.
type Ways = (&'static str, WaysToMake);

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
}

/// One way to make a mistake.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// The changes: one choice, and those that usually go with it.
    pub changes: Vec<Change>,
    /// The detail that distinguishes it from the other ways, where there are several: “to 2 decimals”.
    pub detail: Option<String>,
    /// The sentence of this way, where it says more than the mistake's own.
    pub slip: Option<String>,
    /// The fix of this way, where it says more than the mistake's own.
    pub fix: Option<String>,
    /// Whether it changes anything without another mistake.
    pub alone: bool,
    /// Whether it is too rare to be looked for together with others, though the mistake is not.
    pub rare: bool,
    /// Whether it is any operator at any stage, which is looked for where nothing else fits.
    pub general: bool,
}

impl Way {
    /// The only way, or the usual one.
    fn plain(change: Change) -> Way {
        Way { detail: None, ..Way::detailed(change, "") }
    }

    /// The same with a further change that usually goes with it.
    fn with(mut self, change: Change) -> Way {
        self.changes.push(change);
        self
    }

    /// A way among several.
    fn detailed(change: Change, detail: impl Into<String>) -> Way {
        Way::combined(vec![change], detail)
    }

    /// A way among several, of several changes.
    fn combined(changes: Vec<Change>, detail: impl Into<String>) -> Way {
        let (alone, rare, general) = (true, false, false);
        Way { changes, detail: Some(detail.into()), slip: None, fix: None, alone, rare, general }
    }

    /// The same with a sentence of its own.
    fn saying(self, slip: impl Into<String>) -> Way {
        Way { slip: Some(slip.into()), ..self }
    }

    /// The same, with what else the number is that it divides the scores by; what is said otherwise is `said`.
    pub(super) fn with_coincidence(self, said: &str, recipe: &Recipe, facts: &Facts) -> Way {
        let [Change::Scale(scale)] = self.changes[..] else { return self };
        let factor = scale.factor(facts.d_k);
        match factor.and_then(|factor| scores::coincidence(factor.value(), 2, recipe, facts)) {
            Some(also) => {
                let said = self.slip.as_deref().unwrap_or(said);
                Way { slip: Some(format!("{said} {also}")), ..self }
            }
            None => self,
        }
    }

    /// The same, but too rare to be looked for together with others.
    fn rare(self) -> Way {
        Way { rare: true, ..self }
    }

    /// The same with a fix of its own.
    fn fixing(self, fix: impl Into<String>) -> Way {
        Way { fix: Some(fix.into()), ..self }
    }
}

/// An operation that attention does not have, at one site.
fn altered(stage: Site, alter: Alter) -> Change {
    Change::Alteration(Alteration { stage, alter })
}

/// Each of these operations at one site, with its detail.
fn each_altered(stage: Site, alters: impl IntoIterator<Item = (Alter, &'static str)>) -> Vec<Way> {
    alters.into_iter().map(|(alter, detail)| Way::detailed(altered(stage, alter), detail)).collect()
}

/// These ways if the condition holds, or none.
fn if_possible(possible: bool, ways: Vec<Way>) -> Vec<Way> {
    if possible { ways } else { Vec::new() }
}

/// The only way if the condition holds, or none.
fn when(possible: bool, change: Change) -> Vec<Way> {
    if possible { vec![Way::plain(change)] } else { Vec::new() }
}

/// The detail of rounding to no decimals at all.
pub(super) const TO_WHOLE_NUMBERS: &str = "to whole numbers";

/// Rounding to none, one … four decimals.
fn to_decimals(change: fn(u32) -> Change) -> Vec<Way> {
    (0..=4).map(|digits| Way::detailed(change(digits), decimals(digits))).collect()
}

/// “to 2 decimals”.
fn decimals(digits: u32) -> String {
    match digits {
        0 => TO_WHOLE_NUMBERS.to_string(),
        _ => format!("to {}", counted(digits as usize, "decimal")),
    }
}

impl Mistake {
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

    #[test]
    fn every_way_belongs_to_a_mistake_and_only_what_is_solved_for_has_none() {
        let ids: Vec<&str> = catalogue().map(|mistake| mistake.id).collect();
        let ways: Vec<&str> = WAYS.into_iter().flatten().map(|(id, _)| *id).collect();
        for (at, id) in ways.iter().enumerate() {
            assert!(ids.contains(id), "no mistake {id}");
            assert!(!ways[..at].contains(id), "{id} twice");
        }
        let solved = ["Numbers that fit the result", "In a part alone"];
        for group in GROUPS.iter() {
            for mistake in &group.mistakes {
                let has_ways = ways.contains(&mistake.id);
                assert_ne!(has_ways, solved.contains(&group.title), "{}", mistake.id);
            }
        }
        assert!(ids.len() > 200, "{} mistakes", ids.len());
    }
}
