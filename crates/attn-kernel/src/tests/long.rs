//! Rows of many keys: errors that grow with their number stay below a bound that does.

use crate::Kernels;

use super::everywhere::judge_everywhere;
use super::note;
use super::oracle::TestFloat;
use super::problem::{Problem, Shape};
use super::random::Random;
use super::sweep::one_in;

/// Eight or nine queries, and more keys than the blocks' sums are used to.
const SHAPES: [(usize, usize, usize); 2] = [(8, 20_000, 1), (9, 200_000, 2)];

/// All queries 1, the scale 1.
fn problem<T: Kernels>(
    (queries, keys, width): (usize, usize, usize),
    k: impl FnMut(usize, usize, usize) -> T,
) -> Problem<T> {
    let mut random = Random::new(3);
    let values = |_, _, _| T::from_f64(random.normal());
    let mut problem = Problem::of(Shape::one_head(queries, keys, width), |_, _, _| T::ONE, k, values);
    problem.scale = Some(T::ONE);
    problem
}

#[test]
fn one_score_above_many_equal_ones_keeps_the_bound() {
    // Every weight is off to the same side, and so is every block's sum.
    fn judge<T: TestFloat>() {
        for sizes in SHAPES.into_iter().step_by(one_in(2)) {
            let first = |_, j, c| T::from_f64(if (j, c) == (0, 0) { 0.01 } else { 0.0 });
            let shares = judge_everywhere(&problem(sizes, first), "one score above many");
            note(&format!("one score above many, {}, {sizes:?}: {shares}", T::NAME));
        }
    }
    judge::<f32>();
    judge::<f64>();
}

#[test]
fn many_scores_of_a_normal_distribution_keep_the_bound() {
    fn judge<T: TestFloat>() {
        for sizes in SHAPES.into_iter().step_by(one_in(2)) {
            let mut random = Random::new(4);
            let normal = |_, _, _| T::from_f64(0.1 * random.normal());
            let shares = judge_everywhere(&problem(sizes, normal), "many scores");
            note(&format!("many scores, {}, {sizes:?}: {shares}", T::NAME));
        }
    }
    judge::<f32>();
    judge::<f64>();
}
