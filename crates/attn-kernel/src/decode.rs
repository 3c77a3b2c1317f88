//! The lane version for a few queries: lanes along the columns.
//!
//! Reading keys and values takes most of the time here, so each is read once for all query heads that share it. See
//! [`plain`](crate::plain) for the steps and their order.

use std::marker::PhantomData;
use std::ops::Range;

use crate::exp2::{Exp2, RegisterExp2, RegisterSoftCap};
use crate::layout::View;
use crate::memory::{Scratch, prefetch_near};
use crate::output::{Results, RowId, SharedRows};
use crate::plain::{self, SoftmaxState, VIRTUAL_LANES, attend_row, fold, merge, parts, visible_part};
use crate::problem::Head;
use crate::real::Real;
use crate::simd::{Simd, Work};
use crate::visibility::{BLOCK, BlockVisibility, blocks};

/// The queries that share a key/value head: at least one.
pub(crate) type Group<'a, T> = [Query<'a, T>];

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
struct Partial<'p, T> {
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

// One part of the keys, block by block.

/// The maximum number of queries that share one pass over a block.
const TOGETHER: usize = 4;

/// The scratch memory of a part, in bytes.
pub(crate) fn scratch_bytes<T: Real>(group: &Group<'_, T>) -> usize {
    let Some(Query { head, .. }) = group.first() else { return 0 };
    let queries = group.len() * head.q.columns.next_multiple_of(VIRTUAL_LANES);
    Scratch::bytes_of::<T>(queries)
        + Scratch::bytes_of::<[T; BLOCK]>(TOGETHER)
        + Scratch::bytes_of::<T>(head.copy_len())
}

/// Attends from the group's queries to the keys of its part. K registers hold sixteen numbers.
///
/// # Safety
/// The rows of this part are in the partials, and no other thread reads or writes them meanwhile.
pub(crate) struct AttendPart<T, const K: usize>(PhantomData<T>);

/// The arguments of [`AttendPart`].
pub(crate) struct PartTask<'a, T> {
    pub group: &'a Group<'a, T>,
    /// The index of the part.
    pub part: usize,
    pub scratch: Scratch<'a>,
    pub partials: &'a Partials<'a, T>,
}

impl<T: Real, S: Simd<T>, const K: usize> Work<S> for AttendPart<T, K> {
    type Input<'a> = PartTask<'a, T>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(simd: S, PartTask { group, part: number, mut scratch, partials }: PartTask<'_, T>) {
        let Some(Query { head, .. }) = group.first() else { return };
        let count = group.len();
        let width = head.q.columns.next_multiple_of(VIRTUAL_LANES);
        let queries = scratch.take::<T>(count * width);
        let weights = scratch.take::<[T; BLOCK]>(TOGETHER);
        let copy = scratch.take::<T>(head.copy_len());
        copy_queries(group, width, queries);
        // SAFETY: the row is this part's, and each is taken once at a time.
        let row_of = |r: usize| unsafe { partials.row_mut(number * count + r) };
        for r in 0..count {
            Partial::start(row_of(r));
        }
        for keys in blocks(seen_by_any(group, number)) {
            for from in (0..count).step_by(TOGETHER) {
                let rows = &group[from..(from + TOGETHER).min(count)];
                let row_of = |r| row_of(from + r);
                let space = BlockMemory {
                    queries: &queries[from * width..],
                    weights: &mut *weights,
                    copy: &mut *copy,
                };
                match rows.len() {
                    4 => attend_block::<T, S, 4, K>(simd, rows, &keys, space, row_of),
                    3 => attend_block::<T, S, 3, K>(simd, rows, &keys, space, row_of),
                    2 => attend_block::<T, S, 2, K>(simd, rows, &keys, space, row_of),
                    _ => attend_block::<T, S, 1, K>(simd, rows, &keys, space, row_of),
                }
            }
        }
    }
}

/// The keys of a part inside the band of any query: from the first start to the last end of both ranges.
#[inline(always)]
fn seen_by_any<T: Real>(group: &Group<'_, T>, number: usize) -> [Range<usize>; 2] {
    let seen = |query: &Query<'_, T>| visible_part(&query.head, query.id.row, number);
    let cover = |[a, b]: [Range<usize>; 2], [c, d]: [Range<usize>; 2]| {
        [a.start.min(c.start)..a.end.max(c.end), b.start.min(d.start)..b.end.max(d.end)]
    };
    group.iter().map(seen).reduce(cover).unwrap_or_default()
}

/// Copies the queries side by side, with zeros up to a multiple of sixteen columns.
#[inline(always)]
fn copy_queries<T: Real>(group: &Group<'_, T>, width: usize, copies: &mut [T]) {
    for (copy, Query { head, id }) in copies.chunks_exact_mut(width.max(1)).zip(group) {
        copy.fill(T::ZERO);
        for (c, number) in copy[..head.q.columns].iter_mut().enumerate() {
            *number = head.q.at(id.row, c);
        }
    }
}

// A few queries against one block of keys: the three steps of the plain version's `attend_keys`.

/// The memory of a block.
struct BlockMemory<'s, T> {
    /// The queries side by side, padded with zeros to a multiple of sixteen columns.
    pub queries: &'s [T],
    /// A row of scores, then weights, for each query.
    pub weights: &'s mut [[T; BLOCK]],
    /// The block's keys, then its values, where their rows are not contiguous.
    pub copy: &'s mut [T],
}

/// Attends from G queries to the block `keys` and updates their partial results, which `partial` gives by index. K registers
/// hold sixteen numbers.
#[inline(always)]
fn attend_block<'p, T: Real, S: Simd<T>, const G: usize, const K: usize>(
    simd: S,
    group: &[Query<'_, T>],
    keys: &Range<usize>,
    space: BlockMemory<'_, T>,
    partial: impl Fn(usize) -> &'p mut [T],
) {
    let BlockMemory { queries, weights, copy } = space;
    let visibility: [BlockVisibility; G] = std::array::from_fn(|r| {
        let Query { head, id } = &group[r];
        head.visibility.of_block(&(id.row..id.row + 1), keys)
    });
    if visibility.iter().all(|visibility| matches!(visibility, BlockVisibility::None)) {
        return;
    }
    // Key j is at j mod BLOCK, so that its lane is j mod 16; places without a key of this block have weight 0.
    for weights in &mut weights[..G] {
        weights.fill(T::NEG_INFINITY);
    }
    let Head { k, v, .. } = group[0].head;
    let k = k.rows(keys).contiguous(copy);
    // Takes as many keys at a time as give sixteen dot products, or as many as there are registers for.
    match (G, K) {
        (1, 1) => scores::<T, S, G, K, 16>(simd, k, keys, queries, weights),
        (2, 1) | (1, 2) => scores::<T, S, G, K, 8>(simd, k, keys, queries, weights),
        (_, 1) | (2, 2) | (1, 4) => scores::<T, S, G, K, 4>(simd, k, keys, queries, weights),
        (_, 2) | (2, 4) => scores::<T, S, G, K, 2>(simd, k, keys, queries, weights),
        _ => scores::<T, S, G, K, 1>(simd, k, keys, queries, weights),
    }
    let mut correction = [T::ZERO; G];
    for r in 0..G {
        let Query { head, id } = &group[r];
        let used = keys.start % BLOCK..keys.start % BLOCK + keys.len();
        scale_and_hide(simd, head, id.row, keys, &visibility[r], &mut weights[r][used.clone()]);
        let row = partial(r);
        correction[r] = weigh::<T, S, K>(simd, &head.exp2(0), used, &mut weights[r], row);
    }
    let v = v.rows(keys).contiguous(copy);
    if visibility.iter().all(|visibility| matches!(visibility, BlockVisibility::All)) {
        let accumulators = std::array::from_fn(|r| Partial::of(partial(r)).accumulator);
        add_values::<T, S, G>(simd, v, keys, weights, &correction, accumulators);
    } else {
        for r in 0..G {
            let accumulator = Partial::of(partial(r)).accumulator;
            add_visible_values(v, keys, &weights[r], &visibility[r], correction[r], accumulator);
        }
    }
}

// Step 1 for a few queries: the scores of a block of keys.

/// The scores of G queries, J keys at a time: every register of a key is multiplied by all queries.
#[inline(always)]
fn scores<T: Real, S: Simd<T>, const G: usize, const K: usize, const J: usize>(
    simd: S,
    k: View<'_, T>,
    keys: &Range<usize>,
    queries: &[T],
    scores: &mut [[T; BLOCK]],
) {
    let mut j = keys.start;
    while j + J <= keys.end {
        let dots = dots::<T, S, G, K, J>(simd, k, j - keys.start, queries);
        for r in 0..G {
            for ahead in 0..J {
                scores[r][(j + ahead) % BLOCK] = dots[r * J + ahead];
            }
        }
        j += J;
    }
    for j in j..keys.end {
        let dots = dots::<T, S, G, K, 1>(simd, k, j - keys.start, queries);
        for r in 0..G {
            scores[r][j % BLOCK] = dots[r];
        }
    }
}

/// `dots[r·J + a] = q_r · k_j` for j = first + a, J keys and G queries, at most sixteen pairs.
#[inline(always)]
fn dots<T: Real, S: Simd<T>, const G: usize, const K: usize, const J: usize>(
    simd: S,
    k: View<'_, T>,
    first: usize,
    queries: &[T],
) -> [T; VIRTUAL_LANES] {
    let whole = k.columns - k.columns % VIRTUAL_LANES;
    let width = k.columns.next_multiple_of(VIRTUAL_LANES);
    assert!(queries.len() >= G * width);
    let keys: [&[T]; J] = std::array::from_fn(|ahead| k.row(first + ahead, 0));
    let prefetch = PREFETCH_ROWS * k.row_stride();
    let mut sums = [[simd.splat(T::ZERO); K]; VIRTUAL_LANES];
    for column in (0..whole).step_by(VIRTUAL_LANES) {
        let sixteen = SixteenColumns { keys, queries, width, column, prefetch };
        // SAFETY: sixteen columns are left in every key, and in every query, whose row is as long as the width.
        unsafe { sixteen.multiply_add::<S, G, K>(simd, &mut sums) };
    }
    if whole < k.columns {
        let mut padded = [[T::ZERO; VIRTUAL_LANES]; J];
        for (padded, key) in padded.iter_mut().zip(keys) {
            padded[..k.columns - whole].copy_from_slice(&key[whole..]);
        }
        let keys: [&[T]; J] = std::array::from_fn(|ahead| &padded[ahead][..]);
        let sixteen = SixteenColumns { keys, queries: &queries[whole..], width, column: 0, prefetch: 0 };
        // SAFETY: as above; the padded keys have sixteen columns.
        unsafe { sixteen.multiply_add::<S, G, K>(simd, &mut sums) };
    }
    fold_all(simd, sums, G * J)
}

/// Sixteen columns of J keys and of the queries.
struct SixteenColumns<'n, T, const J: usize> {
    keys: [&'n [T]; J],
    /// The queries side by side, each `width` long.
    queries: &'n [T],
    width: usize,
    /// The first of the sixteen columns.
    column: usize,
    /// Prefetch distance, in numbers.
    prefetch: usize,
}

impl<T: Real, const J: usize> SixteenColumns<'_, T, J> {
    /// Adds the products of these columns, for J keys and G queries, to the sums.
    ///
    /// # Safety
    /// Every key and query has these sixteen columns.
    #[inline(always)]
    unsafe fn multiply_add<S: Simd<T>, const G: usize, const K: usize>(
        &self,
        simd: S,
        sums: &mut [[S::Register; K]; VIRTUAL_LANES],
    ) {
        for part in 0..K {
            let at = self.column + part * S::LANES;
            for ahead in 0..J {
                prefetch_near(self.keys[ahead].as_ptr().wrapping_add(at + self.prefetch));
                // SAFETY: the caller has sixteen columns there.
                let key = unsafe { simd.load(self.keys[ahead].get_unchecked(at..)) };
                for r in 0..G {
                    // SAFETY: as above.
                    let query = unsafe { simd.load(self.queries.get_unchecked(r * self.width + at..)) };
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
            RegisterSoftCap::new(simd, soft_cap).replace_all(scores, soft_cap);
        }
    }
    for (at, score) in scores.iter_mut().enumerate() {
        if !visibility.is_visible(at) {
            *score = T::NEG_INFINITY;
        }
    }
}

// Step 2 for a few queries: scores become weights.

/// Replaces the scores of a row by weights and updates the state behind its accumulator, `row`. Returns the correction of older
/// sums. `used` are the places of keys.
#[inline(always)]
fn weigh<T: Real, S: Simd<T>, const K: usize>(
    simd: S,
    exp2: &Exp2<T>,
    used: Range<usize>,
    scores: &mut [T; BLOCK],
    row: &mut [T],
) -> T {
    let old = Partial::of(row).state;
    let scores =
        &mut scores[used.start / VIRTUAL_LANES * VIRTUAL_LANES..used.end.next_multiple_of(VIRTUAL_LANES)];
    let mut max = [simd.splat(old.max); K];
    for (at, numbers) in scores.chunks_exact(S::LANES).enumerate() {
        // SAFETY: a chunk is as long as a register.
        max[at % K] = simd.max(max[at % K], unsafe { simd.load(numbers) });
    }
    let max = virtual_lanes(simd, max).into_iter().fold(T::NEG_INFINITY, T::max);
    let raised = SoftmaxState { max, sum: old.sum };
    let (reference, lanes) = (simd.splat(raised.reference()), RegisterExp2::new(simd, exp2));
    let mut sums = [simd.splat(T::ZERO); K];
    for (at, numbers) in scores.chunks_exact_mut(S::LANES).enumerate() {
        // SAFETY: a chunk is as long as a register.
        unsafe {
            let weights = lanes.of(simd.sub(simd.load(numbers), reference));
            sums[at % K] = simd.add(sums[at % K], weights);
            simd.store(weights, numbers);
        }
    }
    let correction = exp2.correction(old.max - raised.reference());
    let sum = raised.sum.mul_add(correction, fold(virtual_lanes(simd, sums)));
    Partial::set_state(row, SoftmaxState { max, sum });
    correction
}

// Step 3 for a few queries: the weighted values.

/// Adds the values to the accumulators of G queries, each times its weight; the last columns one by one.
#[inline(always)]
fn add_values<T: Real, S: Simd<T>, const G: usize>(
    simd: S,
    v: View<'_, T>,
    keys: &Range<usize>,
    weights: &[[T; BLOCK]],
    correction: &[T; G],
    mut accumulators: [&mut [T]; G],
) {
    // Takes as many registers of columns at a time as leave room for their sums of all queries: each value is loaded once.
    let from = if G <= 2 {
        add_registers::<T, S, G, 8>(simd, v, keys, weights, correction, &mut accumulators, 0)
    } else {
        0
    };
    let from = add_registers::<T, S, G, 4>(simd, v, keys, weights, correction, &mut accumulators, from);
    let from = add_registers::<T, S, G, 1>(simd, v, keys, weights, correction, &mut accumulators, from);
    for c in from..v.columns {
        for r in 0..G {
            let mut sum = T::ZERO;
            for j in keys.clone() {
                sum = v.at(j - keys.start, c).mul_add(weights[r][j % BLOCK], sum);
            }
            accumulators[r][c] = accumulators[r][c].mul_add(correction[r], sum);
        }
    }
}

/// C registers of columns at a time, from column `from` on; returns the first column that is left.
#[inline(always)]
fn add_registers<T: Real, S: Simd<T>, const G: usize, const C: usize>(
    simd: S,
    v: View<'_, T>,
    keys: &Range<usize>,
    weights: &[[T; BLOCK]],
    correction: &[T; G],
    accumulators: &mut [&mut [T]; G],
    from: usize,
) -> usize {
    let mut column = from;
    while column + C * S::LANES <= v.columns {
        let mut sums = [[simd.splat(T::ZERO); C]; G];
        for j in keys.clone() {
            let values = v.row(j - keys.start, column);
            for part in 0..C {
                prefetch_near(values.as_ptr().wrapping_add(part * S::LANES + PREFETCH_ROWS * v.row_stride()));
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

/// Adds the values of the visible keys, for one query and a block with hidden keys; hidden values are not read.
#[inline(always)]
fn add_visible_values<T: Real>(
    v: View<'_, T>,
    keys: &Range<usize>,
    weights: &[T; BLOCK],
    visibility: &BlockVisibility,
    correction: T,
    accumulator: &mut [T],
) {
    const STRIP: usize = 64;
    for (strip, accumulator) in accumulator.chunks_mut(STRIP).enumerate() {
        let mut sums = [T::ZERO; STRIP];
        for (at, j) in keys.clone().enumerate().filter(|(at, _)| visibility.is_visible(*at)) {
            for (c, sum) in sums[..accumulator.len()].iter_mut().enumerate() {
                *sum = v.at(at, strip * STRIP + c).mul_add(weights[j % BLOCK], *sum);
            }
        }
        for (x, sum) in accumulator.iter_mut().zip(sums) {
            *x = x.mul_add(correction, sum);
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

/// The scratch memory of [`FinishRow`], in bytes.
pub(crate) fn scratch_bytes_to_finish<T: Real>(group: &Group<'_, T>) -> usize {
    let row = |query: &Query<'_, T>| {
        Scratch::bytes_of::<T>(query.head.v.columns) + plain::decode_scratch_bytes(&query.head)
    };
    group.first().map_or(0, row)
}

/// Merges the parts of query r in their order, and writes its row.
///
/// # Safety
/// The rows of the outputs exist, all parts are finished, and no other thread reads or writes any of them meanwhile.
pub(crate) struct FinishRow<T>(PhantomData<T>);

/// The arguments of [`FinishRow`].
pub(crate) struct RowTask<'a, T> {
    pub group: &'a Group<'a, T>,
    /// The index of the query in the group.
    pub query: usize,
    pub scratch: Scratch<'a>,
    pub partials: &'a Partials<'a, T>,
    pub results: &'a Results<'a, T>,
}

impl<T: Real, S> Work<S> for FinishRow<T> {
    type Input<'a> = RowTask<'a, T>;
    type Output = ();

    #[inline(always)]
    unsafe fn run(_: S, RowTask { group, query: r, mut scratch, partials, results }: RowTask<'_, T>) {
        let Query { head, id } = &group[r];
        let exp2 = head.exp2(0);
        let row = scratch.take::<T>(head.v.columns);
        row.fill(T::ZERO);
        let mut whole = SoftmaxState::start(head, 0);
        for number in 0..parts(head.k.rows) {
            // SAFETY: the part is finished.
            let partial = Partial::of(unsafe { partials.row_mut(number * group.len() + r) });
            merge(&exp2, &mut whole, row, partial.state, partial.accumulator);
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
