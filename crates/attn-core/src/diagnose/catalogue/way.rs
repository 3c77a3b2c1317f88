//! A way to make a mistake in one exercise.

use crate::diagnose::Facts;
use crate::graph::recipes::{Change, Recipe};

use super::numbers::coincidence;

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
    /// The same, with what else the number is that it divides the scores by; what is said otherwise is `said`.
    pub(in crate::diagnose) fn with_coincidence(self, said: &str, right: &Recipe, facts: &Facts) -> Way {
        let [change] = &self.changes[..] else { return self };
        if !change.is_of("scale") {
            return self;
        }
        let mut recipe = *right;
        Change::put_all([change], &mut recipe);
        let factor = recipe.scale.factor(facts.d_k);
        match factor.and_then(|factor| coincidence(factor.value(), 2, right, facts)) {
            Some(also) => {
                let said = self.slip.as_deref().unwrap_or(said);
                Way { slip: Some(format!("{said} {also}")), ..self }
            }
            None => self,
        }
    }
}
