//! NaN and infinity go where they are seen, and nowhere else.

use crate::{Band, Kernels};

use super::everywhere::run_everywhere;
use super::problem::{Arrangement, Problem, Results, Shape};
use super::random::Random;
use super::same;
use super::sweep::one_in;

/// A tile of every width, and few queries; with two heads of keys.
fn shapes() -> impl Iterator<Item = Shape> {
    [(2, 140), (7, 20), (16, 33), (40, 140), (70, 20)].into_iter().map(|(queries, keys)| Shape {
        heads: 4,
        kv_heads: 2,
        queries,
        keys,
        width: 9,
        value_width: 17,
    })
}

/// The ways to hide key `hidden` from the queries that `hides` names.
fn hide<T: Kernels>(problem: Problem<T>, way: &str, hidden: usize) -> Problem<T> {
    let bias = |sees: bool| if sees { T::from_f64(0.25) } else { T::NEG_INFINITY };
    let shape = problem.shape;
    match way {
        "a mask" => problem.masked(|_, _, j| j != hidden),
        "a mask of some rows" => problem.masked(|_, i, j| j != hidden || i % 3 == 1),
        "a bias" => problem.biased(|_, _, j| bias(j != hidden)),
        "a bias of some rows" => problem.biased(|_, i, j| bias(j != hidden || i % 3 == 1)),
        "a causal mask" => Problem { band: Band::causal(shape.queries, shape.keys), ..problem },
        "a window" => Problem { band: Band { from: Some(0), until: Some(2), keep_first: 0 }, ..problem },
        "a window that keeps the first key" => {
            Problem { band: Band { from: Some(2), until: Some(9), keep_first: 1 }, ..problem }
        }
        "a bias by distance" => problem.relatively_biased(|_, distance| bias(distance % 3 != 1)),
        "a mask, capped and with sinks" => {
            let sinks = (0..shape.heads).map(|h| T::from_f64(h as f64 - 1.5)).collect();
            let masked = problem.masked(|_, i, j| j != hidden || i % 2 == 1);
            Problem { sinks: Some(sinks), soft_cap: Some(T::from_f64(3.0)), ..masked }
        }
        other => panic!("no way {other}"),
    }
}

const WAYS: [&str; 9] = [
    "a mask",
    "a mask of some rows",
    "a bias",
    "a bias of some rows",
    "a causal mask",
    "a window",
    "a window that keeps the first key",
    "a bias by distance",
    "a mask, capped and with sinks",
];

/// Rows that do not see the key keep their bits; rows that do are not numbers (the output at least).
#[track_caller]
fn assert_only_who_sees<T: Kernels>(
    problem: &Problem<T>,
    clean: &Results<T>,
    spoilt: &Results<T>,
    (kv_head, hidden): (usize, usize),
    what: &str,
) -> (usize, usize) {
    let (mut seeing, mut others) = (0, 0);
    for r in 0..clean.rows.len() {
        let (h, i) = (r / problem.shape.queries, r % problem.shape.queries);
        if problem.shape.kv_head(h) == kv_head && problem.sees(h, i, hidden) {
            let spoilt_row = spoilt.rows[r].iter().all(|x| !x.to_f64().is_finite());
            assert!(spoilt_row, "{what}: head {h}, query {i} sees it: {:?}", spoilt.rows[r]);
            seeing += 1;
        } else {
            let kept = clean.row(r).zip(spoilt.row(r)).all(|(a, b)| same(a, b) && !b.to_f64().is_nan());
            assert!(kept, "{what}: head {h}, query {i} does not see it: {:?}", spoilt.rows[r]);
            others += 1;
        }
    }
    (seeing, others)
}

/// Spoils key and value rows in every way and place.
fn spoil<T: Kernels>(spoilt: impl Fn(&mut Problem<T>, usize, usize), what: &str) {
    let (mut seeing, mut others) = (0, 0);
    for (seed, shape) in shapes().enumerate().step_by(one_in(2)) {
        for way in WAYS {
            for key in [0, 1, shape.keys / 2, shape.keys - 1] {
                let normal = Problem::normal(shape, [Arrangement::Padded; 3], &mut Random::new(seed as u64));
                let mut problem = hide::<T>(normal, way, key);
                let what = format!("{what}, hidden by {way}, key {key}, {}, {shape:?}", T::NAME);
                let clean = run_everywhere(&problem, &what);
                spoilt(&mut problem, 1, key);
                let results = run_everywhere(&problem, &what);
                let (more_seeing, more) = assert_only_who_sees(&problem, &clean, &results, (1, key), &what);
                (seeing, others) = (seeing + more_seeing, others + more);
            }
        }
    }
    assert!(
        seeing > 100 / one_in(2) && others > 1000 / one_in(2),
        "{what}: {seeing} rows see it, {others} do not"
    );
}

#[test]
fn nan_in_a_key_reaches_the_queries_that_see_it_alone() {
    spoil::<f32>(|problem, h, j| problem.k.set_row(h, j, f32::NAN), "NaN in K");
    spoil::<f64>(|problem, h, j| problem.k.set(h, j, 3, f64::NAN), "one NaN in K");
}

#[test]
fn nan_in_a_value_reaches_the_queries_that_see_it_alone() {
    spoil::<f32>(|problem, h, j| problem.v.set_row(h, j, f32::NAN), "NaN in V");
    spoil::<f64>(|problem, h, j| problem.v.set_row(h, j, f64::NAN), "NaN in V");
}

#[test]
fn nan_of_any_bits_in_a_key_reaches_the_queries_that_see_it_alone() {
    for bits in [0x7FC0_0001, 0x7FC0_01FF, 0xFFC0_01FF].into_iter().step_by(one_in(3)) {
        spoil::<f32>(
            |problem, h, j| problem.k.set_row(h, j, f32::from_bits(bits)),
            &format!("{bits:#x} in K"),
        );
    }
    for bits in [0x7FF8_0000_0000_07A2, 0xFFF8_0000_0000_07A2].into_iter().step_by(one_in(2)) {
        spoil::<f64>(
            |problem, h, j| problem.k.set(h, j, 3, f64::from_bits(bits)),
            &format!("{bits:#x} in K"),
        );
    }
}

#[test]
fn infinity_in_a_value_reaches_the_queries_that_see_it_alone() {
    spoil::<f32>(|problem, h, j| problem.v.set_row(h, j, f32::INFINITY), "+inf in V");
    spoil::<f64>(|problem, h, j| problem.v.set_row(h, j, f64::NEG_INFINITY), "-inf in V");
}

/// Every score with the key is +∞.
fn with_infinite_score<T: Kernels>(problem: &mut Problem<T>, h: usize, j: usize) {
    problem.k.set_row(h, j, T::ZERO);
    problem.k.set(h, j, 0, T::from_f64(f64::INFINITY));
    for (head, i) in (0..4).flat_map(|head| (0..problem.shape.queries).map(move |i| (head, i))) {
        problem.q.set(head, i, 0, T::ONE);
    }
}

#[test]
fn a_score_of_infinity_makes_a_row_of_nan_where_it_is_seen() {
    fn check<T: Kernels>() {
        for shape in shapes() {
            let normal = Problem::<T>::normal(shape, [Arrangement::Stacked; 3], &mut Random::new(3));
            let mut problem = hide(normal, "a mask of some rows", 5);
            with_infinite_score(&mut problem, 0, 5);
            let results = run_everywhere(&problem, "a score of +inf");
            for (r, row) in results.rows.iter().enumerate() {
                let (h, i) = (r / shape.queries, r % shape.queries);
                let sees = shape.kv_head(h) == 0 && problem.sees(h, i, 5);
                let as_expected = row.iter().all(|x| x.to_f64().is_nan() == sees);
                assert!(as_expected, "{}: {shape:?}: head {h}, query {i}: {row:?}", T::NAME);
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_soft_cap_makes_a_score_of_infinity_finite() {
    fn check<T: Kernels>() {
        for shape in shapes() {
            let normal = Problem::<T>::normal(shape, [Arrangement::Stacked; 3], &mut Random::new(3));
            let mut problem = Problem { soft_cap: Some(T::from_f64(20.0)), ..normal };
            with_infinite_score(&mut problem, 0, 5);
            let results = run_everywhere(&problem, "a score of +inf, capped");
            let finite =
                results.rows.iter().flatten().chain(&results.log_sum_exps).all(|x| x.to_f64().is_finite());
            assert!(finite, "{}: {shape:?}", T::NAME);
            // The other scores are far below the cap: the key's value is nearly all.
            for (c, x) in results.rows[0].iter().enumerate() {
                let value = problem.v.at(0, 5, c);
                assert!((x.to_f64() - value.to_f64()).abs() < 1e-3, "{}: {shape:?}: {x:?}", T::NAME);
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn nan_in_a_query_is_in_its_own_row_alone() {
    fn check<T: Kernels>() {
        for shape in shapes() {
            for i in [0, shape.queries / 2, shape.queries - 1] {
                let mut problem = Problem::<T>::normal(shape, [Arrangement::Stacked; 3], &mut Random::new(4));
                let clean = run_everywhere(&problem, "clean");
                problem.q.set(2, i, 5, T::from_f64(f64::NAN));
                let results = run_everywhere(&problem, "NaN in Q");
                for r in 0..results.rows.len() {
                    let mut pairs = clean.row(r).zip(results.row(r));
                    if r == 2 * shape.queries + i {
                        assert!(pairs.all(|(_, b)| b.to_f64().is_nan()), "{}: {shape:?}", T::NAME);
                    } else {
                        assert!(pairs.all(|(a, b)| a.bits() == b.bits()), "{}: {shape:?} row {r}", T::NAME);
                    }
                }
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn nan_in_the_bias_of_a_hidden_key_reaches_no_query() {
    fn check<T: Kernels>() {
        for shape in shapes() {
            let normal = Problem::<T>::normal(shape, [Arrangement::Stacked; 3], &mut Random::new(5));
            let with_bias = |hidden: T| {
                let bias = |_, _, j| if j % 5 == 2 { hidden } else { T::ONE };
                normal.clone().biased(bias).masked(|_, _, j| j % 5 != 2)
            };
            let clean = run_everywhere(&with_bias(T::ONE), "clean");
            let spoilt = run_everywhere(&with_bias(T::from_f64(f64::NAN)), "NaN in the bias");
            super::everywhere::assert_same_bits(&clean, &spoilt, "NaN in a hidden bias");
        }
    }
    check::<f32>();
    check::<f64>();
}
