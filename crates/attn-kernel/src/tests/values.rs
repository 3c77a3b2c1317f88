//! Values at the ends of the format: the weighted sum of values that are almost too large or too small is still good.

use crate::Kernels;

use super::everywhere::{judge_everywhere, run_everywhere};
use super::oracle::TestFloat;
use super::problem::{Arrangement, Problem, Results, Shape};
use super::promise::Promise;
use super::random::Random;

/// Narrow tiles and wider ones, few queries, and a cache of several parts.
const SHAPES: [(usize, usize, usize); 7] =
    [(1, 1, 1), (1, 129, 5), (3, 40, 33), (17, 129, 8), (33, 65, 17), (70, 150, 3), (1, 1100, 8)];

/// A problem of every shape whose values are `value(random, key, column)`.
fn with_values<T: Kernels>(
    value: impl Fn(&mut Random, usize, usize) -> T,
) -> impl Iterator<Item = Problem<T>> {
    (0..).zip(SHAPES).map(move |(seed, (queries, keys, width))| {
        let mut random = Random::new(seed);
        let shape = Shape::one_head(queries, keys, width);
        let mut problem = Problem::normal(shape, [Arrangement::Stacked; 3], &mut random);
        for (j, c) in (0..keys).flat_map(|j| (0..width).map(move |c| (j, c))) {
            problem.v.set(0, j, c, value(&mut random, j, c));
        }
        problem
    })
}

/// −MIN / 4.
fn quarter<T: Kernels>() -> T {
    -T::MIN * T::from_f64(0.25)
}

/// The promised share that the weighted sum of equal values may be off: errors of the scores do not matter to it.
fn bound_of_equal_values<T: TestFloat>(shape: Shape) -> f64 {
    let Shape { width, keys, .. } = shape;
    Promise { unit: T::UNIT, least: 0.0, width, keys, max_score: 0.0, soft_cap: None }.output(1.0)
}

#[test]
fn values_of_a_quarter_of_the_largest_number_keep_the_bound() {
    fn judge<T: TestFloat>() {
        for problem in with_values::<T>(|random, _, _| match random.below(2) {
            0 => quarter(),
            _ => -quarter::<T>(),
        }) {
            judge_everywhere(&problem, "V of ±MAX/4");
        }
    }
    judge::<f32>();
    judge::<f64>();
}

#[test]
fn sums_that_would_overflow_keep_the_bound() {
    fn judge<T: TestFloat>() {
        for problem in with_values::<T>(|_, _, _| quarter()) {
            judge_everywhere(&problem, "V of +MAX/4");
        }
        // Only some rows overflow, and only in some columns: those that see many keys.
        for mut problem in with_values::<T>(|random, _, c| match c % 3 {
            0 => -quarter::<T>(),
            _ => T::from_f64(random.normal()),
        }) {
            problem.band.until = Some(1);
            judge_everywhere(&problem, "V of −MAX/4 in some columns, causal");
        }
    }
    judge::<f32>();
    judge::<f64>();
}

#[test]
fn values_of_half_the_largest_number_come_back_finite() {
    fn check<T: TestFloat>() {
        for problem in with_values::<T>(|_, _, _| -T::MIN * T::from_f64(0.5)) {
            let results = run_everywhere(&problem, "V of MAX/2");
            let bound = bound_of_equal_values::<T>(problem.shape);
            for x in results.rows.iter().flatten() {
                let share = x.to_f64() / (-0.5 * T::MIN.to_f64());
                assert!((share - 1.0).abs() <= bound, "{}: {:?}: {x:?}", T::NAME, problem.shape);
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn subnormal_values_are_not_flushed() {
    fn judge<T: TestFloat>() {
        for problem in with_values::<T>(|random, _, _| {
            let whole = (1 + random.below(1000)) as f64;
            T::from_f64(libm::scalbn(if random.below(2) == 0 { whole } else { -whole }, T::LEAST_EXPONENT))
        }) {
            judge_everywhere(&problem, "subnormal V");
        }
    }
    judge::<f32>();
    judge::<f64>();
}

#[test]
fn the_mean_of_equal_subnormal_values_is_that_value() {
    fn check<T: TestFloat>() {
        let (tiny, least) = (libm::scalbn(77.0, T::LEAST_EXPONENT), libm::scalbn(1.0, T::LEAST_EXPONENT));
        for mut problem in with_values::<T>(|_, _, _| T::from_f64(tiny)) {
            problem.scale = Some(T::ZERO);
            let results = run_everywhere(&problem, "equal subnormal V");
            for x in results.rows.iter().flatten() {
                assert!((x.to_f64() - tiny).abs() <= least, "{}: {:?}: {x:?}", T::NAME, problem.shape);
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn zeros_of_either_sign_mix_to_plus_0() {
    fn check<T: TestFloat>(zero: T) {
        for problem in with_values::<T>(|_, _, _| zero) {
            let results = run_everywhere(&problem, "V of ±0");
            let plus = results.rows.iter().flatten().all(|x| x.bits() == T::ZERO.bits());
            assert!(plus, "{}: {:?}", T::NAME, problem.shape);
        }
    }
    check(0.0f32);
    check(-0.0f32);
    check(0.0f64);
    check(-0.0f64);
}

#[test]
fn the_weights_of_every_row_sum_to_1() {
    fn check<T: TestFloat>() {
        for problem in with_values::<T>(|_, _, _| T::ONE) {
            let results: Results<T> = run_everywhere(&problem, "V of ones");
            let bound = bound_of_equal_values::<T>(problem.shape);
            for x in results.rows.iter().flatten() {
                let error = (x.to_f64() - 1.0).abs();
                assert!(error <= bound, "{}: {:?}: {error:e}", T::NAME, problem.shape);
            }
        }
    }
    check::<f32>();
    check::<f64>();
}
