//! Verdicts on numbers in half precision.

use super::answer::Part;
use super::diagnosis::{CloseNumbers, Distance, Verdict};
use super::exercise::Exercise;
use super::half::HalfPrecision;
use super::half_moves::in_half_precision;
use super::tolerance::Tolerance;
use super::walk::Walk;

impl Walk<'_> {
    /// Another verdict where the numbers are stored in half precision and no tolerance is given: right within the rounding
    /// that this type causes in this exercise, and only close where the usual tolerance allows more.
    pub(super) fn in_half_precision(&self, part: &Part<'_>, verdict: &Verdict) -> Option<Verdict> {
        let Exercise { task, tolerance, moves, .. } = self.exercise;
        let by_hand = |usual: &Distance| usual.difference.rounded_by_hand(part.answer);
        if *tolerance != Tolerance::default() || matches!(verdict, Verdict::Right(usual) if by_hand(usual)) {
            return None;
        }
        let moves = match verdict {
            Verdict::Right(_) | Verdict::Wrong(_) => moves.of(task, part)?,
            _ => return None,
        };
        match (moves.compared(task, part)?, verdict) {
            (Verdict::Wrong(distance), Verdict::Right(_)) => {
                let beyond = moves.furthest_beyond(task, part)?;
                Some(Verdict::Close(CloseNumbers { distance, beyond, half: moves.half }))
            }
            (right @ Verdict::Right(_), _) => Some(right),
            _ => None,
        }
    }

    /// Right where another type stores numbers of half precision, and that explains what they are off by.
    pub(super) fn stored_elsewhere(
        &self,
        part: &Part<'_>,
        verdict: &Verdict,
    ) -> Option<(Verdict, &'static HalfPrecision)> {
        /// Fewer decimals are what somebody rounded by hand, and not what a type keeps.
        const LEAST_DECIMALS: usize = 4;
        let Exercise { task, tolerance, .. } = self.exercise;
        let is_typed = part.answer.decimals.is_some_and(|decimals| decimals < LEAST_DECIMALS);
        if *tolerance != Tolerance::default() || is_typed || !matches!(verdict, Verdict::Wrong(_)) {
            return None;
        }
        let moves = in_half_precision(task, part.answer)?;
        Some((moves.compared(task, part)?, moves.half))
    }
}
