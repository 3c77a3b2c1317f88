//! The error stays below the promised bound in every implementation, whatever the inputs are made for.

use crate::{Attention, Layout, Output, attend};

use super::everywhere::{judge_everywhere, run_everywhere};
use super::families::{Family, with_scores};
use super::oracle::{Shares, TestFloat, exact_row};
use super::problem::{Arrangement, Problem, Shape};
use super::random::Random;
use super::{note, plain};

/// Tiles and few queries, more and fewer queries than keys, shared keys, and a cache of several parts.
fn shapes() -> impl Iterator<Item = Shape> {
    let grouped = Shape { heads: 6, kv_heads: 2, queries: 2, keys: 140, width: 16, value_width: 9 };
    let one_head = [
        (1, 1, 1),
        (17, 129, 8),
        (33, 65, 17),
        (40, 3, 64),
        (3, 300, 31),
        (1, 2100, 8),
        (7, 1028, 3),
        (20, 300, 4),
    ];
    let one_head = one_head.into_iter().map(|(queries, keys, width)| Shape::one_head(queries, keys, width));
    one_head.chain([grouped, Shape { queries: 8, ..grouped }])
}

fn judge_families(families: impl Fn(&Family) -> bool) {
    let mut tested = 0;
    for family in Family::all().filter(families) {
        fn judge<T: TestFloat>(family: Family) -> Shares {
            let judge = |(seed, shape)| {
                let problem = family.problem::<T>(shape, &mut Random::new(seed));
                judge_everywhere(&problem, &format!("{family:?}"))
            };
            (0..).zip(shapes()).map(judge).fold(Shares::default(), Shares::max)
        }
        note(&format!("{family:?}: f32 {}, f64 {}", judge::<f32>(family), judge::<f64>(family)));
        tested += 1;
    }
    assert!(tested > 0, "no such family");
}

#[test]
fn normal_inputs_keep_the_bound() {
    judge_families(|family| *family == Family::Normal);
}

#[test]
fn scores_of_thousands_and_of_1e30_keep_the_bound() {
    judge_families(|family| matches!(family, Family::LargeQueries(_)));
}

#[test]
fn equal_scores_keep_the_bound_and_so_do_zeros_of_either_sign() {
    judge_families(|family| matches!(family, Family::Equal | Family::Zeros));
}

#[test]
fn ascending_and_descending_scores_keep_the_bound() {
    judge_families(|family| matches!(family, Family::Ascending(_) | Family::Descending));
}

#[test]
fn one_late_spike_keeps_the_bound() {
    judge_families(|family| matches!(family, Family::Spike(_)));
}

#[test]
fn keys_hidden_by_a_mask_keep_the_bound() {
    judge_families(|family| matches!(family, Family::Masked(_)));
}

#[test]
fn keys_hidden_by_a_bias_keep_the_bound() {
    judge_families(|family| matches!(family, Family::Biased(_)));
}

#[test]
fn keys_hidden_by_position_keep_the_bound() {
    judge_families(|family| matches!(family, Family::Banded(_)));
}

#[test]
fn keys_hidden_at_random_keep_the_bound() {
    judge_families(|family| matches!(family, Family::Masking(_)));
}

#[test]
fn a_scale_of_any_sign_and_size_keeps_the_bound() {
    judge_families(|family| matches!(family, Family::Scale(_)));
}

#[test]
fn every_variant_keeps_the_bound() {
    judge_families(|family| matches!(family, Family::Variant(_)));
}

#[test]
fn inputs_of_a_normal_distribution_are_off_by_a_millionth_at_most() {
    fn judge<T: TestFloat>(units: f64) {
        for (seed, shape) in shapes().enumerate() {
            let problem = Family::Normal.problem::<T>(shape, &mut Random::new(seed as u64));
            let results = run_everywhere(&problem, "N(0, 1)");
            for (r, row) in results.rows.iter().enumerate() {
                let exact = exact_row(&problem, r / shape.queries, r % shape.queries).expect("all is seen");
                let share = exact.judge(&problem, row, results.log_sum_exps[r]).output;
                let error = share * exact.bound(&problem);
                assert!(error <= units * T::UNIT * exact.max_value, "{shape:?}: {error:e}");
            }
        }
    }
    // 1e−6 is 16.8 u of f32; f64 is held to as many of its own.
    judge::<f32>(16.777_216);
    judge::<f64>(16.777_216);
}

#[test]
fn one_score_of_1e30_above_all_gives_its_value_exactly() {
    fn check<T: TestFloat>() {
        for (seed, shape) in shapes().enumerate() {
            let peak = shape.keys * 2 / 3;
            let score = |j: usize| 1e30 * if j == peak { 3.0 } else { (j % 7) as f64 / 7.0 };
            let problem = with_scores::<T>(shape, &mut Random::new(seed as u64), score);
            let results = run_everywhere(&problem, "one score is far above");
            for (r, row) in results.rows.iter().enumerate() {
                for (c, x) in row.iter().enumerate() {
                    let value = problem.v.at(shape.kv_head(r / shape.queries), peak, c);
                    assert!(x.bits() == value.bits(), "{}: {shape:?}: {x:?}, not {value:?}", T::NAME);
                }
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn weights_at_the_smallest_normal_number_are_themselves_or_0() {
    /// Scores around the one whose weight is the smallest normal number, in steps of a unit in the last place, beside a
    /// max of 0 whose value is 0: what is left of the output is their weights alone.
    fn check<T: TestFloat>(exponent: i32) {
        for (queries, keys) in [(1, 2), (1, 129), (33, 60), (33, 129)] {
            let shape = Shape::one_head(queries, keys, 3);
            let cut = f64::from(exponent) * std::f64::consts::LN_2;
            let score = |j: usize| if j == 0 { 0.0 } else { cut * (1.0 + (j as f64 - 64.0) * T::UNIT * 2.0) };
            let mut problem = with_scores::<T>(shape, &mut Random::new(0), score);
            for j in 0..keys {
                problem.v.set_row(0, j, if j == 0 { T::ZERO } else { T::ONE });
            }
            let results = run_everywhere(&problem, "weights at the cut");
            let most = libm::scalbn(1.0 + 1e-4, exponent) * keys as f64;
            let share = results.rows[0][0].to_f64() / most;
            assert!((0.0..=1.0).contains(&share), "{}: {keys} keys: {share}", T::NAME);
            assert!(keys < 129 || share > 0.3, "{}: half of them are above the cut: {share}", T::NAME);
        }
    }
    check::<f32>(-126);
    check::<f64>(-1022);
}

#[test]
fn the_largest_scale_there_is_keeps_the_bound() {
    fn judge<T: TestFloat>(max: T, tiny: T) {
        for (seed, shape) in shapes().enumerate() {
            let score = |j: usize| tiny.to_f64() * (j % 9) as f64;
            let mut problem = with_scores::<T>(shape, &mut Random::new(seed as u64), score);
            problem.scale = Some(max);
            judge_everywhere(&problem, "the largest scale");
        }
    }
    judge(f32::MAX, f32::MIN_POSITIVE);
    judge(f64::MAX, f64::MIN_POSITIVE);
}

#[test]
fn a_scale_that_is_no_number_is_refused() {
    let problem = Family::Normal.problem::<f32>(Shape::one_head(2, 2, 2), &mut Random::new(0));
    for scale in [f32::NAN, f32::INFINITY] {
        let attention = Attention { scale, ..problem.attention() };
        let mut output = [0.0; 4];
        let refused = attend(&attention, plain(), Output::new(&mut output, Layout::stacked(1, 2, 2)));
        assert!(refused.unwrap_err().to_string().contains("scale"), "{scale}");
    }
}

#[test]
fn problems_without_queries_keys_or_columns_give_zeros_or_nothing() {
    for queries in [0, 1, 9, 33] {
        for (keys, width, value_width) in [(0, 5, 3), (4, 0, 3), (200, 0, 1), (4, 5, 0), (0, 0, 0)] {
            for (heads, kv_heads) in [(2, 1), (0, 0), (0, 2)] {
                let shape = Shape { heads, kv_heads, queries, keys, width, value_width };
                for arrangement in Arrangement::ALL {
                    fn judge<T: TestFloat>(shape: Shape, arrangement: Arrangement) {
                        let problem = Problem::<T>::normal(shape, [arrangement; 3], &mut Random::new(0));
                        judge_everywhere(&problem, &format!("something is empty, {arrangement:?}"));
                    }
                    judge::<f32>(shape, arrangement);
                    judge::<f64>(shape, arrangement);
                }
            }
        }
    }
}
