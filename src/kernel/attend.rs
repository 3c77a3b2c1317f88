//! From the whole problem to tasks for threads.

use std::cmp::Ordering;

use super::decode::{self, Group, Partials, Row};
use super::dispatch::{DecodeKernel, TileKernel, Width};
use super::layout::{Layout, Output, Results};
use super::plain;
use super::plain_decode::{self, parts};
use super::pool;
use super::problem::Attention;
use super::real::Real;
use super::scratch::{self, with_scratch};
use super::simd::SimdLevel;
use super::tile::Tile;
use crate::error::{Error, Result, counted};

/// Heads with at least so many queries are worked on in tiles of queries, others in lanes of columns. The only choice that
/// changes bits; it depends on the shape alone.
pub const FEWEST_FOR_TILES: usize = 8;

/// Less than so many operations are not worth a second thread: about twenty microseconds of one.
const ALONE: usize = 4_000_000;

/// How to compute, which changes nothing of what comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The instructions to use.
    pub simd: SimdLevel,
    /// The threads to use at most.
    pub threads: usize,
}

impl Machine {
    /// All of this one.
    pub fn here() -> Machine {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Machine { simd: SimdLevel::detect(), threads: threads.min(pool::MOST_THREADS) }
    }
}

/// What was used beside inputs and outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Bytes of memory, of all threads together.
    pub extra_bytes: usize,
    /// Threads.
    pub threads: usize,
}

/// `O = softmax(Q Kᵀ · scale + bias, where visible) V` for every head, block by block: the scores are never all there.
///
/// A row that sees nothing is 0, its log-sum-exp −∞. NaN and infinities in what a row does not see do not reach it.
///
/// # Shapes
/// `output` is read through `layout`, which is (H, T, d_v); `lse` is (H, T), head by head. See [`Attention`].
/// # Accuracy
/// With u = half a unit in the last place of 1, and A the row's largest |scale| · Σ_c |q_c k_c| + |bias|, to first order in u:
///
/// - |O − exact| ≤ u · max|v| · (2(d_k+7)·A + 8⌈N/128⌉ + 176), and (N + N/128 + 2)/2 of the smallest subnormal number;
/// - |LSE − exact| ≤ u · (2(d_k+7)·A + 6⌈N/128⌉ + 3·ln N + 40).
///
/// This holds if no q · k, no sum of weighted values (where needed with smaller weights) and no result overflows. Errors seen are far
/// smaller unless a million weights are nearly equal: then sums of one sign drift, to hundreds of u.
/// # Errors
/// If the shapes do not fit each other, this processor lacks `machine.simd`, or there is not enough memory.
/// # Source
/// Milakov & Gimelshein 2018, “Online normalizer calculation for softmax”; Dao et al. 2022, “FlashAttention”; Dao 2023,
/// “FlashAttention-2”; the parts of a long cache: Dao et al. 2023, “Flash-Decoding”.
pub fn attend<T: Real>(
    attention: &Attention<'_, T>,
    machine: Machine,
    (output, layout): (&mut [T], Layout),
    lse: Option<&mut [T]>,
) -> Result<Used> {
    attention.check()?;
    if !machine.simd.is_available() {
        return Err(Error::new(format!("this processor has no {}", machine.simd)));
    }
    let (q, v) = (attention.q.layout(), attention.v.layout());
    if (layout.heads, layout.rows, layout.columns) != (q.heads, q.rows, v.columns) {
        return Err(Error::new(format!(
            "the output of {} of {}×{} does not fit: it is {} of {}×{}",
            counted(q.heads, "head"),
            q.rows,
            v.columns,
            counted(layout.heads, "head"),
            layout.rows,
            layout.columns
        )));
    }
    let output = Output::new(output, layout)?;
    let lse = lse.map(|lse| Output::new(lse, Layout::stacked(q.heads, q.rows, 1))).transpose()?;
    if q.heads == 0 || q.rows == 0 {
        return Ok(Used::default());
    }
    let threads = if operations(attention) < ALONE { 1 } else { machine.threads.max(1) };
    let run = Run { attention, simd: machine.simd, threads, results: Results { output, lse } };
    if q.rows < FEWEST_FOR_TILES { run.few() } else { run.tiles() }
}

/// An upper bound of the multiplications and additions.
fn operations<T: Real>(attention: &Attention<'_, T>) -> usize {
    let (q, v) = (attention.q.layout(), attention.v.layout());
    [q.rows, v.rows, q.columns + v.columns, 2].into_iter().fold(q.heads, usize::saturating_mul)
}

/// A problem that was found to fit, with where its results go.
struct Run<'a, T> {
    attention: &'a Attention<'a, T>,
    simd: SimdLevel,
    threads: usize,
    results: Results<'a, T>,
}

impl<T: Real> Run<'_, T> {
    /// A task is a tile of queries of one head.
    fn tiles(&self) -> Result<Used> {
        let q = self.attention.q.layout();
        let kernel = self.tile_kernel();
        // Heads differ in where their numbers lie, not in how many there are.
        let bytes = match &kernel {
            Some(kernel) => (kernel.scratch_bytes)(&self.attention.head(0)),
            None => plain::scratch_bytes(&self.attention.head(0)),
        };
        scratch::is_available(bytes)?;
        let queries = kernel.as_ref().map_or(1, |kernel| kernel.queries);
        let tiles = q.rows.div_ceil(queries);
        let work = |task: usize| {
            // Neighbouring tasks share keys and values. Under a causal mask the last tile of a head is the longest: first.
            let (number, tile) = (task / tiles, tiles - 1 - task % tiles);
            let queries = tile * queries..((tile + 1) * queries).min(q.rows);
            let head = self.attention.head(number);
            match &kernel {
                Some(TileKernel { attend, .. }) => with_scratch(bytes, |scratch| {
                    let tile = Tile { head, number, queries };
                    // SAFETY: the level was found available; every row is in one tile.
                    unsafe { attend(&tile, scratch, &self.results) };
                }),
                None => with_scratch(bytes, |scratch| {
                    // SAFETY: every row is in one task.
                    unsafe { plain::attend_rows(&head, number, queries, scratch, &self.results) };
                }),
            }
        };
        let threads = pool::run(self.threads, q.heads * tiles, &work);
        Ok(Used { extra_bytes: bytes * threads, threads })
    }

    /// The tile for which the scores that are computed, hidden and empty ones too, cost the least.
    fn tile_kernel(&self) -> Option<TileKernel<T>> {
        let narrow = T::tile(self.simd, Width::Narrow)?;
        if self.attention.q.layout().rows <= narrow.queries {
            return Some(narrow);
        }
        let cost = |width: Width| Some(self.scores(T::tile(self.simd, width)?.queries) * width.price());
        let cheapest =
            Width::ALL.into_iter().min_by(|a, b| cost(*a).partial_cmp(&cost(*b)).unwrap_or(Ordering::Equal));
        T::tile(self.simd, cheapest?)
    }

    /// How many scores, hidden and empty ones too, all heads compute with tiles of so many queries, as if those threads that
    /// have a tile less than others computed it too.
    fn scores(&self, queries: usize) -> f64 {
        let (head, q) = (self.attention.head(0), self.attention.q.layout());
        let keys = |first: usize| head.sight.keys(&(first..(first + queries).min(q.rows))).len();
        let keys: usize = (0..q.rows).step_by(queries).map(keys).sum();
        let tiles = q.heads * q.rows.div_ceil(queries);
        let uneven = tiles.next_multiple_of(self.threads) as f64 / tiles as f64;
        (q.heads * queries) as f64 * keys as f64 * uneven
    }

    /// Few queries: a task is a part of the keys, for all queries that share a key/value head; then a group, whose parts
    /// are merged.
    fn few(&self) -> Result<Used> {
        let Some(DecodeKernel { attend_part, finish_row }) = T::decode(self.simd) else {
            return self.few_plain();
        };
        let (k, v) = (self.attention.k.layout(), self.attention.v.layout());
        let group = self.attention.group();
        let groups: Vec<Group<'_, T>> =
            (0..k.heads).map(|g| self.group(g * group..(g + 1) * group)).collect();
        let (parts, rows) = (parts(k.rows), group * self.attention.q.layout().rows);
        let layout = Layout::stacked(k.heads, parts * rows, v.columns + 2);
        let mut numbers = scratch::zeros(layout.heads.saturating_mul(layout.head_stride))?;
        let partials = Output::new(&mut numbers, layout)?;
        let bytes = decode::scratch_bytes(&groups[0]).max(decode::scratch_bytes_to_finish(&groups[0]));
        scratch::is_available(bytes)?;
        let threads = pool::run(self.threads, k.heads * parts, &|task| {
            let (group, part) = (task / parts, task % parts);
            let partials = Partials { numbers: partials, group };
            with_scratch(bytes, |scratch| {
                // SAFETY: the level was found available; every part of a group is one task's.
                unsafe { attend_part(&groups[group], part, scratch, &partials) };
            });
        });
        pool::run(self.threads, k.heads, &|group| {
            let partials = Partials { numbers: partials, group };
            for row in 0..rows {
                with_scratch(bytes, |scratch| {
                    // SAFETY: all parts are finished; every group is one task's.
                    unsafe { finish_row(&groups[group], row, scratch, &partials, &self.results) };
                });
            }
        });
        let kept = size_of_val(&numbers[..]) + k.heads * rows * size_of::<Row<'_, T>>();
        Ok(Used { extra_bytes: kept + bytes * threads, threads })
    }

    /// Few queries without SIMD: a task is a query.
    fn few_plain(&self) -> Result<Used> {
        let q = self.attention.q.layout();
        let bytes = plain_decode::scratch_bytes(&self.attention.head(0));
        scratch::is_available(bytes)?;
        let threads = pool::run(self.threads, q.heads * q.rows, &|task| {
            let (h, i) = (task / q.rows, task % q.rows);
            with_scratch(bytes, |scratch| {
                // SAFETY: every row is one task's.
                unsafe { plain_decode::attend_row(&self.attention.head(h), (h, i), scratch, &self.results) };
            });
        });
        Ok(Used { extra_bytes: bytes * threads, threads })
    }

    /// The queries of these heads.
    fn group(&self, heads: std::ops::Range<usize>) -> Group<'_, T> {
        let queries = 0..self.attention.q.layout().rows;
        let row = |number: usize, query| Row { head: self.attention.head(number), number, query };
        Group { rows: heads.flat_map(|h| queries.clone().map(move |i| row(h, i))).collect() }
    }
}
