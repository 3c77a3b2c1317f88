//! A tile from its queries to its rows of the output.

use std::ops::Range;

use super::lanes::{Lanes, SoftmaxLanes};
use super::scores::{ChangeScores, ScoresTask, hide, products};
use super::softmax::weigh;
use super::transpose::{lanes_to_rows, rows_to_lanes};
use super::values::{Weights, add_values, divide};
use crate::blocks::{BLOCK, blocks};
use crate::exp2::RegisterExp2;
use crate::output::{Results, RowId};
use crate::problem::Head;
use crate::real::Real;
use crate::scratch::Scratch;
use crate::simd::{InstructionSet, Simd};
use crate::softmax::SoftmaxState;
use crate::visibility::BlockVisibility;

/// One task: queries of one head.
#[derive(Clone)]
pub(crate) struct Tile<'a, T> {
    pub head: Head<'a, T>,
    /// The head's index, for the output.
    pub number: usize,
    /// At most R · LANES of them, and at least one.
    pub queries: Range<usize>,
}

/// The scratch memory of a tile, in bytes.
pub(crate) fn scratch_bytes<T: Real, S: Simd<T>, const R: usize>(head: &Head<'_, T>) -> usize {
    let biases = if head.has_biases() { BLOCK } else { 0 };
    let lanes = [head.q.columns, BLOCK, head.v.columns, biases];
    let lanes: usize = lanes.into_iter().map(Scratch::bytes_of::<Lanes<T, S, R>>).sum();
    lanes + Scratch::bytes_of::<T>(head.copy_len())
}

/// A tile's memory. The first index counts columns, or keys; the second registers of queries.
struct Workspace<'s, T, P> {
    /// Qᵀ: the queries' columns.
    queries: &'s mut [P],
    /// Sᵀ of the block, then Aᵀ: a row for each key.
    scores: &'s mut [P],
    /// Oᵀ: the accumulator.
    accumulator: &'s mut [P],
    /// The sum of the biases of the block, transposed.
    biases: &'s mut [P],
    /// The block's keys, then its values, where their rows are not contiguous, as the inner loop needs them.
    copy: &'s mut [T],
}

/// Attends from the tile's queries, R registers of them, M keys (then M columns) at a time, and writes their rows and, if asked
/// for, their log-sum-exps.
///
/// # Safety
/// The tile's rows of the outputs exist, and no other thread reads or writes them meanwhile.
#[inline(always)]
pub(crate) unsafe fn attend_tile<T: Real, S: InstructionSet + Simd<T>, const R: usize, const M: usize>(
    simd: S,
    tile: &Tile<'_, T>,
    mut scratch: Scratch<'_>,
    results: &Results<'_, T>,
) {
    let head = &tile.head;
    // Copied, so that the compiler knows that writing the output does not change it: else n = 16 takes a sixth longer.
    let Results { output, log_sum_exps } = *results;
    let mut space = Workspace {
        queries: scratch.take::<Lanes<T, S, R>>(head.q.columns),
        scores: scratch.take(BLOCK),
        accumulator: scratch.take(head.v.columns),
        biases: scratch.take(if head.has_biases() { BLOCK } else { 0 }),
        copy: scratch.take(head.copy_len()),
    };
    rows_to_lanes(simd, head.q.rows(&tile.queries), space.queries);
    let first = RowId { head: tile.number, row: tile.queries.start };
    let mut wanted = u64::MAX >> (64 - tile.queries.len());
    for shift in [0, head.shift_against_overflow()] {
        let states = attend_lanes::<T, S, R, M>(simd, tile, &mut space, shift);
        let finite = divide(simd, &states, space.accumulator);
        // The weighted sum of huge values may overflow although their mean does not: those rows again, with smaller weights.
        let overflowed = if shift == 0 { wanted & !finite } else { 0 };
        let finished = wanted & !overflowed;
        // SAFETY: the wanted lanes are the tile's rows.
        unsafe { lanes_to_rows(simd, space.accumulator, finished, &output, first) };
        if let Some(log_sum_exps) = log_sum_exps {
            for (lane, row) in tile.queries.clone().enumerate().filter(|(lane, _)| finished >> lane & 1 == 1)
            {
                let log_sum_exp = states.row(simd, lane).log_sum_exp(head, shift);
                // SAFETY: the row is the tile's.
                unsafe { log_sum_exps.set(RowId { row, ..first }, 0, log_sum_exp) };
            }
        }
        wanted = overflowed;
        if wanted == 0 {
            break;
        }
    }
}

/// The plain version's `attend_keys`, for all lanes: leaves the accumulator, not yet divided, in the workspace.
#[inline(always)]
fn attend_lanes<T: Real, S: InstructionSet + Simd<T>, const R: usize, const M: usize>(
    simd: S,
    tile: &Tile<'_, T>,
    space: &mut Workspace<'_, T, Lanes<T, S, R>>,
    shift: u32,
) -> SoftmaxLanes<T, S, R> {
    let head = &tile.head;
    let exp2 = RegisterExp2::new(simd, &head.exp2(shift));
    let mut states = SoftmaxLanes::all(simd, SoftmaxState::start(head, shift));
    space.accumulator.fill([simd.splat(T::ZERO); R]);
    for keys in blocks(head.visibility.keys(&tile.queries)) {
        let visibility = head.visibility.of_block(&tile.queries, &keys);
        if matches!(visibility, BlockVisibility::None) {
            continue;
        }
        // 1. The scores, −∞ for a hidden key.
        let k = head.k.rows(&keys).contiguous(space.copy);
        let scores = &mut space.scores[..keys.len()];
        products::<T, S, R, M>(simd, k, space.queries, scores);
        if head.scale_first {
            let queries = &tile.queries;
            let task =
                ScoresTask { head, queries, keys: &keys, biases: &mut *space.biases, scores: &mut *scores };
            // SAFETY: `simd` is the proof that this processor has the set.
            unsafe { S::run::<ChangeScores<T, R>>(task) };
        }
        hide::<T, S, R>(simd, &visibility, scores);
        // 2. The running max, the weights relative to it, and the running sum.
        let correction = weigh(simd, &exp2, &keys, scores, &mut states);
        // 3. The weighted values.
        let v = head.v.rows(&keys).contiguous(space.copy);
        let weights = Weights { of_keys: scores, visibility: &visibility };
        add_values::<T, S, R, M>(simd, v, &weights, &correction, space.accumulator);
    }
    states
}
