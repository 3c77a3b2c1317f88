//! Nobody is accused wrongly: right results of random exercises, rounded in any way, and right results with noise.

use crate::common::one_in;
use crate::mistakes::{answer, by_hand, cases, named};
use attn::attention::Mask;
use attn::diagnose::{Answer, Clue, Examiner, Task, Tolerance, Verdict};
use attn::elementary;
use attn::graph::recipes::{AttendInputs, Output, Recipe};
use attn::matrix::Matrix;
use attn::random::LegacyStream;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// A random exercise: tokens and weights.
fn exercise(seed: u32, (rows, width, heads): (usize, usize, usize), causal: bool, residual: bool) -> Task {
    let mut stream = LegacyStream::seeded(seed);
    let mut drawn = |rows: usize, cols: usize| Some(stream.standard_normal_matrix(rows, cols).into());
    let all = width * heads;
    let inputs = AttendInputs {
        x: drawn(rows, all),
        w_q: drawn(all, all),
        w_k: drawn(all, all),
        w_v: drawn(all, all),
        w_o: if heads > 1 { drawn(all, all) } else { None },
        ..AttendInputs::default()
    };
    let recipe = Recipe {
        heads,
        kv_heads: heads,
        mask: Mask { causal, ..Mask::default() },
        output: Output { residual, ..Output::default() },
        ..Recipe::default()
    };
    Task::new(recipe, inputs).unwrap()
}

/// Rounded to this many binary digits, as a shorter type stores it.
fn stored(x: f64, digits: i32) -> f64 {
    if x == 0.0 {
        return x;
    }
    let unit = elementary::pow(2.0, x.abs().log2().floor() + 1.0 - f64::from(digits));
    (x / unit).round_ties_even() * unit
}

#[test]
fn right_results_that_are_rounded_or_noisy_get_no_name() {
    let shape = (3..7_usize, 2..4_usize, 1..3_usize);
    let strategy = (any::<u32>(), shape, any::<bool>(), any::<bool>());
    // The same exercises every time: chance may always have a name for some noise of others.
    let config = Config { cases: 10 / one_in(5) as u32, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    runner
        .run(&strategy, |(seed, shape, causal, residual)| {
            let task = exercise(seed, shape, causal, residual);
            let right = task.right()[task.right().find("O").unwrap()].matrix().unwrap().clone();
            let examiner = Examiner::new(task, Tolerance::default());
            for decimals in 1..6 {
                let diagnosis = examiner.examine(&[by_hand("O", &right, decimals)]).unwrap();
                prop_assert!(diagnosis.is_right(), "{decimals} decimals: {:?}", named(&diagnosis));
            }
            // Single precision, half precision and bfloat16.
            for digits in [24, 11, 8] {
                let mut handed = answer("O", &right.map(|x| stored(x, digits)));
                handed.roundoff = elementary::pow(2.0, -f64::from(digits));
                let diagnosis = examiner.examine(&[handed]).unwrap();
                prop_assert!(named(&diagnosis).is_empty(), "{digits} digits: {:?}", named(&diagnosis));
            }
            let mut stream = LegacyStream::seeded(seed ^ 1);
            for size in [1e-4, 1e-3, 1e-2, 0.1, 1.0] {
                let noise = stream.standard_normal_matrix(right.rows(), right.cols());
                let noisy =
                    Matrix::from_fn(right.rows(), right.cols(), |i, j| right[(i, j)] + size * noise[(i, j)]);
                // The same noise in one row alone, which is the easiest to take for a mistake in that row.
                let in_a_row = Matrix::from_fn(right.rows(), right.cols(), |i, j| {
                    right[(i, j)] + if i == 1 { size * noise[(i, j)] } else { 0.0 }
                });
                for handed in [
                    answer("O", &noisy),
                    by_hand("O", &noisy, 3),
                    answer("O", &in_a_row),
                    by_hand("O", &in_a_row, 3),
                ] {
                    let diagnosis = examiner.examine(&[handed]).unwrap();
                    prop_assert!(named(&diagnosis).is_empty(), "noise {size}: {:?}", named(&diagnosis));
                }
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn small_numbers_with_one_digit_are_right_if_rounded_correctly() {
    // The largest number of this result is 0.0804.
    let task = exercise(629_329_590, (3, 2, 1), false, false);
    let right = task.right()[task.right().find("O").unwrap()].matrix().unwrap().clone();
    assert!(right.cells().all(|x| x.abs() < 0.1) && right.cells().any(|x| x.abs() > 0.05));
    let examiner = Examiner::new(task, Tolerance::default());
    let is_right = |handed: &Matrix| examiner.examine(&[by_hand("O", handed, 1)]).unwrap().is_right();
    assert!(is_right(&right));
    // One number in the other direction is wrong, and zeros alone say nothing.
    let other = Matrix::from_fn(3, 2, |i, j| if (i, j) == (0, 1) { 0.0 } else { right[(i, j)] });
    assert!(!is_right(&other) && !is_right(&Matrix::filled(3, 2, 0.0)));
}

/// What is said of a node with other numbers than the right ones.
fn clues_of(task: Task, node: &str, change: impl Fn(usize, usize, f64) -> f64) -> Vec<Clue> {
    let right = task.right()[task.right().find(node).unwrap()].matrix().unwrap().clone();
    let yours = Matrix::from_fn(right.rows(), right.cols(), |i, j| change(i, j, right[(i, j)]));
    let examiner = Examiner::new(task, Tolerance::default());
    let diagnosis = examiner.examine(&[answer(node, &yours)]).unwrap();
    assert!(named(&diagnosis).is_empty(), "{:?}", named(&diagnosis));
    diagnosis.nodes[0].clues.clone()
}

#[test]
fn where_only_some_heads_are_wrong_the_clue_says_which() {
    let odd = |i: usize, j: usize| elementary::sin((7 * i + 3 * j) as f64);
    let task = exercise(5, (5, 3, 2), false, false);
    // Columns 4 to 6 of the joined heads are those of head 2.
    let clues = clues_of(task, "C", |i, j, right| if j >= 3 { right + odd(i, j) } else { right });
    let said = "Only head 2 of C is wrong; the other heads are right.";
    assert!(clues.iter().any(|clue| clue.sentence == said), "{clues:?}");
}

#[test]
fn a_little_noise_is_only_what_the_numbers_are_consistent_with() {
    let sign = |i: usize, j: usize| if (i + j).is_multiple_of(2) { 1.0 } else { -1.0 };
    let odd = |i: usize, j: usize| 0.015 * sign(i, j) * (1.0 + elementary::cos((5 * i + j) as f64).abs());
    let says = |clues: &[Clue], what: &str| clues.iter().any(|clue| clue.sentence.contains(what));
    let clues = clues_of(exercise(6, (5, 4, 1), false, false), "O", |i, j, right| right + odd(i, j));
    assert!(says(&clues, "consistent with noise"), "{clues:?}");
    let clues = clues_of(exercise(7, (5, 4, 1), false, false), "O", |i, j, right| right + 200.0 * odd(i, j));
    assert!(!says(&clues, "consistent with"), "{clues:?}");
}

#[test]
fn a_bias_of_the_keys_is_right_and_the_report_says_that_the_softmax_cancels_it() {
    let task = exercise(7, (5, 4, 1), false, false);
    let right = task.right()[task.right().find("S").unwrap()].matrix().unwrap().clone();
    let yours = Matrix::from_fn(5, 5, |i, j| right[(i, j)] + 0.37 * elementary::sin(i as f64 + 1.3));
    let diagnosis = Examiner::new(task, Tolerance::default()).examine(&[answer("S", &yours)]).unwrap();
    let Verdict::AnotherForm(form) = &diagnosis.nodes[0].verdict else {
        panic!("{:?}", diagnosis.nodes[0].verdict)
    };
    assert!(
        form.says.contains("a bias of the keys") && form.says.contains("the softmax cancels it"),
        "{}",
        form.says
    );
}

/// A matrix as `%.4e` writes it: five significant digits of each number.
fn in_five_digits(matrix: &Matrix) -> Answer {
    let mut rounded = answer("O", &matrix.map(|x| format!("{x:.4e}").parse().unwrap()));
    (rounded.decimals, rounded.digits) = (Some(8), Some(5));
    rounded
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn a_right_result_in_scientific_notation_is_right_and_a_wrong_one_keeps_its_name() {
    // A softmax that is saturated shows no difference in five digits.
    let (mut found, mut all) = (0, 0);
    for case in cases().iter().step_by(one_in(16)) {
        let right = case.examiner.examine(&[in_five_digits(&case.right)]).unwrap();
        assert!(right.is_right(), "{}: {:?}", case.name, named(&right));
        // One number off by two units of its last digit is wrong.
        let off = case.right.cells().position(|x| x != 0.0 && x.is_finite()).unwrap();
        let cols = case.right.cols();
        let wrong = Matrix::from_fn(case.right.rows(), cols, |i, j| {
            case.right[(i, j)] * if i * cols + j == off { 1.0 + 1e-3 } else { 1.0 }
        });
        assert!(!case.examiner.examine(&[in_five_digits(&wrong)]).unwrap().is_right(), "{}", case.name);
        for slip in case.wrong.iter().filter(|slip| slip.result.cells().all(f64::is_finite)) {
            let names = named(&case.examiner.examine(&[in_five_digits(&slip.result)]).unwrap());
            all += 1;
            found += usize::from(names.contains(&slip.ids));
        }
    }
    assert!(10 * found >= 8 * all, "{found} of {all}");
}
