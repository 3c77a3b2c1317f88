//! The exercise by which every submission is judged.

use super::Task;
use super::half_moves::MovesCache;
use super::plans::Candidates;
use super::tolerance::Tolerance;

/// An exercise with its mistakes and tolerance.
pub(super) struct Exercise {
    pub task: Task,
    pub candidates: Candidates,
    pub tolerance: Tolerance,
    /// The rounding errors of half precision in it.
    pub moves: MovesCache,
}
