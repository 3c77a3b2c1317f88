//! Windows that keep the first keys: what is known of them without computing them.

use crate::{Band, Kernels};

use super::everywhere::{assert_same_bits, run_everywhere};
use super::problem::{Arrangement, Problem, Shape};
use super::random::Random;

/// Few queries and tiles; one block, several, and several parts of a cache.
const SHAPES: [(usize, usize); 8] =
    [(1, 5), (1, 300), (7, 2100), (3, 1030), (16, 140), (40, 40), (70, 400), (150, 300)];

fn problems<T: Kernels>() -> impl Iterator<Item = Problem<T>> {
    (0..).zip(SHAPES).map(|(seed, (queries, keys))| {
        let shape = Shape { heads: 2, kv_heads: 1, ..Shape::one_head(queries, keys, 6) };
        Problem::normal(shape, [Arrangement::Padded; 3], &mut Random::new(seed))
    })
}

/// Windows up to the query's own key, where the queries are the last of the tokens.
fn window(shape: Shape, size: usize, keep_first: usize) -> Band {
    let own = shape.keys as isize - shape.queries as isize;
    Band { from: Some(own + 1 - size as isize), until: Some(own + 1), keep_first }
}

#[test]
fn a_window_that_keeps_the_first_keys_has_the_bits_of_that_mask() {
    fn check<T: Kernels>() {
        for problem in problems::<T>() {
            for (size, keep_first) in [(0, 3), (1, 1), (4, 4), (16, 130), (100, 4), (129, 127), (20, 128)] {
                let band = window(problem.shape, size, keep_first);
                let banded = Problem { band, ..problem.clone() };
                let masked = problem.clone().masked(|h, i, j| banded.sees(h, i, j));
                let what = format!("{:?}, {band:?}", problem.shape);
                assert_same_bits(&run_everywhere(&masked, &what), &run_everywhere(&banded, &what), &what);
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_window_that_keeps_all_keys_has_the_bits_of_no_window() {
    fn check<T: Kernels>() {
        for problem in problems::<T>() {
            for keep_first in [problem.shape.keys, usize::MAX] {
                let band = window(problem.shape, 3, keep_first);
                let causal = Band::causal(problem.shape.queries, problem.shape.keys);
                assert_eq!(causal.until, band.until);
                let [kept, causal] = [band, causal].map(|band| Problem { band, ..problem.clone() });
                let (kept, causal) = (run_everywhere(&kept, "all kept"), run_everywhere(&causal, "causal"));
                assert_same_bits(&causal, &kept, "all keys kept");
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_window_that_keeps_none_is_the_window() {
    let (band, keys) = (Band { from: Some(-2), until: Some(1), keep_first: 0 }, 9);
    for i in 0..9 {
        assert_eq!(band.keys(i, keys), [0..0, i.saturating_sub(2)..i + 1]);
    }
}

#[test]
fn the_two_ranges_hold_the_keys_that_the_definition_names() {
    let mut random = Random::new(8);
    for _ in 0..20_000 {
        let keys = random.below(12);
        let edge = |random: &mut Random| match random.below(5) {
            0 => None,
            _ => Some(random.below(30) as isize - 15),
        };
        let (from, until, keep_first) = (edge(&mut random), edge(&mut random), random.below(14));
        let band = Band { from, until, keep_first };
        for i in 0..12 {
            let at = i as isize;
            let [first, rest] = band.keys(i, keys);
            assert!(first.start <= first.end && first.end <= rest.start && rest.start <= rest.end);
            assert!(rest.end <= keys, "{band:?}");
            for j in 0..keys {
                let distance = j as isize - at;
                let sees = until.is_none_or(|until| distance < until)
                    && (j < keep_first || from.is_none_or(|from| distance >= from));
                assert_eq!(first.contains(&j) || rest.contains(&j), sees, "{band:?}: query {i}, key {j}");
                assert_eq!(band.sees(i, j, keys), sees, "{band:?}: query {i}, key {j}");
            }
        }
    }
}
