//! From the whole problem to tasks for threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::decode::{self, Group, Partials};
use super::dispatch::{DecodeKernel, TileKernel, Width};
use super::layout::{Layout, Output, Results};
use super::plain;
use super::plain_decode::{self, parts};
use super::pool;
use super::problem::Attention;
use super::real::Real;
use super::scratch::with_scratch;
use super::simd::SimdLevel;
use super::tile::Tile;
use crate::error::{Error, Result};

/// Heads with at least so many queries are worked on in tiles of queries, others in lanes of columns. The only choice that
/// changes bits; it depends on the shape alone.
pub const FEWEST_FOR_TILES: usize = 8;

/// Less than so many operations are not worth a second thread: about twenty microseconds of one.
const ALONE: usize = 4_000_000;

/// Keys and values of a head beyond so many bytes do not stay in a core's own cache: wider tiles read them less often.
const OWN_CACHE: usize = 1 << 20;

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
/// For finite inputs, |O − exact| ≤ u · max|v| · (2(d_k+3)·S + 128 + N/128 + 16), where u is half a unit in the last place
/// of 1 and S the largest Σ_c |q_c k_c| · scale of the row; |LSE − exact| ≤ u · (2(d_k+3)·S + 8).
/// # Errors
/// If the shapes do not fit each other, or this processor lacks `machine.simd`.
/// # Source
/// Milakov & Gimelshein 2018, «Online normalizer calculation for softmax»; Dao et al. 2022, «FlashAttention»; Dao 2023,
/// «FlashAttention-2»; the parts of a long cache: Dao et al. 2023, «Flash-Decoding».
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
            "the output of {} heads of {}×{} does not fit: it is {} heads of {}×{}",
            q.heads, q.rows, v.columns, layout.heads, layout.rows, layout.columns
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
        let (heads, rows) = (self.attention.q.layout().heads, self.attention.q.layout().rows);
        let kernel = T::tile(self.simd, self.width());
        let queries = kernel.as_ref().map_or(1, |kernel| kernel.queries);
        let tiles = rows.div_ceil(queries);
        let used = MostUsed::default();
        let work = |task: usize| {
            // Neighbouring tasks share keys and values. Under a causal mask the last tile of a head is the longest: first.
            let (number, tile) = (task / tiles, tiles - 1 - task % tiles);
            let queries = tile * queries..((tile + 1) * queries).min(rows);
            let head = self.attention.head(number);
            match &kernel {
                Some(TileKernel { scratch_bytes, attend, .. }) => {
                    let bytes = scratch_bytes(&head);
                    used.at_least(bytes);
                    with_scratch(bytes, |scratch| {
                        let tile = Tile { head, number, queries };
                        // SAFETY: the level was found available; every row is in one tile.
                        unsafe { attend(&tile, scratch, &self.results) };
                    });
                }
                // SAFETY: every row is in one task.
                None => unsafe { plain::attend_rows(&head, number, queries, &self.results) },
            }
        };
        pool::run(self.threads, heads * tiles, &work);
        let threads = self.threads.min(heads * tiles);
        Ok(Used { extra_bytes: used.bytes() * threads, threads })
    }

    /// Narrow tiles where wider ones would compute much for nothing, wide ones where keys and values come from afar.
    fn width(&self) -> Width {
        let (q, k, v) = (self.attention.q.layout(), self.attention.k.layout(), self.attention.v.layout());
        let bytes = k.rows * (k.columns + v.columns) * size_of::<T>();
        if q.rows <= 16 || (self.attention.band.until.is_some() && q.rows <= 128) {
            Width::Narrow
        } else if bytes > OWN_CACHE {
            Width::Wide
        } else {
            Width::Middle
        }
    }

    /// A task is a part of the keys, for all queries that share a key/value head.
    fn few(&self) -> Result<Used> {
        let (q, k, v) = (self.attention.q.layout(), self.attention.k.layout(), self.attention.v.layout());
        let group = self.attention.group();
        let neighbours = |layout: Layout| layout.column_stride == 1 || layout.columns <= 1;
        let kernel = T::decode(self.simd).filter(|_| neighbours(k) && neighbours(v));
        let Some(DecodeKernel { attend_part, finish_row }) = kernel else {
            let work = |task: usize| {
                let (h, i) = (task / q.rows, task % q.rows);
                // SAFETY: every row is one task's.
                unsafe { plain_decode::attend_row(&self.attention.head(h), (h, i), &self.results) };
            };
            pool::run(self.threads, q.heads * q.rows, &work);
            return Ok(Used {
                extra_bytes: 2 * v.columns * size_of::<T>() * self.threads,
                threads: self.threads,
            });
        };
        let groups: Vec<Group<'_, T>> =
            (0..k.heads).map(|g| self.group(g * group..(g + 1) * group)).collect();
        let (parts, rows) = (parts(k.rows), group * q.rows);
        let layout = Layout::stacked(k.heads, parts * rows, v.columns + 2);
        let mut numbers = vec![T::ZERO; layout.heads * layout.head_stride];
        let partials = Output::new(&mut numbers, layout)?;
        let bytes = groups.first().map_or(0, decode::scratch_bytes);
        pool::run(self.threads, k.heads * parts, &|task| {
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
                // SAFETY: all parts are finished; every group is one task's.
                unsafe { finish_row(&groups[group], row, &partials, &self.results) };
            }
        });
        let threads = self.threads.min(k.heads * parts).max(1);
        let extra_bytes = layout.heads * layout.head_stride * size_of::<T>() + bytes * threads;
        Ok(Used { extra_bytes, threads })
    }

    /// The queries of these heads.
    fn group(&self, heads: std::ops::Range<usize>) -> Group<'_, T> {
        let queries = 0..self.attention.q.layout().rows;
        let rows = heads.flat_map(|h| queries.clone().map(move |i| (self.attention.head(h), h, i)));
        Group { rows: rows.collect() }
    }
}

/// The most that any thread needed.
#[derive(Default)]
struct MostUsed(AtomicUsize);

impl MostUsed {
    fn at_least(&self, bytes: usize) {
        if self.0.load(Ordering::Relaxed) < bytes {
            self.0.fetch_max(bytes, Ordering::Relaxed);
        }
    }

    fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
