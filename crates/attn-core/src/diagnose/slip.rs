//! A mistake that was made, in the way in which it was made.

use super::catalogue::Mistake;

/// A mistake, and the way in which it was made where there are several.
#[derive(Clone, Debug)]
pub struct Slip {
    /// The mistake.
    pub mistake: &'static Mistake,
    /// What tells this way from others: “to 2 decimals”.
    pub detail: Option<String>,
    /// What was done in this way, where the mistake's own sentence says less.
    pub(super) slip: Option<String>,
    /// What to do about it, where the mistake's own fix says less.
    pub(super) fix: Option<String>,
}

impl Slip {
    /// A mistake made in some way that only a detail tells.
    pub(super) fn detailed(mistake: &'static Mistake, detail: Option<String>) -> Slip {
        Slip { mistake, detail, slip: None, fix: None }
    }

    /// What was done, in one sentence: “The scores were rounded before the softmax (to 2 decimals).”
    pub fn sentence(&self) -> String {
        match (&self.slip, &self.detail) {
            (Some(slip), _) => slip.clone(),
            (None, Some(detail)) => format!("{} ({detail}).", self.mistake.slip.trim_end_matches('.')),
            (None, None) => self.mistake.slip.to_string(),
        }
    }

    /// The same with other sentences.
    pub(super) fn saying(self, slip: String, fix: Option<String>) -> Slip {
        Slip { slip: Some(slip), fix, ..self }
    }

    /// What to do about it, in one line.
    pub fn fix(&self) -> &str {
        self.fix.as_deref().unwrap_or(self.mistake.fix)
    }
}
