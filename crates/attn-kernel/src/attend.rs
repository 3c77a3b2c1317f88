//! From the whole problem to tasks for threads.

use std::cmp::Ordering;
use std::ops::Range;

use crate::decode::{self, Group, PartTask, Query, RowTask};
use crate::error::Result;
use crate::kernels::{DecodeKernel, Kernels, TileKernel};
use crate::layout::Layout;
use crate::memory::{self, with_scratch};
use crate::output::{Output, Results, RowId, SharedRows};
use crate::plain::{self, parts};
use crate::pool::{self, Machine, Resources};
use crate::problem::Attention;
use crate::real::Real;
use crate::simd::TileWidth;
use crate::tile::Tile;

/// Heads with at least this many queries are computed in tiles of queries, others in lanes of columns. The only choice that
/// changes bits; it depends on the shape alone.
pub const MIN_QUERIES_FOR_TILES: usize = 8;

/// Fewer operations than this run on one thread: about twenty microseconds.
const MIN_OPERATIONS_FOR_THREADS: usize = 4_000_000;

/// `O = softmax(cap(Q Kᵀ · scale + bias), where visible) V` for every head, block by block: the whole score matrix is never
/// stored, nor a matrix of a bias that depends on the distance.
///
/// The log-sum-exp of a row is that of its visible keys' scores and of its head's sink. A fully masked row is 0, its log-sum-exp
/// −∞, or the sink where there is one. NaN and infinities in keys and values that a row does not see do not reach it.
///
/// # Shapes
/// See [`Attention`] for the inputs; `output` is (H, T, d_v), its log-sum-exps (H, T).
/// # Accuracy
/// With u = half a unit in the last place of 1, and A the row's max of |scale| · Σ_c |q_c k_c| + |bias| + |relative bias|, and of
/// the |sink|, to first order in u:
///
/// - |O − exact| ≤ u · max|v| · (2(d_k+7)·A + 8⌈N/128⌉ + 176), and (N + N/128 + 2)/2 of the smallest subnormal number;
/// - |LSE − exact| ≤ u · (2(d_k+7)·A + 6⌈N/128⌉ + 3·ln N + 40).
///
/// With a soft cap c (below 10³⁷; `f64`: 10³⁰⁷) both brackets have 16·min(c, A) more: each capped score is off by another 8u of
/// itself.
///
/// This holds if no q · k, no sum of weighted values (with smaller weights where needed) and no result overflows. Observed
/// errors are far smaller, unless a million weights are nearly equal: then sums of one sign drift, to hundreds of u.
/// # Errors
/// If the shapes do not fit each other, the soft cap or a sink is not allowed, this processor lacks `machine.simd`, or there is not
/// enough memory.
/// # Source
/// Milakov & Gimelshein 2018, “Online normalizer calculation for softmax”; Dao et al. 2022, “FlashAttention”; Dao 2023,
/// “FlashAttention-2”; the parts of a long cache: Dao et al. 2023, “Flash-Decoding”.
pub fn attend<T: Kernels>(
    attention: &Attention<'_, T>,
    machine: Machine,
    output: Output<'_, T>,
) -> Result<Resources> {
    attention.check()?;
    machine.check()?;
    let results = output.for_result_of(attention)?;
    let q = attention.q.layout();
    if q.heads == 0 || q.rows == 0 {
        return Ok(Resources::default());
    }
    let is_small = operations(attention) < MIN_OPERATIONS_FOR_THREADS;
    let threads = if is_small { 1 } else { machine.threads.max(1) };
    let run = Run { attention, threads, results };
    let kernels = T::kernels(machine.simd);
    if q.rows < MIN_QUERIES_FOR_TILES {
        kernels.map_or_else(|| run.decode_plain(), |kernels| run.decode(kernels.decode))
    } else {
        kernels.map_or_else(|| run.tiles(&plain_tile()), |kernels| run.tiles(run.cheapest(&kernels.tiles)))
    }
}

/// An upper bound of the multiplications and additions.
fn operations<T: Real>(attention: &Attention<'_, T>) -> usize {
    let (q, v) = (attention.q.layout(), attention.v.layout());
    [q.rows, v.rows, q.columns + v.columns, 2].into_iter().fold(q.heads, usize::saturating_mul)
}

/// The tile without SIMD: one query.
fn plain_tile<T: Real>() -> TileKernel<T> {
    let attend = |Tile { head, number, queries, scratch, results }: Tile<'_, T>| {
        // SAFETY: the caller of the kernel promises it.
        unsafe { plain::attend_rows(&head, number, queries, scratch, results) }
    };
    TileKernel { width: TileWidth::Narrow, queries: 1, scratch_bytes: plain::scratch_bytes, attend }
}

/// A checked problem, and where its results go.
struct Run<'a, T> {
    attention: &'a Attention<'a, T>,
    threads: usize,
    results: Results<'a, T>,
}

impl<T: Real> Run<'_, T> {
    /// A task is a tile of queries of one head.
    fn tiles(&self, kernel: &TileKernel<T>) -> Result<Resources> {
        // The numbers of heads are in different places, but there are equally many.
        let bytes = (kernel.scratch_bytes)(&self.attention.head(0));
        let q = self.attention.q.layout();
        let tiles = q.rows.div_ceil(kernel.queries);
        pool::run_with_scratch(self.threads, q.heads * tiles, bytes, &|task, scratch| {
            // Consecutive tasks share keys and values. Under a causal mask the last tile of a head is the longest: first.
            let (number, tile) = (task / tiles, tiles - 1 - task % tiles);
            let queries = tile * kernel.queries..((tile + 1) * kernel.queries).min(q.rows);
            let head = self.attention.head(number);
            // SAFETY: the level was found available; every row is in one tile.
            unsafe { (kernel.attend)(Tile { head, number, queries, scratch, results: &self.results }) };
        })
    }

    /// The tile with the lowest cost of all computed scores, hidden and padded ones included.
    fn cheapest<'k>(&self, tiles: &'k [TileKernel<T>; 3]) -> &'k TileKernel<T> {
        let [narrow, ..] = tiles;
        if self.attention.q.layout().rows <= narrow.queries {
            return narrow;
        }
        let cost = |tile: &TileKernel<T>| self.computed_scores(tile.queries) * tile.width.relative_cost();
        let by_cost = |a: &&_, b: &&_| cost(a).partial_cmp(&cost(b)).unwrap_or(Ordering::Equal);
        tiles.iter().min_by(by_cost).unwrap_or(narrow)
    }

    /// The number of scores that tiles of `queries` queries compute, hidden and padded ones included, as if all threads had as
    /// many tiles as the one with the most.
    fn computed_scores(&self, queries: usize) -> f64 {
        let (head, q) = (self.attention.head(0), self.attention.q.layout());
        let keys = |first: usize| {
            let [kept, rest] = head.visibility.keys(&(first..(first + queries).min(q.rows)));
            kept.len() + rest.len()
        };
        let keys: usize = (0..q.rows).step_by(queries).map(keys).sum();
        let tiles = q.heads * q.rows.div_ceil(queries);
        let uneven = tiles.next_multiple_of(self.threads) as f64 / tiles as f64;
        (q.heads * queries) as f64 * keys as f64 * uneven
    }

    /// A few queries: a task is a part of the keys of one key/value head; then the parts of each row are merged.
    fn decode(&self, kernel: DecodeKernel<T>) -> Result<Resources> {
        let (k, v) = (self.attention.k.layout(), self.attention.v.layout());
        let group = self.attention.group();
        let groups: Vec<Vec<Query<'_, T>>> =
            (0..k.heads).map(|g| self.group(g * group..(g + 1) * group)).collect();
        let (parts, rows) = (parts(k.rows), group * self.attention.q.layout().rows);
        let layout = Layout::stacked(k.heads, parts * rows, v.columns + 2);
        let mut numbers = memory::zeros(layout.heads.saturating_mul(layout.head_stride))?;
        let partials = SharedRows::new(&mut numbers, layout)?;
        let group_of = |number: usize| Group { queries: &groups[number], number, partials };
        let bytes = decode::scratch_bytes(&groups[0]);
        let run = pool::run_with_scratch(self.threads, k.heads * parts, bytes, &|task, scratch| {
            let (group, part) = (group_of(task / parts), task % parts);
            // SAFETY: the level was found available; every part of a group is one task's.
            unsafe { (kernel.attend_part)(PartTask { group, part, scratch }) };
        })?;
        pool::run(self.threads, k.heads, &|number| {
            for query in 0..rows {
                with_scratch(bytes, |scratch| {
                    let task = RowTask { group: group_of(number), query, scratch, results: &self.results };
                    // SAFETY: all parts are finished; every group is one task's.
                    unsafe { (kernel.finish_row)(task) };
                });
            }
        });
        let kept = size_of_val(&numbers[..]) + k.heads * rows * size_of::<Query<'_, T>>();
        Ok(Resources { extra_bytes: kept + run.extra_bytes, ..run })
    }

    /// A few queries without SIMD: a task is a query.
    fn decode_plain(&self) -> Result<Resources> {
        let q = self.attention.q.layout();
        let bytes = plain::decode_scratch_bytes(&self.attention.head(0));
        pool::run_with_scratch(self.threads, q.heads * q.rows, bytes, &|task, scratch| {
            let id = RowId { head: task / q.rows, row: task % q.rows };
            let head = self.attention.head(id.head);
            // SAFETY: every row is one task's.
            unsafe { plain::attend_row(&head, id, scratch, &self.results) };
        })
    }

    /// The queries of these heads.
    fn group(&self, heads: Range<usize>) -> Vec<Query<'_, T>> {
        let rows = 0..self.attention.q.layout().rows;
        let query = |head, row| Query { head: self.attention.head(head), id: RowId { head, row } };
        heads.flat_map(|head| rows.clone().map(move |row| query(head, row))).collect()
    }
}
