//! What must not matter, does not: the order of the keys, and what is added to all scores of a row.

use crate::Kernels;
use proptest::prelude::*;

use super::everywhere::run_everywhere;
use super::oracle::{TestFloat, exact_row};
use super::problem::{Arrangement, Problem, Shape};
use super::random::Random;

fn shape() -> impl Strategy<Value = Shape> {
    let heads = prop_oneof![Just((1, 1)), Just((4, 2)), Just((3, 1))];
    (heads, 1..40usize, 1..150usize, 1..40usize, 1..20usize).prop_map(
        |((heads, kv_heads), queries, keys, width, value_width)| Shape {
            heads,
            kv_heads,
            queries,
            keys,
            width,
            value_width,
        },
    )
}

/// The outputs of two problems with the same exact results differ by less than what is promised of one.
#[track_caller]
fn assert_within_bound<T: TestFloat>(a: &Problem<T>, b: &Problem<T>) {
    let (first, second) = (run_everywhere(a, "one"), run_everywhere(b, "the other"));
    for (r, (x, y)) in first.rows.iter().zip(&second.rows).enumerate() {
        let exact = exact_row(b, r / b.shape.queries, r % b.shape.queries).expect("every key is seen");
        let bound = exact.bound(b);
        for (x, y) in x.iter().zip(y) {
            let difference = libm::scalbn(x.to_f64() - y.to_f64(), -exact.exponent).abs();
            assert!(difference <= bound, "{}: {x:?} and {y:?}, bound {bound:e}", T::NAME);
        }
    }
}

fn with_permuted_keys<T: Kernels>(problem: &Problem<T>, random: &mut Random) -> Problem<T> {
    let shape = problem.shape;
    let mut order: Vec<usize> = (0..shape.keys).collect();
    for j in (1..shape.keys).rev() {
        order.swap(j, random.below(j + 1));
    }
    Problem::of(
        shape,
        |h, i, c| problem.q.at(h, i, c),
        |h, j, c| problem.k.at(h, order[j], c),
        |h, j, c| problem.v.at(h, order[j], c),
    )
}

/// The row's constant is the same for all its keys.
fn with_constants<T: Kernels>(problem: &Problem<T>) -> Problem<T> {
    let constants = [0.0, 1.0, -3.5, 20.0, 0.015_625];
    problem.clone().biased(|h, i, _| T::from_f64(constants[(h + i) % constants.len()]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_the_keys_matters_less_than_the_bound(shape in shape(), seed in any::<u64>()) {
        fn check<T: TestFloat>(shape: Shape, seed: u64) {
            let mut random = Random::new(seed);
            let problem = Problem::<T>::normal(shape, [Arrangement::Stacked; 3], &mut random);
            assert_within_bound(&problem, &with_permuted_keys(&problem, &mut random));
        }
        check::<f32>(shape, seed);
        check::<f64>(shape, seed);
    }

    #[test]
    fn a_constant_added_to_a_row_of_scores_matters_less_than_the_bound(shape in shape(), seed in any::<u64>()) {
        fn check<T: TestFloat>(shape: Shape, seed: u64) {
            let problem = Problem::<T>::normal(shape, [Arrangement::Stacked; 3], &mut Random::new(seed));
            assert_within_bound(&problem, &with_constants(&problem));
        }
        check::<f32>(shape, seed);
        check::<f64>(shape, seed);
    }
}
