//! The lane version for a few queries: lanes along the columns.
//!
//! Reading keys and values takes most of the time here, so each is read once for all query heads that share it. See
//! [`plain`](crate::plain) for the steps and their order.

use std::marker::PhantomData;
use std::ops::Range;

use crate::exp2::Exp2;
use crate::layout::View;
use crate::memory::{Scratch, prefetch_near};
use crate::output::{Results, RowId, SharedRows};
use crate::plain::{self, SoftmaxState, VIRTUAL_LANES, attend_row, fold, merge, parts, visible_part};
use crate::problem::Head;
use crate::real::Real;
use crate::simd::{Simd, Work};
use crate::visibility::{BLOCK, BlockVisibility, blocks};

/// One query.
#[derive(Clone)]
pub(crate) struct Query<'a, T> {
    pub head: Head<'a, T>,
    /// Its row in the outputs.
    pub id: RowId,
}

/// The queries that share a key/value head, and their partial results.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a, T> {
    /// At least one.
    pub queries: &'a [Query<'a, T>],
    /// The group's index.
    pub number: usize,
    /// A head for each group, in it a row for each query of each part: the accumulator, then the running max and sum.
    pub partials: SharedRows<'a, T>,
}

impl<T: Real> Group<'_, T> {
    /// The partial result of query r.
    ///
    /// # Safety
    /// The row exists, and no other thread reads or writes it meanwhile.
    #[inline(always)]
    unsafe fn partial(&self, part: usize, r: usize) -> Partial<'_, T> {
        let id = RowId { head: self.number, row: part * self.queries.len() + r };
        let columns = self.partials.columns() - 2;
        // SAFETY: the caller's promise.
        let (accumulator, state) = unsafe { self.partials.row_mut(id, 0, columns + 2) }.split_at_mut(columns);
        Partial { accumulator, state }
    }
}

/// The partial result of a query.
struct Partial<'p, T> {
    accumulator: &'p mut [T],
    /// The running max and sum.
    state: &'p mut [T],
}

impl<T: Real> Partial<'_, T> {
    #[inline(always)]
    fn state(&self) -> SoftmaxState<T> {
        SoftmaxState { max: self.state[0], sum: self.state[1] }
    }

    #[inline(always)]
    fn set_state(&mut self, SoftmaxState { max, sum }: SoftmaxState<T>) {
        (self.state[0], self.state[1]) = (max, sum);
    }
}

// One part of the keys, block by block.

/// The maximum number of queries that share one pass over a block.
const TOGETHER: usize = 4;

/// The scratch memory of a task, in bytes: a part's queries, weights and copy, or two rows and what the plain version needs.
pub(crate) fn scratch_bytes<T: Real>(queries: &[Query<'_, T>]) -> usize {
    let Some(Query { head, .. }) = queries.first() else { return 0 };
    let part = Scratch::bytes_of::<T>(queries.len() * head.q.columns.next_multiple_of(VIRTUAL_LANES))
        + Scratch::bytes_of::<[T; BLOCK]>(TOGETHER)
        + Scratch::bytes_of::<T>(head.copy_len());
    part.max(Scratch::bytes_of::<T>(head.v.columns) + plain::decode_scratch_bytes(head))
}

/// Attends from the group's queries to the keys of its part. K registers hold sixteen numbers.
///
/// # Safety
/// The rows of this part are in the partials, and no other thread reads or writes them meanwhile.
pub(crate) struct AttendPart<T, const K: usize>(PhantomData<T>);

/// The arguments of [`AttendPart`].
pub(crate) struct PartTask<'a, T> {
    pub group: Group<'a, T>,
    /// The index of the part.
    pub part: usize,
    pub scratch: Scratch<'a>,
}

impl<T: Real, S: Simd<T>, const K: usize> Work<S> for AttendPart<T, K> {
    type Input<'a> = PartTask<'a, T>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(simd: S, PartTask { group, part: number, mut scratch }: PartTask<'_, T>) {
        let Some(Query { head, .. }) = group.queries.first() else { return };
        let count = group.queries.len();
        let width = head.q.columns.next_multiple_of(VIRTUAL_LANES);
        let queries = scratch.take::<T>(count * width);
        copy_queries(group.queries, width, queries);
        for r in 0..count {
            // SAFETY: the row is this part's.
            let mut partial = unsafe { group.partial(number, r) };
            partial.accumulator.fill(T::ZERO);
            partial.set_state(SoftmaxState::EMPTY);
        }
        let (weights, copy) = (scratch.take(TOGETHER), scratch.take(head.copy_len()));
        let mut part = Part::<T, S, K> { simd, group, number, width, queries, weights, copy };
        for keys in blocks(seen_by_any(group.queries, number)) {
            for from in (0..count).step_by(TOGETHER) {
                // SAFETY: the rows are this part's.
                unsafe {
                    match count - from {
                        1 => part.attend::<1>(&keys, from),
                        2 => part.attend::<2>(&keys, from),
                        3 => part.attend::<3>(&keys, from),
                        _ => part.attend::<4>(&keys, from),
                    }
                }
            }
        }
    }
}

/// The keys of a part inside the band of any query: from the first start to the last end of both ranges.
#[inline(always)]
fn seen_by_any<T: Real>(queries: &[Query<'_, T>], number: usize) -> [Range<usize>; 2] {
    let seen = |query: &Query<'_, T>| visible_part(&query.head, query.id.row, number);
    let cover = |[a, b]: [Range<usize>; 2], [c, d]: [Range<usize>; 2]| {
        [a.start.min(c.start)..a.end.max(c.end), b.start.min(d.start)..b.end.max(d.end)]
    };
    queries.iter().map(seen).reduce(cover).unwrap_or_default()
}

/// Copies the queries side by side, with zeros up to a multiple of sixteen columns.
#[inline(always)]
fn copy_queries<T: Real>(queries: &[Query<'_, T>], width: usize, copies: &mut [T]) {
    for (copy, Query { head, id }) in copies.chunks_exact_mut(width.max(1)).zip(queries) {
        copy.fill(T::ZERO);
        for (c, number) in copy[..head.q.columns].iter_mut().enumerate() {
            *number = head.q.at(id.row, c);
        }
    }
}

// A few queries against one block of keys: the three steps of the plain version's `attend_keys`.

/// A part of the keys, and the memory of a block. K registers hold sixteen numbers.
struct Part<'a, T, S, const K: usize> {
    simd: S,
    group: Group<'a, T>,
    /// The index of the part.
    number: usize,
    /// The columns of a query, padded with zeros to a multiple of sixteen.
    width: usize,
    /// The queries side by side.
    queries: &'a [T],
    /// A row of scores, then weights, for each query.
    weights: &'a mut [[T; BLOCK]],
    /// The block's keys, then its values, where their rows are not contiguous.
    copy: &'a mut [T],
}

impl<T: Real, S: Simd<T>, const K: usize> Part<'_, T, S, K> {
    /// Attends from G queries, from the one at `from` on, to the block `keys`, and updates their partial results.
    ///
    /// # Safety
    /// The rows of these queries are in the partials, and no other thread reads or writes them meanwhile.
    #[inline(always)]
    unsafe fn attend<const G: usize>(&mut self, keys: &Range<usize>, from: usize) {
        let group = &self.group.queries[from..from + G];
        let visibility: [BlockVisibility; G] = std::array::from_fn(|r| {
            let Query { head, id } = &group[r];
            head.visibility.of_block(&(id.row..id.row + 1), keys)
        });
        if visibility.iter().all(|visibility| matches!(visibility, BlockVisibility::None)) {
            return;
        }
        // Key j is at j mod BLOCK, so that its lane is j mod 16; places without a key of this block have weight 0.
        let weights = &mut self.weights[..G];
        for weights in weights.iter_mut() {
            weights.fill(T::NEG_INFINITY);
        }
        let Head { k, v, .. } = group[0].head;
        let simd = self.simd;
        let block = Scores::<T, S, G, K> {
            simd,
            k: k.rows(keys).contiguous(self.copy),
            queries: &self.queries[from * self.width..],
            width: self.width,
        };
        // Takes as many keys at a time as give sixteen dot products, or as many as there are registers for.
        match (G, K) {
            (1, 1) => block.write::<16>(keys, weights),
            (2, 1) | (1, 2) => block.write::<8>(keys, weights),
            (_, 1) | (2, 2) | (1, 4) => block.write::<4>(keys, weights),
            (_, 2) | (2, 4) => block.write::<2>(keys, weights),
            _ => block.write::<1>(keys, weights),
        }
        // SAFETY: the caller's promise; each row is taken once.
        let mut partials = std::array::from_fn(|r| unsafe { self.group.partial(self.number, from + r) });
        let mut correction = [T::ZERO; G];
        for r in 0..G {
            let Query { head, id } = &group[r];
            let used = keys.start % BLOCK..keys.start % BLOCK + keys.len();
            scale_and_hide(simd, head, id.row, keys, &visibility[r], &mut weights[r][used.clone()]);
            correction[r] = weigh::<T, S, K>(simd, &head.exp2(0), used, &mut weights[r], &mut partials[r]);
        }
        let accumulators = partials.map(|partial: Partial<'_, T>| partial.accumulator);
        let values = Values { simd, v: v.rows(keys).contiguous(self.copy), keys, weights, correction };
        if visibility.iter().all(|visibility| matches!(visibility, BlockVisibility::All)) {
            values.add(accumulators);
        } else {
            values.add_visible(&visibility, accumulators);
        }
    }
}

// Step 1 for a few queries: the scores of a block of keys.

/// The keys of a block, and G queries.
struct Scores<'a, T, S, const G: usize, const K: usize> {
    simd: S,
    k: View<'a, T>,
    queries: &'a [T],
    width: usize,
}

impl<T: Real, S: Simd<T>, const G: usize, const K: usize> Scores<'_, T, S, G, K> {
    /// The scores, J keys at a time: every register of a key is multiplied by all queries.
    #[inline(always)]
    fn write<const J: usize>(&self, keys: &Range<usize>, scores: &mut [[T; BLOCK]]) {
        let mut j = keys.start;
        while j + J <= keys.end {
            let dots = self.dots::<J>(j - keys.start);
            for r in 0..G {
                for ahead in 0..J {
                    scores[r][(j + ahead) % BLOCK] = dots[r * J + ahead];
                }
            }
            j += J;
        }
        for j in j..keys.end {
            let dots = self.dots::<1>(j - keys.start);
            for r in 0..G {
                scores[r][j % BLOCK] = dots[r];
            }
        }
    }

    /// `dots[r·J + a] = q_r · k_j` for j = first + a, J keys and G queries, at most sixteen pairs.
    #[inline(always)]
    fn dots<const J: usize>(&self, first: usize) -> [T; VIRTUAL_LANES] {
        let Scores { simd, k, queries, width } = *self;
        let whole = k.columns - k.columns % VIRTUAL_LANES;
        assert!(queries.len() >= G * width);
        let keys: [&[T]; J] = std::array::from_fn(|ahead| k.row(first + ahead, 0));
        let mut sums = [[simd.splat(T::ZERO); K]; VIRTUAL_LANES];
        for column in (0..whole).step_by(VIRTUAL_LANES) {
            // SAFETY: sixteen columns are left in every key, and in every query, whose row is as long as the width.
            unsafe { self.add_products(keys, [column, column], &mut sums) };
        }
        if whole < k.columns {
            let mut padded = [[T::ZERO; VIRTUAL_LANES]; J];
            for (padded, key) in padded.iter_mut().zip(keys) {
                padded[..k.columns - whole].copy_from_slice(&key[whole..]);
            }
            let keys: [&[T]; J] = std::array::from_fn(|ahead| &padded[ahead][..]);
            // SAFETY: as above; the padded keys have sixteen columns.
            unsafe { self.add_products(keys, [0, whole], &mut sums) };
        }
        fold_all(simd, sums, G * J)
    }

    /// Adds the products of sixteen columns, for J keys and G queries, to the sums: from the first of these columns on, and from the
    /// second of the queries.
    ///
    /// # Safety
    /// Every key and query has these columns.
    #[inline(always)]
    unsafe fn add_products<const J: usize>(
        &self,
        keys: [&[T]; J],
        [of_keys, of_queries]: [usize; 2],
        sums: &mut [[S::Register; K]; VIRTUAL_LANES],
    ) {
        let Scores { simd, k, queries, width } = *self;
        let prefetch = PREFETCH_ROWS * k.row_stride();
        for part in 0..K {
            let at = part * S::LANES;
            for ahead in 0..J {
                prefetch_near(keys[ahead].as_ptr().wrapping_add(of_keys + at + prefetch));
                // SAFETY: the caller has sixteen columns there.
                let key = unsafe { simd.load(keys[ahead].get_unchecked(of_keys + at..)) };
                for r in 0..G {
                    // SAFETY: as above.
                    let query = unsafe { simd.load(queries.get_unchecked(r * width + of_queries + at..)) };
                    let sum = &mut sums[r * J + ahead][part];
                    *sum = simd.mul_add(key, query, *sum);
                }
            }
        }
    }
}

/// Applies the scale, the biases and the soft cap where they come first, and sets the scores of hidden keys to −∞.
#[inline(always)]
fn scale_and_hide<T: Real, S: Simd<T>>(
    simd: S,
    head: &Head<'_, T>,
    i: usize,
    keys: &Range<usize>,
    visibility: &BlockVisibility,
    scores: &mut [T],
) {
    if head.scale_first {
        for (score, j) in scores.iter_mut().zip(keys.clone()) {
            *score = score.mul_add(head.scale, head.bias(i, j));
        }
        if let Some(soft_cap) = &head.soft_cap {
            soft_cap.replace_all(simd, scores);
        }
    }
    for (at, score) in scores.iter_mut().enumerate() {
        if !visibility.is_visible(at) {
            *score = T::NEG_INFINITY;
        }
    }
}

// Step 2 for a few queries: scores become weights.

/// Replaces the scores of a row by weights and updates the state of its partial result. Returns the correction of older sums. `used`
/// are the places of keys.
#[inline(always)]
fn weigh<T: Real, S: Simd<T>, const K: usize>(
    simd: S,
    exp2: &Exp2<T>,
    used: Range<usize>,
    scores: &mut [T; BLOCK],
    partial: &mut Partial<'_, T>,
) -> T {
    let old = partial.state();
    let scores =
        &mut scores[used.start / VIRTUAL_LANES * VIRTUAL_LANES..used.end.next_multiple_of(VIRTUAL_LANES)];
    let mut max = [simd.splat(old.max); K];
    for (at, numbers) in scores.chunks_exact(S::LANES).enumerate() {
        // SAFETY: a chunk is as long as a register.
        max[at % K] = simd.max(max[at % K], unsafe { simd.load(numbers) });
    }
    let max = virtual_lanes(simd, max).into_iter().fold(T::NEG_INFINITY, T::max);
    let raised = SoftmaxState { max, sum: old.sum };
    let reference = simd.splat(raised.reference());
    let mut sums = [simd.splat(T::ZERO); K];
    for (at, numbers) in scores.chunks_exact_mut(S::LANES).enumerate() {
        // SAFETY: a chunk is as long as a register.
        unsafe {
            let weights = exp2.of_lanes(simd, simd.sub(simd.load(numbers), reference));
            sums[at % K] = simd.add(sums[at % K], weights);
            simd.store(weights, numbers);
        }
    }
    let correction = exp2.correction(old.max - raised.reference());
    let sum = raised.sum.mul_add(correction, fold(virtual_lanes(simd, sums)));
    partial.set_state(SoftmaxState { max, sum });
    correction
}

// Step 3 for a few queries: the weighted values.

/// The values of a block of keys, and for each of G queries their weights and the correction of older sums.
struct Values<'a, T, S, const G: usize> {
    simd: S,
    v: View<'a, T>,
    keys: &'a Range<usize>,
    weights: &'a [[T; BLOCK]],
    correction: [T; G],
}

impl<T: Real, S: Simd<T>, const G: usize> Values<'_, T, S, G> {
    /// Adds the values to the accumulators, each times its weight; the last columns one by one.
    #[inline(always)]
    fn add(&self, mut accumulators: [&mut [T]; G]) {
        let Values { v, keys, weights, correction, .. } = self;
        // Takes as many registers of columns at a time as leave room for their sums of all queries: each value is loaded once.
        let from = if G <= 2 { self.add_registers::<8>(&mut accumulators, 0) } else { 0 };
        let from = self.add_registers::<4>(&mut accumulators, from);
        let from = self.add_registers::<1>(&mut accumulators, from);
        for c in from..v.columns {
            for r in 0..G {
                let mut sum = T::ZERO;
                for j in keys.start..keys.end {
                    sum = v.at(j - keys.start, c).mul_add(weights[r][j % BLOCK], sum);
                }
                accumulators[r][c] = accumulators[r][c].mul_add(correction[r], sum);
            }
        }
    }

    /// C registers of columns at a time, from column `from` on; returns the first column that is left.
    #[inline(always)]
    fn add_registers<const C: usize>(&self, accumulators: &mut [&mut [T]; G], from: usize) -> usize {
        let Values { simd, v, weights, correction, .. } = *self;
        let mut column = from;
        while column + C * S::LANES <= v.columns {
            let mut sums = [[simd.splat(T::ZERO); C]; G];
            for j in self.keys.clone() {
                let values = v.row(j - self.keys.start, column);
                for part in 0..C {
                    let ahead = part * S::LANES + PREFETCH_ROWS * v.row_stride();
                    prefetch_near(values.as_ptr().wrapping_add(ahead));
                    // SAFETY: that many columns are left.
                    let value = unsafe { simd.load(values.get_unchecked(part * S::LANES..)) };
                    for r in 0..G {
                        let weight = simd.splat(weights[r][j % BLOCK]);
                        sums[r][part] = simd.mul_add(value, weight, sums[r][part]);
                    }
                }
            }
            for r in 0..G {
                for part in 0..C {
                    let register = &mut accumulators[r][column + part * S::LANES..][..S::LANES];
                    // SAFETY: this piece of the accumulator is as long as a register.
                    unsafe {
                        let sum = simd.mul_add(simd.load(register), simd.splat(correction[r]), sums[r][part]);
                        simd.store(sum, register);
                    }
                }
            }
            column += C * S::LANES;
        }
        column
    }

    /// Adds the values of the visible keys, for a block with hidden keys; hidden values are not read.
    #[inline(always)]
    fn add_visible(&self, visibility: &[BlockVisibility; G], accumulators: [&mut [T]; G]) {
        const STRIP: usize = 64;
        for (r, accumulator) in accumulators.into_iter().enumerate() {
            for (strip, accumulator) in accumulator.chunks_mut(STRIP).enumerate() {
                let mut sums = [T::ZERO; STRIP];
                let keys = self.keys.clone().enumerate();
                for (at, j) in keys.filter(|(at, _)| visibility[r].is_visible(*at)) {
                    for (c, sum) in sums[..accumulator.len()].iter_mut().enumerate() {
                        let value = self.v.at(at, strip * STRIP + c);
                        *sum = value.mul_add(self.weights[r][j % BLOCK], *sum);
                    }
                }
                for (x, sum) in accumulator.iter_mut().zip(sums) {
                    *x = x.mul_add(self.correction[r], sum);
                }
            }
        }
    }
}

// Sixteen virtual lanes in K registers.

/// Prefetch distance, in rows of keys or values. Without prefetching, 8192 keys took half as long again.
const PREFETCH_ROWS: usize = 16;

/// The sixteen lanes of K registers.
#[inline(always)]
fn virtual_lanes<T: Real, S: Simd<T>, const K: usize>(
    simd: S,
    registers: [S::Register; K],
) -> [T; VIRTUAL_LANES] {
    let mut lanes = [T::ZERO; VIRTUAL_LANES];
    for (part, register) in registers.into_iter().enumerate() {
        // SAFETY: K registers hold sixteen numbers.
        unsafe { simd.store(register, &mut lanes[part * S::LANES..]) };
    }
    lanes
}

/// [`fold`](crate::plain::fold) for `count` sums of sixteen lanes, a register of results at a time: each time two sums
/// are halved, one exchange of half registers aligns the halves to be added.
#[inline(always)]
fn fold_all<T: Real, S: Simd<T>, const K: usize>(
    simd: S,
    mut sums: [[S::Register; K]; VIRTUAL_LANES],
    count: usize,
) -> [T; VIRTUAL_LANES] {
    let mut results = [T::ZERO; VIRTUAL_LANES];
    let mut from = 0;
    while from < count {
        let sums = &mut sums[from..from + S::LANES];
        for sum in sums.iter_mut() {
            let mut half = K / 2;
            while half > 0 {
                for part in 0..half {
                    sum[part] = simd.add(sum[part], sum[part + half]);
                }
                half /= 2;
            }
        }
        let mut half = S::LANES / 2;
        while half > 0 {
            for i in 0..half {
                let (low, high) = simd.exchange(sums[i][0], sums[i + half][0], half);
                sums[i][0] = simd.add(low, high);
            }
            half /= 2;
        }
        // SAFETY: LANES divides sixteen.
        unsafe { simd.store(sums[0][0], &mut results[from..]) };
        from += S::LANES;
    }
    results
}

// The parts of a row become its result.

/// Merges the parts of query r in their order, and writes its row.
///
/// # Safety
/// The rows of the outputs exist, all parts are finished, and no other thread reads or writes any of them meanwhile.
pub(crate) struct FinishRow<T>(PhantomData<T>);

/// The arguments of [`FinishRow`].
pub(crate) struct RowTask<'a, T> {
    pub group: Group<'a, T>,
    /// The index of the query in the group.
    pub query: usize,
    pub scratch: Scratch<'a>,
    pub results: &'a Results<'a, T>,
}

impl<T: Real, S> Work<S> for FinishRow<T> {
    type Input<'a> = RowTask<'a, T>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(_: S, RowTask { group, query: r, mut scratch, results }: RowTask<'_, T>) {
        let Query { head, id } = &group.queries[r];
        let exp2 = head.exp2(0);
        let row = scratch.take::<T>(head.v.columns);
        row.fill(T::ZERO);
        let mut whole = SoftmaxState::start(head, 0);
        for number in 0..parts(head.k.rows) {
            // SAFETY: the part is finished.
            let partial = unsafe { group.partial(number, r) };
            merge(&exp2, &mut whole, row, partial.state(), partial.accumulator);
        }
        let inverse = whole.inverse();
        for x in row.iter_mut() {
            *x = x.mul_add(inverse, T::ZERO);
        }
        if row.iter().all(|x| x.to_f64().is_finite()) {
            // SAFETY: the row is the caller's.
            unsafe { results.write_row(*id, row, whole.log_sum_exp(head, 0)) };
        } else {
            // SAFETY: the row is the caller's.
            unsafe { attend_row(head, *id, scratch, results) };
        }
    }
}
