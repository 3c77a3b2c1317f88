//! Keys and values that no query sees are not even read: they lie in protected pages.
//!
//! Keys that no query sees by its position are skipped one by one; keys that masks hide from all queries, block by block.

use std::ops::Range;

use super::guarded::{GuardedNumbers, PAGE};
use super::ragged::Memory;
use crate::tests::sweep::one_in;
use crate::{Attention, BLOCK, Band, Heads, Kernels, Layout, Machine, Output, SimdLevel, attend};

/// Rows of keys that fill a page, most of it with the gaps behind them.
const ROWS: usize = 16;

/// d_k and d_v: a register and more.
const WIDTH: usize = 21;

/// Keys that no query sees, and the rule that hides them.
struct HiddenKeys {
    queries: usize,
    keys: usize,
    /// Both begin and end with a page.
    hidden: Vec<Range<usize>>,
    band: Band,
    by: By,
}

#[derive(Clone, Copy, PartialEq)]
enum By {
    Position,
    Mask,
    Bias,
}

/// Two query heads on one head of keys and values, whose columns are `apart`: the plain version's bits.
fn attend_to<T: Kernels>(level: SimdLevel, problem: &HiddenKeys, apart: usize) -> Vec<T> {
    let &HiddenKeys { queries, keys, band, by, .. } = problem;
    let stride = PAGE / ROWS / size_of::<T>();
    let heads = 2;
    let of_queries = Layout::stacked(heads, queries, WIDTH);
    let of_keys = Layout { row_stride: stride, column_stride: apart, ..Layout::stacked(1, keys, WIDTH) };
    let of_scores = Layout { head_stride: 0, ..Layout::stacked(heads, queries, keys) };
    let number = |seed: usize| move |i: usize| T::from_f64(((i * 7 + seed) % 13) as f64 / 8.0 - 0.75);
    let numbers = |seed, count| (0..count).map(number(seed)).collect::<Vec<T>>();
    let mut memory = [3, 5].map(|seed| GuardedNumbers::<T, true>::new(&numbers(seed, keys * stride)));
    for hidden in &problem.hidden {
        memory.iter_mut().for_each(|memory| memory.forbid(hidden.start * stride..hidden.end * stride));
    }
    let [k, v] = &mut memory;
    let q = numbers(2, heads * queries * WIDTH);
    let is_seen = |j: usize| problem.hidden.iter().all(|hidden| !hidden.contains(&j));
    let mask: Vec<bool> = (0..queries * keys).map(|at| is_seen(at % keys)).collect();
    let bias: Vec<T> = mask.iter().map(|&sees| if sees { T::ONE } else { T::NEG_INFINITY }).collect();
    let attention = Attention {
        band,
        mask: (by == By::Mask).then(|| Heads::new("mask", &mask, of_scores).expect("it fits")),
        bias: (by == By::Bias).then(|| Heads::new("bias", &bias, of_scores).expect("it fits")),
        ..Attention::new(
            Heads::new("q", &q, of_queries).expect("it fits"),
            Heads::new("k", k.numbers(), of_keys).expect("it fits"),
            Heads::new("v", v.numbers(), of_keys).expect("it fits"),
        )
    };
    let mut output = vec![T::ZERO; heads * queries * WIDTH];
    let mut lse = vec![T::ZERO; heads * queries];
    let machine = Machine { simd: level, threads: 2 };
    let to = Output::new(&mut output, of_queries).with_log_sum_exps(&mut lse);
    attend(&attention, machine, to).expect("it fits");
    assert!(lse.iter().all(|x| x.to_f64().is_finite()), "every query sees something");
    output.into_iter().chain(lse).collect()
}

fn check(problem: &HiddenKeys) {
    fn check_type<T: Kernels>(problem: &HiddenKeys) {
        for apart in [1, 2] {
            let plain: Vec<T> = attend_to(SimdLevel::Portable, problem, apart);
            for level in SimdLevel::available().filter(|level| *level != SimdLevel::Portable) {
                let found: Vec<T> = attend_to(level, problem, apart);
                let same = plain.iter().zip(&found).all(|(a, b)| a.bits() == b.bits());
                assert!(same, "{level}, {}: {} queries", T::NAME, problem.queries);
            }
        }
    }
    check_type::<f32>(problem);
    check_type::<f64>(problem);
}

/// Few queries, one tile, and several.
const QUERIES: [usize; 4] = [1, 7, 16, 48];

#[test]
fn keys_outside_every_window_are_not_read() {
    for queries in QUERIES.into_iter().step_by(one_in(2)) {
        // Inside a block, across two, and in the second part of a long cache.
        for (keys, seen) in [(256, 32..96), (256, 96..192), (1120, 1040..1104)] {
            let until = seen.end as isize - (queries as isize - 1);
            let band = Band { from: Some(seen.start as isize), until: Some(until), keep_first: 0 };
            let hidden = vec![0..seen.start, seen.end..keys];
            check(&HiddenKeys { queries, keys, hidden, band, by: By::Position });
        }
    }
}

#[test]
fn keys_between_the_first_and_every_window_are_not_read() {
    for queries in QUERIES.into_iter().step_by(one_in(2)) {
        // The first keys in a block of their own, in the block before, and with keys of that block that are hidden.
        for (keys, kept, seen) in [(256, 32, 144..208), (512, 16, 400..464), (1280, 144, 1104..1168)] {
            let until = seen.end as isize - (queries as isize - 1);
            let band = Band { from: Some(seen.start as isize), until: Some(until), keep_first: kept };
            let hidden = vec![kept..seen.start, seen.end..keys];
            check(&HiddenKeys { queries, keys, hidden, band, by: By::Position });
        }
    }
}

#[test]
fn a_causal_window_over_8192_keys_that_keeps_four_reads_no_more() {
    const KEYS: usize = 8192;
    for queries in [7, 1, 16].into_iter().step_by(one_in(3)) {
        // The window of the first query begins at a multiple of a page; the four kept keys fill a part of one.
        let window = 112;
        let first = KEYS - queries - (window - 1);
        let start = first / ROWS * ROWS;
        let own = (KEYS - queries) as isize;
        let band = Band { from: Some(start as isize), until: Some(own + 1), keep_first: 4 };
        let hidden = std::iter::once(ROWS..start).collect();
        check(&HiddenKeys { queries, keys: KEYS, hidden, band, by: By::Position });
    }
}

#[test]
fn keys_after_every_query_are_not_read_under_a_causal_mask() {
    for queries in QUERIES.into_iter().step_by(one_in(2)) {
        let seen = queries.next_multiple_of(ROWS);
        let band = Band { until: Some(1 + (seen - queries) as isize), ..Band::default() };
        let hidden = std::iter::once(seen..256).collect();
        check(&HiddenKeys { queries, keys: 256, hidden, band, by: By::Position });
    }
}

#[test]
fn blocks_that_a_mask_or_a_bias_empties_are_not_read() {
    for queries in QUERIES.into_iter().step_by(one_in(2)) {
        for by in [By::Mask, By::Bias] {
            for empty in [0..BLOCK, BLOCK..2 * BLOCK, 2 * BLOCK..3 * BLOCK] {
                let problem =
                    HiddenKeys { queries, keys: 3 * BLOCK, hidden: vec![empty], band: Band::default(), by };
                check(&problem);
            }
        }
    }
}
