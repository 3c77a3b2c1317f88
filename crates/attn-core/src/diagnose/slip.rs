//! A mistake as it was made.

use super::catalogue::Mistake;

/// A mistake, and the way in which it was made where there are several.
#[derive(Clone, Debug)]
pub struct Slip {
    /// The mistake.
    pub mistake: &'static Mistake,
    /// The detail that distinguishes this way from others: “to 2 decimals”.
    pub detail: Option<String>,
    /// The sentence of this way, where it says more than the mistake's own.
    pub(super) slip: Option<String>,
    /// The fix of this way, where it says more than the mistake's own.
    pub(super) fix: Option<String>,
}

impl Slip {
    /// A mistake made in some way that only a detail tells.
    pub(super) fn detailed(mistake: &'static Mistake, detail: Option<String>) -> Slip {
        Slip { mistake, detail, slip: None, fix: None }
    }

    /// The mistake as one sentence: “The scores were rounded before the softmax (to 2 decimals).”
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

    /// The fix, in one line.
    pub fn fix(&self) -> &str {
        self.fix.as_deref().unwrap_or(self.mistake.fix)
    }
}
