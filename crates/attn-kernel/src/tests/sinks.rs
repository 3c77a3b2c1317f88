//! What is known of sinks, soft caps and biases by distance without computing them.

use crate::{Attention, Heads, Kernels, Layout, Output, attend};

use super::everywhere::{assert_same_bits, run_everywhere};
use super::oracle::{TestFloat, judge};
use super::plain;
use super::problem::{Arrangement, Problem, Results, Shape};
use super::random::Random;

/// Few queries, tiles, one key, and a cache of several parts.
const SHAPES: [(usize, usize, usize); 7] =
    [(1, 1, 1), (1, 129, 5), (3, 40, 33), (17, 129, 8), (33, 65, 17), (70, 150, 3), (2, 2100, 8)];

/// N(0, 1), four heads over two.
fn problems<T: Kernels>() -> impl Iterator<Item = Problem<T>> {
    (0..).zip(SHAPES).map(|(seed, (queries, keys, width))| {
        let shape = Shape { heads: 4, kv_heads: 2, ..Shape::one_head(queries, keys, width) };
        Problem::normal(shape, [Arrangement::Stacked; 3], &mut Random::new(seed))
    })
}

/// The results of one problem are those of the other, within what is promised of both.
#[track_caller]
fn assert_as_exact_as<T: TestFloat>(reference: &Problem<T>, found: &Results<T>, what: &str) {
    judge(reference, found, what);
}

#[test]
fn a_sink_of_minus_infinity_gives_the_bits_of_no_sink() {
    fn check<T: Kernels>() {
        for mut problem in problems::<T>() {
            let without = run_everywhere(&problem, "no sink");
            problem.sinks = Some(vec![T::NEG_INFINITY; 4]);
            assert_same_bits(&without, &run_everywhere(&problem, "-inf"), "sinks of -inf");
            // Beside heads with a sink too.
            problem.sinks = Some(vec![T::NEG_INFINITY, T::ONE, T::ZERO, T::NEG_INFINITY]);
            let some = run_everywhere(&problem, "some sinks");
            for r in 0..without.rows.len() {
                let head = r / problem.shape.queries;
                let is_same = without.row(r).zip(some.row(r)).all(|(a, b)| a.bits() == b.bits());
                assert_eq!(is_same, head == 0 || head == 3, "{}: head {head}", T::NAME);
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_sink_of_0_adds_1_to_the_sum_of_the_exponentials() {
    fn check<T: TestFloat>() {
        for mut problem in problems::<T>() {
            let shape = problem.shape;
            problem.sinks = Some(vec![T::ZERO; 4]);
            let results = run_everywhere(&problem, "sinks of 0");
            for r in 0..results.rows.len() {
                let (h, i) = (r / shape.queries, r % shape.queries);
                let dot = |j| -> f64 {
                    let product = |c| problem.q.at(h, i, c).to_f64() * problem.k.at(h / 2, j, c).to_f64();
                    (0..shape.width).map(product).sum()
                };
                let exp = |j| libm::exp(dot(j) / (shape.width as f64).sqrt());
                let sum: f64 = (0..shape.keys).map(exp).sum();
                assert!((results.log_sum_exps[r].to_f64() - libm::log1p(sum)).abs() < 1e-4, "{}", T::NAME);
                for (c, x) in results.rows[r].iter().enumerate() {
                    let mixed: f64 =
                        (0..shape.keys).map(|j| exp(j) * problem.v.at(h / 2, j, c).to_f64()).sum();
                    assert!(
                        (x.to_f64() - mixed / (1.0 + sum)).abs() < 1e-5,
                        "{}: {shape:?}, row {r}",
                        T::NAME
                    );
                }
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_sink_far_above_all_scores_takes_all_weight() {
    fn check<T: Kernels>() {
        for mut problem in problems::<T>() {
            let sink = T::from_f64(1e4);
            problem.sinks = Some(vec![sink; 4]);
            let results = run_everywhere(&problem, "a sink of 1e4");
            assert!(results.rows.iter().flatten().all(|x| x.bits() == T::ZERO.bits()), "{}", T::NAME);
            assert!(results.log_sum_exps.iter().all(|x| x.bits() == sink.bits()), "{}", T::NAME);
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_row_that_sees_nothing_is_0_with_a_sink_too_and_its_log_sum_exp_is_the_sink() {
    fn check<T: Kernels>() {
        for problem in problems::<T>() {
            // Everything hidden from some rows, from all of them, and by position.
            let some = problem.clone().masked(|_, i, _| i % 2 == 1);
            let all = problem.clone().masked(|_, _, _| false);
            let mut band = problem.clone();
            band.band.until = Some(isize::MIN);
            for (mut problem, step) in [(some, 2), (all, 1), (band, 1)] {
                let sinks = [-2.5, 0.0, 3.25, 1e30].map(T::from_f64);
                problem.sinks = Some(sinks.to_vec());
                let results = run_everywhere(&problem, "hidden rows and sinks");
                for (h, i) in
                    (0..4).flat_map(|h| (0..problem.shape.queries).step_by(step).map(move |i| (h, i)))
                {
                    let r = h * problem.shape.queries + i;
                    assert!(results.rows[r].iter().all(|x| x.bits() == T::ZERO.bits()), "{}", T::NAME);
                    assert_eq!(results.log_sum_exps[r].bits(), sinks[h].bits(), "{}: head {h}", T::NAME);
                }
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn values_whose_sum_overflows_keep_the_bound_beside_a_sink() {
    fn check<T: TestFloat>() {
        for mut problem in problems::<T>() {
            let quarter = -T::MIN * T::from_f64(0.25);
            for (h, j) in (0..2).flat_map(|h| (0..problem.shape.keys).map(move |j| (h, j))) {
                problem.v.set_row(h, j, quarter);
            }
            problem.sinks = Some([-3.0, 0.0, 1.0, 5.0].map(T::from_f64).to_vec());
            let results = run_everywhere(&problem, "V of MAX/4 and sinks");
            assert_as_exact_as(&problem, &results, "V of MAX/4 and sinks");
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_cap_of_1e30_is_no_cap_within_the_bound() {
    fn check<T: TestFloat>() {
        for problem in problems::<T>() {
            let capped = Problem { soft_cap: Some(T::from_f64(1e30)), ..problem.clone() };
            assert_as_exact_as(&problem, &run_everywhere(&capped, "a cap of 1e30"), "a cap of 1e30");
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_bias_by_distance_gives_the_bits_of_that_bias_for_each_pair() {
    fn check<T: Kernels>() {
        for problem in problems::<T>() {
            let number = |h: usize, distance: isize| match (distance + 3 * h as isize).rem_euclid(11) {
                0 => T::NEG_INFINITY,
                rest => T::from_f64(rest as f64 / 4.0 - 1.0),
            };
            let by_pair = problem.clone().biased(|h, i, j| number(h, j as isize - i as isize));
            let by_distance = problem.relatively_biased(number);
            let (pairs, distances) =
                (run_everywhere(&by_pair, "pairs"), run_everywhere(&by_distance, "distances"));
            assert_same_bits(&pairs, &distances, "by distance instead of by pair");
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_bias_of_0_by_distance_is_none_within_the_bound_and_to_the_bit_beside_another() {
    fn check<T: TestFloat>() {
        for problem in problems::<T>() {
            let zero = |problem: &Problem<T>| problem.clone().relatively_biased(|_, _| T::ZERO);
            assert_as_exact_as(&problem, &run_everywhere(&zero(&problem), "zeros"), "zeros");
            let biased = problem.biased(|_, i, j| T::from_f64((i + 2 * j) as f64 / 64.0 + 1.0));
            let (one, both) =
                (run_everywhere(&biased, "a bias"), run_everywhere(&zero(&biased), "and zeros"));
            assert_same_bits(&one, &both, "zeros beside a bias");
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_cap_does_not_bring_hidden_keys_back() {
    fn check<T: Kernels>() {
        for mut problem in problems::<T>() {
            problem.soft_cap = Some(T::ONE);
            let hidden = |j: usize| j % 3 == 1;
            let bias = |_, _, j| if hidden(j) { T::NEG_INFINITY } else { T::ZERO };
            let masked = run_everywhere(&problem.clone().masked(|_, _, j| !hidden(j)), "a mask");
            let biased = run_everywhere(&problem.clone().biased(bias), "a bias");
            assert_same_bits(&masked, &biased, "a mask and a bias of -inf, capped");
        }
    }
    check::<f32>();
    check::<f64>();
}

/// The message for a problem of four query heads, three queries and five keys.
fn refused(change: impl for<'a> FnOnce(&mut Attention<'a, f32>, &'a [f32])) -> String {
    let numbers = [0.5; 4 * 5 * 2];
    let heads = |heads, rows| Heads::new("x", &numbers, Layout::stacked(heads, rows, 2)).expect("it fits");
    let mut attention = Attention::new(heads(4, 3), heads(2, 5), heads(2, 5));
    change(&mut attention, &numbers);
    let mut output = [0.0; 4 * 3 * 2];
    attend(&attention, plain(), Output::new(&mut output, Layout::stacked(4, 3, 2))).unwrap_err().to_string()
}

#[test]
fn what_does_not_fit_is_refused_with_both_numbers_and_the_remedy() {
    let sinks = refused(|attention, numbers| attention.sinks = Some(&numbers[..3]));
    assert_eq!(sinks, "3 sinks cannot serve 4 query heads: there must be one for each");
    for sink in [f32::NAN, f32::INFINITY] {
        let mut sinks = [0.0; 4];
        sinks[2] = sink;
        let message = refused(|attention, _| attention.sinks = Some(Box::leak(Box::new(sinks))));
        let is_named = message.contains(&format!("the sink {sink:?} of query head 2"));
        assert!(is_named && message.contains("give a finite number, or -inf"), "{message}");
    }
    let relative = refused(|attention, numbers| {
        let layout = Layout::stacked(4, 1, 8);
        attention.relative_bias = Some(Heads::new("relative", numbers, layout).expect("it fits"));
    });
    assert!(relative.contains("4 heads of 1×8") && relative.contains("N + T − 1 = 7 numbers"), "{relative}");
    let cap = refused(|attention, _| attention.soft_cap = Some(0.0));
    assert!(cap.contains("the soft cap 0.0"), "{cap}");
}
