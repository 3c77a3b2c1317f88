//! Totals over a listing of weights.

use crate::error::Result;

use super::weight::{ModelPart, Weight, too_many};

/// The number of parameters, in total and by part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    total: u64,
    active: u64,
    by_part: Vec<(ModelPart, u64)>,
}

impl Counts {
    /// The totals of these weights.
    ///
    /// # Errors
    /// If the total exceeds 2⁶⁴ − 1.
    pub fn of(weights: &[Weight]) -> Result<Counts> {
        let sum = |part: Option<ModelPart>| {
            weights
                .iter()
                .filter(|weight| part.is_none_or(|part| weight.part == part))
                .try_fold(0, |sum: u64, weight| sum.checked_add(weight.count))
                .ok_or_else(|| too_many("the number of parameters"))
        };
        let by_part =
            ModelPart::ALL.into_iter().map(|part| Ok((part, sum(Some(part))?))).collect::<Result<_>>()?;
        // No weight is used more often than it is there: the sum cannot be larger than the total.
        let active = weights.iter().map(|weight| u128::from(weight.active)).sum::<u128>();
        let total = sum(None)?;
        Ok(Counts { total, active: u64::try_from(active).unwrap_or(total), by_part })
    }

    /// All parameters.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The parameters that one token uses: of the experts only those that the router picks.
    pub fn active(&self) -> u64 {
        self.active
    }

    /// The parameters of every part, in the order of [`ModelPart::ALL`]; a part without any has 0.
    pub fn by_part(&self) -> &[(ModelPart, u64)] {
        &self.by_part
    }

    /// The parameters of one part.
    pub fn part(&self, part: ModelPart) -> u64 {
        self.by_part.iter().find(|(named, _)| *named == part).map_or(0, |(_, count)| *count)
    }

    /// `count / total`, between 0 and 1; 0 where there are no parameters at all.
    pub fn share(&self, count: u64) -> f64 {
        if self.total == 0 { 0.0 } else { count as f64 / self.total as f64 }
    }
}
