//! What every submission is judged by.

use super::Task;
use super::half_moves::MovesCache;
use super::plans::Candidates;
use super::tolerance::Tolerance;

/// An exercise with its mistakes, and how far numbers may be off.
pub(super) struct Exercise {
    pub task: Task,
    pub candidates: Candidates,
    pub tolerance: Tolerance,
    /// What half precision does to it.
    pub moves: MovesCache,
}
