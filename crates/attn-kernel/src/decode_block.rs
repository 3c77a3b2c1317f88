//! The lane version for few queries, one block of keys: the three steps of the plain version's `attend_keys`.

use std::ops::Range;

use super::decode::{Partial, Row};
use super::exp2::RegisterExp2;
use super::layout::View;
use super::plain::{BLOCK, Normalizer};
use super::plain_decode::{VIRTUAL_LANES, fold};
use super::problem::Head;
use super::real::Real;
use super::simd::Simd;
use super::visible::Seen;

/// So many rows before its turn a key, or a value, is asked for from memory. Without, 8192 keys took half as long again.
const AHEAD: usize = 16;

/// G queries against a block of keys: the three steps of the plain version's `attend_keys`.
#[inline(always)]
pub(super) fn attend_block<'p, T: Real, S: Simd<T>, const G: usize, const K: usize>(
    simd: S,
    rows: &[Row<'_, T>],
    keys: &Range<usize>,
    queries: &[T],
    (weights, copy): (&mut [[T; BLOCK]], &mut [T]),
    partial: impl Fn(usize) -> &'p mut [T],
) {
    let seen: [Seen; G] = std::array::from_fn(|r| {
        let Row { head, query, .. } = &rows[r];
        head.sight.of_block(&(*query..query + 1), keys)
    });
    if seen.iter().all(|seen| matches!(seen, Seen::Nothing)) {
        return;
    }
    // Key j stands at j mod BLOCK, so that its lane is j mod 16; what is not a key here has weight 0.
    for weights in &mut weights[..G] {
        weights.fill(T::NEG_INFINITY);
    }
    let Head { k, v, .. } = rows[0].head;
    let k = k.block((keys.start, keys.len()), (0, k.columns)).with_neighbours(copy);
    // As many keys at a time as give sixteen dot products, or as many as there are registers for.
    match (G, K) {
        (1, 1) => scores::<T, S, G, K, 16>(simd, k, keys, queries, weights),
        (2, 1) | (1, 2) => scores::<T, S, G, K, 8>(simd, k, keys, queries, weights),
        (_, 1) | (2, 2) | (1, 4) => scores::<T, S, G, K, 4>(simd, k, keys, queries, weights),
        (_, 2) | (2, 4) => scores::<T, S, G, K, 2>(simd, k, keys, queries, weights),
        _ => scores::<T, S, G, K, 1>(simd, k, keys, queries, weights),
    }
    let mut correction = [T::ZERO; G];
    for r in 0..G {
        let Row { head, query, .. } = &rows[r];
        let used = keys.start % BLOCK..keys.start % BLOCK + keys.len();
        scale_and_hide(head, *query, keys, &seen[r], &mut weights[r][used.clone()]);
        let row = partial(r);
        correction[r] = weigh::<T, S, K>(simd, head, used, &mut weights[r], row);
    }
    let v = v.block((keys.start, keys.len()), (0, v.columns)).with_neighbours(copy);
    if seen.iter().all(|seen| matches!(seen, Seen::Everything)) {
        let mixtures = std::array::from_fn(|r| Partial::of(partial(r)).mixture);
        mix::<T, S, G>(simd, v, keys, weights, &correction, mixtures);
    } else {
        for r in 0..G {
            mix_seen(v, keys, &weights[r], &seen[r], correction[r], Partial::of(partial(r)).mixture);
        }
    }
}

/// Step 1: the scores of G queries, J keys at a time: every register of a key meets all of the queries.
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
    let later = AHEAD * k.row_stride();
    let mut sums = [[simd.splat(T::ZERO); K]; VIRTUAL_LANES];
    for column in (0..whole).step_by(VIRTUAL_LANES) {
        // SAFETY: sixteen columns are left in every key, and in every query, whose row is as long as the width.
        unsafe {
            multiply_sixteen::<T, S, G, K, J>(simd, (keys, later), queries, (column, width), &mut sums)
        };
    }
    if whole < k.columns {
        let mut padded = [[T::ZERO; VIRTUAL_LANES]; J];
        for (padded, key) in padded.iter_mut().zip(keys) {
            padded[..k.columns - whole].copy_from_slice(&key[whole..]);
        }
        let keys = std::array::from_fn(|ahead| &padded[ahead][..]);
        // SAFETY: as above; the padded keys have sixteen columns, and are all there is of them.
        unsafe {
            multiply_sixteen::<T, S, G, K, J>(simd, (keys, 0), &queries[whole..], (0, width), &mut sums)
        };
    }
    fold_all(simd, sums, G * J)
}

/// Adds the products of sixteen columns, from `column` on, of J keys and G queries, whose rows are `width` long; asks for
/// what lies `later` numbers behind each.
///
/// # Safety
/// Every key and query has sixteen columns there.
#[inline(always)]
unsafe fn multiply_sixteen<T: Real, S: Simd<T>, const G: usize, const K: usize, const J: usize>(
    simd: S,
    (keys, later): ([&[T]; J], usize),
    queries: &[T],
    (column, width): (usize, usize),
    sums: &mut [[S::Register; K]; VIRTUAL_LANES],
) {
    for part in 0..K {
        let at = column + part * S::LANES;
        for ahead in 0..J {
            simd.prefetch(keys[ahead], at + later);
            // SAFETY: the caller has sixteen columns there.
            let key = unsafe { simd.load(keys[ahead].get_unchecked(at..)) };
            for r in 0..G {
                // SAFETY: as above.
                let query = unsafe { simd.load(queries.get_unchecked(r * width + at..)) };
                let sum = &mut sums[r * J + ahead][part];
                *sum = simd.mul_add(key, query, *sum);
            }
        }
    }
}

/// [`fold`] for `count` sums of sixteen lanes, a register of results at a time: where two sums are halved, one exchange of
/// half registers puts the halves that are to be added above each other.
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

/// The scale and the bias where they come first, and −∞ for what is hidden.
#[inline(always)]
fn scale_and_hide<T: Real>(head: &Head<'_, T>, i: usize, keys: &Range<usize>, seen: &Seen, scores: &mut [T]) {
    for (at, (score, j)) in scores.iter_mut().zip(keys.clone()).enumerate() {
        if head.scale_first {
            *score = score.mul_add(head.scale, head.bias(i, j));
        }
        if !seen.is_seen(at) {
            *score = T::NEG_INFINITY;
        }
    }
}

/// Step 2: scores become weights; the row's normalizer is brought up to date. Gives what older sums are to be multiplied by.
#[inline(always)]
fn weigh<T: Real, S: Simd<T>, const K: usize>(
    simd: S,
    head: &Head<'_, T>,
    used: Range<usize>,
    scores: &mut [T; BLOCK],
    row: &mut [T],
) -> T {
    let columns = row.len() - 2;
    let exp2 = head.exp2(0);
    let before = row[columns];
    let scores =
        &mut scores[used.start / VIRTUAL_LANES * VIRTUAL_LANES..used.end.next_multiple_of(VIRTUAL_LANES)];
    let mut largest = [simd.splat(before); K];
    for (at, numbers) in scores.chunks_exact(S::LANES).enumerate() {
        // SAFETY: a chunk is as long as a register.
        largest[at % K] = simd.larger(largest[at % K], unsafe { simd.load(numbers) });
    }
    let largest = virtual_lanes(simd, largest).into_iter().fold(T::NEG_INFINITY, T::larger);
    let rising = Normalizer { largest, sum: row[columns + 1] };
    let (reference, lanes) = (simd.splat(rising.reference()), RegisterExp2::new(simd, &exp2));
    let mut sums = [simd.splat(T::ZERO); K];
    for (at, numbers) in scores.chunks_exact_mut(S::LANES).enumerate() {
        // SAFETY: a chunk is as long as a register.
        unsafe {
            let weights = lanes.of(simd.sub(simd.load(numbers), reference));
            sums[at % K] = simd.add(sums[at % K], weights);
            simd.store(weights, numbers);
        }
    }
    let correction = exp2.correction(before - rising.reference());
    row[columns] = largest;
    row[columns + 1] = rising.sum.mul_add(correction, fold(virtual_lanes(simd, sums)));
    correction
}

/// Step 3: the values, mixed by the weights of G queries; the last columns one by one.
#[inline(always)]
fn mix<T: Real, S: Simd<T>, const G: usize>(
    simd: S,
    v: View<'_, T>,
    keys: &Range<usize>,
    weights: &[[T; BLOCK]],
    correction: &[T; G],
    mut mixtures: [&mut [T]; G],
) {
    // So many registers of columns that their sums, for all queries, still fit the processor's: each value is loaded once.
    let from = if G <= 2 {
        mix_registers::<T, S, G, 8>(simd, v, keys, weights, correction, (&mut mixtures, 0))
    } else {
        0
    };
    let from = mix_registers::<T, S, G, 4>(simd, v, keys, weights, correction, (&mut mixtures, from));
    let from = mix_registers::<T, S, G, 1>(simd, v, keys, weights, correction, (&mut mixtures, from));
    for c in from..v.columns {
        for r in 0..G {
            let mut sum = T::ZERO;
            for j in keys.clone() {
                sum = v.at(j - keys.start, c).mul_add(weights[r][j % BLOCK], sum);
            }
            mixtures[r][c] = mixtures[r][c].mul_add(correction[r], sum);
        }
    }
}

/// C registers of columns at a time, from column `from` on; gives the first column that is left.
#[inline(always)]
fn mix_registers<T: Real, S: Simd<T>, const G: usize, const C: usize>(
    simd: S,
    v: View<'_, T>,
    keys: &Range<usize>,
    weights: &[[T; BLOCK]],
    correction: &[T; G],
    (mixtures, from): (&mut [&mut [T]; G], usize),
) -> usize {
    let mut column = from;
    while column + C * S::LANES <= v.columns {
        let mut sums = [[simd.splat(T::ZERO); C]; G];
        for j in keys.clone() {
            let values = v.row(j - keys.start, column);
            for part in 0..C {
                simd.prefetch(values, part * S::LANES + AHEAD * v.row_stride());
                // SAFETY: so many columns are left.
                let value = unsafe { simd.load(values.get_unchecked(part * S::LANES..)) };
                for r in 0..G {
                    let weight = simd.splat(weights[r][j % BLOCK]);
                    sums[r][part] = simd.mul_add(value, weight, sums[r][part]);
                }
            }
        }
        for r in 0..G {
            for part in 0..C {
                let mixture = &mut mixtures[r][column + part * S::LANES..][..S::LANES];
                // SAFETY: the mixture is as long as a register.
                unsafe {
                    let mixed = simd.mul_add(simd.load(mixture), simd.splat(correction[r]), sums[r][part]);
                    simd.store(mixed, mixture);
                }
            }
        }
        column += C * S::LANES;
    }
    column
}

/// Step 3, where some keys are hidden: their values are not touched.
#[inline(always)]
fn mix_seen<T: Real>(
    v: View<'_, T>,
    keys: &Range<usize>,
    weights: &[T; BLOCK],
    seen: &Seen,
    correction: T,
    mixture: &mut [T],
) {
    const STRIP: usize = 64;
    for (strip, mixture) in mixture.chunks_mut(STRIP).enumerate() {
        let mut sums = [T::ZERO; STRIP];
        for (at, j) in keys.clone().enumerate().filter(|(at, _)| seen.is_seen(*at)) {
            for (c, sum) in sums[..mixture.len()].iter_mut().enumerate() {
                *sum = v.at(at, strip * STRIP + c).mul_add(weights[j % BLOCK], *sum);
            }
        }
        for (mixture, sum) in mixture.iter_mut().zip(sums) {
            *mixture = mixture.mul_add(correction, sum);
        }
    }
}
