//! The probability that meaningless numbers fit a mistake by chance.

use crate::elementary;
use crate::graph::{Stage, Step};
use crate::matrix::Matrix;

use super::answer::Part;
use super::candidates::standing_for;
use super::compare::distance;
use super::numbers::NodeNumbers;
use super::search::Search;
use super::tolerance::{CellTolerance, spread};

/// NaN, infinities and rows of zeros hardly ever stand in one place by chance and not in another.
const HARDLY_EVER: f64 = 1e-6;

/// The identity of a piece of evidence: cells with the same key are one piece.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Piece {
    /// A number, by its bits.
    Number(u64),
    Nan,
    /// A row of zeros, by its place: one is not there because another is.
    ZeroRow(usize),
}

impl Search<'_> {
    /// The natural logarithm of the probability that meaningless numbers fit a candidate as well as this part does.
    pub(super) fn log_chance<'n>(
        &self,
        numbers: &dyn Fn(&str) -> Option<&'n NodeNumbers>,
        part: &Part<'_>,
        residual: f64,
    ) -> Option<f64> {
        const EXACT: f64 = 1e-9;
        let mut shares: Vec<(Piece, f64)> = Vec::new();
        for (node, yours) in &part.matrices {
            let NodeNumbers { matrix: mistaken, max_size, .. } = numbers(node)?;
            let (mistaken, max_size) = (mistaken, *max_size);
            let allowed = CellTolerance::between(part.answer, mistaken, self.tolerance);
            let right =
                standing_for(self.task.right(), node).filter(|right| right.shape() == mistaken.shape());
            let range = match right.map(|right| furthest(yours, right)) {
                // A small difference may be noise, and noise falls near the right numbers.
                Some(moved) if self.near && moved > 0.0 => 2.0 * moved,
                _ => range(yours, mistaken, right),
            };
            let free = self.free_cells(node);
            // Numbers that come nearer than they must tell more than those that just fit.
            let nearest = (10.0 * residual).max(allowed.rounding()).max(EXACT * max_size);
            for i in 0..yours.rows() {
                let mut row: Vec<(Piece, f64)> = Vec::new();
                let is_zero_row = yours.row(i).chain(mistaken.row(i)).all(|x| x == 0.0);
                for j in 0..yours.cols() {
                    let near = allowed.around(mistaken[(i, j)]).min(nearest);
                    // Only cells in which the mistake differs from the right answer are evidence for it.
                    let as_right = |right: &Matrix| {
                        distance(mistaken[(i, j)], right[(i, j)]) <= allowed.around(mistaken[(i, j)])
                    };
                    // Nothing but zeros is no evidence at all.
                    if right.is_some_and(as_right) || (max_size == 0.0 && mistaken[(i, j)] == 0.0) {
                        continue;
                    }
                    let own = yours[(i, j)];
                    let share = if own.is_finite() && !is_zero_row {
                        (2.0 * near / range).clamp(1e-300, 1.0)
                    } else {
                        HARDLY_EVER
                    };
                    let piece = if own.is_nan() {
                        Piece::Nan
                    } else if is_zero_row {
                        Piece::ZeroRow(i)
                    } else {
                        Piece::Number(own.to_bits())
                    };
                    row.push((piece, share));
                }
                row.sort_by(|a, b| a.1.total_cmp(&b.1));
                row.truncate(free);
                shares.extend(row);
            }
        }
        shares.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        shares.dedup_by_key(|(piece, _)| *piece);
        Some(shares.iter().map(|(_, share)| elementary::ln(*share)).sum())
    }

    /// The number of independent cells of a row: a mixture by N weights has N − 1 for each head, at any width.
    fn free_cells(&self, node: &str) -> usize {
        let by_weights = self.task.facts().keys.saturating_sub(1).max(1);
        let heads = self.task.recipe().heads;
        match Step::parse(node).map(|step| step.stage) {
            Some(Stage::Weights | Stage::Mixed) => by_weights,
            Some(Stage::Joined | Stage::Projected | Stage::Output) => by_weights.saturating_mul(heads),
            _ => usize::MAX,
        }
    }
}

/// The range of numbers by chance: their spread, or the distance between mistaken and right numbers.
fn range(yours: &Matrix, mistaken: &Matrix, right: Option<&Matrix>) -> f64 {
    let moved = right.map_or(0.0, |right| furthest(mistaken, right));
    spread(yours).max(right.map_or(0.0, spread)).max(moved).max(f64::MIN_POSITIVE)
}

/// The max finite distance between two matrices of one shape.
fn furthest(a: &Matrix, b: &Matrix) -> f64 {
    let distances = a.cells().zip(b.cells()).map(|(a, b)| distance(a, b));
    distances.filter(|distance| distance.is_finite()).fold(0.0, f64::max)
}
