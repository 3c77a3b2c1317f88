//! The lane version: a tile of queries, one a lane, against all the keys that any of them sees.
//!
//! Compare with [`plain`](super::plain): the three numbered steps are the same, for all queries of the tile at once. With a
//! query in each lane nothing ever has to be summed across a register, keys and values are read where they lie, and every
//! lane does, operation for operation, what the plain version does for its query.

use std::ops::Range;

use super::exp2::RegisterExp2;
use super::layout::{Results, View};
use super::plain::{BLOCK, Normalizer, blocks};
use super::problem::Head;
use super::product::{accumulate, accumulate_seen};
use super::real::Real;
use super::scratch::Scratch;
use super::simd::Simd;
use super::transpose::{lanes_to_rows, rows_to_lanes};
use super::visible::Seen;

/// One task: queries of one head.
#[derive(Clone)]
pub(super) struct Tile<'a, T> {
    pub head: Head<'a, T>,
    /// The head's number, for the output.
    pub number: usize,
    /// At most R · LANES of them, and at least one.
    pub queries: Range<usize>,
}

/// What a tile needs, in bytes.
pub(super) fn scratch_bytes<T: Real, S: Simd<T>, const R: usize>(head: &Head<'_, T>) -> usize {
    let biases = if head.sight.bias.is_some() { BLOCK } else { 0 };
    let lanes = [head.q.columns, BLOCK, head.v.columns, biases];
    let lanes: usize = lanes.into_iter().map(Scratch::bytes_of::<[S::Register; R]>).sum();
    lanes + Scratch::bytes_of::<T>(head.copied())
}

/// Registers of one number a query, for R · LANES queries.
type Lanes<T, S, const R: usize> = [<S as Simd<T>>::Register; R];

/// A tile's memory. The first index counts columns, or keys; the second registers of queries.
struct Workspace<'s, T, P> {
    /// Qᵀ: the queries' columns.
    queries: &'s mut [P],
    /// Sᵀ of the block, then Aᵀ: a row for each key.
    scores: &'s mut [P],
    /// Oᵀ: the mixtures so far.
    mixtures: &'s mut [P],
    /// Biasᵀ of the block.
    biases: &'s mut [P],
    /// The block's keys, then its values, where their columns lie apart: the inner loop wants neighbours.
    copy: &'s mut [T],
}

/// Attends from the tile's queries, R registers of them, M keys (then M columns) at a time, and writes their rows;
/// on request their log-sum-exps too.
///
/// # Safety
/// The tile's rows of the outputs exist, and nobody else reads or writes them meanwhile.
#[inline(always)]
pub(super) unsafe fn attend_tile<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    tile: &Tile<'_, T>,
    mut scratch: Scratch<'_>,
    results: &Results<'_, T>,
) {
    let head = &tile.head;
    let mut space = Workspace {
        queries: scratch.take::<Lanes<T, S, R>>(head.q.columns),
        scores: scratch.take(BLOCK),
        mixtures: scratch.take(head.v.columns),
        biases: scratch.take(if head.sight.bias.is_some() { BLOCK } else { 0 }),
        copy: scratch.take(head.copied()),
    };
    let rows = head.q.block((tile.queries.start, tile.queries.len()), (0, head.q.columns));
    rows_to_lanes(simd, rows, space.queries);
    let mut wanted = u64::MAX >> (64 - tile.queries.len());
    for shift in [0, head.shift_against_overflow()] {
        let rows = attend_lanes::<T, S, R, M>(simd, tile, &mut space, shift);
        let finite = finish(simd, &rows, space.mixtures);
        // Sums of huge values may overflow where their mean does not: those rows once more, with smaller weights.
        let overflowed = if shift == 0 { wanted & !finite } else { 0 };
        let finished = wanted & !overflowed;
        // SAFETY: the wanted lanes are the tile's rows.
        unsafe {
            lanes_to_rows(simd, space.mixtures, finished, &results.output, (tile.number, tile.queries.start))
        };
        if let Some(lse) = results.lse {
            for (lane, i) in tile.queries.clone().enumerate().filter(|(lane, _)| finished >> lane & 1 == 1) {
                // SAFETY: the row is the tile's.
                unsafe { lse.set((tile.number, i), 0, rows.row(simd, lane).log_sum_exp(head, shift)) };
            }
        }
        wanted = overflowed;
        if wanted == 0 {
            break;
        }
    }
}

/// [`Normalizer`], for every query of a tile.
struct Normalizers<T: Real, S: Simd<T>, const R: usize> {
    largest: Lanes<T, S, R>,
    sum: Lanes<T, S, R>,
}

impl<T: Real, S: Simd<T>, const R: usize> Normalizers<T, S, R> {
    #[inline(always)]
    fn row(&self, simd: S, lane: usize) -> Normalizer<T> {
        let of = |registers: &Lanes<T, S, R>| simd.numbers(registers[lane / S::LANES])[lane % S::LANES];
        Normalizer { largest: of(&self.largest), sum: of(&self.sum) }
    }
}

/// The plain version's `attend_keys`, for all lanes: leaves the mixtures, not yet divided, in the workspace.
#[inline(always)]
fn attend_lanes<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    tile: &Tile<'_, T>,
    space: &mut Workspace<'_, T, Lanes<T, S, R>>,
    shift: u32,
) -> Normalizers<T, S, R> {
    let head = &tile.head;
    let exp2 = RegisterExp2::new(simd, &head.exp2(shift));
    let empty = Normalizer::<T>::EMPTY;
    let mut rows = Normalizers { largest: [simd.splat(empty.largest); R], sum: [simd.splat(empty.sum); R] };
    space.mixtures.fill([simd.splat(T::ZERO); R]);
    for keys in blocks(head.sight.keys(&tile.queries)) {
        let seen = head.sight.of_block(&tile.queries, &keys);
        if matches!(seen, Seen::Nothing) {
            continue;
        }
        // 1. The scores, and the largest so far.
        let k = head.k.block((keys.start, keys.len()), (0, head.k.columns)).with_neighbours(space.copy);
        let scores = &mut space.scores[..keys.len()];
        products::<T, S, R, M>(simd, k, space.queries, scores);
        if head.scale_first {
            scale_and_bias(simd, tile, &keys, space.biases, scores);
        }
        hide::<T, S, R>(simd, &seen, scores);
        // 2. The weights relative to the largest, and their sum.
        let correction = weigh(simd, &exp2, &keys, scores, &mut rows);
        // 3. The values, mixed by the weights.
        let v = head.v.block((keys.start, keys.len()), (0, head.v.columns)).with_neighbours(space.copy);
        mix::<T, S, R, M>(simd, v, (scores, &seen), &correction, space.mixtures);
    }
    rows
}

/// Sᵀ = K Qᵀ: `scores[j][r] = Σ_c k[j,c] · queries[c][r]`, M keys at a time, then 4, 2, and one.
#[inline(always)]
fn products<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    k: View<'_, T>,
    queries: &[Lanes<T, S, R>],
    scores: &mut [Lanes<T, S, R>],
) {
    assert!(k.rows == scores.len() && k.columns == queries.len() && k.has_neighbours());
    // SAFETY: there is a key for every row of scores, and a column for every column of the queries.
    unsafe {
        let from = products_by::<T, S, R, M>(simd, &k, queries, scores, 0);
        let from = products_by::<T, S, R, 4>(simd, &k, queries, scores, from);
        let from = products_by::<T, S, R, 2>(simd, &k, queries, scores, from);
        products_by::<T, S, R, 1>(simd, &k, queries, scores, from);
    }
}

/// # Safety
/// There are as many keys as scores, with as many columns as queries, side by side.
#[inline(always)]
unsafe fn products_by<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    k: &View<'_, T>,
    queries: &[Lanes<T, S, R>],
    scores: &mut [Lanes<T, S, R>],
    from: usize,
) -> usize {
    let mut j = from;
    while j + M <= scores.len() {
        let zeros = [[simd.splat(T::ZERO); R]; M];
        // An address for each key: the columns then need no other reckoning.
        let keys: [*const T; M] = std::array::from_fn(|i| k.start_of(j + i));
        // SAFETY: the caller has these keys and columns.
        let sums = accumulate(simd, zeros, |i, c| unsafe { *keys[i].add(c) }, queries);
        scores[j..j + M].copy_from_slice(&sums);
        j += M;
    }
    j
}

/// `scores = scores · scale + bias`.
#[inline(always)]
fn scale_and_bias<T: Real, S: Simd<T>, const R: usize>(
    simd: S,
    tile: &Tile<'_, T>,
    keys: &Range<usize>,
    biases: &mut [Lanes<T, S, R>],
    scores: &mut [Lanes<T, S, R>],
) {
    let scale = simd.splat(tile.head.scale);
    let zeros = [simd.splat(T::ZERO); R];
    if let Some(bias) = tile.head.sight.bias {
        let block = bias.block((tile.queries.start, tile.queries.len()), (keys.start, keys.len()));
        rows_to_lanes(simd, block, biases);
    }
    for (j, scores) in scores.iter_mut().enumerate() {
        let bias = biases.get(j).unwrap_or(&zeros);
        for r in 0..R {
            scores[r] = simd.mul_add(scores[r], scale, bias[r]);
        }
    }
}

/// Scores of hidden keys become −∞.
#[inline(always)]
fn hide<T: Real, S: Simd<T>, const R: usize>(simd: S, seen: &Seen, scores: &mut [Lanes<T, S, R>]) {
    let Seen::Partly { whole, seen_by } = seen else { return };
    let hidden = simd.splat(T::NEG_INFINITY);
    for (scores, seen_by) in scores.iter_mut().zip(seen_by).skip(*whole) {
        for r in 0..R {
            scores[r] = simd.choose(seen_by >> (r * S::LANES), scores[r], hidden);
        }
    }
}

/// Step 2: scores become weights relative to the largest, which is first brought up to date; the sum likewise. Gives what older
/// sums are to be multiplied by.
#[inline(always)]
fn weigh<T: Real, S: Simd<T>, const R: usize>(
    simd: S,
    exp2: &RegisterExp2<T, S>,
    keys: &Range<usize>,
    scores: &mut [Lanes<T, S, R>],
    rows: &mut Normalizers<T, S, R>,
) -> Lanes<T, S, R> {
    let zero = simd.splat(T::ZERO);
    let mut correction = [zero; R];
    let largest = largest_of(simd, &rows.largest, scores);
    // The plain version sums key j in the chain j mod 4: blocks begin at multiples of 4, but the keys may begin later.
    let before_four = (4 - keys.start % 4) % 4;
    for r in 0..R {
        let reference = simd.zero_below(largest[r], largest[r], simd.splat(T::LOWEST));
        let mut sums = [zero; 4];
        let (first, rest) = scores.split_at_mut(before_four.min(scores.len()));
        let (fours, last) = rest.as_chunks_mut::<4>();
        for (scores, sum) in first.iter_mut().zip(&mut sums[4 - before_four..]) {
            weigh_one(simd, exp2, reference, &mut scores[r], sum);
        }
        for four in fours {
            for (scores, sum) in four.iter_mut().zip(&mut sums) {
                weigh_one(simd, exp2, reference, &mut scores[r], sum);
            }
        }
        for (scores, sum) in last.iter_mut().zip(&mut sums) {
            weigh_one(simd, exp2, reference, &mut scores[r], sum);
        }
        let sum = simd.add(simd.add(sums[0], sums[1]), simd.add(sums[2], sums[3]));
        correction[r] = exp2.correction(simd.sub(rows.largest[r], reference));
        rows.sum[r] = simd.mul_add(rows.sum[r], correction[r], sum);
        rows.largest[r] = largest[r];
    }
    correction
}

/// The score of a key becomes its weight, which is added to the sum.
#[inline(always)]
fn weigh_one<T: Real, S: Simd<T>>(
    simd: S,
    exp2: &RegisterExp2<T, S>,
    reference: S::Register,
    score: &mut S::Register,
    sum: &mut S::Register,
) {
    *score = exp2.of(simd.sub(*score, reference));
    *sum = simd.add(*sum, *score);
}

/// The largest of `before` and the scores, in every lane; four chains, since one would wait for itself.
#[inline(always)]
fn largest_of<T: Real, S: Simd<T>, const R: usize>(
    simd: S,
    before: &Lanes<T, S, R>,
    scores: &[Lanes<T, S, R>],
) -> Lanes<T, S, R> {
    let mut chains = [*before; 4];
    let (fours, last) = scores.as_chunks::<4>();
    for four in fours {
        for (chain, scores) in chains.iter_mut().zip(four) {
            for r in 0..R {
                chain[r] = simd.larger(chain[r], scores[r]);
            }
        }
    }
    for (chain, scores) in chains.iter_mut().zip(last) {
        for r in 0..R {
            chain[r] = simd.larger(chain[r], scores[r]);
        }
    }
    let mut largest = chains[0];
    for chain in &chains[1..] {
        for r in 0..R {
            largest[r] = simd.larger(largest[r], chain[r]);
        }
    }
    largest
}

/// Oᵀ = Oᵀ · correction + Vᵀ Aᵀ: `mixtures[c][r]` gets `Σ_j v[j,c] · weights[j][r]`, M columns at a time, then 4, 2, and one.
#[inline(always)]
fn mix<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    v: View<'_, T>,
    (weights, seen): (&[Lanes<T, S, R>], &Seen),
    correction: &Lanes<T, S, R>,
    mixtures: &mut [Lanes<T, S, R>],
) {
    assert!(v.rows == weights.len() && v.columns == mixtures.len() && v.has_neighbours());
    // SAFETY: there is a value for every row of weights, and a column for every mixture.
    let v = |c, j| unsafe { v.at_neighbour(j, c) };
    let from = mix_by::<T, S, R, M>(simd, v, (weights, seen), correction, mixtures, 0);
    let from = mix_by::<T, S, R, 4>(simd, v, (weights, seen), correction, mixtures, from);
    let from = mix_by::<T, S, R, 2>(simd, v, (weights, seen), correction, mixtures, from);
    mix_by::<T, S, R, 1>(simd, v, (weights, seen), correction, mixtures, from);
}

#[inline(always)]
fn mix_by<T: Real, S: Simd<T>, const R: usize, const M: usize>(
    simd: S,
    v: impl Fn(usize, usize) -> T,
    (weights, seen): (&[Lanes<T, S, R>], &Seen),
    correction: &Lanes<T, S, R>,
    mixtures: &mut [Lanes<T, S, R>],
    from: usize,
) -> usize {
    let (whole, seen_by) = match seen {
        Seen::Partly { whole, seen_by } => (*whole, &seen_by[*whole..]),
        _ => (weights.len(), &[][..]),
    };
    let mut c = from;
    while c + M <= mixtures.len() {
        let zeros = [[simd.splat(T::ZERO); R]; M];
        let (before, after) = weights.split_at(whole);
        let mut sums = accumulate(simd, zeros, |i, j| v(c + i, j), before);
        if !after.is_empty() {
            sums = accumulate_seen(simd, sums, |i, j| v(c + i, whole + j), after, seen_by);
        }
        for (mixture, sums) in mixtures[c..c + M].iter_mut().zip(&sums) {
            for r in 0..R {
                mixture[r] = simd.mul_add(mixture[r], correction[r], sums[r]);
            }
        }
        c += M;
    }
    c
}

/// Oᵀ / sum, 0 where every key was hidden; gives the lanes all of whose mixtures are finite.
#[inline(always)]
fn finish<T: Real, S: Simd<T>, const R: usize>(
    simd: S,
    rows: &Normalizers<T, S, R>,
    mixtures: &mut [Lanes<T, S, R>],
) -> u64 {
    let (zero, one) = (simd.splat(T::ZERO), simd.splat(T::ONE));
    let mut inverse = [zero; R];
    for r in 0..R {
        inverse[r] = simd.zero_below(simd.div(one, rows.sum[r]), rows.sum[r], simd.splat(T::SMALLEST));
    }
    // Four chains, since one would wait for itself.
    let mut zeros = [[zero; R]; 4];
    let (fours, last) = mixtures.as_chunks_mut::<4>();
    for four in fours {
        for (mixture, zeros) in four.iter_mut().zip(&mut zeros) {
            divide_one::<T, S, R>(simd, &inverse, mixture, zeros);
        }
    }
    for (mixture, zeros) in last.iter_mut().zip(&mut zeros) {
        divide_one::<T, S, R>(simd, &inverse, mixture, zeros);
    }
    let mut finite = 0;
    for r in 0..R {
        let all = simd.add(simd.add(zeros[0][r], zeros[1][r]), simd.add(zeros[2][r], zeros[3][r]));
        for (lane, number) in simd.numbers(all)[..S::LANES].iter().enumerate() {
            finite |= u64::from(*number == T::ZERO) << (r * S::LANES + lane);
        }
    }
    finite
}

/// A column of the mixtures is divided by the sum; `zeros` stay 0 where it is finite, since 0 · x is NaN for every other x.
#[inline(always)]
fn divide_one<T: Real, S: Simd<T>, const R: usize>(
    simd: S,
    inverse: &Lanes<T, S, R>,
    mixture: &mut Lanes<T, S, R>,
    zeros: &mut Lanes<T, S, R>,
) {
    let zero = simd.splat(T::ZERO);
    for r in 0..R {
        mixture[r] = simd.mul_add(mixture[r], inverse[r], zero);
        zeros[r] = simd.mul_add(mixture[r], zero, zeros[r]);
    }
}
