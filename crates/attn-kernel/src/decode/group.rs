//! The queries that share keys and values, and their partial results for each part of the keys.

use crate::output::{RowId, SharedRows};
use crate::problem::Head;
use crate::real::Real;
use crate::softmax::SoftmaxState;

/// The queries that share a key/value head.
#[derive(Clone)]
pub(crate) struct Group<'a, T> {
    /// At least one.
    pub queries: Vec<Query<'a, T>>,
}

/// One query.
#[derive(Clone)]
pub(crate) struct Query<'a, T> {
    pub head: Head<'a, T>,
    /// Its row in the outputs.
    pub id: RowId,
}

/// The partial results of a group: for each query and each part the accumulator, then the running max and sum.
#[derive(Clone, Copy)]
pub(crate) struct Partials<'a, T> {
    /// A head for each group, in it a row for each query of each part.
    pub rows: SharedRows<'a, T>,
    /// The group's index.
    pub group: usize,
}

impl<'a, T: Real> Partials<'a, T> {
    /// The partial result of this row: query r of part p is row p · queries + r.
    ///
    /// # Safety
    /// The row exists, and no other thread reads or writes it meanwhile.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn row_mut(&self, row: usize) -> &mut [T] {
        // SAFETY: the caller's promise.
        unsafe { self.rows.row_mut(RowId { head: self.group, row }, 0, self.rows.columns()) }
    }
}

/// A row of the partial results.
pub(super) struct Partial<'p, T> {
    pub accumulator: &'p mut [T],
    pub state: SoftmaxState<T>,
}

impl<'p, T: Real> Partial<'p, T> {
    /// Writes the partial result before the first key.
    #[inline(always)]
    pub fn start(row: &mut [T]) {
        row.fill(T::ZERO);
        Partial::set_state(row, SoftmaxState::EMPTY);
    }

    /// Writes the state behind the accumulator.
    #[inline(always)]
    pub fn set_state(row: &mut [T], state: SoftmaxState<T>) {
        let columns = row.len() - 2;
        row[columns] = state.max;
        row[columns + 1] = state.sum;
    }

    #[inline(always)]
    pub fn of(row: &'p mut [T]) -> Partial<'p, T> {
        let columns = row.len() - 2;
        let (accumulator, state) = row.split_at_mut(columns);
        Partial { accumulator, state: SoftmaxState { max: state[0], sum: state[1] } }
    }
}
