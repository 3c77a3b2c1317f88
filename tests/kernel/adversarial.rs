//! Inputs that were made to break an online softmax: the error stays below the promised bound in every implementation.

use attn::kernel::{Attention, BLOCK, Band, Real};

use crate::oracle::{Judged, Shares};
use crate::problem::{Arrangement, Problem, Shape, Stored};
use crate::random::Random;
use crate::sights::Sight;
use crate::{judge_everywhere, note, run_everywhere};

/// Tiles and few queries, more and fewer queries than keys, and a cache of several parts.
fn shapes() -> impl Iterator<Item = Shape> {
    let grouped = Shape { heads: 6, kv_heads: 2, queries: 2, keys: 140, width: 16, value_width: 9 };
    let one_head =
        [(1, 1, 1), (17, 129, 8), (33, 65, 17), (40, 3, 64), (3, 300, 31), (1, 2100, 8), (20, 300, 4)];
    one_head
        .into_iter()
        .map(|(t, n, d)| Shape::one_head(t, n, d))
        .chain([grouped, Shape { queries: 8, ..grouped }])
}

/// Judges a family of problems, one for every shape, in both kinds of numbers.
macro_rules! judge_both {
    ($what:literal, $problem:expr) => {{
        let single = judge_family::<f32>($what, $problem);
        let double = judge_family::<f64>($what, $problem);
        note(&format!(
            "{}: at most {:.1} % of the promised error in f32, {:.1} % in f64; log-sum-exp {:.1} %, {:.1} %",
            $what,
            100.0 * single.output,
            100.0 * double.output,
            100.0 * single.log_sum_exp,
            100.0 * double.log_sum_exp,
        ));
    }};
}

fn judge_family<T: Judged>(what: &str, problem: impl Fn(Shape, &mut Random) -> Problem<T>) -> Shares {
    let judge = |(seed, shape)| judge_everywhere(&problem(shape, &mut Random::new(seed)), what);
    (0..).zip(shapes()).map(judge).fold(Shares::default(), Shares::larger)
}

fn normal<T: Real>(shape: Shape, random: &mut Random) -> Problem<T> {
    Problem::normal(shape, [Arrangement::Stacked; 3], random)
}

/// Numbers of N(0, 1) with queries `factor` times as large.
fn with_large_queries<T: Real>(factor: f64, shape: Shape, random: &mut Random) -> Problem<T> {
    let mut problem = normal(shape, random);
    problem.q =
        Stored::new(Arrangement::Stacked, (shape.heads, shape.queries, shape.width), T::ZERO, |_, _, _| {
            T::from_f64(factor * random.normal())
        });
    problem
}

/// Scores that are exactly `score(key)`, the same for every query: the first column alone is not zero.
fn with_scores<T: Real>(shape: Shape, random: &mut Random, score: impl Fn(usize) -> f64) -> Problem<T> {
    let first = |x: f64, c: usize| if c == 0 { T::from_f64(x) } else { T::ZERO };
    let values = |_, _, _| T::from_f64(random.normal());
    let mut problem = Problem::of(shape, |_, _, c| first(1.0, c), |_, j, c| first(score(j), c), values);
    problem.scale = Some(T::ONE);
    problem
}

#[test]
fn inputs_of_a_normal_distribution_are_off_by_a_millionth_at_most() {
    fn judge<T: Judged>(share_of_u: f64) {
        for (seed, shape) in shapes().enumerate() {
            let problem = normal::<T>(shape, &mut Random::new(seed as u64));
            let results = run_everywhere(&problem, "N(0, 1)");
            for (r, row) in results.rows.iter().enumerate() {
                let (h, i) = (r / shape.queries, r % shape.queries);
                let exact = crate::oracle::exact_row(&problem, h, i).expect("every key is seen");
                let share = exact.judge(&problem, row, results.log_sum_exps[r]).output;
                let error = share * exact.bound(&problem);
                assert!(error <= share_of_u * T::UNIT * exact.largest_value, "{shape:?}: {error:e}");
            }
        }
    }
    // 1e-6 is 16.8 u of f32; f64 is held to the same number of its own.
    judge::<f32>(16.777_216);
    judge::<f64>(16.777_216);
}

#[test]
fn normal_inputs_keep_the_bound() {
    judge_both!("N(0, 1)", normal);
}

#[test]
fn every_way_to_hide_keys_keeps_the_bound() {
    fn judge<T: Judged>() -> Shares {
        let mut largest = Shares::default();
        for sight in Sight::ALL {
            let hidden = |shape, random: &mut Random| {
                let mut problem = normal::<T>(shape, random);
                sight.hide(&mut problem, random);
                problem
            };
            largest = largest.larger(judge_family(&format!("{sight:?}"), hidden));
        }
        largest
    }
    note(&format!(
        "hidden keys: shares of the promised error {:?} in f32, {:?} in f64",
        judge::<f32>(),
        judge::<f64>()
    ));
}

#[test]
fn scores_a_thousand_times_as_large_keep_the_bound() {
    judge_both!("scores × 1e3", |shape, random| with_large_queries(1e3, shape, random));
}

#[test]
fn scores_of_1e30_keep_the_bound() {
    judge_both!("scores × 1e30", |shape, random| with_large_queries(1e30, shape, random));
}

#[test]
fn scores_of_1e30_choose_the_value_of_the_largest() {
    fn check<T: Judged>() {
        for (seed, shape) in shapes().enumerate() {
            let largest = shape.keys * 2 / 3;
            let score = |j: usize| 1e30 * if j == largest { 3.0 } else { (j % 7) as f64 / 7.0 };
            let problem = with_scores::<T>(shape, &mut Random::new(seed as u64), score);
            let results = run_everywhere(&problem, "one score is far above");
            for (r, row) in results.rows.iter().enumerate() {
                for (c, x) in row.iter().enumerate() {
                    let value = problem.v.at(shape.kv_head(r / shape.queries), largest, c);
                    assert!(x.bits() == value.bits(), "{}: {shape:?}: {x:?} instead of {value:?}", T::NAME);
                }
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn equal_scores_give_the_mean_of_the_values() {
    judge_both!("equal scores", |shape, random| with_scores(shape, random, |_| 0.375));
}

#[test]
fn zeros_of_either_sign_are_equal_scores() {
    judge_both!("scores of ±0", |shape: Shape, random: &mut Random| {
        let mut problem = with_scores(shape, random, |j| if j % 2 == 0 { 0.0 } else { -0.0 });
        problem.q = Stored::new(
            Arrangement::Stacked,
            (shape.heads, shape.queries, shape.width),
            Real::ZERO,
            |_, i, _| Real::from_f64(if i % 2 == 0 { -0.0 } else { 0.0 }),
        );
        problem
    });
}

#[test]
fn ascending_scores_keep_the_bound() {
    judge_both!("ascending scores", |shape, random| with_scores(shape, random, |j| j as f64 / 16.0 - 3.0));
    judge_both!("steeply ascending scores", |shape, random| with_scores(shape, random, |j| j as f64 * 3.0));
}

#[test]
fn descending_scores_keep_the_bound() {
    judge_both!("descending scores", |shape, random| with_scores(shape, random, |j| 3.0 - j as f64 / 16.0));
}

#[test]
fn one_late_spike_keeps_the_bound() {
    judge_both!("a late spike", |shape: Shape, random| {
        with_scores(shape, random, |j| if j + 1 == shape.keys { 50.0 } else { 0.25 * (j % 5) as f64 })
    });
    judge_both!("a late small spike", |shape: Shape, random| {
        with_scores(shape, random, |j| if j + 2 == shape.keys { 4.0 } else { 0.25 * (j % 5) as f64 })
    });
}

#[test]
fn weights_at_the_smallest_normal_number_are_themselves_or_0() {
    /// Scores around the one whose weight is the smallest normal number, in steps of a unit in the last place, beside a
    /// largest of 0 whose value is 0: what is left of the output is their weights alone.
    fn check<T: Judged>(exponent: i32) {
        for keys in [2, 60, 129] {
            for queries in [1, 33] {
                let shape = Shape::one_head(queries, keys, 3);
                let cut = f64::from(exponent) * std::f64::consts::LN_2;
                let score = |j: usize| cut * (1.0 + (j as f64 - 64.0) * T::UNIT * 2.0);
                let mut problem =
                    with_scores::<T>(shape, &mut Random::new(0), |j| if j == 0 { 0.0 } else { score(j) });
                for (j, c) in (0..keys).flat_map(|j| (0..3).map(move |c| (j, c))) {
                    problem.v.set(0, j, c, if j == 0 { T::ZERO } else { T::ONE });
                }
                let results = run_everywhere(&problem, "weights at the cut");
                let most = libm::scalbn(1.0 + 1e-4, exponent) * keys as f64;
                let share = results.rows[0][0].to_f64() / most;
                assert!((0.0..=1.0).contains(&share), "{}: {keys} keys: {share}", T::NAME);
                assert!(keys < 129 || share > 0.3, "{}: half of them are above the cut: {share}", T::NAME);
            }
        }
    }
    check::<f32>(-126);
    check::<f64>(-1022);
}

#[test]
fn hidden_keys_keep_the_bound_wherever_they_are() {
    let masks: [(&str, fn(&Shape, usize, usize) -> bool); 7] = [
        ("the first key is hidden", |_, _, j| j != 0),
        ("the last key is hidden", |shape, _, j| j + 1 != shape.keys),
        ("the first block is hidden", |_, _, j| j >= BLOCK),
        ("the second block is hidden", |_, _, j| j / BLOCK != 1),
        ("every third row is hidden", |_, i, _| i % 3 != 0),
        ("all rows are hidden", |_, _, _| false),
        ("all but the last key are hidden", |shape, _, j| j + 1 == shape.keys),
    ];
    fn judge<T: Judged>(what: &str, sees: fn(&Shape, usize, usize) -> bool) {
        judge_family::<T>(what, |shape, random| normal(shape, random).masked(|_, i, j| sees(&shape, i, j)));
        let bias = |sees: bool| if sees { T::from_f64(0.5) } else { T::NEG_INFINITY };
        judge_family::<T>(what, |shape, random| {
            normal(shape, random).biased(|_, i, j| bias(sees(&shape, i, j)))
        });
    }
    for (what, sees) in masks {
        judge::<f32>(what, sees);
        judge::<f64>(what, sees);
    }
}

#[test]
fn bands_of_every_kind_keep_the_bound() {
    let bands: [(&str, fn(&Shape) -> Band); 6] = [
        ("causal, the queries last", |shape| Band::causal(shape.queries, shape.keys)),
        ("causal, the queries first", |_| Band { from: None, until: Some(1) }),
        ("a window of one", |_| Band { from: Some(0), until: Some(1) }),
        ("an empty window", |_| Band { from: Some(1), until: Some(1) }),
        ("a window beyond the keys", |shape| Band { from: Some(shape.keys as isize), until: None }),
        ("a window across blocks", |_| Band { from: Some(100), until: Some(150) }),
    ];
    fn judge<T: Judged>(what: &str, band: fn(&Shape) -> Band) {
        judge_family::<T>(what, |shape, random| Problem { band: band(&shape), ..normal(shape, random) });
    }
    for (what, band) in bands {
        judge::<f32>(what, band);
        judge::<f64>(what, band);
    }
}

#[test]
fn a_scale_of_any_sign_and_size_keeps_the_bound() {
    for scale in [-1.0, -0.125, 0.0, -0.0, 1e-30, 3.0, 1e-44] {
        judge_family::<f32>("a scale", |shape, random| Problem {
            scale: Some(scale as f32),
            ..normal(shape, random)
        });
        judge_family::<f64>("a scale", |shape, random| Problem {
            scale: Some(scale),
            ..normal(shape, random)
        });
    }
}

#[test]
fn the_largest_scale_there_is_keeps_the_bound() {
    fn judge<T: Judged>(largest: T, tiny: f64) {
        judge_family::<T>("the largest scale", |shape, random| {
            let mut problem = with_scores(shape, random, |j| tiny * (j % 9) as f64);
            problem.scale = Some(largest);
            problem
        });
    }
    judge::<f32>(f32::MAX, f64::from(f32::MIN_POSITIVE));
    judge::<f64>(f64::MAX, f64::MIN_POSITIVE);
}

#[test]
fn a_scale_that_is_no_number_is_refused() {
    let problem = normal::<f32>(Shape::one_head(2, 2, 2), &mut Random::new(0));
    for scale in [f32::NAN, f32::INFINITY] {
        let attention = Attention { scale, ..problem.attention() };
        let layout = attn::kernel::Layout::stacked(1, 2, 2);
        let refused = attn::kernel::attend(&attention, crate::plain(), (&mut [0.0; 4], layout), None);
        assert!(refused.unwrap_err().to_string().contains("scale"), "{scale}");
    }
}
